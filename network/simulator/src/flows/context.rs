//! What a flow reaches while it acts.
use super::record::FlowRecord;
use crate::core::packet::{Body, Content, Datagram, Packet};
use crate::core::site::Site;
use crate::network::{Network, Target};
use prismux_tcp::SegmentIn;
use prismux_trace::event::Event;
use prismux_units::Instant;
use prismux_wire::Ecn;

/// A packet that has reached an end of a flow.
#[derive(Debug, Clone, Copy)]
pub struct Arrival(pub(crate) Packet);

impl Arrival {
    /// Bytes of payload.
    pub fn payload_bytes(&self) -> u32 {
        self.0.payload_bytes
    }

    /// The mark of explicit congestion notification (RFC 3168).
    pub fn ecn(&self) -> Ecn {
        self.0.ecn
    }

    /// The segment of TCP in it and the offset of its payload in the sender's stream; `None` for a datagram.
    pub fn segment(&self) -> Option<(SegmentIn, u64)> {
        let Packet { payload_bytes, ecn, body, .. } = self.0;
        match body {
            Body::Tcp { header, stream_offset, .. } => {
                Some((SegmentIn { header, payload_bytes, ecn }, stream_offset))
            }
            Body::Datagram(_) => None,
        }
    }
}

/// The network and the results, as far as a flow may reach them.
#[derive(Debug)]
pub struct FlowContext<'a> {
    pub(crate) network: &'a mut Network,
    pub(crate) record: &'a mut FlowRecord,
    /// Of the ends, by number; empty for TCP, whose ends keep their own.
    pub(crate) sites: &'a [Site],
    /// Flows of the run with an end that have not reached it.
    pub(crate) unfinished: &'a mut usize,
    /// The stream checkers are on.
    pub(crate) checks: bool,
}

impl FlowContext<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.network.now
    }

    /// Sends a datagram from the end `end` to its peer: `content` after the header of UDP, then so many bytes of
    /// payload.
    pub fn send<C: Content + Clone>(&mut self, end: usize, content: C, payload_bytes: u32, ecn: Ecn) {
        let site = self.sites[end];
        let port = site.flow.0 as u16;
        let datagram = self.datagram(content, (port, port));
        self.network.inject(
            site.node,
            site.exit,
            packet(&site, Body::Datagram(datagram), payload_bytes, ecn),
        );
    }

    /// The content of a datagram that has arrived, if it is of type `C`; `None` also when it has been taken before.
    pub fn take<C: Content + Clone>(&mut self, arrival: &Arrival) -> Option<C> {
        match &arrival.0.body {
            Body::Datagram(datagram) => self.network.pool.take(datagram),
            Body::Tcp { .. } => None,
        }
    }

    /// Calls [`Flow::timeout`](super::flow::Flow::timeout) at `at`. A call cannot be taken back: the flow notes what it
    /// waits for, for instance by [`Alarm`](prismux_endpoint::Alarm).
    pub fn wake(&mut self, end: usize, at: Instant) {
        self.network.queue.push(at, Target::Endpoint(self.sites[end].own));
    }

    /// Tells that the application has `bytes` bytes by now. Returns at how many it must be told next; telling more
    /// often does no harm.
    pub fn progress(&mut self, bytes: u64) -> u64 {
        let mark = self.record.pass_marks(self.network.now, bytes);
        self.settle(bytes);
        mark
    }

    /// At how many bytes [`FlowContext::progress`] is due first.
    pub fn first_mark(&mut self) -> u64 {
        self.record.pass_marks(self.network.now, 0)
    }

    /// Notes the end of a flow that has come to it, with so many bytes delivered.
    pub(crate) fn settle(&mut self, bytes: u64) {
        if self.record.has_news() {
            self.network.queue.push(self.network.now, Target::Stock(self.record.flow));
        }
        if self.record.take_finished() {
            *self.unfinished -= 1;
            let flow = self.record.flow;
            self.network.observe(|names| Event::FlowFinished { flow: names.flow(flow), bytes });
        }
    }

    pub(crate) fn datagram<C: Content + Clone>(&mut self, content: C, ports: (u16, u16)) -> Datagram {
        let (header_bytes, is_segment) = (content.header_bytes() as u16, content.is_segment());
        let (content, sent_at) = (self.network.pool.keep(content), self.network.now);
        Datagram { content, header_bytes, is_segment, ports, sent_at }
    }
}

/// A packet from a site to its peer.
pub(crate) fn packet(site: &Site, body: Body, payload_bytes: u32, ecn: Ecn) -> Packet {
    Packet {
        body,
        payload_bytes,
        endpoint: site.peer,
        flow: site.flow,
        source: site.node,
        destination: site.peer_node,
        ecn,
        encapsulated: false,
        damaged: false,
        headed: false,
    }
}
