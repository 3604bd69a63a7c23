//! Both ends of a TCP connection as a flow.
use super::FIRST_FAR_PORT;
use super::application::wake;
use super::endpoint::{Role, TcpEndpoint};
use crate::core::ids::NodeId;
use crate::flows::context::{Arrival, FlowContext};
use crate::flows::flow::{Flow, Window};
use prismux_tcp::Connection;
use prismux_tcp::engine::EngineMetrics;
use prismux_trace::histogram::DelayHistogram;
use prismux_units::Rate;
use prismux_wire::{FlowKey, SeqNumber};

/// Both ends: the opening one, which sends a bulk transfer or asks, and the listening one.
#[derive(Debug)]
pub(crate) struct TcpPair {
    pub ends: [TcpEndpoint; 2],
}

/// The ends by number.
pub(crate) const OPENING: usize = 0;
pub(crate) const LISTENING: usize = 1;

impl TcpPair {
    /// Tells an end's checker how far its peer lets it send.
    #[cold]
    pub(super) fn refresh_check(&mut self, end: usize) {
        let edge = self.ends[1 - end].connection.as_ref().map_or(0, Connection::receive_window_edge);
        if let Some(check) = self.ends[end].extras.as_mut().and_then(|extras| extras.check.as_mut()) {
            check.peer_edge = edge;
        }
    }

    /// Whether it carries a file, and nothing comes back.
    pub fn is_bulk(&self) -> bool {
        let [opening, listening] = self.ends.each_ref().map(|end| &end.role);
        matches!((opening, listening), (Role::Source { .. }, Role::Sink { updates: None }))
    }

    /// The port of the listening end in the next connection, where so many far ports are in use at a time.
    pub fn next_port(&self, spread: u16) -> u16 {
        self.ends[LISTENING].setup.local_port.checked_add(spread).unwrap_or(FIRST_FAR_PORT)
    }

    /// Forgets the connection: the next one has a file of so many bytes, this far port and these initial sequence
    /// numbers.
    pub fn renew(&mut self, bytes: u64, far_port: u16, initial_sequence: [SeqNumber; 2], checks: bool) {
        self.ends[OPENING].role = Role::Source { bytes };
        let near_port = self.ends[OPENING].setup.local_port;
        let ports = [(near_port, far_port), (far_port, near_port)];
        for ((end, ports), initial_sequence) in self.ends.iter_mut().zip(ports).zip(initial_sequence) {
            end.renew(ports, initial_sequence, checks);
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
        if let Role::Writer { every, .. } = self.ends[OPENING].role {
            wake(context.network, self.ends[OPENING].site.own, every);
        }
        if !self.ends[OPENING].is_quiet(&notes) {
            self.serve(context, OPENING, notes);
        }
        if let Role::Sink { updates } = self.ends[LISTENING].role {
            let update = updates.map_or(u64::MAX, |updates| updates.next_mark());
            self.ends[LISTENING].next_mark = context.first_mark().min(update);
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
        let notes = self.ends[end].receive(context.network, &segment, stream_offset);
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
        self.go_on(context, end);
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

    fn responses(&self) -> Option<&DelayHistogram> {
        match &self.ends[OPENING].role {
            Role::Client(client) => Some(&client.waited),
            _ => None,
        }
    }

    fn window(&self) -> Option<Window> {
        let opening = self.ends[OPENING].connection.as_ref();
        Some(opening.map_or_else(Window::default, |tcp| Window::of(&tcp.engine().metrics())))
    }

    fn faults(&self) -> Vec<String> {
        let checks = self.ends.iter().filter_map(|end| end.extras.as_ref()?.check.as_ref());
        checks.flat_map(|check| check.faults()).cloned().collect()
    }

    fn tcp_key(&self) -> Option<FlowKey> {
        Some(self.ends[OPENING].flow_key())
    }
}
