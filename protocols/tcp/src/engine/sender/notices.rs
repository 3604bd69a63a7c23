//! What explicit loss notices have done: reductions in force, and whether the present recovery is theirs.
use crate::engine::congestion::Window;
use alloc::vec::Vec;

/// What became of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Heeded {
    /// The window fell; this is what it was.
    pub(crate) reduced_from: Option<Window>,
    /// A recovery began.
    pub(crate) began_recovery: bool,
}

/// Reductions in force, and whether the present recovery was begun by a notice.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(crate) struct Notices {
    /// The present recovery was begun by a notice: the window has already its final size.
    governing: bool,
    /// In it, an unreported loss has had its ordinary reduction.
    ordinary: bool,
    /// A notice has come: several paths lie ahead.
    seen: bool,
    /// The last position sent anew for an error of the link.
    error: Option<u64>,
    /// What lies below was sent before the last timeout, which was a reduction for every path.
    timed_out_below: u64,
    /// Path, and the position whose acknowledgement ends its reduction. Only as long as the number of paths. Last,
    /// since it is seldom touched.
    reductions: Vec<(u8, u64)>,
}

impl Notices {
    /// Whether the network in front splits the flow over paths: a retransmission may then overtake what was sent
    /// long before it on a slower path, and its return says nothing about that.
    pub(crate) fn several_paths(&self) -> bool {
        self.seen
    }

    /// True in a recovery begun by a notice, as long as only reported losses occur in it.
    pub(crate) fn govern(&self) -> bool {
        self.governing && !self.ordinary
    }

    /// Recovery ended. Returns whether a notice governed it.
    pub(crate) fn end_recovery(&mut self) -> bool {
        let governed = self.govern();
        self.governing = false;
        self.ordinary = false;
        governed
    }

    /// A timeout, with `next` the first position not sent.
    pub(crate) fn on_timeout(&mut self, next: u64) {
        self.end_recovery();
        self.timed_out_below = next;
    }

    /// A reduction for `path` is due unless its last one is still unacknowledged. Notes the new one.
    pub(crate) fn may_reduce(&mut self, path: u8, acked: u64, next: u64) -> bool {
        self.reductions.retain(|&(_, until)| until > acked);
        let free = self.reductions.iter().all(|&(other, _)| other != path);
        if free {
            self.reductions.push((path, next));
        }
        free
    }

    /// An error of the link took the segment at `position`. Returns whether it is the first notice of it.
    pub(crate) fn note_error(&mut self, position: u64) -> bool {
        let first = self.error.is_none_or(|last| position > last);
        if first {
            self.error = Some(position);
        }
        first
    }

    /// Whether the segment at `position` is the last that an error of the link took.
    pub(crate) fn was_error(&self, position: u64) -> bool {
        self.error == Some(position)
    }

    /// A notice was acted upon.
    pub(crate) fn note_heeded(&mut self) {
        self.seen = true;
    }

    /// Whether the losses below `acked` are those of a timeout, for which the window has fallen already.
    pub(crate) fn repairs_timeout(&self, acked: u64) -> bool {
        acked < self.timed_out_below
    }

    /// A notice begins a recovery.
    pub(crate) fn begin_recovery(&mut self) {
        self.governing = true;
        self.ordinary = false;
    }

    /// In a recovery begun by a notice, an unreported loss has its ordinary reduction.
    pub(crate) fn note_ordinary_reduction(&mut self) {
        self.ordinary = true;
    }
}
