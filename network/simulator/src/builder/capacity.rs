//! What capacity is reckoned with.
use super::{NetworkBuilder, NodeKind};
use crate::flows::SegmentShape;
use prismux_plan::{FullPacket, FullSegment, IpFamily};

/// MSS of a full Ethernet frame over IPv4.
const ETHERNET_MSS: u16 = 1460;
/// A full-size packet on a member's link, after the first flow that sends segments (or Ethernet's
/// MTU without one): what capacity is reckoned with.
pub(super) fn full_packet(builder: &NetworkBuilder) -> FullPacket {
    let ethernet = SegmentShape { mss: ETHERNET_MSS, timestamps: false };
    let segment = builder.flows.iter().find_map(|plan| plan.config.transport.get().segment());
    let SegmentShape { mss, timestamps } = segment.unwrap_or(ethernet);
    let (mut mss_bytes, mut tunnel_bytes) = (u32::from(mss), 0);
    for node in &builder.nodes {
        if let NodeKind::Proxy { config, tunnel, .. } = &node.kind {
            mss_bytes = mss_bytes.min(config.mss_clamp.map_or(mss_bytes, u32::from));
            tunnel_bytes = tunnel_bytes.max(tunnel.overhead_bytes(IpFamily::V4));
        }
    }
    FullSegment { mss_bytes, timestamps }.packet(tunnel_bytes)
}
