//! Whose interface is whose, by address resolution (RFC 826), and who no longer answers (as RFC 4861 section 7.3 has
//! it): on an interface nobody else says that a link is broken.
//!
//! A neighbour that packets go to is asked whether it is still there when it was last heard of more than
//! [`REACHABLE`] ago; packets go on meanwhile. Three questions without an answer, and the link is broken.
use super::radio::NeighbourReport;
use prismux_units::{Duration, Instant};
use prismux_wire::ethernet::{ArpOperation, ArpPacket, MacAddress};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// How long an answer shows that a neighbour is there.
pub const REACHABLE: Duration = Duration::from_secs(2);
/// The time from one question to the next.
const RETRY: Duration = Duration::from_millis(300);
/// Questions without an answer after which a link is broken.
const MAX_QUESTIONS: u32 = 3;
/// Packets that wait for the address of one neighbour.
const MAX_WAITING: usize = 16;
/// Neighbours at most: forged messages fill no more.
const MAX_NEIGHBOURS: usize = 256;

/// What follows from something.
#[derive(Debug, PartialEq, Eq)]
pub enum Action<P> {
    /// This message is to be sent to an interface.
    Say(MacAddress, ArpPacket),
    /// This packet is to be sent to an interface.
    Send(MacAddress, P),
    /// A neighbour did not take a packet: the first of those that it did not take.
    NotDelivered(Ipv4Addr, P),
    /// Another one.
    TakenBack(Ipv4Addr, P),
    /// Too many packets wait for one neighbour: the oldest.
    CrowdedOut(P),
}

/// A neighbour.
#[derive(Debug)]
struct Entry<P> {
    /// Its interface, where it is known.
    interface: Option<MacAddress>,
    /// When it last answered, or was heard of.
    heard_at: Instant,
    /// How often it has been asked since.
    questions: u32,
    /// When it is asked again, or given up.
    ask_at: Option<Instant>,
    /// Packets that wait for its interface.
    waiting: VecDeque<P>,
    /// The latest packet that went to it while it was asked.
    unconfirmed: Option<P>,
}

/// The neighbours on an interface.
#[derive(Debug)]
pub struct Neighbours<P> {
    own: (MacAddress, Ipv4Addr),
    entries: BTreeMap<Ipv4Addr, Entry<P>>,
    by_interface: BTreeMap<MacAddress, Ipv4Addr>,
    actions: VecDeque<Action<P>>,
}

impl<P: Clone> Neighbours<P> {
    /// Nobody is known; this host has this interface and address.
    pub fn new(interface: MacAddress, address: Ipv4Addr) -> Self {
        let (entries, by_interface) = (BTreeMap::new(), BTreeMap::new());
        Self { own: (interface, address), entries, by_interface, actions: VecDeque::new() }
    }

    /// What is to be done, in order.
    pub fn poll_action(&mut self) -> Option<Action<P>> {
        self.actions.pop_front()
    }

    /// Whose interface this is.
    pub fn host_of(&self, interface: MacAddress) -> Option<Ipv4Addr> {
        self.by_interface.get(&interface).copied()
    }

    /// Tells everybody whose address this host has.
    pub fn announce(&mut self) {
        let (interface, address) = self.own;
        self.actions.push_back(Action::Say(MacAddress::BROADCAST, question(interface, address, address)));
    }

    /// Sends a packet to a neighbour, as soon as its interface is known.
    pub fn send(&mut self, now: Instant, to: Ipv4Addr, packet: P) {
        self.make_room(to);
        let entry = self.entries.entry(to).or_insert_with(|| Entry::unknown(now));
        match entry.interface {
            None => entry.waiting.push_back(packet),
            Some(interface) => {
                let is_stale = now.saturating_since(entry.heard_at) > REACHABLE;
                entry.unconfirmed = (is_stale || entry.ask_at.is_some()).then(|| packet.clone());
                self.actions.push_back(Action::Send(interface, packet));
                if !is_stale {
                    return;
                }
            }
        }
        if entry.waiting.len() > MAX_WAITING
            && let Some(oldest) = entry.waiting.pop_front()
        {
            self.actions.push_back(Action::CrowdedOut(oldest));
        }
        if entry.ask_at.is_none() {
            self.ask(now, to);
        }
    }

    /// Asks a neighbour, itself where its interface is known, the last time all.
    fn ask(&mut self, now: Instant, whom: Ipv4Addr) {
        let Some(entry) = self.entries.get_mut(&whom) else { return };
        entry.questions += 1;
        entry.ask_at = Some(now + RETRY);
        let to = entry.interface.filter(|_| entry.questions < MAX_QUESTIONS);
        let (interface, address) = self.own;
        let to = to.unwrap_or(MacAddress::BROADCAST);
        self.actions.push_back(Action::Say(to, question(interface, address, whom)));
    }

