//! Joining segments of a flow, as the kernel's generic receive offload does: those that differ in nothing but sequence
//! number and payload become one packet that the kernel cuts again where it must.
//!
//! A checksum that was wrong stays visible: a joined packet has none of its own any more, so what does not check out is
//! not joined.
use super::header::{Segmentation, VirtioHeader};
use prismux_wire::checksum::Sum;
use prismux_wire::ip::protocol;

/// Flows that may wait at once.
const MAX_FLOWS: usize = 8;

/// The longest packet that joining makes.
const MAX_JOINED_BYTES: usize = 65_535;

/// Places in headers.
const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
const TCP_BYTES: usize = 20;
const FLAGS: usize = 13;
const ACK: u8 = 0x10;
const PSH: u8 = 0x08;

/// Packets that wait for more of their flow, the oldest first.
#[derive(Default)]
pub(super) struct Joiner {
    waiting: Vec<Joined>,
    spare: Vec<Vec<u8>>,
}

/// What joins so far.
struct Joined {
    key: Key,
    shape: Shape,
    packet: Vec<u8>,
    /// Payload of each segment but the last.
    segment_bytes: usize,
    count: u16,
    next_sequence: u32,
    /// Number of the first packet, in IPv4.
    first_number: u16,
}

/// Who talks to whom.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    addresses: [u8; 32],
    ports: [u8; 4],
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
    key: Key,
    shape: Shape,
}

impl Joiner {
    /// Takes a packet; `put` gets those that wait no longer, with how many segments each is.
    pub fn offer(&mut self, packet: &[u8], mut put: impl FnMut(VirtioHeader, &[u8], u64)) {
        let Some(segment) = Segment::parse(packet) else { return put(VirtioHeader::PLAIN, packet, 1) };
        let place = self.waiting.iter().position(|joined| joined.key == segment.key);
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
        if !may_join || segment.flags() & PSH != 0 {
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

    fn put(&mut self, place: usize, put: &mut impl FnMut(VirtioHeader, &[u8], u64)) {
        let mut joined = self.waiting.remove(place);
        let header = joined.finish();
        put(header, &joined.packet, u64::from(joined.count));
        joined.packet.clear();
        self.spare.push(joined.packet);
    }
}

impl<'a> Segment<'a> {
    /// Reads a TCP segment; `None` for anything else, fragments and headers with extensions included.
    fn parse(packet: &'a [u8]) -> Option<Self> {
        let (transport_at, addresses, is_ipv6) = match packet.first()? {
            0x45 => {
                let is_whole = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3fff == 0;
                let is_tcp = *packet.get(9)? == protocol::TCP && is_whole;
                (is_tcp && total_bytes(packet, 2)? == packet.len()).then_some((IPV4_BYTES, 12..20, false))?
            }
            byte if byte >> 4 == 6 => {
                let is_tcp = *packet.get(6)? == protocol::TCP;
                let length = total_bytes(packet, 4)? + IPV6_BYTES;
                (is_tcp && length == packet.len()).then_some((IPV6_BYTES, 8..40, true))?
            }
            _ => return None,
        };
        let transport = packet.get(transport_at..)?;
        let header_bytes = usize::from(transport.get(FLAGS - 1)? >> 4) * 4;
        let payload_at = transport_at + header_bytes;
        if header_bytes < TCP_BYTES || payload_at > packet.len() {
            return None;
        }
        let mut key = Key { addresses: [0; 32], ports: *transport.first_chunk()? };
        let addresses = packet.get(addresses)?;
        key.addresses.get_mut(..addresses.len())?.copy_from_slice(addresses);
        Some(Self { packet, key, shape: Shape { is_ipv6, transport_at, payload_at } })
    }

    fn flags(&self) -> u8 {
        self.packet[self.shape.transport_at + FLAGS]
    }

    fn sequence(&self) -> u32 {
        let at = self.shape.transport_at + 4;
        self.packet[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
    }

    fn number(&self) -> u16 {
        if self.shape.is_ipv6 { 0 } else { u16::from_be_bytes([self.packet[4], self.packet[5]]) }
    }

    fn payload(&self) -> &'a [u8] {
        &self.packet[self.shape.payload_at..]
    }

    /// Data, nothing but data, and intact.
    fn may_join(&self) -> bool {
        let is_data = self.flags() & !PSH == ACK && !self.payload().is_empty();
        is_data && self.has_true_checksums()
    }

    fn has_true_checksums(&self) -> bool {
        let (network, transport) = self.packet.split_at(self.shape.transport_at);
        let is_network_true = self.shape.is_ipv6 || Sum::ZERO.add_bytes(network).is_valid();
        is_network_true && self.shape.pseudo_header(network, transport.len()).add_bytes(transport).is_valid()
    }
}

impl Shape {
    fn pseudo_header(&self, network: &[u8], transport_bytes: usize) -> Sum {
        let addresses = if self.is_ipv6 { &network[8..40] } else { &network[12..20] };
        Sum::ZERO.add_bytes(addresses).add_u16(u16::from(protocol::TCP)).add_u16(transport_bytes as u16)
    }

    /// Whether the headers of both say the same, but for lengths, numbers, checksums and PSH.
    fn has_equal_headers(&self, a: &[u8], b: &[u8]) -> bool {
        let network = if self.is_ipv6 { [0..4, 6..8] } else { [0..2, 6..10] };
        let at = self.transport_at;
        // Acknowledgement and data offset; window; urgent pointer and options.
        let transport = [at + 8..at + FLAGS, at + 14..at + 16, at + 18..self.payload_at];
        network.into_iter().chain(transport).all(|range| a[range.clone()] == b[range])
    }
}

impl Joined {
    fn new(segment: &Segment<'_>, mut packet: Vec<u8>) -> Self {
        packet.extend_from_slice(segment.packet);
        let segment_bytes = segment.payload().len();
        Self {
            key: segment.key,
            shape: segment.shape,
            packet,
            segment_bytes,
            count: 1,
            next_sequence: segment.sequence().wrapping_add(segment_bytes as u32),
            first_number: segment.number(),
        }
    }

    /// Whether `segment` is the next of this packet.
    fn takes(&self, segment: &Segment<'_>) -> bool {
        const DO_NOT_FRAGMENT: u8 = 0x40;
        let payload_bytes = segment.payload().len();
        // Packets that may be fragmented are numbered, which cutting would do one by one.
        let is_in_turn = segment.number() == self.first_number.wrapping_add(self.count)
            || self.shape.is_ipv6
            || segment.packet[6] & DO_NOT_FRAGMENT != 0;
        segment.shape == self.shape
            && segment.sequence() == self.next_sequence
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
        self.next_sequence = self.next_sequence.wrapping_add(payload.len() as u32);
        let is_pushed = segment.flags() & PSH;
        self.packet[self.shape.transport_at + FLAGS] |= is_pushed;
        is_pushed != 0
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
            network[4..6].copy_from_slice(&((length - IPV6_BYTES) as u16).to_be_bytes());
        } else {
            network[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            network[10..12].fill(0);
            let checksum = Sum::ZERO.add_bytes(network).checksum();
            network[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        // The kernel adds what follows.
        let pseudo = !self.shape.pseudo_header(network, transport.len()).checksum();
        transport[16..18].copy_from_slice(&pseudo.to_be_bytes());
        VirtioHeader {
            checksum: Some((transport_at as u16, 16)),
            segmentation: if is_ipv6 { Segmentation::Tcp6 } else { Segmentation::Tcp4 },
            headers_bytes: payload_at as u16,
            segment_bytes: self.segment_bytes as u16,
        }
    }
}

fn total_bytes(packet: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?])))
}
