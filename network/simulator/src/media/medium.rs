//! What the network asks of a shared medium.
use crate::core::ids::NodeId;
use crate::core::packet::Transit;
use prismux_units::{Duration, Instant};
pub use prismux_wireless::Priority;
use std::any::Any;
use std::fmt;

/// A medium that several nodes share.
///
/// It decides how long frames take, which of them are lost, and who hears them. Like every endpoint it is called with
/// the time and then drained: [`Medium::poll_event`] until `None`, then [`Medium::poll_timeout`].
pub trait Medium: Any + fmt::Debug + Send {
    /// A node puts a frame on the medium.
    ///
    /// # Errors
    /// The frame, when the medium has no room for it.
    fn send(&mut self, now: Instant, frame: Frame) -> Result<(), Frame>;

    /// What has happened by `now`, one thing at a time. Who hears a frame is added to `hearers`, in a fixed order.
    fn poll_event(&mut self, now: Instant, hearers: &mut Vec<NodeId>) -> Option<MediumEvent>;

    /// When something will happen next: a frame crosses, or the medium wants to act itself.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whatever is due until `last` may happen, up to the first instant at which [`Medium::poll_event`] may have
    /// something: that instant.
    fn advance(&mut self, last: Instant) -> Option<Instant> {
        self.poll_timeout().filter(|next| *next <= last)
    }

    /// Frames that have been sent and not been handed back by [`MediumEvent::Crossed`],
    /// [`MediumEvent::Done`], [`MediumEvent::Undelivered`], [`MediumEvent::Refused`] or [`MediumEvent::Unresolved`].
    fn frames_inside(&self) -> usize;

    /// Whether `node` finds the medium taken: by others, or by frames of its own that wait.
    fn is_busy(&self, node: NodeId) -> bool {
        let _ = node;
        false
    }

    /// Whether every node reaches every other, so that shortest paths may lead over the medium. Where they do not, as
    /// over a radio, nodes forward by rules of their own.
    fn joins_all(&self) -> bool {
        true
    }

    /// The fewest hops from one node to another at this moment; `None` where nobody knows, or no way leads there.
    fn fewest_hops(&mut self, now: Instant, from: NodeId, to: NodeId) -> Option<u32> {
        let _ = (now, from, to);
        None
    }

    /// From now on the medium tells of every frame that begins ([`MediumEvent::OnAir`]), for captures and event logs.
    fn tell_frames(&mut self) {}

    /// The headers of the frame that has begun last, as a capture has them before the packet. Without any, captures
    /// leave it out.
    fn frame_head(&self) -> &[u8] {
        &[]
    }

    /// The frame that has begun last, on a medium that tells of them.
    fn frame_sent(&self) -> Option<SentFrame> {
        None
    }

    /// Where the nodes on the medium are, in metres to the east and to the north; empty where that means nothing.
    fn places(&mut self, now: Instant) -> Vec<(NodeId, [f64; 2])> {
        let _ = now;
        Vec::new()
    }

    /// What waits at the nodes on the medium, and their energy; empty where that means nothing.
    fn states(&self, now: Instant) -> Vec<(NodeId, NodeState)> {
        let _ = now;
        Vec::new()
    }

    /// What the medium has counted by `now` for nodes on it, for results.
    fn counters(&self, now: Instant) -> Vec<(NodeId, &'static str, u64)> {
        let _ = now;
        Vec::new()
    }

    /// What does not add up in the medium's accounts; empty for a correct run.
    fn faults(&self, now: Instant) -> Vec<String> {
        let _ = now;
        Vec::new()
    }
}

/// What happens on a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediumEvent {
    /// A frame has reached all who hear it: those among the hearers are the last, and none are left who hear it later.
    /// Nobody hears a frame that is lost.
    Crossed(Frame),
    /// A frame has reached the hearers; the medium keeps it, since others hear it later.
    Heard(Frame),
    /// All who hear a frame have it: its sender is done with it.
    Done(Frame),
    /// The medium has given up a frame for a neighbour. Its sender gets it back.
    Undelivered(Frame),
    /// The medium has no room for a frame after all that it has taken.
    Refused(Frame),
    /// A frame has waited in vain for the address of the neighbour it is for.
    Unresolved(Frame),
    /// A node that found the medium busy may send.
    Free(NodeId),
    /// All that is for a node on the medium goes to another one on it first, from now on.
    Leads {
        /// The node.
        host: NodeId,
        /// Over which it was reached.
        from: NodeId,
        /// Over which it is reached.
        over: NodeId,
    },
    /// A frame begins, on a medium that tells of them ([`Medium::tell_frames`]): its head is in
    /// [`Medium::frame_head`], its packet, if it has one, is this.
    OnAir(Option<Frame>),
    /// A frame has not come to the neighbour it is for, on a medium that tells of them; it may be sent again.
    Missed {
        /// The frame.
        frame: Frame,
        /// The name in event logs of what it was lost to.
        cause: &'static str,
    },
}

/// What waits at a node on a medium, and its energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeState {
    /// Packets that wait for the medium.
    pub waiting_packets: u64,
    /// Energy drawn since the run began, in microjoules, where that is counted.
    pub drawn_uj: Option<u64>,
    /// Energy left in its battery, in microjoules, if it has one.
    pub battery_uj: Option<u64>,
}

/// A frame that has begun, of whatever kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentFrame {
    /// Who sends it.
    pub from: NodeId,
    /// Whom it is for; all when `None`.
    pub to: Option<NodeId>,
    /// What event logs call its kind.
    pub kind: &'static str,
    /// How long it lasts.
    pub airtime: Duration,
    /// The frame with a packet that it announces, of a request to send.
    pub announces: Option<Frame>,
}

/// A packet on a shared medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Who sends it.
    pub from: NodeId,
    /// Whom it is for: a neighbour; everybody who hears it when `None`.
    pub to: Option<NodeId>,
    /// Which frames go before it, on media that know such.
    pub priority: Priority,
    /// The packet in it, as it is at a node.
    pub packet: Transit,
}

impl Frame {
    /// Length of the packet in it, without what the medium adds.
    pub const fn size_bytes(&self) -> u32 {
        self.packet.size_bytes
    }
}