    /// A message of address resolution has come.
    pub fn hear(&mut self, now: Instant, message: &ArpPacket) {
        let ArpPacket { operation, sender, sender_address, target, target_address } = *message;
        let (own, own_address) = self.own;
        if sender.is_group() || sender == own || sender_address == own_address {
            return;
        }
        if operation == ArpOperation::Request && target_address == own_address {
            let answer = ArpPacket {
                operation: ArpOperation::Reply,
                sender: own,
                sender_address: own_address,
                target: sender,
                target_address: sender_address,
            };
            self.actions.push_back(Action::Say(sender, answer));
        }
        if sender_address.is_unspecified() || sender_address.is_broadcast() || sender_address.is_multicast() {
            return;
        }
        self.learn(now, sender, sender_address);
        if operation == ArpOperation::Reply
            && target == own
            && let Some(entry) = self.entries.get_mut(&sender_address)
        {
            // It hears this host, and this host hears it.
            (entry.heard_at, entry.questions, entry.ask_at, entry.unconfirmed) = (now, 0, None, None);
        }
    }

    /// A packet has told whose an interface is.
    pub fn learn(&mut self, now: Instant, interface: MacAddress, address: Ipv4Addr) {
        if address == self.own.1 {
            return;
        }
        self.make_room(address);
        // Of an interface with several addresses the latest counts.
        if let Some(former) = self.by_interface.insert(interface, address).filter(|host| *host != address) {
            self.forget(former);
        }
        let entry = self.entries.entry(address).or_insert_with(|| Entry::unknown(now));
        if let Some(former) = entry.interface.replace(interface).filter(|known| *known != interface) {
            self.by_interface.remove(&former);
        }
        while let Some(packet) = entry.waiting.pop_front() {
            entry.unconfirmed = entry.ask_at.map(|_| packet.clone());
            self.actions.push_back(Action::Send(interface, packet));
        }
    }

    /// When somebody is to be asked, or given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.entries.values().filter_map(|entry| entry.ask_at).min()
    }

    /// Asks those who have not answered, and gives up those who never do.
    pub fn expire(&mut self, now: Instant) {
        let is_due = |entry: &Entry<P>| entry.ask_at.is_some_and(|at| at <= now);
        let due: Vec<Ipv4Addr> =
            self.entries.iter().filter(|(_, entry)| is_due(entry)).map(|(host, _)| *host).collect();
        for host in due {
            match self.entries.get(&host) {
                Some(entry) if entry.questions < MAX_QUESTIONS => self.ask(now, host),
                _ => self.give_up(host),
            }
        }
    }

    /// A neighbour does not answer.
    fn give_up(&mut self, host: Ipv4Addr) {
        let Some(entry) = self.forget(host) else { return };
        let mut packets = entry.unconfirmed.into_iter().chain(entry.waiting);
        self.actions.extend(packets.next().map(|packet| Action::NotDelivered(host, packet)));
        self.actions.extend(packets.map(|packet| Action::TakenBack(host, packet)));
    }

    fn forget(&mut self, host: Ipv4Addr) -> Option<Entry<P>> {
        let entry = self.entries.remove(&host)?;
        if let Some(interface) = entry.interface.filter(|known| self.by_interface.get(known) == Some(&host)) {
            self.by_interface.remove(&interface);
        }
        Some(entry)
    }

    /// Makes room for one more: the one that was heard of longest ago goes, of those for whom nothing waits.
    fn make_room(&mut self, newcomer: Ipv4Addr) {
        if self.entries.len() < MAX_NEIGHBOURS || self.entries.contains_key(&newcomer) {
            return;
        }
        let idle = self.entries.iter().filter(|(_, entry)| entry.waiting.is_empty());
        let oldest = idle.min_by_key(|(_, entry)| entry.heard_at).map(|(host, _)| *host);
        match oldest.or_else(|| self.entries.keys().next().copied()) {
            Some(host) if self.entries.get(&host).is_some_and(|entry| !entry.waiting.is_empty()) => {
                self.give_up(host);
            }
            Some(host) => drop(self.forget(host)),
            None => {}
        }
    }

    /// All of them, for the status page.
    pub fn report(&self, now: Instant) -> Vec<NeighbourReport> {
        let shown = |(address, entry): (&Ipv4Addr, &Entry<P>)| NeighbourReport {
            address: *address,
            interface: entry.interface.map(|interface| interface.to_string()),
            state: match entry.ask_at {
                Some(_) => "asked",
                None if now.saturating_since(entry.heard_at) > REACHABLE => "stale",
                None => "reachable",
            },
        };
        self.entries.iter().map(shown).collect()
    }
}

impl<P> Entry<P> {
    fn unknown(now: Instant) -> Self {
        let (waiting, unconfirmed) = (VecDeque::new(), None);
        Self { interface: None, heard_at: now, questions: 0, ask_at: None, waiting, unconfirmed }
    }
}

/// Asks who has an address.
fn question(interface: MacAddress, address: Ipv4Addr, whose: Ipv4Addr) -> ArpPacket {
    ArpPacket {
        operation: ArpOperation::Request,
        sender: interface,
        sender_address: address,
        target: MacAddress([0; 6]),
        target_address: whose,
    }
}

#[cfg(test)]
mod tests;
