//! Capacity: the best goodput that physics allows. The shared links' rates, less what the headers of full-size
//! packets take.
use crate::{IpFamily, NodeId, Plan, Role};

/// IPv4 header (RFC 791) and TCP header (RFC 9293) without options, which a maximum segment size leaves out.
pub const TCP_IP_HEADER_BYTES: u32 = 40;
/// The timestamps option with its padding (RFC 7323 appendix A), which takes from a segment's payload.
const TIMESTAMP_BYTES: u32 = 12;

/// A full-size segment of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullSegment {
    /// Maximum segment size in bytes (RFC 6691: options are part of it).
    pub mss_bytes: u32,
    /// Whether it carries timestamps.
    pub timestamps: bool,
}

/// A full-size packet as it crosses a member's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullPacket {
    /// Bytes of the application.
    pub payload_bytes: u32,
    /// Bytes of the whole IP packet, its tunnel included.
    pub packet_bytes: u32,
}

impl FullSegment {
    /// The packet that the segment is, in a tunnel that adds so much to it.
    pub const fn packet(self, tunnel_bytes: u32) -> FullPacket {
        let options = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        FullPacket {
            payload_bytes: self.mss_bytes.saturating_sub(options),
            packet_bytes: self.mss_bytes + TCP_IP_HEADER_BYTES + tunnel_bytes,
        }
    }
}

impl Plan {
    /// Whether tunnels of `proxy` run over a link whose rate counts as capacity. Where a proxy sends upstream they end
    /// before such a link: members have theirs behind them.
    pub fn tunnels_where_capacity_counts(&self, proxy: NodeId) -> bool {
        let counts = |ends: &[NodeId]| match ends {
            &[a, b] => self.link_between(a, b).is_some_and(|link| self[link].shared),
            _ => false,
        };
        let paths = self.members_of(proxy).into_iter().filter_map(|member| self.shortest_path(proxy, member));
        paths.into_iter().any(|path| path.windows(2).any(counts))
    }

    /// Bytes that the plan's tunnels add to a packet at most where capacity counts.
    pub fn counted_tunnel_bytes(&self, outer: IpFamily) -> u32 {
        match self.proxies().into_iter().any(|proxy| self.tunnels_where_capacity_counts(proxy)) {
            true => self.tunnel_bytes(outer),
            false => 0,
        }
    }

    /// Bytes that the plan's tunnels add to a packet at most. Where there is a proxy its tunnel counts, whether a
    /// flow uses it or not: all transports are measured against one capacity.
    pub fn tunnel_bytes(&self, outer: IpFamily) -> u32 {
        let tunnels = self.nodes.iter().filter_map(|node| match &node.role {
            Role::PrismProxy(settings) => Some(settings.tunnel_bytes(outer)),
            _ => None,
        });
        tunnels.max().unwrap_or(0)
    }
}
