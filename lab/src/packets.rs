//! Packets as the log of a run knows them: of which flow they are, and under which number each goes from host to host.
//!
//! * [`numbering`]: the numbers, and how packets keep them on their way through kernels and daemons.
mod numbering;

pub(crate) use numbering::Numbering;

use crate::orders::{Carrier, FIRST_PORT, FlowOrders, Orders};
use prismux_dsr::DsrHeader;
use prismux_linux::packet::PacketBuf;
use prismux_routing::Header;
use prismux_trace::event::PacketSummary;
use prismux_wire::gre::{GRE_IN_UDP_PORT, ether_type};
use prismux_wire::ip::{protocol, without_header};
use prismux_wire::{GreHeader, IpPacket, TcpPacket, UdpPacket};
use std::borrow::Cow;

/// What a packet is to the log of the run; nothing where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Label {
    /// Its flow, in the order of the plan.
    pub flow: Option<usize>,
    /// Its number in the run; only packets of flows have one, and only where there is an air.
    pub number: Option<u64>,
    /// A link has damaged it: its receiver will not take it.
    pub damaged: bool,
}

/// A packet between two devices, and what it is to the log.
#[derive(Debug, Clone)]
pub(crate) struct Labelled {
    pub packet: PacketBuf,
    pub label: Label,
}

/// The flows of a run, by whose ports packets are told apart.
#[derive(Debug, Clone)]
pub(crate) struct FlowNames(Vec<(String, bool)>);

impl FlowNames {
    /// Of all flows of a plan, in its order.
    pub fn new(orders: &Orders<'_>) -> Self {
        // The sequence numbers of MPTCP's subflows are not those of the stream.
        let is_plain = |carrier: &Carrier| matches!(carrier, Carrier::Tcp | Carrier::OwnTcp(_));
        let flow = |orders: &FlowOrders<'_>| (orders.flow.name.clone(), is_plain(&orders.carrier));
        Self(orders.flows.iter().map(flow).collect())
    }

    /// The name of a flow.
    pub fn name(&self, flow: usize) -> Option<&str> {
        self.0.get(flow).map(|(name, _)| name.as_str())
    }

    /// The flow of a packet: by its port, in or out of a tunnel.
    pub fn flow_of(&self, packet: &[u8]) -> Option<usize> {
        let inner = inner(packet).unwrap_or(Cow::Borrowed(packet));
        let ports = match (TcpPacket::parse(&inner), UdpPacket::parse(&inner)) {
            (Ok(tcp), _) => [tcp.header.source_port, tcp.header.destination_port],
            (_, Ok(udp)) => [udp.header.source_port, udp.header.destination_port],
            _ => return None,
        };
        let flow =
            |port: u16| Some(usize::from(port.checked_sub(FIRST_PORT)?)).filter(|flow| *flow < self.0.len());
        ports.into_iter().find_map(flow)
    }

    /// What a packet is, without its number.
    pub fn summary(&self, packet: &[u8]) -> PacketSummary<'_> {
        let bytes = packet.len() as u32;
        let Some((name, plain)) = self.flow_of(packet).and_then(|flow| self.0.get(flow)) else {
            return PacketSummary::opaque(None, bytes);
        };
        match TcpPacket::parse(&inner(packet).unwrap_or(Cow::Borrowed(packet))) {
            Ok(tcp) if *plain => PacketSummary::tcp(Some(name), bytes, &tcp.header, tcp.payload_bytes()),
            _ => PacketSummary::opaque(Some(name), bytes),
        }
    }
}

/// The packet inside a tunnel, or without the header of a routing protocol; `None` without either.
fn inner(packet: &[u8]) -> Option<Cow<'_, [u8]>> {
    let ip = IpPacket::parse(packet).ok()?;
    let gre = match ip.header.protocol {
        DsrHeader::PROTOCOL => return without_dsr(&ip, packet).map(Cow::Owned),
        protocol::GRE => ip.payload(packet),
        protocol::UDP => {
            let udp = UdpPacket::parse(packet).ok()?;
            let ports = [udp.header.source_port, udp.header.destination_port];
            ports.contains(&GRE_IN_UDP_PORT).then(|| udp.payload(packet))?
        }
        _ => return None,
    };
    let (header, length) = GreHeader::parse(gre).ok()?;
    (header.protocol == ether_type::IPV4).then(|| Cow::Borrowed(&gre[length..]))
}

/// What a packet with a header of DSR carries, behind its IP header.
fn without_dsr(ip: &IpPacket, packet: &[u8]) -> Option<Vec<u8>> {
    let parsed = DsrHeader::parse(ip.payload(packet)).ok()?;
    let mut inner = vec![0; ip.total_bytes];
    let length = without_header(packet, ip, (parsed.header_bytes, parsed.next_header), &mut inner).ok()?;
    inner.truncate(length);
    Some(inner)
}
