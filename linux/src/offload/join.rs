//! Joining segments of a flow, as the kernel's generic receive offload does: those that differ in nothing but sequence
//! number and payload become one packet that the kernel cuts again where it must.
//!
//! A checksum that was wrong stays visible: a joined packet has none of its own any more, so what does not check out is
//! not joined.
use super::header::{Segmentation, TCP_CHECKSUM, TCP_FLAGS, VirtioHeader};
use prismux_wire::checksum::Sum;
use prismux_wire::ip::protocol;
use prismux_wire::{FlowKey, IpPacket, SeqNumber, TcpFlags, TcpPacket};

/// Flows that may wait at once.
const MAX_FLOWS: usize = 8;

/// The longest packet that joining makes.
const MAX_JOINED_BYTES: usize = 65_535;

/// Packets that wait for more of their flow, the oldest first.
#[derive(Default)]
pub(super) struct Joiner {
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
    next_sequence: SeqNumber,
    /// Number of the first packet, in IPv4.
    first_number: u16,
}

/// Where things are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    is_ipv6: bool,
    transport_at: usize,
    payload_at: usize,
}

/// A TCP segment in one piece.
struct Segment<'a> {
    packet: &'a [u8],
    parsed: TcpPacket,
    shape: Shape,
}

impl Joiner {
    /// Takes a packet; `put` gets those that wait no longer, with how many segments each is.
    pub fn offer(&mut self, packet: &[u8], mut put: impl FnMut(VirtioHeader, &[u8], u64)) {
        let Some(segment) = Segment::parse(packet) else {
            self.put_what_it_may_follow(packet, &mut put);
            return put(VirtioHeader::PLAIN, packet, 1);
        };
        let flow = segment.parsed.flow();
        let place = self.waiting.iter().position(|joined| joined.flow == flow);
        let may_join = segment.may_join();
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
    /// Whether its ports are ports is not known; of no flow that waits is what goes elsewhere, or is UDP.
    fn put_what_it_may_follow(&mut self, packet: &[u8], put: &mut impl FnMut(VirtioHeader, &[u8], u64)) {
        if self.waiting.is_empty() {
            return;
        }
        let ip = IpPacket::parse(packet).map(|parsed| parsed.header).ok();
        let is_other = |flow: &FlowKey| {
            ip.as_ref().is_some_and(|ip| {
                (ip.source, ip.destination) != (flow.source, flow.destination) || ip.protocol == protocol::UDP
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

impl<'a> Segment<'a> {
    /// Reads a TCP segment; `None` for anything else, and for IP headers with options or extensions.
    fn parse(packet: &'a [u8]) -> Option<Self> {
        let parsed = TcpPacket::parse(packet).ok().filter(|parsed| parsed.ip.total_bytes == packet.len())?;
        let is_ipv6 = parsed.ip.header.source.is_ipv6();
        let shape =
            Shape { is_ipv6, transport_at: parsed.ip.header_bytes, payload_at: parsed.payload_offset };
        (shape.transport_at == shape.plain_ip_bytes()).then_some(Self { packet, parsed, shape })
    }

    fn is_pushed(&self) -> bool {
        self.parsed.header.flags.contains(TcpFlags::PSH)
    }

    /// Data, nothing but data, and intact.
    fn may_join(&self) -> bool {
        self.parsed.header.flags.without(TcpFlags::PSH) == TcpFlags::ACK
            && self.parsed.payload_bytes() > 0
            && self.parsed.verify_checksum(self.packet).is_ok()
    }
}

impl Shape {
    /// Bytes of an IP header without options and extensions.
    const fn plain_ip_bytes(&self) -> usize {
        if self.is_ipv6 { 40 } else { 20 }
    }

    fn pseudo_header(&self, network: &[u8], transport_bytes: usize) -> Sum {
        let addresses = if self.is_ipv6 { &network[8..40] } else { &network[12..20] };
        Sum::ZERO.add_bytes(addresses).add_u16(u16::from(protocol::TCP)).add_u16(transport_bytes as u16)
    }

    /// Whether the headers of both say the same, but for lengths, numbers, checksums and PSH.
    fn has_equal_headers(&self, a: &[u8], b: &[u8]) -> bool {
        let network = if self.is_ipv6 { [0..4, 6..8] } else { [0..2, 6..10] };
        let at = self.transport_at;
        // Acknowledgement and data offset; window; urgent pointer and options.
        let transport = [at + 8..at + TCP_FLAGS, at + 14..at + TCP_CHECKSUM, at + 18..self.payload_at];
        network.into_iter().chain(transport).all(|range| a[range.clone()] == b[range])
    }
}

impl Joined {
    fn new(segment: &Segment<'_>, mut packet: Vec<u8>) -> Self {
        packet.extend_from_slice(segment.packet);
        let payload_bytes = segment.parsed.payload_bytes();
        Self {
            flow: segment.parsed.flow(),
            shape: segment.shape,
            packet,
            segment_bytes: payload_bytes as usize,
            count: 1,
            next_sequence: segment.parsed.header.seq + payload_bytes,
            first_number: segment.parsed.ip.header.identification,
        }
    }

    /// Whether `segment` is the next of this packet.
    fn takes(&self, segment: &Segment<'_>) -> bool {
        let (ip, payload_bytes) = (&segment.parsed.ip.header, segment.parsed.payload_bytes() as usize);
        // Packets that may be fragmented are numbered, which cutting would do one by one.
        let is_in_turn = ip.dont_fragment || ip.identification == self.first_number.wrapping_add(self.count);
        segment.shape == self.shape
            && segment.parsed.header.seq == self.next_sequence
            && payload_bytes <= self.segment_bytes
            && self.packet.len() + payload_bytes <= MAX_JOINED_BYTES
            && is_in_turn
            && self.shape.has_equal_headers(&self.packet, segment.packet)
    }

    /// Adds the next segment; true when it is the last that fits.
    fn add(&mut self, segment: &Segment<'_>) -> bool {
        let payload = segment.parsed.payload(segment.packet);
        self.packet.extend_from_slice(payload);
        self.count += 1;
        self.next_sequence += payload.len() as u32;
        if segment.is_pushed() {
            self.packet[self.shape.transport_at + TCP_FLAGS] |= TcpFlags::PSH.0;
        }
        segment.is_pushed()
            || payload.len() < self.segment_bytes
            || self.packet.len() + self.segment_bytes > MAX_JOINED_BYTES
    }

    /// Lengths and checksums of the whole; what the kernel is told of it.
    fn finish(&mut self) -> VirtioHeader {
        if self.count == 1 {
            return VirtioHeader::PLAIN;
        }
        let Shape { is_ipv6, transport_at, payload_at } = self.shape;
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
        // The kernel adds what follows.
        let pseudo = !self.shape.pseudo_header(network, transport.len()).checksum();
        transport[TCP_CHECKSUM..TCP_CHECKSUM + 2].copy_from_slice(&pseudo.to_be_bytes());
        VirtioHeader {
            checksum: Some((transport_at as u16, TCP_CHECKSUM as u16)),
            segmentation: if is_ipv6 { Segmentation::Tcp6 } else { Segmentation::Tcp4 },
            headers_bytes: payload_at as u16,
            segment_bytes: self.segment_bytes as u16,
        }
    }
}
