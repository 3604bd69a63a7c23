//! One-way delays of data packets, by flow, where somebody asks for them.
use crate::core::ids::{EndpointId, FlowId, Place};
use crate::core::packet::{Packet, PacketHandle};
use crate::flows::tcp::pair::OPENING;
use crate::network::Network;
use prismux_plan::{Plan, Traffic};
use prismux_trace::results::{DelayMeter, DelayResult};
use prismux_units::Duration;

/// The delays of every flow.
#[derive(Debug)]
pub(crate) struct Delays {
    flows: Vec<FlowDelays>,
}

#[derive(Debug, Default)]
struct FlowDelays {
    meter: DelayMeter,
    /// Of a flow with requests, which have a payload too: its data are the responses.
    has_requests: bool,
}

impl Delays {
    /// For the flows of `plan`; `None` where nobody asks.
    pub fn of(plan: &Plan) -> Option<Box<Self>> {
        let has_requests =
            |flow: &prismux_plan::Flow| matches!(flow.traffic, Traffic::RequestResponse { .. });
        let flow = |flow| FlowDelays { has_requests: has_requests(flow), ..FlowDelays::default() };
        plan.measure.delays.then(|| Box::new(Self { flows: plan.flows.iter().map(flow).collect() }))
    }

    /// A packet has reached its endpoint.
    #[inline(never)] // The loop stays small for those who do not ask.
    pub fn arrived(&mut self, network: &Network, handle: PacketHandle) {
        let &Packet { flow, endpoint, payload_bytes, .. } = network.pool.get(handle);
        let Some(delays) = self.flows.get_mut(flow.index()).filter(|_| payload_bytes > 0) else { return };
        if delays.has_requests && !is_for_client(endpoint) {
            return;
        }
        delays.meter.arrived(network.now - network.pool.sent_at(handle));
    }

    /// The figures of a flow; `None` before its first packet.
    pub fn result(&self, flow: FlowId) -> Option<DelayResult> {
        self.flows.get(flow.index())?.meter.result()
    }

    /// Packets of a flow so far, and the sum of their delays.
    pub fn totals(&self, flow: FlowId) -> (u64, Duration) {
        self.flows.get(flow.index()).map_or((0, Duration::ZERO), |delays| delays.meter.totals())
    }
}

/// The client opens the connection.
fn is_for_client(endpoint: EndpointId) -> bool {
    matches!(endpoint.place(), Place::Tcp { end: OPENING, .. })
}
