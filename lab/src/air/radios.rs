//! The radios of hosts on one air, and the packets in them, whoever finds the routes.
use super::frames::Frames;
use super::telling::{Begun, Told};
use crate::packets::{Label, Labelled};
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wireless::{Air, AirEvent, HostId, HostStats, Outgoing, Priority};
use std::collections::{BTreeMap, VecDeque};

/// What goes over the air in one piece.
pub(super) trait Framed: Clone {
    /// What it carries for the log of the run, if it is no message of a routing protocol.
    fn labelled(&self) -> Option<&Labelled>;

    /// What that is to the log.
    fn label(&self) -> Label {
        self.labelled().map(|labelled| labelled.label).unwrap_or_default()
    }
}

impl Framed for Labelled {
    fn labelled(&self) -> Option<&Labelled> {
        Some(self)
    }
}

/// What a host learns of its radios. Packets are known by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A packet for the host, or for all, from another.
    Received { host: HostId, from: HostId, payload: u32 },
    /// A packet between others.
    Overheard { host: HostId, from: HostId, to: HostId, payload: u32 },
    /// A neighbour does not answer: its packet comes back, and those that waited for it, if they are taken back.
    Failed { host: HostId, next_hop: HostId, payload: u32, waiting: Vec<u32> },
}

/// A packet of a host's.
pub(super) struct Sent<F> {
    pub frame: F,
    pub bytes: u32,
    pub priority: Priority,
}

/// The radios of all hosts, which have numbers of their own.
pub(super) struct Radios<F> {
    pub air: Air<u32>,
    /// By host: those that it sends by, one at least.
    of_hosts: Vec<Vec<HostId>>,
    /// By radio: the host that it belongs to.
    owners: BTreeMap<HostId, HostId>,
    /// Whether packets for a neighbour that no longer answers are taken back.
    takes_back: bool,
    /// Changes of channel that are to come, in order: when, of which radio, and to which channel.
    tunings: VecDeque<(Instant, HostId, u8)>,
    /// Radios that are off, and the channels that they come back to.
    off: BTreeMap<HostId, u8>,
    queue_drops: Vec<u64>,
    /// Packets for neighbours without a common channel.
    without_channel: Vec<u64>,
    frames: Frames<F>,
    /// For the log of the run.
    told: VecDeque<Told>,
}

impl<F: Framed> Radios<F> {
    /// Of hosts with these radios on an air; whether packets for a neighbour are taken back that no longer answers.
    pub fn new(air: Air<u32>, of_hosts: Vec<Vec<HostId>>, takes_back: bool) -> Self {
        let numbered = || (0..).map(HostId).zip(&of_hosts);
        let owners = numbered().flat_map(|(host, own)| own.iter().map(move |radio| (*radio, host)));
        Self {
            air,
            owners: owners.collect(),
            queue_drops: vec![0; of_hosts.len()],
            without_channel: vec![0; of_hosts.len()],
            of_hosts,
            takes_back,
            tunings: VecDeque::new(),
            off: BTreeMap::new(),
            frames: Frames::default(),
            told: VecDeque::new(),
        }
    }

    /// Lets radios change their channels at these instants, which are in order.
    pub fn set_tunings(&mut self, tunings: Vec<(Instant, HostId, u8)>) {
        self.tunings = tunings.into();
    }

    /// The radios of a host.
    pub fn of(&self, host: HostId) -> &[HostId] {
        &self.of_hosts[host.0 as usize]
    }

    /// The host that a radio belongs to, if anybody routes by it.
    fn owner(&self, radio: HostId) -> Option<HostId> {
        self.owners.get(&radio).copied()
    }

    /// The radios by which one host reaches another: the sender's first that is on a channel of the other's.
    pub fn between(&self, from: HostId, to: HostId) -> Option<[HostId; 2]> {
        let others = self.of(to);
        let pairs = self.of(from).iter().flat_map(|own| others.iter().map(move |other| [*own, *other]));
        let on_one = |[own, other]: &[HostId; 2]| {
            let channel = self.air.channel(*own);
            channel.is_some() && channel == self.air.channel(*other)
        };
        pairs.into_iter().find(on_one)
    }

    /// Sends a packet to all: one copy on each of the host's channels, which count as one where none has room.
    pub fn broadcast(&mut self, now: Instant, host: HostId, sent: &Sent<F>) {
        let &Sent { ref frame, bytes, priority } = sent;
        let radios = self.of(host).to_vec();
        let copies = radios.into_iter().map(|own| {
            let payload = self.frames.put(frame.clone());
            self.transmit(now, own, Outgoing { to: None, bytes, priority, payload })
        });
        let sent = copies.filter(|sent| *sent).count();
        self.queue_drops[host.0 as usize] += u64::from(sent == 0);
    }

    /// Sends a packet to a neighbour; nobody takes it where the two have no channel in common.
    pub fn unicast(&mut self, now: Instant, host: HostId, neighbour: HostId, sent: Sent<F>) {
        let (index, Sent { frame, bytes, priority }) = (host.0 as usize, sent);
        let pair = self.between(host, neighbour);
        self.without_channel[index] += u64::from(pair.is_none());
        let firsts = || [host, neighbour].map(|host| self.of(host)[0]);
        let [own, other] = pair.unwrap_or_else(firsts);
        let payload = self.frames.put(frame);
        let sent = self.transmit(now, own, Outgoing { to: Some(other), bytes, priority, payload });
        self.queue_drops[index] += u64::from(!sent);
    }

