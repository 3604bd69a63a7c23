//! What happens at set times.
use crate::{Directions, FlowId, LinkId, NodeId};
use prismux_link::LinkChange;
use prismux_units::{Duration, Rate};

/// Something that happens at a set time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// When, counted from the start of the run.
    pub at: Duration,
    /// What.
    pub action: Action,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// A member enters the community of its proxies.
    Join(NodeId),
    /// A member leaves in good order: its proxies send nothing more over it, and receivers whose ACKs returned
    /// through it choose another member. What is under way still arrives.
    Leave(NodeId),
    /// A link changes.
    ChangeLink {
        /// Which.
        link: LinkId,
        /// Which directions of it.
        directions: Directions,
        /// How.
        change: LinkChange,
    },
    /// A host has completed a handoff, and knows it. How long there was no link before is for the links' own changes
    /// to say.
    Handoff {
        /// Who moves.
        host: NodeId,
        /// The link of the host that carries its packets from now on; `None` stays with the present one.
        link: Option<LinkId>,
        /// What the host believes that link to carry.
        bandwidth: Option<Rate>,
    },
    /// The radio of a host on an air is on another channel from now on.
    Tune {
        /// Whose.
        host: NodeId,
        /// From 1 on.
        channel: u8,
    },
    /// A flow starts, if it has not.
    StartFlow(FlowId),
    /// A flow is cut off, if it runs.
    StopFlow(FlowId),
    /// The interface of an RCP flow's receiver sleeps: it asks for nothing, and what arrives is lost.
    Sleep(FlowId),
    /// It wakes, at its next beacon ([`crate::RcpSettings::beacon`]), and asks for what it missed.
    Wake(FlowId),
    /// A member's or proxy's process dies without a word.
    Kill(NodeId),
    /// A killed process comes back with empty memory.
    Restart(NodeId),
}

impl Action {
    /// A change of both directions of a link.
    pub const fn both_ways(link: LinkId, change: LinkChange) -> Self {
        Self::ChangeLink { link, directions: Directions::Both, change }
    }
}
