//! Relays: a station that hears no base station goes over one that does.
use crate::core::ids::NodeId;
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::radio::adhoc::Relay;
use prismux_wireless::cells;

/// A station in a cell that sends on for others.
pub(super) type Gateway = cells::Gateway<NodeId>;

/// What a station relays by, for others and for itself.
#[derive(Debug)]
pub(super) struct Relaying {
    pub relay: Box<dyn Relay>,
    /// Whom it goes over at present; only where it hears no base station.
    pub way: cells::Relaying<NodeId>,
}

impl Relaying {
    pub fn new(relay: Box<dyn Relay>) -> Self {
        Self { relay, way: cells::Relaying::default() }
    }

    /// Goes over another gateway from now on, or over none; false where nothing changes, not even the base station of
    /// the gateway.
    pub fn change(&mut self, context: &mut NodeContext<'_>, gateway: Option<Gateway>) -> bool {
        let Some([from, to]) = self.way.change(gateway) else { return false };
        if from != to {
            context.tell_gateway([from, to]);
        }
        true
    }

    /// Sends a packet to the gateway.
    pub fn send(&mut self, context: &mut NodeContext<'_>, gateway: Gateway, packet: Transit) {
        self.way.count_sent();
        self.relay.send_to(context, gateway.station, packet);
    }

    /// Sends a packet that has come from a base station to the station behind this one that it is for.
    pub fn send_on(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        self.way.count_relayed();
        self.relay.send_to(context, packet.carried.towards, packet);
    }

    /// A packet of somebody else's that is to go to the base station.
    pub fn poll_passing(&mut self) -> Option<Transit> {
        let packet = self.relay.poll_passing()?;
        self.way.count_relayed();
        Some(packet)
    }

    /// What it has counted, by name, the relay's own counters among them.
    pub fn columns(&self) -> Vec<(&'static str, u64)> {
        let mut columns = self.relay.counters();
        columns.extend(self.way.columns());
        columns
    }
}
