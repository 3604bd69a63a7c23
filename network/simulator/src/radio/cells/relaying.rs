//! Relays: a station that hears no base station goes over one that does.
use crate::core::ids::NodeId;
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::radio::adhoc::Relay;
use prismux_units::Instant;

/// A station in a cell that sends on for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gateway {
    pub station: NodeId,
    /// The base station that it belongs to.
    pub base: NodeId,
}

/// What a station relays by, for others and for itself.
#[derive(Debug)]
pub(super) struct Relaying {
    pub relay: Box<dyn Relay>,
    /// Whom it goes over at present; only where it hears no base station.
    pub gateway: Option<Gateway>,
    /// A gateway is chosen again no sooner.
    pub chooses_at: Instant,
    /// Gateways taken, one after the other.
    gateways: u64,
    /// Packets of its own that went to a gateway.
    sent: u64,
    /// Packets of others sent on, to a base station or from one.
    relayed: u64,
}

impl Relaying {
    pub fn new(relay: Box<dyn Relay>) -> Self {
        Self { relay, gateway: None, chooses_at: Instant::ZERO, gateways: 0, sent: 0, relayed: 0 }
    }

    /// Goes over another gateway from now on, or over none; false where nothing changes, not even the base station of
    /// the gateway.
    pub fn change(&mut self, context: &mut NodeContext<'_>, gateway: Option<Gateway>) -> bool {
        let before = std::mem::replace(&mut self.gateway, gateway);
        let [from, to] = [before, gateway].map(|gateway| gateway.map(|gateway| gateway.station));
        if from != to {
            self.gateways += u64::from(to.is_some());
            context.tell_gateway([from, to]);
        }
        before != gateway
    }

    /// Sends a packet to the gateway.
    pub fn send(&mut self, context: &mut NodeContext<'_>, gateway: Gateway, packet: Transit) {
        self.sent += 1;
        self.relay.send_to(context, gateway.station, packet);
    }

    /// Sends a packet that has come from a base station to the station behind this one that it is for.
    pub fn send_on(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        self.relayed += 1;
        self.relay.send_to(context, packet.carried.towards, packet);
    }

    /// A packet of somebody else's that is to go to the base station.
    pub fn poll_passing(&mut self) -> Option<Transit> {
        let packet = self.relay.poll_passing()?;
        self.relayed += 1;
        Some(packet)
    }

    /// What it has counted, by name, the relay's own counters among them.
    pub fn columns(&self) -> Vec<(&'static str, u64)> {
        let mut columns = self.relay.counters();
        columns.extend([
            ("gateways_taken", self.gateways),
            ("packets_sent_to_gateways", self.sent),
            ("packets_relayed", self.relayed),
        ]);
        columns
    }
}
