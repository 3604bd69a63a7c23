//! Cutting what the kernel left whole: one packet into segments, each with headers and checksums of its own.
use super::header::{HEADER_BYTES, Segmentation, TCP_CHECKSUM, TCP_FLAGS, VirtioHeader};
use crate::packet::{PacketBuf, PacketPool};
use prismux_wire::TcpFlags;
use prismux_wire::checksum::Sum;
use prismux_wire::ip::protocol;
use std::io;
use std::ops::Range;

/// The longest IP packet.
const MAX_PACKET_BYTES: usize = 65_535;

const TCP_HEADER_BYTES: usize = 20;
const UDP_HEADER_BYTES: usize = 8;

/// The packet that was read last, and what of it has not been handed out yet.
pub(super) struct Cutter {
    buffer: Box<[u8]>,
    rest: Option<Rest>,
}

/// What is left of a packet.
enum Rest {
    /// All of it, to be handed out as it is.
    Whole(Range<usize>),
    /// Its payload from some place on.
    Segments(Segments),
}

/// A packet to be cut. Places are from the start of the packet.
#[derive(Clone, Copy)]
struct Segments {
    is_ipv6: bool,
    protocol: u8,
    transport_at: usize,
    payload_at: usize,
    segment_bytes: usize,
    /// The next segment's payload.
    next: usize,
    end: usize,
    /// Segments handed out.
    count: u16,
}

impl Default for Cutter {
    fn default() -> Self {
        Self { buffer: vec![0; HEADER_BYTES + MAX_PACKET_BYTES].into(), rest: None }
    }
}

impl Cutter {
    /// Where the next packet is to be read to, its virtio header included.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// Whether there is something to hand out.
    pub const fn has_segments(&self) -> bool {
        self.rest.is_some()
    }

    /// `length` bytes have been read.
    pub fn begin(&mut self, length: usize) {
        self.rest = self.parse(length);
    }

    fn parse(&mut self, length: usize) -> Option<Rest> {
        let (header, packet) = self.buffer.get_mut(..length)?.split_first_chunk_mut::<HEADER_BYTES>()?;
        let header = VirtioHeader::parse(*header)?;
        if header.segmentation != Segmentation::None {
            return Segments::new(&header, packet).map(Rest::Segments);
        }
        if let Some((start, offset)) = header.checksum {
            fill_checksum(packet, usize::from(start), usize::from(offset))?;
        }
        Some(Rest::Whole(HEADER_BYTES..length))
    }

    /// The next packet; `None` when there is none, and when it is longer than those of `pool` or cannot be cut: what is
    /// left of it is dropped then.
    pub fn next(&mut self, pool: &PacketPool) -> Option<PacketBuf> {
        match self.rest.take()? {
            Rest::Whole(range) => pool.copy_of(&self.buffer[range]),
            Rest::Segments(mut segments) => {
                let whole = &self.buffer[HEADER_BYTES..];
                let packet = pool.read_with(|buffer| segments.cut_next(whole, buffer)).ok()?;
                self.rest = (segments.next < segments.end).then_some(Rest::Segments(segments));
                Some(packet)
            }
        }
    }
}

impl Segments {
    fn new(header: &VirtioHeader, packet: &[u8]) -> Option<Self> {
        let is_ipv6 = packet.first()? >> 4 == 6;
        let transport_at = usize::from(header.checksum?.0);
        let transport = packet.get(transport_at..)?;
        let is_udp = header.segmentation == Segmentation::Udp;
        let transport_bytes = match is_udp {
            true => UDP_HEADER_BYTES,
            false => (usize::from(transport.get(TCP_FLAGS - 1)? >> 4) * 4).max(TCP_HEADER_BYTES),
        };
        let payload_at = transport_at + transport_bytes;
        let least = if is_ipv6 { 40 } else { 20 };
        let is_sound = transport_at >= least && payload_at < packet.len() && header.segment_bytes > 0;
        is_sound.then_some(Self {
            is_ipv6,
            protocol: if is_udp { protocol::UDP } else { protocol::TCP },
            transport_at,
            payload_at,
            segment_bytes: usize::from(header.segment_bytes),
            next: payload_at,
            end: packet.len(),
            count: 0,
        })
    }

    /// Writes the next segment of `whole` to `buffer`; returns its length.
    fn cut_next(&mut self, whole: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
        let end = (self.next + self.segment_bytes).min(self.end);
        let length = self.payload_at + (end - self.next);
        let segment = buffer.get_mut(..length).ok_or(io::ErrorKind::InvalidInput)?;
        let (headers, payload) = segment.split_at_mut(self.payload_at);
        headers.copy_from_slice(&whole[..self.payload_at]);
        payload.copy_from_slice(&whole[self.next..end]);
        let (network, transport) = segment.split_at_mut(self.transport_at);
        let addresses = self.finish_network(network, transport.len());
        self.finish_transport(transport, addresses);
        self.next = end;
        self.count = self.count.wrapping_add(1);
        Ok(length)
    }

    /// Length, number and checksum of the IP header; returns the sum of its addresses.
    fn finish_network(&self, network: &mut [u8], transport_bytes: usize) -> Sum {
        let length = network.len() + transport_bytes;
        if self.is_ipv6 {
            network[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
            return Sum::ZERO.add_bytes(&network[8..40]);
        }
        let number = u16::from_be_bytes([network[4], network[5]]).wrapping_add(self.count);
        network[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        network[4..6].copy_from_slice(&number.to_be_bytes());
        network[10..12].fill(0);
        let checksum = Sum::ZERO.add_bytes(network).checksum();
        network[10..12].copy_from_slice(&checksum.to_be_bytes());
        Sum::ZERO.add_bytes(&network[12..20])
    }

    /// Sequence number and flags, or length, and the checksum.
    fn finish_transport(&self, transport: &mut [u8], addresses: Sum) {
        let length = transport.len();
        let checksum_at = if self.protocol == protocol::UDP {
            transport[4..6].copy_from_slice(&(length as u16).to_be_bytes());
            6
        } else {
            let passed = (self.next - self.payload_at) as u32;
            let [a, b, c, d] = [transport[4], transport[5], transport[6], transport[7]];
            let sequence = u32::from_be_bytes([a, b, c, d]).wrapping_add(passed);
            transport[4..8].copy_from_slice(&sequence.to_be_bytes());
            if self.next + self.segment_bytes < self.end {
                transport[TCP_FLAGS] &= !(TcpFlags::FIN.0 | TcpFlags::PSH.0);
            }
            if self.count > 0 {
                transport[TCP_FLAGS] &= !TcpFlags::CWR.0;
            }
            TCP_CHECKSUM
        };
        transport[checksum_at..checksum_at + 2].fill(0);
        let pseudo = addresses.add_u16(u16::from(self.protocol)).add_u16(length as u16);
        let checksum = in_field(pseudo.add_bytes(transport));
        transport[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// The checksum of a sum; 0 would say of UDP that there is none, and is the same number as 0xffff to all others.
fn in_field(sum: Sum) -> u16 {
    match sum.checksum() {
        0 => 0xffff,
        checksum => checksum,
    }
}

/// Completes a checksum whose field holds the sum of the pseudo header; `None` when its place is not in the packet.
fn fill_checksum(packet: &mut [u8], start: usize, offset: usize) -> Option<()> {
    let checksum = in_field(Sum::ZERO.add_bytes(packet.get(start..)?));
    packet.get_mut(start + offset..start + offset + 2)?.copy_from_slice(&checksum.to_be_bytes());
    Some(())
}
