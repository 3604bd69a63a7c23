//! Shared media: where they are kept, and the exits into them.
use super::medium::Medium;
use crate::core::ids::{MediumId, NodeId};
use prismux_endpoint::Alarm;

/// A medium, and its event.
#[derive(Debug)]
pub(crate) struct SharedMedium {
    pub medium: Box<dyn Medium>,
    pub alarm: Alarm,
    /// Kept between frames: who hears one.
    pub hearers: Vec<NodeId>,
}

impl SharedMedium {
    pub fn new(medium: Box<dyn Medium>) -> Self {
        Self { medium, alarm: Alarm::new(), hearers: Vec::new() }
    }
}

/// A node's exit to a neighbour on a medium.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MediumExit {
    pub medium: MediumId,
    pub from: NodeId,
    pub to: NodeId,
}
