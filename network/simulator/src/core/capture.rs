//! Captures: what is handed to links, and what goes on the air, in pcapng.
use crate::core::ids::{MediumId, PortId};
use crate::core::packet::{Body, Packet, PacketHandle, PacketPool, address};
use prismux_trace::pcapng::{CapturedPacket, Direction, InterfaceId, PcapNg};
use prismux_units::Instant;
use prismux_wire::{FlowKey, IpHeader};
use std::io::{self, Write};
use std::net::IpAddr;

const IP_HEADER_BYTES: usize = 20;
/// The place of the protocol in an IPv4 header.
const PROTOCOL_AT: usize = 9;
/// The place of source and destination in an IPv4 header.
const ADDRESSES_AT: std::ops::Range<usize> = 12..20;
/// The IP protocol of nothing.
const NO_NEXT_HEADER: u8 = 59;
/// The IP protocol of IPv4: of a packet in a tunnel (RFC 2003).
const IPV4_IN_IP: u8 = 4;

/// A pcapng capture of all links. What is captured is what is handed to a link, lost packets included.
pub(crate) struct Capture {
    pcap: PcapNg<Box<dyn Write + Send>>,
    /// By link.
    links: Vec<InterfaceId>,
    /// By medium.
    media: Vec<InterfaceId>,
    bytes: Vec<u8>,
    /// The first write that failed; nothing is written after it.
    failed: Option<io::Error>,
}

impl Capture {
    /// Writes a capture of the links and of the radio media with these names to `writer`.
    ///
    /// # Errors
    /// When the head of the capture cannot be written.
    pub fn new<'a>(
        writer: Box<dyn Write + Send>,
        links: &[String],
        media: impl Iterator<Item = &'a str>,
    ) -> io::Result<Self> {
        let mut pcap = PcapNg::new(writer)?;
        let links = links.iter().map(|name| pcap.add_interface(name, "")).collect::<io::Result<_>>()?;
        let media = media.map(|name| pcap.add_radio_interface(name, "")).collect::<io::Result<_>>()?;
        Ok(Self { pcap, links, media, bytes: Vec::new(), failed: None })
    }

    /// Writes a frame that begins on a medium: `head` as it is, behind it the packet, `size_bytes` long there.
    pub fn frame(
        &mut self,
        now: Instant,
        medium: MediumId,
        head: &[u8],
        packet: Option<(PacketHandle, u32)>,
        pool: &PacketPool,
    ) {
        let Some(&interface) = self.media.get(medium.index()).filter(|_| self.failed.is_none()) else {
            return;
        };
        let (mut bytes, mut original) = (head.to_vec(), head.len());
        if let Some((handle, size_bytes)) = packet {
            bytes.extend(self.on_air(pool, handle));
            original += size_bytes as usize;
        }
        let captured = CapturedPacket {
            interface,
            at: now,
            original_bytes: original.max(bytes.len()) as u32,
            bytes: &bytes,
            direction: None,
            comment: "",
        };
        self.failed = self.pcap.packet(&captured).err();
    }

    /// A packet as it is on the air: with the header of a routing protocol behind its IP header, or one of that
    /// protocol's own.
    fn on_air(&mut self, pool: &PacketPool, handle: PacketHandle) -> Vec<u8> {
        let packet = &pool.packet(handle);
        let alone = match &packet.body {
            Body::Datagram(datagram) => {
                pool.content(datagram).and_then(|content| content.behind_ip(NO_NEXT_HEADER))
            }
            Body::Tcp { .. } => None,
        };
        let inner = match alone {
            Some(_) => &[],
            None => {
                let length = self.serialise(pool, packet);
                &self.bytes[..length]
            }
        };
        let mut next_header = inner.get(PROTOCOL_AT).copied().unwrap_or(NO_NEXT_HEADER);
        let around = |next_header| pool.header(handle).and_then(|header| header.behind_ip(next_header));
        let Some(mut behind) = alone.or_else(|| around(next_header)) else { return inner.to_vec() };
        let mut payload = inner.get(IP_HEADER_BYTES..).unwrap_or_default();
        let ends = [behind.source.octets(), behind.destination.octets()].concat();
        if inner.get(ADDRESSES_AT).is_some_and(|own| own != ends) {
            // What goes from somebody else, or to somebody else, does so in a tunnel.
            (next_header, payload) = (IPV4_IN_IP, inner);
            behind = around(next_header).unwrap_or(behind);
        }
        let protocol = if behind.bytes.is_empty() { next_header } else { behind.protocol };
        let (source, destination) = (IpAddr::V4(behind.source), IpAddr::V4(behind.destination));
        let ip = IpHeader {
            hop_limit: behind.hop_limit,
            ecn: packet.ecn,
            ..IpHeader::new(source, destination, protocol)
        };
        let mut bytes = vec![0; IP_HEADER_BYTES];
        // An IPv4 header fits into twenty bytes.
        let _ = ip.emit(behind.bytes.len() + payload.len(), &mut bytes);
        bytes.extend(behind.bytes);
        bytes.extend_from_slice(payload);
        bytes
    }

    /// Writes a packet that is handed to a link.
    pub fn packet(
        &mut self,
        now: Instant,
        port: PortId,
        size_bytes: u32,
        pool: &PacketPool,
        packet: &Packet,
    ) {
        let interface = self.links[port.link().index()];
        if self.failed.is_some() {
            return;
        }
        let length = self.serialise(pool, packet);
        let comment = if packet.encapsulated { "in a tunnel, whose headers are left out" } else { "" };
        let direction = if port.is_forward() { Direction::Outbound } else { Direction::Inbound };
        let captured = CapturedPacket {
            interface,
            at: now,
            bytes: &self.bytes[..length],
            original_bytes: size_bytes.max(length as u32),
            direction: Some(direction),
            comment,
        };
        self.failed = self.pcap.packet(&captured).err();
    }

    /// The packet's bytes, the payload all zeros.
    fn serialise(&mut self, pool: &PacketPool, packet: &Packet) -> usize {
        let FlowKey { source_port, destination_port, .. } = packet.flow_key();
        let (source, destination) = (address(packet.source), address(packet.destination));
        let payload = packet.payload_bytes as usize;
        self.bytes.clear();
        self.bytes.resize(packet.ip_bytes() as usize + 64, 0);
        let zeros = vec![0; payload];
        let ip = IpHeader { ecn: packet.ecn, ..IpHeader::new(source, destination, 0) };
        let written = match &packet.body {
            Body::Tcp { header, .. } => prismux_wire::emit_tcp_packet(&ip, header, &zeros, &mut self.bytes),
            Body::Datagram(datagram) => {
                let header = prismux_wire::UdpHeader { source_port, destination_port };
                let mut bytes = vec![0; usize::from(datagram.header_bytes) + payload];
                if let Some(content) = pool.content(datagram) {
                    content.emit(&mut bytes);
                }
                match datagram.is_segment {
                    true => prismux_wire::emit_tcp_segment(&ip, &bytes, &mut self.bytes),
                    false => prismux_wire::emit_udp_packet(&ip, &header, &bytes, &mut self.bytes),
                }
            }
        };
        written.unwrap_or(0)
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first failure to write, whenever it was.
    pub fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.pcap.finish().map(drop),
        }
    }
}
