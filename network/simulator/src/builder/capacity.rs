//! What capacity is reckoned with.
use super::{NetworkBuilder, NodeKind};
use crate::flow::Transport;
use prismux_rcp::RcpConfig;
use prismux_tcp::TcpConfig;

/// MSS of a full Ethernet frame over IPv4.
const ETHERNET_MSS: u16 = 1460;
/// IPv4 and TCP headers without options, which the MSS leaves out.
const TCP_IP_HEADER_BYTES: u32 = 40;
/// Timestamps option with its padding, which takes from the payload.
const TIMESTAMP_BYTES: u32 = 12;

/// Payload and length on a member's link of a full-size packet, after the first flow that sends segments (or Ethernet's
/// MTU without one): what capacity is reckoned with. RCP's headers in UDP are as long as TCP's.
pub(super) fn full_packet(builder: &NetworkBuilder) -> (u32, u32) {
    let (mss, timestamps) =
        builder.flows.iter().find_map(|(_, flow)| agreed(&flow.transport)).unwrap_or((ETHERNET_MSS, false));
    let (mut mss, mut overhead) = (u32::from(mss), 0);
    for node in &builder.nodes {
        if let NodeKind::Proxy { config, tunnel, .. } = &node.kind {
            mss = mss.min(config.mss_clamp.map_or(mss, u32::from));
            overhead = overhead.max(tunnel.overhead_bytes());
        }
    }
    let options = if timestamps { TIMESTAMP_BYTES } else { 0 };
    (mss.saturating_sub(options), mss + TCP_IP_HEADER_BYTES + overhead)
}

/// MSS of a flow of segments, and whether they carry timestamps.
fn agreed(transport: &Transport) -> Option<(u16, bool)> {
    let tcp = |a: &TcpConfig, b: &TcpConfig| (a.mss.min(b.mss), a.timestamps && b.timestamps);
    let rcp = |a: &RcpConfig, b: &RcpConfig| (a.mss.min(b.mss), a.timestamps && b.timestamps);
    match transport {
        Transport::Tcp(flow) => Some(tcp(&flow.sender, &flow.receiver)),
        Transport::RequestResponse(exchange) => Some(tcp(&exchange.tcp, &exchange.tcp)),
        Transport::Ptcp(flow) => Some(tcp(&flow.config.tcp, &flow.config.tcp)),
        Transport::Striping(flow) => Some(tcp(&flow.tcp, &flow.tcp)),
        Transport::Rcp(flow) => Some(rcp(&flow.sender, &flow.receiver)),
        Transport::R2cp(flow) => Some(rcp(&flow.sender, &flow.config.rcp)),
        Transport::Cbr(_) | Transport::ParetoOnOff(_) => None,
    }
}
