//! The host: when to send which notice.
use crate::config::HandoffConfig;
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::HandoffNotice;

/// The notice of a link whose bandwidth is estimated as `bandwidth`; without an estimate, or with one that rounds to
/// nothing, it only says that there is a new link.
pub fn notice_of(bandwidth: Option<Rate>) -> HandoffNotice {
    let kbps = bandwidth.map_or(0, |rate| rate.as_bps() / 1000);
    HandoffNotice { bandwidth_kbps: u32::try_from(kbps).unwrap_or(u32::MAX) }
}

/// The host's side of one connection.
#[derive(Debug, Clone)]
pub struct HandoffHost {
    notices: u8,
    spacing: Duration,
    /// Notices still to send, when the next is due, and what they say.
    left: u8,
    due: Instant,
    notice: HandoffNotice,
    sent: u64,
}

impl HandoffHost {
    /// A host that has not moved yet.
    pub fn new(config: &HandoffConfig) -> Self {
        Self {
            notices: config.notices,
            spacing: config.spacing,
            left: 0,
            due: Instant::MAX,
            notice: HandoffNotice { bandwidth_kbps: 0 },
            sent: 0,
        }
    }

    /// The handoff is complete: there is a link, an address and a route. The first notice is due now; notices of an
    /// earlier handoff that have not left yet never will.
    pub fn handoff_complete(&mut self, now: Instant, bandwidth: Option<Rate>) {
        self.left = self.notices;
        self.due = now;
        self.notice = notice_of(bandwidth);
    }

    /// The link is gone again: what was still to be sent about it is void.
    pub fn link_lost(&mut self) {
        self.left = 0;
    }

    /// A notice that is due, to be sent with a duplicate ACK
    /// ([`Connection::announce_handoff`](prismux_tcp::Connection::announce_handoff)). At most one at each instant.
    pub fn poll_notice(&mut self, now: Instant) -> Option<HandoffNotice> {
        if self.left == 0 || now < self.due {
            return None;
        }
        self.left -= 1;
        self.due = now + self.spacing;
        self.sent += 1;
        Some(self.notice)
    }

    /// When [`HandoffHost::poll_notice`] has something.
    pub fn deadline(&self) -> Option<Deadline> {
        (self.left > 0).then_some(Deadline { at: self.due, why: "handoff-notice" })
    }

    /// Notices handed out so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}
