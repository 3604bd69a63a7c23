//! Address resolution: a host that has a packet for a neighbour asks which radio has the neighbour's address (ARP,
//! RFC 826).
//!
//! A question is broadcast, its answer goes to the one who asked; both are data frames to the medium access. While a
//! host asks, it keeps the latest packet for the neighbour and drops those before it (RFC 1122, 2.3.2.2).
use crate::HostId;
use crate::mac::{Outgoing, Priority};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// How hosts learn which radio has the address of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressResolution {
    /// They know.
    None,
    /// ARP (RFC 826): who is asked remembers who asks; other hosts update what they have. An entry lasts a minute
    /// without another message from its neighbour. An unanswered question is asked again after a second, once in a
    /// second at most (RFC 1122, 2.3.2.1); after the third the packet has failed.
    Arp,
    /// ns-2.35's ARP: everybody who hears a question remembers who asks, for ever. There is no timer: the question is
    /// asked again with the next packet for the neighbour; with the fourth, it and the one that waits have failed, and
    /// counting begins anew.
    Ns2,
}

/// How long an entry lasts without another message: "on the order of a minute" (RFC 1122, 2.3.2.1).
const LIFETIME: Duration = Duration::from_secs(60);
/// Between two questions for one neighbour (RFC 1122, 2.3.2.1).
const REQUEST_INTERVAL: Duration = Duration::from_secs(1);
/// Unanswered questions until packets have failed.
const MAX_REQUESTS: u8 = 3;
/// Bytes of a message for IPv4 on 802.11 (RFC 826).
pub(crate) const MESSAGE_BYTES: u32 = 28;

/// A message of address resolution (RFC 826).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArpMessage {
    /// Whether it asks or answers.
    pub operation: ArpOperation,
    /// Who sends it, whose addresses are in it.
    pub sender: HostId,
    /// Whose address is asked for, or who has asked.
    pub target: HostId,
}

/// What a message of address resolution does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArpOperation {
    /// It asks.
    Request,
    /// It answers.
    Reply,
}

/// What a data frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load<P> {
    Packet(P),
    Arp(ArpMessage),
}

impl<P> Load<P> {
    /// The packet, if it is one.
    pub fn packet(self) -> Option<P> {
        match self {
            Self::Packet(packet) => Some(packet),
            Self::Arp(_) => None,
        }
    }
}

/// What becomes of a packet for a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<P> {
    /// The neighbour is known: the packet can go.
    Known,
    /// It waits in place of another, which is lost; whether the neighbour is asked for.
    Waits { displaced: Option<P>, asks: bool },
    /// It has failed, and the one that waited too.
    Failed { held: Option<P> },
}

/// A neighbour that has been heard of, or asked for.
#[derive(Debug)]
struct Entry<P> {
    known_until: Instant,
    held: Option<Outgoing<P>>,
    /// Questions without an answer.
    requests: u8,
    /// When the next is due; never, where questions have no timer.
    ask_at: Instant,
}

impl<P> Entry<P> {
    const UNKNOWN: Self = Self { known_until: Instant::ZERO, held: None, requests: 0, ask_at: Instant::MAX };
}

/// What one host knows of its neighbours' addresses, and what waits until it knows.
#[derive(Debug)]
pub(crate) struct Resolver<P> {
    rule: AddressResolution,
    entries: BTreeMap<HostId, Entry<P>>,
    /// Questions and answers sent.
    pub requests: u64,
    pub replies: u64,
    /// Packets lost because the neighbour's address was not known in time.
    pub unresolved: u64,
}

impl<P: Copy> Resolver<P> {
    pub const fn new(rule: AddressResolution) -> Self {
        Self { rule, entries: BTreeMap::new(), requests: 0, replies: 0, unresolved: 0 }
    }

