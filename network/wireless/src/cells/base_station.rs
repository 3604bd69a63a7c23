//! A base station: between its wires and the stations that belong to it.
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Where a station is, as far as a base station knows.
#[derive(Debug, Clone)]
enum Presence<S, P> {
    /// Nobody knows, or it has no link at all.
    Absent,
    /// It belongs to this base station, or is reached over another one that does.
    Here(Option<S>),
    /// It has left and is not back anywhere: what is for it, if that is kept.
    Leaving { kept: VecDeque<P>, keeps: bool },
    /// It is reached in another way, by the routes.
    Elsewhere,
}

/// What becomes of a packet for a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inwards<S, P> {
    /// It goes by air: to the station, or to the one over which it is reached.
    Air(S, P),
    /// It goes where the routes lead, by wire.
    Wire(P),
    /// It is kept until it is known where the station is.
    Kept,
    /// It is lost: the station cannot be reached from here.
    Lost(P),
    /// The station is here and has not heard it, however often: as any sender does, the base station gives up.
    GivenUp(P),
}

/// What a base station knows of its stations, which are called `S`, and what it keeps for them.
#[derive(Debug, Clone)]
pub struct BaseStation<S, P> {
    stations: BTreeMap<S, Presence<S, P>>,
    queue_packets: usize,
    forwards: bool,
    queue_drops: u64,
    /// Packets for stations that had left.
    lost: u64,
    /// Packets sent on by wire for stations that had left.
    forwarded: u64,
}

impl<S: Ord + Copy, P> BaseStation<S, P> {
    /// None of `stations` belongs to it yet. For one that has left it keeps up to `queue_packets` and sends them after
    /// it by wire, if it `forwards`; else they are lost.
    pub fn new(stations: impl Iterator<Item = S>, queue_packets: usize, forwards: bool) -> Self {
        let stations = stations.map(|station| (station, Presence::Absent)).collect();
        Self { stations, queue_packets, forwards, queue_drops: 0, lost: 0, forwarded: 0 }
    }

    /// Whether `node` is a station that may belong to it.
    pub fn knows(&self, node: S) -> bool {
        self.stations.contains_key(&node)
    }

    /// A station belongs to it from now on, or is reached over a `gateway` that does. What was kept for it is to be
    /// dealt with anew.
    pub fn admit(&mut self, station: S, gateway: Option<S>) -> VecDeque<P> {
        self.change(station, Presence::Here(gateway))
    }

    /// A station leaves, and with it those behind it. What waits for it on the air is to be taken back and dealt with
    /// anew: that of a station which `returns`, by another radio of this base station, is kept.
    pub fn release(&mut self, station: S, returns: bool) {
        let keeps = self.forwards || returns;
        let leaving = || Presence::Leaving { kept: VecDeque::new(), keeps };
        for presence in self.stations.values_mut() {
            if matches!(presence, Presence::Here(Some(gateway)) if *gateway == station) {
                *presence = leaving();
            }
        }
        self.stations.insert(station, leaving());
    }

    /// A station belongs to another, or uses another link (`elsewhere`), or is not to be reached. What was kept for it
    /// is to be dealt with anew.
    pub fn settle(&mut self, station: S, elsewhere: bool) -> VecDeque<P> {
        self.change(station, if elsewhere { Presence::Elsewhere } else { Presence::Absent })
    }

    fn change(&mut self, station: S, after: Presence<S, P>) -> VecDeque<P> {
        match self.stations.insert(station, after) {
            Some(Presence::Leaving { kept, .. }) => kept,
            _ => VecDeque::new(),
        }
    }

    /// A packet for `station` has come by wire, or is dealt with anew.
    pub fn route(&mut self, station: S, packet: P) -> Inwards<S, P> {
        match self.stations.get_mut(&station) {
            Some(Presence::Here(gateway)) => Inwards::Air(gateway.unwrap_or(station), packet),
            Some(Presence::Leaving { kept, keeps: true }) if kept.len() < self.queue_packets => {
                kept.push_back(packet);
                Inwards::Kept
            }
            Some(Presence::Elsewhere) if self.forwards => {
                self.forwarded += 1;
                Inwards::Wire(packet)
            }
            // The routes may lead here: sent on, it would come back.
            _ => {
                self.lost += 1;
                Inwards::Lost(packet)
            }
        }
    }

    /// A packet for `station` has come by air: nothing comes back that was sent there by wire.
    pub fn route_from_air(&mut self, station: S, packet: P) -> Inwards<S, P> {
        match self.stations.get(&station) {
            Some(Presence::Elsewhere) => Inwards::Wire(packet),
            _ => self.route(station, packet),
        }
    }

    /// The radio gives back a packet that `station` has not heard, or that began too late.
    pub fn give_back(&mut self, station: S, packet: P) -> Inwards<S, P> {
        match self.stations.get(&station) {
            Some(Presence::Here(_)) | None => Inwards::GivenUp(packet),
            Some(_) => self.route(station, packet),
        }
    }

    /// The radio's queue had no room for a packet.
    pub fn count_queue_drop(&mut self) {
        self.queue_drops += 1;
    }

    /// Packets that are kept.
    pub fn kept_packets(&self) -> usize {
        let kept = |presence: &Presence<S, P>| match presence {
            Presence::Leaving { kept, .. } => kept.len(),
            _ => 0,
        };
        self.stations.values().map(kept).sum()
    }

    /// What it has counted, by name.
    pub fn columns(&self) -> Vec<(&'static str, u64)> {
        alloc::vec![
            ("interface_queue_drops", self.queue_drops),
            ("lost_for_stations_that_left", self.lost),
            ("forwarded_for_stations_that_left", self.forwarded),
        ]
    }
}
