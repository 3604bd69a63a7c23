//! Both ends of a TCP connection as a flow, and the direct path of its packets.
use super::endpoint::{Role, TcpEndpoint};
use crate::core::ids::{FlowId, NodeId};
use crate::core::packet::PacketHandle;
use crate::flows::{Arrival, Flow, FlowContext, Notes, Window};
use crate::simulation::Simulation;
use prismux_tcp::Connection;
use prismux_tcp::engine::EngineMetrics;
use prismux_units::Rate;
use prismux_wire::FlowKey;

/// Both ends: the opening one, which sends a bulk transfer or asks, and the listening one.
#[derive(Debug)]
pub(crate) struct TcpPair {
    pub ends: [TcpEndpoint; 2],
}

/// The ends by number.
const OPENING: usize = 0;
const LISTENING: usize = 1;

impl TcpPair {
    /// Tells an end's checker how far its peer lets it send.
    #[cold]
    pub(super) fn refresh_check(&mut self, end: usize) {
        let edge = self.ends[1 - end].connection.as_ref().map_or(0, Connection::receive_window_edge);
        if let Some(check) = &mut self.ends[end].check {
            check.peer_edge = edge;
        }
    }

    /// Whether the data comes back to the end that opened: a client's.
    fn returns(&self) -> bool {
        matches!(self.ends[OPENING].role, Role::Client(_))
    }
}

impl Flow for TcpPair {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        let notes = self.ends[OPENING].open(context.network);
        if !self.ends[OPENING].is_quiet(&notes) {
            self.serve(context, OPENING, notes);
        }
        if matches!(self.ends[LISTENING].role, Role::Sink) {
            self.ends[LISTENING].next_mark = context.first_mark();
        }
    }

    fn stop(&mut self, context: &mut FlowContext<'_>) {
        self.ends[OPENING].with_connection(context.network, Connection::abort);
    }

    fn reset(&mut self, context: &mut FlowContext<'_>) {
        self.ends[LISTENING].with_connection(context.network, Connection::abort);
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let Some((segment, stream_offset)) = arrival.segment() else { return };
        if context.checks {
            self.refresh_check(end);
        }
        let notes = self.ends[end].receive(context.network, segment, stream_offset);
        if !self.ends[end].is_quiet(&notes) {
            self.serve(context, end, notes);
        }
    }

    fn deliver_damaged(&mut self, _: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        if let Some((segment, _)) = arrival.segment() {
            self.ends[end].receive_damaged(&segment);
        }
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, end: usize) {
        if context.checks {
            self.refresh_check(end);
        }
        if self.ends[end].armed != context.now() {
            return;
        }
        let notes = self.ends[end].fire(context.network);
        if !self.ends[end].is_quiet(&notes) {
            self.serve(context, end, notes);
        }
    }

    fn resume(&mut self, context: &mut FlowContext<'_>, end: usize) {
        self.ask(context, end);
    }

    fn hand_over(&mut self, context: &mut FlowContext<'_>, host: NodeId, bandwidth: Option<Rate>) {
        for end in self.ends.iter_mut().filter(|end| end.site.node == host) {
            end.hand_over(context.network, bandwidth);
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.ends[if self.returns() { OPENING } else { LISTENING }].received()
    }

    /// Of the end that sends the data.
    fn engine(&self) -> Option<EngineMetrics> {
        let sending = &self.ends[if self.returns() { LISTENING } else { OPENING }];
        sending.connection.as_ref().map(|connection| connection.metrics().engine)
    }

    fn window(&self) -> Option<Window> {
        let opening = self.ends[OPENING].connection.as_ref();
        Some(opening.map_or_else(Window::default, |tcp| Window::of(&tcp.engine().metrics())))
    }

    fn faults(&self) -> Vec<String> {
        let checks = self.ends.iter().filter_map(|end| end.check.as_deref());
        checks.flat_map(|check| check.faults()).cloned().collect()
    }

    fn tcp_key(&self) -> Option<FlowKey> {
        Some(self.ends[OPENING].flow_key())
    }
}

impl Simulation {
    /// Hands a packet to an end of a TCP connection: the short path, while nobody checks the streams.
    #[inline]
    pub(crate) fn deliver_to_tcp(&mut self, pair: usize, end: usize, handle: PacketHandle) {
        let Some((segment, stream_offset)) = self.network.pool.take_segment(handle) else {
            return self.network.pool.discard(handle);
        };
        let tcp = &mut self.flows.tcp[pair].ends[end];
        let notes = tcp.receive(&mut self.network, segment, stream_offset);
        if !tcp.is_quiet(&notes) {
            self.serve_tcp(pair, end, notes);
        }
    }

    /// A timer of an end of a TCP connection, unless it is a leftover: the short path.
    #[inline]
    pub(crate) fn take_tcp_timer(&mut self, pair: usize, end: usize) {
        let tcp = &mut self.flows.tcp[pair].ends[end];
        if tcp.armed == self.network.now {
            let notes = tcp.fire(&mut self.network);
            if !tcp.is_quiet(&notes) {
                self.serve_tcp(pair, end, notes);
            }
        }
    }

    #[cold]
    fn serve_tcp(&mut self, pair: usize, end: usize, notes: Notes) {
        let pair = &mut self.flows.tcp[pair];
        let mut context = FlowContext {
            network: &mut self.network,
            record: &mut self.records[pair.ends[end].site.flow.index()],
            sites: &[],
            unfinished: &mut self.unfinished,
            checks: self.checks,
        };
        pair.serve(&mut context, end, notes);
    }

    /// Both ends of a TCP flow.
    pub(super) fn tcp_pair(&self, flow: FlowId) -> Option<&TcpPair> {
        self.flow_as(flow)
    }

    /// The sending connection of a TCP flow (the asking one of request/response), once it has been opened.
    pub fn sender(&self, flow: FlowId) -> Option<&Connection> {
        self.tcp_pair(flow)?.ends[OPENING].connection.as_ref()
    }

    /// The receiving connection of a TCP flow.
    pub fn receiver(&self, flow: FlowId) -> Option<&Connection> {
        self.tcp_pair(flow)?.ends[LISTENING].connection.as_ref()
    }
}
