//! Joining segments of a flow, as the kernel's generic receive offload does: TCP segments that differ in nothing but
//! sequence number and payload, and UDP datagrams that differ in nothing but payload, become one packet that the kernel
//! cuts again where it must.
//!
//! A checksum that was wrong stays visible: a joined packet has none of its own any more, so what does not check out is
//! not joined.
mod segment;

use super::header::{TCP_FLAGS, VirtioHeader};
use prismux_wire::checksum::Sum;
use prismux_wire::ip::protocol;
use prismux_wire::{FlowKey, IpPacket, SeqNumber, TcpFlags};
use segment::{Segment, Shape};

/// Flows that may wait at once.
const MAX_FLOWS: usize = 8;

/// The longest packet that joining makes.
const MAX_JOINED_BYTES: usize = 65_535;

/// Most datagrams in one packet, as in the kernel's own joining.
const MAX_DATAGRAMS: u16 = 64;

/// Packets that wait for more of their flow, the oldest first.
pub(super) struct Joiner {
    /// UDP too.
    joins_datagrams: bool,
    waiting: Vec<Joined>,
    spare: Vec<Vec<u8>>,
}

/// What joins so far.
struct Joined {
    flow: FlowKey,
    shape: Shape,
    packet: Vec<u8>,
    /// Payload of each segment but the last.
    segment_bytes: usize,
    count: u16,
    /// Of TCP.
    next_sequence: Option<SeqNumber>,
    /// Number of the first packet, in IPv4.
    first_number: u16,
}

impl Joiner {
    /// Nothing waits. Datagrams are joined for a kernel that cuts them alone.
    pub const fn new(joins_datagrams: bool) -> Self {
        Self { joins_datagrams, waiting: Vec::new(), spare: Vec::new() }
    }

    /// Takes a packet; `put` gets those that wait no longer, with how many segments each is.
    pub fn offer(&mut self, packet: &[u8], mut put: impl FnMut(VirtioHeader, &[u8], u64)) {
        let Some(segment) = Segment::parse(packet) else {
            self.put_what_it_may_follow(packet, &mut put);
            return put(VirtioHeader::PLAIN, packet, 1);
        };
        let place = self.waiting.iter().position(|joined| joined.flow == segment.flow);
        let may_join = segment.may_join && (self.joins_datagrams || !segment.shape.is_udp);
        if let Some(place) = place {
            if may_join && self.waiting[place].takes(&segment) {
                if self.waiting[place].add(&segment) {
                    self.put(place, &mut put);
                }
                return;
            }
            self.put(place, &mut put);
        }
        // Whoever asks to be handed on at once does not wait for others.
        if !may_join || segment.is_pushed() {
            return put(VirtioHeader::PLAIN, packet, 1);
        }
        if self.waiting.len() >= MAX_FLOWS {
            self.put(0, &mut put);
        }
        self.waiting.push(Joined::new(&segment, self.spare.pop().unwrap_or_default()));
    }

    /// Hands everything out.
    pub fn flush(&mut self, mut put: impl FnMut(VirtioHeader, &[u8], u64)) {
        while !self.waiting.is_empty() {
            self.put(0, &mut put);
        }
    }

    /// Hands out what waits of any flow that `packet` may belong to, though it is no plain segment: it must not pass.
    /// Whether its ports are ports is not known; of no flow that waits is what goes elsewhere, or is of the other
    /// protocol.
    fn put_what_it_may_follow(&mut self, packet: &[u8], put: &mut impl FnMut(VirtioHeader, &[u8], u64)) {
        if self.waiting.is_empty() {
            return;
        }
        let ip = IpPacket::parse(packet).map(|parsed| parsed.header).ok();
        let is_other = |flow: &FlowKey| {
            ip.as_ref().is_some_and(|ip| {
                let is_known = matches!(ip.protocol, protocol::TCP | protocol::UDP);
                (ip.source, ip.destination) != (flow.source, flow.destination)
                    || is_known && ip.protocol != flow.protocol
            })
        };
        while let Some(place) = self.waiting.iter().position(|joined| !is_other(&joined.flow)) {
            self.put(place, put);
        }
    }

    fn put(&mut self, place: usize, put: &mut impl FnMut(VirtioHeader, &[u8], u64)) {
        let mut joined = self.waiting.remove(place);
        let header = joined.finish();
        put(header, &joined.packet, u64::from(joined.count));
        joined.packet.clear();
        self.spare.push(joined.packet);
    }
}

impl Joined {
    fn new(segment: &Segment<'_>, mut packet: Vec<u8>) -> Self {
        packet.extend_from_slice(segment.packet);
        Self {
            flow: segment.flow,
            shape: segment.shape,
            packet,
            segment_bytes: segment.payload().len(),
            count: 1,
            next_sequence: segment.end(),
            first_number: segment.ip.identification,
        }
    }

    /// Whether `segment` is the next of this packet.
    fn takes(&self, segment: &Segment<'_>) -> bool {
        let (ip, payload_bytes) = (&segment.ip, segment.payload().len());
        // Packets that may be fragmented are numbered, which cutting would do one by one.
        let is_in_turn = ip.dont_fragment || ip.identification == self.first_number.wrapping_add(self.count);
        segment.shape == self.shape
            && segment.tcp.as_ref().map(|tcp| tcp.seq) == self.next_sequence
            && payload_bytes <= self.segment_bytes
            && self.packet.len() + payload_bytes <= MAX_JOINED_BYTES
            && is_in_turn
            && self.shape.has_equal_headers(&self.packet, segment.packet)
    }

    /// Adds the next segment; true when it is the last that fits.
    fn add(&mut self, segment: &Segment<'_>) -> bool {
        let payload = segment.payload();
        self.packet.extend_from_slice(payload);
        self.count += 1;
        self.next_sequence = segment.end();
        if segment.is_pushed() {
            self.packet[self.shape.transport_at + TCP_FLAGS] |= TcpFlags::PSH.0;
        }
        segment.is_pushed()
            || payload.len() < self.segment_bytes
            || self.packet.len() + self.segment_bytes > MAX_JOINED_BYTES
            || self.shape.is_udp && self.count >= MAX_DATAGRAMS
    }

    /// Lengths and checksums of the whole; what the kernel is told of it.
    fn finish(&mut self) -> VirtioHeader {
        if self.count == 1 {
            return VirtioHeader::PLAIN;
        }
        let Shape { is_ipv6, is_udp, transport_at, payload_at } = self.shape;
        let length = self.packet.len();
        let (network, transport) = self.packet.split_at_mut(transport_at);
        if is_ipv6 {
            network[4..6].copy_from_slice(&((length - transport_at) as u16).to_be_bytes());
        } else {
            network[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            network[10..12].fill(0);
            let checksum = Sum::ZERO.add_bytes(network).checksum();
            network[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        if is_udp {
            transport[4..6].copy_from_slice(&((length - transport_at) as u16).to_be_bytes());
        }
        // The kernel adds what follows.
        let pseudo = !self.shape.pseudo_header(network, transport.len()).checksum();
        let checksum_at = self.shape.checksum_at();
        transport[checksum_at..checksum_at + 2].copy_from_slice(&pseudo.to_be_bytes());
        VirtioHeader {
            checksum: Some((transport_at as u16, checksum_at as u16)),
            segmentation: self.shape.segmentation(),
            headers_bytes: payload_at as u16,
            segment_bytes: self.segment_bytes as u16,
        }
    }
}