    /// Hands a packet to a radio. Says whether it had room.
    fn transmit(&mut self, now: Instant, own: HostId, packet: Outgoing<u32>) -> bool {
        let label = self.label_of(packet.payload);
        let refused = self.air.send(now, own, packet);
        match &refused {
            Ok(()) => self.told.extend(Told::queued(now, own, label)),
            Err(refused) => self.lose(now, own, refused.payload, DropReason::QueueFull),
        }
        refused.is_ok()
    }

    /// A packet goes no further than a radio.
    fn lose(&mut self, now: Instant, radio: HostId, payload: u32, reason: DropReason) {
        if let Some(frame) = self.frames.take(payload) {
            self.tell_dropped(now, radio, reason, frame.labelled());
        }
    }

    /// Tells of a packet that is dropped at a radio.
    pub fn tell_dropped(
        &mut self,
        now: Instant,
        radio: HostId,
        reason: DropReason,
        packet: Option<&Labelled>,
    ) {
        self.told.extend(packet.and_then(|packet| Told::dropped(now, radio, reason, packet)));
    }

    /// The packet in a place.
    pub fn frame(&self, payload: u32) -> Option<&F> {
        self.frames.get(payload)
    }

    /// Takes a packet out of its place.
    pub fn take(&mut self, payload: u32) -> Option<F> {
        self.frames.take(payload)
    }

    /// The air tells something of a radio: what its host is to learn of it.
    pub fn handle_event(&mut self, now: Instant, event: AirEvent<u32>) -> Option<Arrival> {
        match event {
            AirEvent::Received { host, from, payload, .. } => {
                let [host, from] = [self.owner(host)?, self.owner(from)?];
                return Some(Arrival::Received { host, from, payload });
            }
            AirEvent::Overheard { host, from, to, payload } => {
                let [host, from, to] = [self.owner(host)?, self.owner(from)?, self.owner(to)?];
                return Some(Arrival::Overheard { host, from, to, payload });
            }
            AirEvent::Failed { host, next_hop, payload } => {
                let waiting = if self.takes_back { self.air.withdraw(host, next_hop) } else { Vec::new() };
                let [host, next_hop] = [self.owner(host)?, self.owner(next_hop)?];
                return Some(Arrival::Failed { host, next_hop, payload, waiting });
            }
            AirEvent::Sent { payload, .. } => drop(self.frames.take(payload)),
            AirEvent::PoweredOff { host, payload, .. } => {
                self.lose(now, host, payload, DropReason::Unanswered)
            }
            AirEvent::Unresolved { host, payload, .. } => {
                self.lose(now, host, payload, DropReason::Unresolved)
            }
            AirEvent::Refused { host, payload } => {
                self.lose(now, host, payload, DropReason::QueueFull);
                if let Some(host) = self.owner(host) {
                    self.queue_drops[host.0 as usize] += 1;
                }
            }
            AirEvent::OnAir { at, frame, announces } => {
                let label = frame.payload.or(announces).map(|payload| self.label_of(payload));
                self.told.push_back(Told::Frame(Begun::new(at, &frame, label.unwrap_or_default())));
            }
            AirEvent::Missed { host, next_hop, miss, payload, .. } => {
                let label = self.label_of(payload);
                self.told.extend(Told::missed(now, [host, next_hop], miss, label));
            }
        }
        None
    }

    /// What the packet in a frame is to the log.
    pub fn label_of(&self, payload: u32) -> Label {
        self.frames.get(payload).map(F::label).unwrap_or_default()
    }

    /// What there is for the log.
    pub fn poll_told(&mut self) -> Option<Told> {
        self.told.pop_front()
    }

    /// When something will happen on the air, or a radio changes its channel.
    pub fn next_timeout(&self) -> Option<Instant> {
        let tuning = self.tunings.front().map(|(at, ..)| *at);
        [self.air.next_timeout(), tuning].into_iter().flatten().min()
    }

    /// Radios change their channels that are to by `at`, then all that is due on the air happens.
    pub fn handle_timeout(&mut self, at: Instant) {
        while let Some((_, radio, channel)) = self.tunings.front().copied().filter(|(due, ..)| *due <= at) {
            self.tunings.pop_front();
            match self.off.get_mut(&radio) {
                Some(comes_back_to) => *comes_back_to = channel,
                None => self.air.tune(at, radio, Some(channel)),
            }
        }
        self.air.handle_timeout(at);
    }

    /// Switches the radios of a host on or off: those that are off hear nothing, and answer nothing.
    pub fn switch(&mut self, now: Instant, host: HostId, on: bool) {
        for radio in self.of(host).to_vec() {
            if on {
                let channel = self.off.remove(&radio);
                channel.into_iter().for_each(|channel| self.air.tune(now, radio, Some(channel)));
            } else if let Some(channel) = self.air.channel(radio) {
                self.off.insert(radio, channel);
                self.air.tune(now, radio, None);
            }
        }
    }

    /// What the radios of a host have done.
    pub fn stats(&self, now: Instant, host: HostId) -> HostStats {
        let mut radios = self.of(host).iter().map(|radio| self.air.stats(now, *radio));
        let mut stats = radios.next().unwrap_or_default();
        radios.for_each(|one| stats += one);
        stats
    }

    /// What came of a host's packets before they were on the air, by name.
    pub fn columns(&self, host: HostId) -> Vec<(&'static str, u64)> {
        let index = host.0 as usize;
        let without = self.without_channel[index];
        let mut columns = vec![("interface_queue_drops", self.queue_drops[index])];
        columns.extend((without > 0).then_some(("packets_without_channel", without)));
        columns
    }
}
