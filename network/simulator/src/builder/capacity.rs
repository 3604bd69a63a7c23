//! What capacity is reckoned with.
use super::NetworkBuilder;
use crate::flows::SegmentShape;
use prismux_plan::{FullPacket, FullSegment};

/// MSS of a full Ethernet frame over IPv4.
const ETHERNET_MSS: u16 = 1460;
/// A full-size packet on a member's link, after the first flow that sends segments (or Ethernet's
/// MTU without one): what capacity is reckoned with.
pub(super) fn full_packet(builder: &NetworkBuilder) -> FullPacket {
    let ethernet = SegmentShape { mss: ETHERNET_MSS, timestamps: false };
    let segment = builder.flows.iter().find_map(|plan| plan.config.transport.get().segment());
    let SegmentShape { mss, timestamps } = segment.unwrap_or(ethernet);
    let (mut mss_bytes, mut tunnel_bytes) = (u32::from(mss), 0);
    for proxy in &builder.prism.proxies {
        mss_bytes = mss_bytes.min(proxy.config.mss_clamp.map_or(mss_bytes, u32::from));
        tunnel_bytes = tunnel_bytes.max(proxy.tunnel_bytes());
    }
    FullSegment { mss_bytes, timestamps }.packet(tunnel_bytes)
}
