//! What is sent in slots, for those who want to watch.
use alloc::collections::VecDeque;

/// A packet that is sent in the slot that has begun last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending<P> {
    /// Who sends it.
    pub from: usize,
    /// Whom it is for.
    pub to: usize,
    /// Whether it goes by the network of an access point.
    pub by_access_point: bool,
    /// Whether it comes there: not where that host has moved away.
    pub comes: bool,
    /// What the packet carries.
    pub payload: P,
}

/// Sendings, if somebody watches.
#[derive(Debug)]
pub(super) struct Sendings<P> {
    wanted: bool,
    told: VecDeque<Sending<P>>,
}

impl<P: Clone> Sendings<P> {
    pub const fn new() -> Self {
        Self { wanted: false, told: VecDeque::new() }
    }

    pub fn want(&mut self) {
        self.wanted = true;
    }

    pub fn tell(&mut self, from: usize, to: usize, payload: &P, comes: bool, by_access_point: bool) {
        if self.wanted && from != to {
            let payload = payload.clone();
            self.told.push_back(Sending { from, to, by_access_point, comes, payload });
        }
    }

    pub fn poll(&mut self) -> Option<Sending<P>> {
        self.told.pop_front()
    }
}
