//! The sending side of the connection: which bytes are bound to no pipe, and which pipe may take them.
use crate::range_map::RangeMap;
use alloc::vec::Vec;
use core::ops::Range;
use prismux_units::Instant;

/// A pipe's number as a tag.
pub(crate) type Origin = u8;
/// The tag of bytes of which no pipe's copy can still be under way.
pub(crate) const NO_PIPE: Origin = u8::MAX;

/// Bytes whose delivery a pipe has reported and the connection's acknowledgement has not confirmed.
#[derive(Debug, Clone)]
struct Unconfirmed {
    range: Range<u64>,
    due: Instant,
}

/// What became of bound bytes, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StripingCounters {
    /// Bytes unbound because they lay beyond a window that shrank, or because their pipe closed.
    pub unbound_bytes: u64,
    /// Segments given to a second pipe, after a timeout or because it is quicker.
    pub redundant_segments: u64,
    /// Virtual segments sent again with other bytes than before.
    pub rebound_segments: u64,
    /// Virtual segments sent again without any.
    pub void_segments: u64,
    /// Bytes whose delivery an ambiguous acknowledgement left unconfirmed.
    pub unconfirmed_bytes: u64,
    /// Of [`StripingCounters::unconfirmed_bytes`], those sent again.
    pub reclaimed_bytes: u64,
    /// Times that the keep-alive check freed everything.
    pub keep_alive_checks: u64,
}

/// The bytes written, by what they are bound to.
///
/// Everything from `acked` to `frontier` has been bound at least once. Of it, what is in `unbound` waits for a pipe
/// again, what is in `unconfirmed` waits for its deadline, the rest is bound to a pipe or known to have arrived on
/// one.
#[derive(Debug, Clone, Default)]
pub(crate) struct SendBuffer {
    /// Everything below has been acknowledged by the connection's peer (pACK).
    pub acked: u64,
    /// First byte that was never bound.
    pub frontier: u64,
    /// Handed over by the application.
    pub written: u64,
    /// The peer's right window edge.
    pub window_end: u64,
    /// The largest window the peer ever offered.
    largest_window: u64,
    /// Use a window that is too small to be worth it.
    pub override_silly: bool,
    /// The most bytes between `acked` and `frontier`.
    pub capacity: u64,
    same_pipe: bool,
    /// Tagged with the pipe whose copy may still be under way: it need not take them anew.
    unbound: RangeMap<Origin>,
    unconfirmed: Vec<Unconfirmed>,
    pub counters: StripingCounters,
}

impl SendBuffer {
    /// Nothing written, room for `capacity` unacknowledged bytes; with `same_pipe` a pipe may take anew what was
    /// unbound from it.
    pub(crate) fn new(capacity: u64, same_pipe: bool) -> Self {
        Self { capacity, same_pipe, ..Self::default() }
    }

    /// The right edge: of the peer's buffer and of ours.
    fn edge(&self) -> u64 {
        self.window_end.min(self.acked.saturating_add(self.capacity))
    }

    /// The next bytes for `pipe`, at most `most`: the lowest unbound ones, else those that follow the frontier. For a
    /// virtual segment sent anew (`again`) also those that the pipe itself has lost.
    fn next(&self, pipe: Origin, most: u32, again: bool) -> Option<Range<u64>> {
        let most = u64::from(most);
        let waiting = self.unbound.iter().find(|piece| again || self.same_pipe || piece.tag != pipe);
        if let Some(piece) = waiting {
            return Some(piece.start..piece.end.min(piece.start + most));
        }
        let end = self.written.min(self.edge()).min(self.frontier + most);
        if end <= self.frontier {
            return None;
        }
        // Less than a segment, and not for want of data: wait for more window (RFC 9293 section 3.8.6.2.1).
        let length = end - self.frontier;
        let silly = end < self.written && length < most && length < self.largest_window / 2;
        (!silly || self.override_silly).then_some(self.frontier..end)
    }

    /// How many bytes a call of `send` from `pipe` would get; none means freeze.
    pub(crate) fn offer(&self, pipe: Origin, most: u32) -> u32 {
        self.next(pipe, most, false).map_or(0, |range| (range.end - range.start) as u32)
    }

    /// Binds the next bytes to `pipe`.
    pub(crate) fn bind(&mut self, pipe: Origin, most: u32, again: bool) -> Option<Range<u64>> {
        let range = self.next(pipe, most, again)?;
        if range.start == self.frontier {
            self.frontier = range.end;
            self.override_silly = false;
        } else {
            self.unbound.remove(range.clone(), |_| {});
        }
        Some(range)
    }

    /// The lowest bytes that wait for a pipe, at most `most`, which go on waiting: for a copy of them.
    pub(crate) fn lowest(&self, most: u32) -> Option<Range<u64>> {
        let piece = self.unbound.iter().next()?;
        Some(piece.start..piece.end.min(piece.start + u64::from(most)))
    }

