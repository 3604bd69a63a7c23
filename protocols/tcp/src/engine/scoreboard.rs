//! The outstanding segments, in order of position (the scoreboard of RFC 6675).
//!
//! A ring of 32-byte records, found by binary search. A segment is in one of three states, and the two link
//! fields of its record mean something different in each:
//!
//! * *in flight*: linked into the flight list, ordered by time of (re)transmission. Its sum is the pipe.
//! * *lost*: linked into the lost list, ordered by position. Its head is the next retransmission.
//! * *sacked*: the first and last segment of a run of sacked segments point at each other, so that a range
//!   already known is stepped over at once.
//!
//! All sums are kept as segments change state, so an acknowledgement costs what it changes.
mod returned;
mod segment;
mod split;

pub(crate) use segment::{Index, Segment, SegmentState, Tally};

use alloc::vec::Vec;
use prismux_units::Instant;
use segment::NIL;

const INDEX_MASK: u32 = 0x7fff_ffff;
const FIRST_CAPACITY: usize = 16;

/// A doubly linked list through the records.
#[derive(Debug, Clone, Copy)]
struct List {
    head: Index,
    tail: Index,
}

impl List {
    const EMPTY: Self = Self { head: NIL, tail: NIL };
}

/// See the module's description. In the order of use: what comes after `forward` few acknowledgements touch.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Scoreboard {
    ring: Vec<Segment>,
    first: Index,
    count: u32,
    flight: List,
    lost: List,
    in_flight: Tally,
    lost_tally: Tally,
    /// Every unsacked segment below has been judged by the duplicate threshold; see `judge`.
    judged: Index,
    /// Sacked segments at or above `judged`.
    sacked_above_judged: u32,
    /// End of the highest segment ever sacked or acknowledged (FACK).
    forward: u64,
    sacked: Tally,
    /// Bytes ever taken for lost.
    lost_ever: u64,
    /// Beginning of the segment that `judge` leaves alone; beyond every segment if there is none.
    spared: u64,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self {
            ring: Vec::new(),
            first: 0,
            count: 0,
            flight: List::EMPTY,
            lost: List::EMPTY,
            in_flight: Tally::default(),
            lost_tally: Tally::default(),
            sacked: Tally::default(),
            lost_ever: 0,
            judged: 0,
            sacked_above_judged: 0,
            forward: 0,
            spared: u64::MAX,
        }
    }

    /// The segment at `position` has been sent anew for a reason of its own: `judge` leaves it alone.
    pub(crate) fn spare(&mut self, position: u64) {
        self.spared = position;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn segments(&self) -> u32 {
        self.count
    }

    pub(crate) fn in_flight(&self) -> Tally {
        self.in_flight
    }

    pub(crate) fn lost(&self) -> Tally {
        self.lost_tally
    }

    pub(crate) fn sacked(&self) -> Tally {
        self.sacked
    }

    /// Bytes ever taken for lost, those that were not after all included.
    pub(crate) fn lost_ever(&self) -> u64 {
        self.lost_ever
    }

    /// End of the highest segment known to have arrived.
    pub(crate) fn forward(&self) -> u64 {
        self.forward
    }

    fn slot(&self, index: Index) -> usize {
        index as usize & (self.ring.len() - 1)
    }

    pub(crate) fn get(&self, index: Index) -> &Segment {
        &self.ring[self.slot(index)]
    }

    fn get_mut(&mut self, index: Index) -> &mut Segment {
        let slot = self.slot(index);
        &mut self.ring[slot]
    }

    pub(crate) fn index_at(&self, offset: u32) -> Index {
        self.first.wrapping_add(offset) & INDEX_MASK
    }

    /// Distance from the first outstanding segment.
    pub(crate) fn offset(&self, index: Index) -> u32 {
        index.wrapping_sub(self.first) & INDEX_MASK
    }

    fn next(index: Index) -> Index {
        index.wrapping_add(1) & INDEX_MASK
    }

    fn previous(index: Index) -> Index {
        index.wrapping_sub(1) & INDEX_MASK
    }

    /// The first outstanding segment.
    pub(crate) fn head(&self) -> Option<Index> {
        (self.count > 0).then_some(self.first)
    }

    /// The lost segment with the lowest position.
    pub(crate) fn first_lost(&self) -> Option<Index> {
        (self.lost.head != NIL).then_some(self.lost.head)
    }

    /// The segment in flight that was sent the longest time ago.
    pub(crate) fn oldest_in_flight(&self) -> Option<Index> {
        (self.flight.head != NIL).then_some(self.flight.head)
    }

    /// The next in the list (flight or lost) that `index` is in.
    pub(crate) fn linked_after(&self, index: Index) -> Option<Index> {
        let after = self.get(index).after;
        (after != NIL).then_some(after)
    }

    /// The highest outstanding segment that is not sacked.
    pub(crate) fn highest_unsacked(&self) -> Option<Index> {
        let mut offset = self.count;
        while offset > 0 {
            let index = self.index_at(offset - 1);
            let segment = self.get(index);
            if segment.state != SegmentState::Sacked {
                return Some(index);
            }
            offset = self.offset(segment.before);
        }
        None
    }

    /// The segment that contains `position`.
    pub(crate) fn find(&self, position: u64) -> Option<Index> {
        let offset = self.partition(position);
        (offset < self.count && self.get(self.index_at(offset)).start <= position)
            .then(|| self.index_at(offset))
    }

    /// Offset of the first segment whose end lies above `position`.
    fn partition(&self, position: u64) -> u32 {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(self.index_at(middle)).end() <= position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Appends a segment sent at `now`; `start` is the end of the last one.
    pub(crate) fn push(&mut self, start: u64, length: u32, now: Instant) {
        if self.count as usize == self.ring.len() {
            self.grow();
        }
        let index = self.index_at(self.count);
        if self.count == 0 {
            self.judged = index;
        }
        self.count += 1;
        *self.get_mut(index) = Segment { start, sent_at: now, length, transmissions: 1, ..Segment::EMPTY };
        self.append_to_flight(index);
        self.in_flight.add(length);
    }

    /// Doubles the ring; indices stay valid because they are taken modulo its length.
    fn grow(&mut self) {
        let capacity = (self.ring.len() * 2).max(FIRST_CAPACITY);
        let mut ring = Vec::with_capacity(capacity);
        ring.resize(capacity, Segment::EMPTY);
        for offset in 0..self.count {
            let index = self.index_at(offset);
            ring[index as usize & (capacity - 1)] = *self.get(index);
        }
        self.ring = ring;
    }

    fn append_to_flight(&mut self, index: Index) {
        let tail = self.flight.tail;
        let segment = self.get_mut(index);
        segment.state = SegmentState::InFlight;
        segment.before = tail;
        segment.after = NIL;
        if tail == NIL {
            self.flight.head = index;
        } else {
            self.get_mut(tail).after = index;
        }
        self.flight.tail = index;
    }

    /// Takes a segment out of the list of its state (in flight or lost) and out of that state's sum.
    fn unlink(&mut self, index: Index) {
        let Segment { before, after, length, state, .. } = *self.get(index);
        if before != NIL {
            self.get_mut(before).after = after;
        }
        if after != NIL {
            self.get_mut(after).before = before;
        }
        let (list, tally) = match state {
            SegmentState::InFlight => (&mut self.flight, &mut self.in_flight),
            _ => (&mut self.lost, &mut self.lost_tally),
        };
        if before == NIL {
            list.head = after;
        }
        if after == NIL {
            list.tail = before;
        }
        tally.remove(length);
    }

    /// Links `index` between `before` and `after` into the list of `state`, and adds it to the sum.
    fn link_between(&mut self, index: Index, before: Index, after: Index, state: SegmentState) {
        let segment = self.get_mut(index);
        segment.state = state;
        segment.before = before;
        segment.after = after;
        let length = segment.length;
        if before != NIL {
            self.get_mut(before).after = index;
        }
        if after != NIL {
            self.get_mut(after).before = index;
        }
        let (list, tally) = match state {
            SegmentState::InFlight => (&mut self.flight, &mut self.in_flight),
            _ => (&mut self.lost, &mut self.lost_tally),
        };
        if before == NIL {
            list.head = index;
        }
        if after == NIL {
            list.tail = index;
        }
        tally.add(length);
    }

    /// A segment in flight or lost was sent again at `now`.
    pub(crate) fn retransmit(&mut self, index: Index, now: Instant) {
        self.unlink(index);
        let segment = self.get_mut(index);
        segment.sent_at = now;
        segment.transmissions = segment.transmissions.saturating_add(1);
        let length = segment.length;
        self.append_to_flight(index);
        self.in_flight.add(length);
    }

    /// A segment in flight is taken for lost. Segments are mostly declared lost in order of position, or are
    /// lost retransmissions near the front, so the place is searched from the nearer end.
    pub(crate) fn mark_lost(&mut self, index: Index) {
        if self.get(index).state != SegmentState::InFlight {
            return;
        }
        self.unlink(index);
        self.lost_ever += u64::from(self.get(index).length);
        let offset = self.offset(index);
        let (mut before, mut after) = (self.lost.tail, NIL);
        if before != NIL && offset < self.offset(before) {
            after = self.lost.head;
            while self.offset(after) < offset {
                after = self.get(after).after;
            }
            before = self.get(after).before;
        }
        self.link_between(index, before, after, SegmentState::Lost);
    }

    /// A lost segment is not lost after all: back to its place among those in flight.
    pub(crate) fn unmark_lost(&mut self, index: Index) {
        self.unlink(index);
        let (sent_at, end) = (self.get(index).sent_at, self.get(index).end());
        let mut after = self.flight.head;
        while after != NIL && !self.get(after).sent_after(sent_at, end) {
            after = self.get(after).after;
        }
        let before = if after == NIL { self.flight.tail } else { self.get(after).before };
        self.link_between(index, before, after, SegmentState::InFlight);
    }

    /// Every lost segment goes back to flight, highest first, which keeps the search for its place short.
    pub(crate) fn unmark_all_lost(&mut self) {
        while self.lost.tail != NIL {
            self.unmark_lost(self.lost.tail);
        }
    }

    /// Takes everything unsacked for lost (timeout); `forget_sacks` also what the receiver had reported
    /// (RFC 2018 section 8). What is outstanding now will not be judged by thresholds again.
    pub(crate) fn mark_all_lost(&mut self, forget_sacks: bool) {
        self.flight = List::EMPTY;
        self.lost = List::EMPTY;
        self.in_flight = Tally::default();
        self.lost_tally = Tally::default();
        for offset in 0..self.count {
            let index = self.index_at(offset);
            let segment = *self.get(index);
            if segment.state == SegmentState::Sacked {
                if !forget_sacks {
                    continue;
                }
                self.sacked.remove(segment.length);
            }
            if segment.state == SegmentState::InFlight {
                self.lost_ever += u64::from(segment.length);
            }
            self.link_between(index, self.lost.tail, NIL, SegmentState::Lost);
        }
        self.judged = self.index_at(self.count);
        self.sacked_above_judged = 0;
    }
}
