//! A cell between nodes: flows are opened as packets come, and packets for a host enter where it is reached.
use super::{Access, Arrival, CellConfig, CellEndpoint, Change, Counts, Destination, Flow, Sending};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use prismux_endpoint::random::Seed;
use prismux_units::Instant;
use prismux_wireless::{Mobility, Movement, Position};

/// A cell that carries the packets of nodes at its places.
#[derive(Debug)]
pub struct CellNetwork<P> {
    cell: CellEndpoint<P>,
    hosts: usize,
    queue_packets: usize,
    flows: BTreeMap<Flow, usize>,
    /// Over which place each host is reached.
    entrances: Vec<usize>,
    /// What goes back to its source, since its host is reached over another place, and where that is.
    returned: VecDeque<(usize, P)>,
    ledger: Ledger,
}

/// What has become of all packets.
#[derive(Debug, Default)]
struct Ledger {
    sent: u64,
    arrived: u64,
    returned: u64,
}

/// What happens in a cell.
#[derive(Debug)]
pub enum CellEvent<P> {
    /// A packet is sent in a slot that begins now, where somebody watches ([`CellNetwork::tell_sendings`]).
    Sent(Sending<P>),
    /// A host is reached over another place from now on.
    Changed(Change),
    /// A packet goes back to the place where it entered: its host is reached over another one.
    Returned {
        /// The place.
        place: usize,
        /// What it carries.
        payload: P,
    },
    /// A packet has arrived: at its host, or where it leaves the cell.
    Arrived(Arrival<P>),
}

impl<P: Clone + fmt::Debug + Send + 'static> CellNetwork<P> {
    /// A cell that moves as `mobility` says, with a name for each place, after which its random stream is called; at
    /// most `queue_packets` wait at a place for one destination.
    ///
    /// # Errors
    /// What makes a movement impossible.
    pub fn new(
        (config, access, queue_packets): (&CellConfig, Access, usize),
        mobility: &[Mobility],
        names: impl Iterator<Item = String>,
        seed: Seed,
    ) -> Result<Self, &'static str> {
        let movement =
            |(mobility, name): (&Mobility, String)| Movement::new(mobility.clone(), seed.stream(&name));
        let movements = mobility.iter().zip(names).map(movement).collect::<Result<_, _>>()?;
        let stays = |mobility: &Mobility| matches!(mobility, Mobility::Static(_) | Mobility::Anywhere(_));
        let config = CellConfig { moves: !mobility.iter().all(stays), ..config.clone() };
        Ok(Self {
            cell: CellEndpoint::new(&config, access, movements, seed),
            hosts: config.hosts,
            queue_packets,
            flows: BTreeMap::new(),
            entrances: vec![config.hosts; config.hosts],
            returned: VecDeque::new(),
            ledger: Ledger::default(),
        })
    }

    /// From now on the cell tells of all that is sent.
    pub fn tell_sendings(&mut self) {
        self.cell.tell_sendings();
    }

    /// The place over which a host is reached; `None` for one that is no host.
    pub fn entrance(&self, host: usize) -> Option<usize> {
        self.entrances.get(host).copied()
    }

    /// A packet comes to a place, for a host of the cell or, with `None` or the number of another place, for outside.
    /// All between two hosts, or of a host and outside, are one flow.
    ///
    /// # Errors
    /// The packet, when too many wait.
    pub fn send(&mut self, from: usize, to: Option<usize>, bytes: u32, payload: P) -> Result<(), P> {
        let host = to.filter(|to| *to < self.hosts);
        let destination = host.map_or(Destination::Outside, Destination::Host);
        let cell = &mut self.cell;
        let flow = Flow { source: from, destination };
        let flow = *self.flows.entry(flow).or_insert_with(|| cell.open(flow));
        if self.cell.waiting(flow) >= self.queue_packets {
            return Err(payload);
        }
        self.ledger.sent += 1;
        self.cell.send(flow, bytes, payload);
        Ok(())
    }

    /// When the next slot begins.
    pub fn poll_timeout(&self) -> Instant {
        self.cell.poll_timeout()
    }

    /// What has happened by `now`, one thing at a time: until [`CellNetwork::poll_timeout`] is later.
    pub fn poll_event(&mut self, now: Instant) -> Option<CellEvent<P>> {
        loop {
            if let Some((place, payload)) = self.returned.pop_front() {
                self.ledger.returned += 1;
                return Some(CellEvent::Returned { place, payload });
            }
            if let Some(sending) = self.cell.poll_sending() {
                return Some(CellEvent::Sent(sending));
            }
            if let Some(change) = self.cell.poll_change() {
                self.change(change);
                return Some(CellEvent::Changed(change));
            }
            if let Some(arrival) = self.cell.poll_arrival(now) {
                self.ledger.arrived += 1;
                return Some(CellEvent::Arrived(arrival));
            }
            if self.cell.poll_timeout() > now {
                return None;
            }
            self.cell.handle_timeout(now);
        }
    }

    /// A host is reached over another place: the former one gets back what it has not sent.
    fn change(&mut self, Change { host, from, to }: Change) {
        self.entrances[host] = to;
        let flow = self.flows.get(&Flow { source: from, destination: Destination::Host(host) });
        while let Some(payload) = flow.and_then(|flow| self.cell.withdraw(*flow)) {
            self.returned.push_back((from, payload));
        }
    }

    /// Packets that have come and have neither arrived nor gone back.
    pub fn packets_inside(&self) -> usize {
        self.cell.packets_inside() + self.returned.len()
    }

    /// Packets that wait to be sent at each place.
    pub fn waiting_by_place(&self) -> Vec<usize> {
        self.cell.waiting_by_place()
    }

    /// Where everybody is, at a time that does not go back.
    pub fn positions(&mut self, now: Instant) -> &[Position] {
        self.cell.positions(now)
    }

    /// What the cell has done.
    pub fn counts(&self) -> &Counts {
        self.cell.counts()
    }

    /// What does not add up; `None` in a correct run.
    pub fn fault(&self) -> Option<String> {
        let Ledger { sent, arrived, returned } = self.ledger;
        let inside = self.packets_inside() as u64;
        let text = || {
            format!("cell: of {sent} packets {arrived} arrived, {returned} went back, {inside} are inside")
        };
        (sent != arrived + returned + inside).then(text)
    }

    /// What a place has done, under the names of results; of a host also the energy that it has drawn in slots of
    /// `slot_s` seconds, where that is wanted.
    pub fn columns(&self, place: usize, waiting: usize, slot_s: Option<f64>) -> Vec<(&'static str, u64)> {
        let Some(counts) = self.counts().places.get(place) else { return Vec::new() };
        let mut columns = vec![
            ("slots_sent", counts.sent),
            ("slots_relayed", counts.relayed),
            ("slots_direct", counts.direct),
            ("packets_lost_to_moves", counts.lost),
            ("packets_refused", counts.refused),
            ("packets_waiting", waiting as u64),
        ];
        columns.extend(slot_s.and_then(|slot_s| Some(("energy_drawn_uj", self.drawn_uj(place, slot_s)?))));
        columns
    }

    /// Energy that a host has drawn, in microjoules, in slots of `slot_s` seconds; none is counted of others.
    pub fn drawn_uj(&self, place: usize, slot_s: f64) -> Option<u64> {
        (place < self.hosts).then(|| (self.counts().drawn_w_slots(place) * slot_s * 1e6) as u64)
    }
}
