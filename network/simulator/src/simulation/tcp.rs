//! The direct path of TCP's packets and timers, and TCP's connections for those who look.
use super::Simulation;
use crate::core::ids::FlowId;
use crate::core::packet::PacketHandle;
use crate::flows::application::Notes;
use crate::flows::context::FlowContext;
use crate::flows::tcp::pair::{LISTENING, OPENING, TcpPair};
use prismux_tcp::Connection;

impl Simulation {
    /// Hands a packet to an end of a TCP connection: the short path, while nobody checks the streams.
    #[inline]
    pub(crate) fn deliver_to_tcp(&mut self, pair: usize, end: usize, handle: PacketHandle) {
        let Some((segment, stream_offset)) = self.network.pool.take_plain_segment(handle) else {
            return self.deliver_long_to_tcp(pair, end, handle);
        };
        let tcp = &mut self.flows.tcp[pair].ends[end];
        let notes = tcp.receive(&mut self.network, &segment, stream_offset);
        if !tcp.is_quiet(&notes) {
            self.serve_tcp(pair, end, notes);
        }
    }

    /// The same for a segment with options, which is copied in one piece.
    #[inline(never)]
    fn deliver_long_to_tcp(&mut self, pair: usize, end: usize, handle: PacketHandle) {
        let Some((segment, stream_offset)) = self.network.pool.take_segment_beside(handle) else {
            return self.network.pool.discard(handle);
        };
        let tcp = &mut self.flows.tcp[pair].ends[end];
        let notes = tcp.receive(&mut self.network, &segment, stream_offset);
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
    pub(crate) fn tcp_pair(&self, flow: FlowId) -> Option<&TcpPair> {
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