    /// The host has a packet for a neighbour. One that can go is the caller's.
    pub fn send(&mut self, now: Instant, to: HostId, packet: Outgoing<P>) -> Step<P> {
        if self.rule == AddressResolution::None {
            return Step::Known;
        }
        let entry = self.entries.entry(to).or_insert(Entry::UNKNOWN);
        if entry.known_until > now {
            return Step::Known;
        }
        if self.rule == AddressResolution::Ns2 && entry.requests >= MAX_REQUESTS {
            entry.requests = 0;
            let held = entry.held.take().map(|held| held.payload);
            self.unresolved += 1 + u64::from(held.is_some());
            return Step::Failed { held };
        }
        let displaced = entry.held.replace(packet).map(|held| held.payload);
        self.unresolved += u64::from(displaced.is_some());
        let asks = self.rule == AddressResolution::Ns2 || entry.requests == 0;
        if asks {
            entry.requests += 1;
            self.requests += 1;
            if self.rule == AddressResolution::Arp {
                entry.ask_at = now + REQUEST_INTERVAL;
            }
        }
        Step::Waits { displaced, asks }
    }

    /// A message has come to `own`: the packet that can go now, and whether an answer is due.
    pub fn receive(
        &mut self,
        now: Instant,
        own: HostId,
        message: &ArpMessage,
    ) -> (Option<Outgoing<P>>, bool) {
        let is_for_own = message.target == own;
        let (known_until, remembers_all) = match self.rule {
            AddressResolution::Ns2 => (Instant::MAX, true),
            AddressResolution::Arp | AddressResolution::None => (now + LIFETIME, false),
        };
        let known = self.entries.contains_key(&message.sender);
        let mut released = None;
        if known || is_for_own || remembers_all {
            let entry = self.entries.entry(message.sender).or_insert(Entry::UNKNOWN);
            released = entry.held.take();
            *entry = Entry { known_until, ..Entry::UNKNOWN };
        }
        (released, is_for_own && message.operation == ArpOperation::Request)
    }

    /// When a question is asked again, or packets have failed.
    pub fn due(&self) -> Option<Instant> {
        self.entries.values().map(|entry| entry.ask_at).min().filter(|at| *at != Instant::MAX)
    }

    /// Time has passed: the neighbours that are asked for again, and the packets that have failed with theirs.
    pub fn timeout(&mut self, now: Instant) -> (Vec<HostId>, Vec<(HostId, P)>) {
        let (mut asked, mut failed) = (Vec::new(), Vec::new());
        for (neighbour, entry) in self.entries.iter_mut().filter(|(_, entry)| entry.ask_at <= now) {
            if entry.requests < MAX_REQUESTS {
                entry.requests += 1;
                entry.ask_at = now + REQUEST_INTERVAL;
                asked.push(*neighbour);
            } else {
                failed.extend(entry.held.take().map(|held| (*neighbour, held.payload)));
                *entry = Entry::UNKNOWN;
            }
        }
        self.requests += asked.len() as u64;
        self.unresolved += failed.len() as u64;
        (asked, failed)
    }

    /// Takes back the packet that waits until the address of `neighbour` is known.
    pub fn withdraw(&mut self, neighbour: HostId) -> Option<P> {
        self.entries.get_mut(&neighbour)?.held.take().map(|held| held.payload)
    }

    /// Takes back all packets that wait, and asks no more.
    pub fn stop(&mut self) -> Vec<P> {
        let entries = core::mem::take(&mut self.entries);
        entries.into_values().filter_map(|entry| entry.held).map(|held| held.payload).collect()
    }

    /// Packets that wait.
    pub fn waiting_packets(&self) -> usize {
        self.entries.values().filter(|entry| entry.held.is_some()).count()
    }
}

