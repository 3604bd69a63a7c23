//! Nodes: what stands at the ends of links.
use crate::{IpFamily, NodeId, Tunnel};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use prismux_fec::REPAIR_OVERHEAD_BYTES;
use prismux_prism::ProxyConfig;
use prismux_wire::gre::SEQUENCE_BYTES;

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name, unique among the nodes of a plan.
    pub name: String,
    /// What it is, with its settings.
    pub role: Role,
}

/// What a node is, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Runs applications; forwards nothing.
    Host,
    /// Forwards packets by the fewest hops.
    Router,
    /// Splits flows over members and repairs the returning ACKs.
    PrismProxy(Box<ProxySettings>),
    /// Lends its uplink: ends tunnels, forwards, and may be the end of flows too.
    Member(MemberSettings),
}

/// What a node is, without its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// See [`Role::Host`].
    Host,
    /// See [`Role::Router`].
    Router,
    /// See [`Role::PrismProxy`].
    PrismProxy,
    /// See [`Role::Member`].
    Member,
}

/// Where a proxy's settings begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ProxyProfile {
    /// The protocol's own defaults, made for today's senders.
    #[default]
    Modern,
    /// PRISM as published.
    Paper,
}

impl ProxyProfile {
    /// The settings of this profile.
    pub fn config(self) -> ProxyConfig {
        match self {
            Self::Modern => ProxyConfig::default(),
            Self::Paper => ProxyConfig::paper(),
        }
    }
}

/// Settings of a proxy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProxySettings {
    /// The protocol's settings.
    pub config: ProxyConfig,
    /// How packets travel to the members.
    pub tunnel: Tunnel,
    /// Packets to members carry numbers, and members write receipts.
    pub receipts: bool,
    /// Members that write receipts get repair packets, which stand in for packets that a link loses.
    pub fec: bool,
    /// The members it sends through; `None`: those that a link joins it to.
    pub members: Option<Vec<NodeId>>,
}

impl ProxySettings {
    /// Bytes that its tunnels add to every packet for a member, the number included where there is one.
    pub const fn tunnel_bytes(&self, outer: IpFamily) -> u32 {
        self.tunnel.overhead_bytes(outer) + if self.receipts { SEQUENCE_BYTES as u32 } else { 0 }
    }

    /// Bytes by which a packet for a member is shorter, so that repairs of it fit.
    pub const fn repair_bytes(&self) -> u32 {
        if self.fec { REPAIR_OVERHEAD_BYTES as u32 } else { 0 }
    }
}

/// Settings of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberSettings {
    /// In the community when the run starts; else [`crate::Action::Join`] brings it in.
    pub present: bool,
}

impl Default for MemberSettings {
    /// Present.
    fn default() -> Self {
        Self { present: true }
    }
}

impl Node {
    /// What the node is, without its settings.
    pub const fn kind(&self) -> NodeKind {
        match self.role {
            Role::Host => NodeKind::Host,
            Role::Router => NodeKind::Router,
            Role::PrismProxy(_) => NodeKind::PrismProxy,
            Role::Member(_) => NodeKind::Member,
        }
    }
}

impl From<ProxyConfig> for ProxySettings {
    /// Over GRE, through the members that links join the proxy to.
    fn from(config: ProxyConfig) -> Self {
        Self { config, ..Self::default() }
    }
}
