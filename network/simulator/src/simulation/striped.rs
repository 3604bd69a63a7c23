//! Applications and results of flows that have several pipes.
use super::Simulation;
use crate::endpoint::{ENDLESS, Endpoint, Notes, StripedRole};
use crate::ids::{EndpointId, FlowId, NodeId};
use crate::packet::node_at;
use prismux_ptcp::PipeMetrics;
use prismux_tcp::Connection;
use prismux_tcp::engine::EngineMetrics;
use prismux_trace::results::{Named, PipeResult};
use prismux_units::Duration;

impl Simulation {
    /// Lets the application of `id` act on `notes`, and on the notes that its acts produce.
    pub(super) fn serve_striped(&mut self, id: EndpointId, mut notes: Notes) {
        loop {
            let (flow, role, next_mark) = match &self.endpoints[id.index()] {
                Endpoint::Ptcp(ptcp) => (ptcp.site.flow, ptcp.role, ptcp.next_mark),
                Endpoint::Striping(striping) => (striping.site.flow, striping.role, striping.next_mark),
                _ => return,
            };
            if role == StripedRole::Sink && notes.readable >= next_mark {
                self.pass_striped_mark(id, flow, notes.readable);
            }
            let records = &mut self.flows[flow.index()].records;
            let next = match (&mut self.endpoints[id.index()], role) {
                _ if notes.ended => None,
                (Endpoint::Ptcp(ptcp), StripedRole::Source { bytes }) => {
                    (notes.connected && bytes < ENDLESS).then(|| ptcp.close(&mut self.fabric))
                }
                (Endpoint::Ptcp(ptcp), StripedRole::Sink) => {
                    notes.peer_closed.then(|| ptcp.close(&mut self.fabric))
                }
                (Endpoint::Striping(striping), StripedRole::Sink) => {
                    notes.peer_closed.then(|| striping.close_and_drain(&mut self.fabric, records))
                }
                _ => None,
            };
            match next {
                Some(more) => notes = more,
                None => return,
            }
        }
    }

    fn pass_striped_mark(&mut self, id: EndpointId, flow: FlowId, delivered: u64) {
        let mark = self.flows[flow.index()].pass_marks(self.fabric.now, delivered);
        match &mut self.endpoints[id.index()] {
            Endpoint::Ptcp(ptcp) => ptcp.next_mark = mark,
            Endpoint::Striping(striping) => striping.next_mark = mark,
            _ => {}
        }
        self.settle(flow);
    }

    /// What each pipe of a flow has done, by the name of its link.
    pub(super) fn pipe_results(&self, id: FlowId) -> Named<PipeResult> {
        let flow = &self.flows[id.index()];
        match (&self.endpoints[flow.source.index()], &self.endpoints[flow.sink.index()]) {
            (Endpoint::Striping(sender), Endpoint::Striping(receiver)) => {
                let pairs = sender.connections().zip(receiver.connections()).enumerate();
                pairs
                    .map(|(index, (sent, received))| {
                        let (own, other) = sender.addresses(index);
                        (self.pipe_name(own, other, index), striped_result(sent, received))
                    })
                    .collect()
            }
            (Endpoint::Ptcp(_), _) => self.ptcp_results(id),
            _ => Named::default(),
        }
    }

    fn ptcp_results(&self, id: FlowId) -> Named<PipeResult> {
        let [Some(sender), receiver] = self.ptcp(id) else { return Named::default() };
        let received = |pipe: &PipeMetrics| {
            let same = |other: &PipeMetrics| other.pipe == pipe.pipe;
            receiver.and_then(|receiver| receiver.pipes().find(same)).map_or(0, |other| other.received_bytes)
        };
        let name = |pipe: &PipeMetrics| {
            let [own, other] =
                [pipe.path.local, pipe.path.remote].map(|address| node_at(address).unwrap_or(NodeId(0)));
            self.pipe_name(own, other, usize::from(pipe.pipe))
        };
        sender
            .pipes()
            .map(|pipe| (name(&pipe), result(pipe.sent_bytes, received(&pipe), &pipe.tcp.engine)))
            .collect()
    }

    /// A pipe is called by its access link.
    fn pipe_name(&self, own: NodeId, other: NodeId, index: usize) -> String {
        let nodes = self.fabric.roles.len() - self.fabric.interfaces.len();
        let address = [own, other].into_iter().find(|address| address.index() >= nodes);
        let link = address.and_then(|address| self.fabric.routes.next(address, address));
        link.map_or_else(
            || format!("pipe-{index}"),
            |port| self.report.links[port.link().index()].name.clone(),
        )
    }
}

fn striped_result(sent: Option<&Connection>, received: Option<&Connection>) -> PipeResult {
    let Some(sent) = sent else { return PipeResult::default() };
    let received = received.map_or(0, Connection::bytes_received_in_order);
    result(sent.stream_written(), received, &sent.metrics().engine)
}

fn result(sent_bytes: u64, received_bytes: u64, engine: &EngineMetrics) -> PipeResult {
    PipeResult {
        sent_bytes,
        received_bytes,
        retransmitted_segments: engine.counters.retransmitted_segments,
        timeouts: engine.counters.timeouts,
        srtt_s: engine.srtt.map(Duration::as_secs_f64),
        rto_s: Some(engine.rto.as_secs_f64()),
        cwnd_bytes: engine.cwnd_bytes,
    }
}