    /// Of `range`, what waits for another pipe than `origin` may go to any: its copy has been lost.
    pub(crate) fn give_up(&mut self, range: Range<u64>, origin: Origin) {
        let mut lost = Vec::new();
        self.unbound.remove(range, |piece| lost.push(piece));
        for piece in lost {
            let tag = if piece.tag == origin { NO_PIPE } else { piece.tag };
            self.unbound.insert(piece.start..piece.end, tag, |_| {});
        }
    }

    /// Bytes return to the unbound ones, at their place; `origin` may still deliver them. Says whether any did.
    pub(crate) fn unbind(&mut self, range: Range<u64>, origin: Origin) -> bool {
        let start = range.start.max(self.acked);
        if start >= range.end {
            return false;
        }
        self.unbound.insert(start..range.end, origin, |_| {});
        self.counters.unbound_bytes += range.end - start;
        true
    }

    /// A pipe is gone: what it was expected to deliver any pipe may take.
    pub(crate) fn forget_origin(&mut self, pipe: Origin) {
        self.unbound.retag(pipe, NO_PIPE);
    }

    /// Bytes whose virtual segment has arrived while they may not have: look again at `due`.
    pub(crate) fn doubt(&mut self, range: Range<u64>, due: Instant) {
        let start = range.start.max(self.acked);
        if start < range.end {
            self.counters.unconfirmed_bytes += range.end - start;
            self.unconfirmed.push(Unconfirmed { range: start..range.end, due });
        }
    }

    /// Unbound bytes have arrived after all, as the acknowledgement of their only carrier says: they need not be
    /// sent by others, unless the connection's acknowledgement fails to cover them by `due`.
    pub(crate) fn note_arrival(&mut self, range: Range<u64>, due: Instant) {
        let unconfirmed = &mut self.unconfirmed;
        self.unbound
            .remove(range, |piece| unconfirmed.push(Unconfirmed { range: piece.start..piece.end, due }));
    }

    /// The peer's pACK and right edge. Says whether either moved.
    pub(crate) fn acknowledge(&mut self, acked: u64, window_end: u64) -> bool {
        let moved = acked > self.acked || window_end > self.window_end;
        self.window_end = self.window_end.max(window_end);
        self.largest_window = self.largest_window.max(window_end.saturating_sub(acked));
        if acked > self.acked {
            self.acked = acked;
            self.unbound.remove_below(acked);
            self.unconfirmed.retain(|waiting| waiting.range.end > acked);
        }
        moved
    }

    /// When the next unconfirmed bytes are due.
    pub(crate) fn unconfirmed_due(&self) -> Option<Instant> {
        self.unconfirmed.iter().map(|waiting| waiting.due).min()
    }

    /// Unconfirmed bytes whose time is up are free. Says whether there were any.
    pub(crate) fn reclaim(&mut self, now: Instant) -> bool {
        let mut any = false;
        for index in (0..self.unconfirmed.len()).rev() {
            if self.unconfirmed[index].due <= now {
                let range = self.unconfirmed.swap_remove(index).range;
                let start = range.start.max(self.acked);
                self.counters.reclaimed_bytes += range.end.saturating_sub(start);
                self.unbound.insert(start..range.end, NO_PIPE, |_| any = true);
            }
        }
        any
    }

    /// Nothing is on its way and bytes are missing: everything not acknowledged is free.
    pub(crate) fn reclaim_all(&mut self) {
        self.counters.keep_alive_checks += 1;
        self.unconfirmed.clear();
        self.unbound.insert(self.acked..self.frontier, NO_PIPE, |_| {});
    }

    /// Everything written has been acknowledged.
    pub(crate) fn is_complete(&self) -> bool {
        self.acked == self.written
    }

    /// Bytes that have been bound and not acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        self.frontier - self.acked
    }

    /// The first byte that waits for a pipe and may leave, and how many wait, those included for which there is no room
    /// yet; `None` where none may leave.
    pub(crate) fn waiting(&self) -> Option<(u64, u64)> {
        let unbound: u64 = self.unbound().map(|range| range.end - range.start).sum();
        let new = self.written - self.frontier;
        let first = self.unbound.first().map(|piece| piece.start);
        let next = first.or((new > 0 && self.has_room()).then_some(self.frontier))?;
        Some((next, unbound + new))
    }

    /// Bytes beyond the frontier that the peer's buffer and ours have room for.
    pub(crate) fn room(&self) -> u64 {
        self.edge().saturating_sub(self.frontier)
    }

    /// The peer's buffer, or ours, has room beyond the frontier.
    pub(crate) fn has_room(&self) -> bool {
        self.frontier < self.edge()
    }

    /// There is something that a pipe could carry if windows allowed.
    pub(crate) fn has_work(&self) -> bool {
        !self.unbound.is_empty() || self.frontier < self.written
    }

    /// The ranges that wait for a pipe, for checkers.
    pub(crate) fn unbound(&self) -> impl Iterator<Item = Range<u64>> {
        self.unbound.iter().map(|piece| piece.start..piece.end)
    }
}

#[cfg(test)]
mod tests;
