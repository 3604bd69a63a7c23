//! What acknowledgements do to the scoreboard: segments leave, runs of selectively acknowledged ones grow, holes are
//! judged.
use super::{Index, Scoreboard, Segment, SegmentState};
use crate::engine::delivery::Delivery;
use core::ops::Range;

impl Scoreboard {
    /// Cumulative acknowledgement up to `position`: drops whole segments, trims one covered in part.
    pub(crate) fn acknowledge(&mut self, position: u64, delivery: &mut Delivery) {
        while self.count > 0 {
            let index = self.first;
            let segment = *self.get(index);
            if segment.end() > position {
                if segment.start < position {
                    self.trim_head(index, position, delivery);
                }
                break;
            }
            if segment.state == SegmentState::Sacked {
                self.drop_sacked_head(index, &segment);
            } else {
                self.unlink(index);
                delivery.note(&segment, self.forward, true);
            }
            self.first = Self::next(index);
            self.count -= 1;
            if self.judged == index {
                self.judged = self.first;
            }
        }
        self.forward = self.forward.max(position);
    }

    fn drop_sacked_head(&mut self, index: Index, segment: &Segment) {
        self.sacked.remove(segment.length);
        if self.judged == index {
            self.sacked_above_judged -= 1;
        }
        if segment.after != index {
            // The run begins one later now.
            let (start, last) = (Self::next(index), segment.after);
            self.get_mut(start).after = last;
            self.get_mut(last).before = start;
        }
    }

    fn trim_head(&mut self, index: Index, position: u64, delivery: &mut Delivery) {
        let segment = self.get_mut(index);
        let cut = (position - segment.start) as u32;
        segment.start = position;
        segment.length -= cut;
        let state = segment.state;
        let tally = match state {
            SegmentState::InFlight => &mut self.in_flight,
            SegmentState::Lost => &mut self.lost_tally,
            SegmentState::Sacked => &mut self.sacked,
        };
        tally.bytes -= u64::from(cut);
        if state != SegmentState::Sacked {
            delivery.bytes += u64::from(cut);
        }
    }

    /// Selective acknowledgement: marks the segments that lie wholly inside `range`.
    pub(crate) fn sack(&mut self, range: Range<u64>, delivery: &mut Delivery) {
        if range.start >= range.end {
            return;
        }
        let mut offset = self.partition(range.start);
        if offset < self.count && self.get(self.index_at(offset)).start < range.start {
            offset += 1;
        }
        let forward = self.forward;
        while offset < self.count {
            let index = self.index_at(offset);
            let segment = *self.get(index);
            if segment.end() > range.end {
                break;
            }
            if segment.state == SegmentState::Sacked {
                // At the first of a run `after` is its last; inside one it may be stale but never beyond the run.
                offset = self.offset(segment.after).max(offset) + 1;
                continue;
            }
            self.unlink(index);
            delivery.note(&segment, forward, false);
            self.join_run(index);
            self.sacked.add(segment.length);
            if offset >= self.offset(self.judged) {
                self.sacked_above_judged += 1;
            }
            self.forward = self.forward.max(segment.end());
            offset += 1;
        }
    }

    /// Makes `index` sacked and merges it with the runs beside it.
    pub(super) fn join_run(&mut self, index: Index) {
        let offset = self.offset(index);
        let (mut start, mut last) = (index, index);
        if offset > 0 {
            let below = *self.get(Self::previous(index));
            if below.state == SegmentState::Sacked {
                start = below.before;
            }
        }
        if offset + 1 < self.count {
            let above = *self.get(Self::next(index));
            if above.state == SegmentState::Sacked {
                last = above.after;
            }
        }
        let segment = self.get_mut(index);
        segment.state = SegmentState::Sacked;
        segment.before = start;
        segment.after = last;
        self.get_mut(start).after = last;
        self.get_mut(last).before = start;
    }

    /// RFC 6675 `IsLost` by segments, each judged once: marks as lost what lies below `threshold` sacked segments,
    /// or, by `fack`, what lies `threshold` segments below the highest sacked one. Only positions below `limit`.
    /// Returns whether anything was marked.
    pub(crate) fn judge(&mut self, threshold: u32, fack: bool, limit: u64) -> bool {
        let mut marked = false;
        if self.sacked_above_judged == 0 {
            return false;
        }
        let highest = if fack { self.partition(self.forward.saturating_sub(1)) } else { 0 };
        while self.sacked_above_judged > 0 {
            let index = self.judged;
            let segment = *self.get(index);
            if segment.start >= limit {
                break;
            }
            let is_sacked = segment.state == SegmentState::Sacked;
            let above = if fack {
                highest.saturating_sub(self.offset(index))
            } else {
                self.sacked_above_judged - u32::from(is_sacked)
            };
            if above < threshold {
                break;
            }
            if is_sacked {
                self.sacked_above_judged -= 1;
            } else if segment.state == SegmentState::InFlight && segment.start != self.spared {
                self.mark_lost(index);
                marked = true;
            }
            self.judged = Self::next(index);
        }
        marked
    }
}
