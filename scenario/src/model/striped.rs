//! Switches of flows that have several pipes.

use super::LinkIndex;
use prismux_ptcp::{Reassignment, ResumeOrder};
use prismux_units::{ByteCount, Duration};

/// Switches of pTCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtcpSettings {
    /// When bytes are unbound from a pipe.
    pub reassignment: Reassignment,
    /// A copy for another pipe after a timeout.
    pub redundant: bool,
    /// A copy of each repair for a quicker pipe.
    pub opportunistic_retransmission: bool,
    /// Which pipe is asked first.
    pub resume_order: ResumeOrder,
    /// Coupled increase.
    pub coupled: bool,
    /// Explicit loss notification.
    pub loss_notification: bool,
}

impl Default for PtcpSettings {
    fn default() -> Self {
        Self {
            reassignment: Reassignment::Probe,
            redundant: true,
            opportunistic_retransmission: true,
            resume_order: ResumeOrder::LeastRtt,
            coupled: false,
            loss_notification: false,
        }
    }
}

/// Switches of a striping application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripingSettings {
    /// Room for early records at the receiver.
    pub buffer: ByteCount,
    /// How often the true rates become known to a smart sender, after the start.
    pub estimate_every: Option<Duration>,
    /// Links with larger socket buffers.
    pub wide_links: Vec<LinkIndex>,
    /// Their size.
    pub wide_window: Option<ByteCount>,
    /// Explicit loss notification.
    pub loss_notification: bool,
}

impl Default for StripingSettings {
    fn default() -> Self {
        Self {
            buffer: ByteCount::new(64_000),
            estimate_every: None,
            wide_links: Vec::new(),
            wide_window: None,
            loss_notification: false,
        }
    }
}
