//! Applications and results of flows that have several pipes.
use super::Simulation;
use crate::endpoint::{ENDLESS, Endpoint, Notes, StripedRole};
use crate::ids::{EndpointId, FlowId};
use crate::packet::node_at;
use prismux_ptcp::PipeMetrics;
use prismux_trace::results::{Named, PipeResult};
use prismux_units::Duration;

impl Simulation {
    /// Lets the application of `id` act on `notes`, and on the notes that its acts produce.
    pub(super) fn serve_striped(&mut self, id: EndpointId, mut notes: Notes) {
        loop {
            let now = self.fabric.now;
            let Endpoint::Ptcp(ptcp) = &mut self.endpoints[id.index()] else { return };
            let flow = ptcp.site.flow;
            let ended = notes.ended;
            let closes = match ptcp.role {
                StripedRole::Source { bytes } => notes.connected && bytes < ENDLESS,
                StripedRole::Sink => notes.peer_closed,
            };
            let next = (closes && !ended).then(|| ptcp.close(&mut self.fabric));
            if ptcp.role == StripedRole::Sink && notes.readable >= ptcp.next_mark {
                let received = ptcp.received();
                ptcp.next_mark = self.flows[flow.index()].pass_marks(now, received);
                self.settle(flow);
            }
            match next {
                Some(more) => notes = more,
                None => return,
            }
        }
    }

    /// What each pipe of a flow has done, by the name of its link.
    pub(super) fn pipe_results(&self, id: FlowId) -> Named<PipeResult> {
        let [Some(sender), receiver] = self.ptcp(id) else { return Named::default() };
        let received = |pipe: &PipeMetrics| {
            let same = |other: &PipeMetrics| other.pipe == pipe.pipe;
            receiver.and_then(|receiver| receiver.pipes().find(same)).map_or(0, |other| other.received_bytes)
        };
        let result = |pipe: PipeMetrics| {
            let engine = &pipe.tcp.engine;
            PipeResult {
                sent_bytes: pipe.sent_bytes,
                received_bytes: received(&pipe),
                retransmitted_segments: engine.counters.retransmitted_segments,
                timeouts: engine.counters.timeouts,
                srtt_s: engine.srtt.map(Duration::as_secs_f64),
                cwnd_bytes: engine.cwnd_bytes,
            }
        };
        sender.pipes().map(|pipe| (self.pipe_name(&pipe), result(pipe))).collect()
    }

    /// A pipe is called by its access link.
    fn pipe_name(&self, pipe: &PipeMetrics) -> String {
        let link = [pipe.path.local, pipe.path.remote].into_iter().filter_map(node_at).find_map(|address| {
            let nodes = self.fabric.roles.len() - self.fabric.interfaces.len();
            let is_interface = address.index() >= nodes;
            is_interface.then(|| self.fabric.routes.next(address, address)).flatten()
        });
        link.map_or_else(
            || format!("pipe-{}", pipe.pipe),
            |port| self.report.links[port.link().index()].name.clone(),
        )
    }
}
