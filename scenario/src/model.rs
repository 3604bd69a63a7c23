//! A scenario without strings left to interpret: what both backends build from.

use crate::paths;
use crate::registry::{NodeKind, ProxyProfile, Tunnel};
use prismux_link::{LinkChange, LinkConfig};
use prismux_prism::ProxyConfig;
use prismux_units::{Duration, Rate};
use std::path::PathBuf;

mod flow;
mod pipes;
mod striped;

pub use flow::{Flow, TcpSettings, Traffic};
pub use pipes::{Pipe, R2cpSettings};
pub use striped::{PtcpSettings, StripingSettings};

/// Index of a node in [`Scenario::nodes`].
pub type NodeIndex = usize;
/// Index of a link in [`Scenario::links`].
pub type LinkIndex = usize;
/// Index of a flow in [`Scenario::flows`].
pub type FlowIndex = usize;

/// A typed experiment. Everything keeps the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Name of the experiment.
    pub name: String,
    /// One line about it; may be empty.
    pub summary: String,
    /// When the run ends at the latest.
    pub duration: Duration,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Links.
    pub links: Vec<Link>,
    /// Flows, those with a `count` already multiplied.
    pub flows: Vec<Flow>,
    /// Timed events in order of time (file order where equal).
    pub events: Vec<Event>,
    /// What is measured, and when.
    pub measure: Measure,
    /// Names of the variants that the file declares.
    pub variants: Vec<VariantNote>,
}

/// A variant's name and summary; its overrides stay in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantNote {
    /// Name.
    pub name: String,
    /// One line about it; may be empty.
    pub summary: String,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name.
    pub name: String,
    /// What it is, with its settings.
    pub role: Role,
}

/// What a node is, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Runs applications.
    Host,
    /// Forwards packets.
    Router,
    /// Splits flows over members.
    PrismProxy(Box<ProxySettings>),
    /// Lends its uplink.
    Member(MemberSettings),
}

/// Settings of a proxy.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxySettings {
    /// Where the settings began.
    pub profile: ProxyProfile,
    /// The protocol's settings.
    pub config: ProxyConfig,
    /// Encapsulation towards members (lab).
    pub tunnel: Tunnel,
    /// The members this proxy sends through, as the file says; `None`: those a link joins it to.
    pub members: Option<Vec<NodeIndex>>,
}

/// Settings of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberSettings {
    /// In the community when the run starts; else it needs a `join` event.
    pub present: bool,
}

impl Node {
    /// The node's kind.
    pub fn kind(&self) -> NodeKind {
        match self.role {
            Role::Host => NodeKind::Host,
            Role::Router => NodeKind::Router,
            Role::PrismProxy(_) => NodeKind::PrismProxy,
            Role::Member(_) => NodeKind::Member,
        }
    }
}

/// A link and its two directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Name.
    pub name: String,
    /// The two ends, as written in `between`.
    pub ends: [NodeIndex; 2],
    /// From the first end to the second.
    pub forward: Direction,
    /// From the second end to the first.
    pub reverse: Direction,
    /// True for a link whose rate counts as capacity.
    pub shared: bool,
    /// The rate told to the proxy when the link joins; `None` leaves it to learn.
    pub advertised_rate: Option<Rate>,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// Rate, delay, queue, loss and the rest.
    pub link: LinkConfig,
    /// File that `link.trace` was read from.
    pub trace_file: Option<PathBuf>,
    /// Working when the run starts.
    pub up: bool,
}

/// Something that happens at a set time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub at: Duration,
    /// What.
    pub action: Action,
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A member enters the community.
    Join(NodeIndex),
    /// A member leaves in good order.
    Leave(NodeIndex),
    /// A link changes.
    ChangeLink {
        /// Which.
        link: LinkIndex,
        /// Which directions.
        sides: Sides,
        /// How.
        change: LinkChange,
    },
    /// A host has completed a handoff, and knows it.
    Handoff {
        /// Who moves.
        host: NodeIndex,
        /// The link that carries its packets from now on; `None` stays with the present one.
        link: Option<LinkIndex>,
        /// What the host believes that link to carry.
        bandwidth: Option<Rate>,
    },
    /// A flow starts.
    StartFlow(FlowIndex),
    /// A flow stops.
    StopFlow(FlowIndex),
    /// A member's or proxy's process dies without a word.
    Kill(NodeIndex),
    /// A killed process comes back with empty memory.
    Restart(NodeIndex),
}

/// Directions of a link that a change applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// Both.
    Both,
    /// First end to second.
    Forward,
    /// Second end to first.
    Reverse,
}

/// What is measured, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Steady-state figures leave out this much from each flow's start.
    pub warm_up: Duration,
    /// Sampling interval of the time series; `None` takes none.
    pub interval: Option<Duration>,
}

impl Scenario {
    /// The members that the proxy `proxy` sends through: those it names, else those that a link joins it to.
    pub fn members_of(&self, proxy: NodeIndex) -> Vec<NodeIndex> {
        if let Role::PrismProxy(settings) = &self.nodes[proxy].role
            && let Some(members) = &settings.members
        {
            return members.clone();
        }
        let is_member = |node: NodeIndex| self.nodes[node].kind() == NodeKind::Member;
        let neighbour = |link: &Link| match link.ends {
            [a, b] if a == proxy && is_member(b) => Some(b),
            [a, b] if b == proxy && is_member(a) => Some(a),
            _ => None,
        };
        self.links.iter().filter_map(neighbour).collect()
    }

    /// Links whose rates count as capacity.
    pub fn shared_links(&self) -> Vec<LinkIndex> {
        (0..self.links.len()).filter(|&index| self.links[index].shared).collect()
    }

    /// Index of the node called `name`.
    pub fn node(&self, name: &str) -> Option<NodeIndex> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Index of the link called `name`.
    pub fn link(&self, name: &str) -> Option<LinkIndex> {
        self.links.iter().position(|link| link.name == name)
    }

    /// Proxies, in the order of the file.
    pub fn proxies(&self) -> Vec<NodeIndex> {
        (0..self.nodes.len()).filter(|&index| self.nodes[index].kind() == NodeKind::PrismProxy).collect()
    }
}

impl Scenario {
    /// The rate that a member tells its proxies: the `advertised_rate` of its link towards them; where a proxy does
    /// not learn rates and none is given, the link's own rate.
    pub fn advertised_rate(&self, member: NodeIndex) -> Option<Rate> {
        let told = |proxy: NodeIndex| -> Option<Rate> {
            let Role::PrismProxy(settings) = &self.nodes[proxy].role else { return None };
            let path = paths::shortest(self, proxy, member)?;
            let [.., before, last] = path[..] else { return None };
            let link =
                self.links.iter().find(|link| link.ends == [before, last] || link.ends == [last, before])?;
            let towards = if link.ends[1] == member { &link.forward } else { &link.reverse };
            let own = towards.link.mean_rate().filter(|_| !settings.config.learn_rates);
            link.advertised_rate.or(own)
        };
        self.proxies().into_iter().filter(|&proxy| self.members_of(proxy).contains(&member)).find_map(told)
    }
}
