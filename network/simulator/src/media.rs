//! What carries packets between nodes.
//!
//! A wired link leads from one node to one node ([`link`]) and is handled without a call. A [`Medium`] is shared:
//! what one node sends, many hear.
mod broadcast;
pub(crate) mod link;
mod shared;

pub use broadcast::Bus;
pub(crate) use link::{End, Port};
pub use shared::MediumIndex;
pub(crate) use shared::{MediumExit, SharedMedium};

use crate::core::ids::NodeId;
use crate::core::packet::Carried;
use prismux_units::Instant;
use std::any::Any;
use std::fmt;

/// A medium that several nodes share.
///
/// It decides how long frames take, which of them are lost, and who hears them.
pub trait Medium: Any + fmt::Debug + Send {
    /// A node puts a frame on the medium.
    ///
    /// # Errors
    /// The frame, when the medium has no room for it.
    fn send(&mut self, now: Instant, frame: Frame) -> Result<(), Frame>;

    /// The next frame that has crossed the medium by `now`. Who hears it is added to `hearers`, in a fixed order;
    /// nobody hears a frame that is lost.
    fn poll_delivery(&mut self, now: Instant, hearers: &mut Vec<NodeId>) -> Option<Frame>;

    /// When the next frame will have crossed.
    fn next_delivery(&self) -> Option<Instant>;

    /// Frames that have been sent and not been delivered.
    fn frames_inside(&self) -> usize;
}

/// A packet on a shared medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Who sends it.
    pub from: NodeId,
    /// Whom it is for: a neighbour; everybody who hears it when `None`.
    pub to: Option<NodeId>,
    /// Its length.
    pub size_bytes: u32,
    pub(crate) carried: Carried,
}
