//! Relays: a station that hears no base station goes over one that does.
use alloc::vec::Vec;
use prismux_units::Instant;

/// A station in a cell that sends on for others. Nodes are called `S`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gateway<S> {
    /// The station.
    pub station: S,
    /// The base station that it belongs to.
    pub base: S,
}

/// Whom a station goes over where it hears no base station, and what it has sent on for others.
#[derive(Debug, Clone)]
pub struct Relaying<S> {
    gateway: Option<Gateway<S>>,
    chooses_at: Instant,
    /// Gateways taken, one after the other.
    gateways: u64,
    /// Packets of its own that went to a gateway.
    sent: u64,
    /// Packets of others sent on, to a base station or from one.
    relayed: u64,
}

impl<S> Default for Relaying<S> {
    fn default() -> Self {
        Self { gateway: None, chooses_at: Instant::ZERO, gateways: 0, sent: 0, relayed: 0 }
    }
}

impl<S: Copy + PartialEq> Relaying<S> {
    /// Whom it goes over at present.
    pub const fn gateway(&self) -> Option<Gateway<S>> {
        self.gateway
    }

    /// Whether a packet without a gateway is a reason to look for one.
    pub fn may_choose(&self, now: Instant) -> bool {
        self.gateway.is_none() && self.chooses_at <= now
    }

    /// A gateway is looked for again no sooner.
    pub const fn choose_from(&mut self, at: Instant) {
        self.chooses_at = at;
    }

    /// Goes over another gateway from now on, or over none. Answers the stations before and after where anything
    /// changes, be it the base station of the same one.
    pub fn change(&mut self, gateway: Option<Gateway<S>>) -> Option<[Option<S>; 2]> {
        let before = core::mem::replace(&mut self.gateway, gateway);
        let stations = [before, gateway].map(|gateway| gateway.map(|gateway| gateway.station));
        self.gateways += u64::from(stations[0] != stations[1] && gateway.is_some());
        (before != gateway).then_some(stations)
    }

    /// A packet of its own goes to the gateway.
    pub const fn count_sent(&mut self) {
        self.sent += 1;
    }

    /// A packet of somebody else's is sent on.
    pub const fn count_relayed(&mut self) {
        self.relayed += 1;
    }

    /// What it has counted, by name.
    pub fn columns(&self) -> Vec<(&'static str, u64)> {
        alloc::vec![
            ("gateways_taken", self.gateways),
            ("packets_sent_to_gateways", self.sent),
            ("packets_relayed", self.relayed),
        ]
    }
}
