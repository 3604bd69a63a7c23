//! What capacity is reckoned with.
use super::{NetworkBuilder, NodeKind};
use crate::flows::SegmentShape;

/// MSS of a full Ethernet frame over IPv4.
const ETHERNET_MSS: u16 = 1460;
/// IPv4 and TCP headers without options, which the MSS leaves out.
const TCP_IP_HEADER_BYTES: u32 = 40;
/// Timestamps option with its padding, which takes from the payload.
const TIMESTAMP_BYTES: u32 = 12;

/// Payload and length on a member's link of a full-size packet, after the first flow that sends segments (or Ethernet's
/// MTU without one): what capacity is reckoned with.
pub(super) fn full_packet(builder: &NetworkBuilder) -> (u32, u32) {
    let ethernet = SegmentShape { mss: ETHERNET_MSS, timestamps: false };
    let segment = builder.flows.iter().find_map(|plan| plan.config.transport.get().segment());
    let SegmentShape { mss, timestamps } = segment.unwrap_or(ethernet);
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