/// The packet that carries a message of `sender`.
pub(crate) fn outgoing<P>(sender: HostId, operation: ArpOperation, target: HostId) -> Outgoing<Load<P>> {
    Outgoing {
        to: (operation == ArpOperation::Reply).then_some(target),
        bytes: MESSAGE_BYTES,
        priority: Priority::Normal,
        payload: Load::Arp(ArpMessage { operation, sender, target }),
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressResolution, ArpMessage, ArpOperation, Resolver, Step};
    use crate::HostId;
    use crate::mac::{Outgoing, Priority};
    use alloc::vec;
    use prismux_units::{Duration, Instant};

    const OWN: HostId = HostId(0);
    const NEAR: HostId = HostId(1);

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn packet(payload: u32) -> Outgoing<u32> {
        Outgoing { to: Some(NEAR), bytes: 100, priority: Priority::Normal, payload }
    }

    fn message(operation: ArpOperation, sender: HostId, target: HostId) -> ArpMessage {
        ArpMessage { operation, sender, target }
    }

    #[test]
    fn the_latest_packet_waits_and_goes_with_the_answer_and_the_entry_lasts_a_minute() {
        let mut resolver = Resolver::new(AddressResolution::Arp);
        let send = |resolver: &mut Resolver<u32>, seconds, payload| {
            resolver.send(at(seconds), NEAR, packet(payload))
        };
        assert_eq!(send(&mut resolver, 0, 1), Step::Waits { displaced: None, asks: true });
        assert_eq!(send(&mut resolver, 0, 2), Step::Waits { displaced: Some(1), asks: false });
        let answer = message(ArpOperation::Reply, NEAR, OWN);
        assert_eq!(resolver.receive(at(0), OWN, &answer), (Some(packet(2)), false));
        assert_eq!((resolver.waiting_packets(), resolver.due()), (0, None));
        assert_eq!(send(&mut resolver, 59, 3), Step::Known);
        // Any message of the neighbour makes the entry new.
        let question = message(ArpOperation::Request, NEAR, HostId(7));
        assert_eq!(resolver.receive(at(59), OWN, &question), (None, false));
        assert_eq!(send(&mut resolver, 118, 4), Step::Known);
        assert_eq!(send(&mut resolver, 119, 5), Step::Waits { displaced: None, asks: true });
        assert_eq!((resolver.requests, resolver.unresolved), (2, 1));
    }

    #[test]
    fn who_is_asked_answers_and_remembers_who_asks_and_others_do_so_in_ns2_alone() {
        for (rule, step) in [
            (AddressResolution::Arp, Step::Waits { displaced: None, asks: true }),
            (AddressResolution::Ns2, Step::Known),
        ] {
            let mut asked: Resolver<u32> = Resolver::new(rule);
            assert_eq!(asked.receive(at(0), OWN, &message(ArpOperation::Request, NEAR, OWN)), (None, true));
            assert_eq!(asked.send(at(1), NEAR, packet(1)), Step::Known);
            let mut bystander: Resolver<u32> = Resolver::new(rule);
            let question = message(ArpOperation::Request, NEAR, HostId(7));
            assert_eq!(bystander.receive(at(0), OWN, &question), (None, false));
            assert_eq!(bystander.send(at(1), NEAR, packet(1)), step, "{rule:?}");
        }
    }

    #[test]
    fn three_questions_a_second_apart_then_the_packet_has_failed() {
        let mut resolver = Resolver::new(AddressResolution::Arp);
        resolver.send(at(0), NEAR, packet(1));
        for second in [1, 2] {
            assert_eq!(resolver.due(), Some(at(second)));
            assert_eq!(resolver.timeout(at(second)), (vec![NEAR], vec![]));
        }
        assert_eq!(resolver.timeout(at(3)), (vec![], vec![(NEAR, 1)]));
        assert_eq!(resolver.due(), None);
        assert_eq!(resolver.send(at(3), NEAR, packet(2)), Step::Waits { displaced: None, asks: true });
    }

    #[test]
    fn in_ns2_each_packet_asks_and_the_fourth_fails_with_the_third() {
        let mut resolver = Resolver::new(AddressResolution::Ns2);
        for (payload, displaced) in [(1, None), (2, Some(1)), (3, Some(2))] {
            let step = resolver.send(at(u64::from(payload)), NEAR, packet(payload));
            assert_eq!(step, Step::Waits { displaced, asks: true });
            assert_eq!(resolver.due(), None);
        }
        assert_eq!(resolver.send(at(4), NEAR, packet(4)), Step::Failed { held: Some(3) });
        assert_eq!(resolver.send(at(5), NEAR, packet(5)), Step::Waits { displaced: None, asks: true });
        assert_eq!((resolver.requests, resolver.unresolved), (4, 4));
    }

    #[test]
    fn packets_that_wait_can_be_taken_back() {
        let mut resolver = Resolver::new(AddressResolution::Arp);
        resolver.send(at(0), NEAR, packet(1));
        assert_eq!(resolver.withdraw(HostId(2)), None);
        assert_eq!(resolver.withdraw(NEAR), Some(1));
        resolver.send(at(0), NEAR, packet(2));
        assert_eq!((resolver.stop(), resolver.due()), (vec![2], None));
    }
}
