//! The pulls answered last: a request's blocks are held against them.
use alloc::collections::VecDeque;

/// The most that is offered.
const MAX: u8 = 16;

/// First positions of the segments sent most recently in answer to pulls.
#[derive(Debug, Clone)]
pub(super) struct Ring {
    starts: VecDeque<u64>,
    depth: usize,
}

impl Ring {
    pub(super) fn new(depth: u8) -> Self {
        Self { starts: VecDeque::new(), depth: usize::from(depth.clamp(1, MAX)) }
    }

    /// A pull of the segment at `start` is being answered.
    pub(super) fn note(&mut self, start: u64) {
        if self.starts.len() == self.depth {
            self.starts.pop_front();
        }
        self.starts.push_back(start);
    }

    /// A later request names the pull of the segment at `start`. If it was answered lately it becomes the newest
    /// again, so that the ring always holds what the next request will name: otherwise one pull answered late would
    /// push out a newer one, which the next request names and has answered again, and so on for ever.
    pub(super) fn refresh(&mut self, start: u64) -> bool {
        let Some(index) = self.starts.iter().position(|&known| known == start) else { return false };
        self.starts.remove(index);
        self.starts.push_back(start);
        true
    }
}
