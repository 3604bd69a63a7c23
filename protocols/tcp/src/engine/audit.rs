//! The scoreboard's sums and lists, recomputed the slow way.
use super::scoreboard::{Scoreboard, SegmentState, Tally};
use alloc::format;
use alloc::string::String;

impl Scoreboard {
    /// Compares every incremental sum and both lists with the segments themselves.
    pub(super) fn audit(&self, acked: u64, next: u64) -> Result<(), String> {
        let mut sums = [Tally::default(); 3];
        let mut position = acked;
        for offset in 0..self.segments() {
            let segment = self.get(self.index_at(offset));
            if segment.start != position || segment.length == 0 {
                return Err(format!("segment {:?} where {position} was due", segment.range()));
            }
            position = segment.end();
            let sum = &mut sums[match segment.state {
                SegmentState::InFlight => 0,
                SegmentState::Lost => 1,
                SegmentState::Sacked => 2,
            }];
            sum.bytes += u64::from(segment.length);
            sum.segments += 1;
        }
        if position != next {
            return Err(format!("segments end at {position}, sent up to {next}"));
        }
        let kept = [self.in_flight(), self.lost(), self.sacked()];
        if sums != kept {
            return Err(format!("in flight, lost, sacked are {sums:?}, kept {kept:?}"));
        }
        self.audit_lists()?;
        self.audit_runs()
    }

    fn audit_lists(&self) -> Result<(), String> {
        let (mut count, mut cursor) = (0, self.oldest_in_flight());
        let mut last = None;
        while let Some(index) = cursor {
            let segment = self.get(index);
            if segment.state != SegmentState::InFlight || last.is_some_and(|at| segment.sent_at < at) {
                return Err(format!("flight list out of order at {:?}", segment.range()));
            }
            last = Some(segment.sent_at);
            count += 1;
            cursor = self.linked_after(index);
        }
        if count != self.in_flight().segments {
            return Err(format!("{count} in the flight list, {} in flight", self.in_flight().segments));
        }
        let (mut count, mut cursor) = (0, self.first_lost());
        let mut last = None;
        while let Some(index) = cursor {
            let segment = self.get(index);
            if segment.state != SegmentState::Lost || last.is_some_and(|start| segment.start <= start) {
                return Err(format!("lost list out of order at {:?}", segment.range()));
            }
            last = Some(segment.start);
            count += 1;
            cursor = self.linked_after(index);
        }
        if count != self.lost().segments {
            return Err(format!("{count} in the lost list, {} lost", self.lost().segments));
        }
        Ok(())
    }

    /// First and last of each run of sacked segments point at each other.
    fn audit_runs(&self) -> Result<(), String> {
        let sacked = |offset: u32| self.get(self.index_at(offset)).state == SegmentState::Sacked;
        let mut offset = 0;
        while offset < self.segments() {
            if !sacked(offset) {
                offset += 1;
                continue;
            }
            let first = offset;
            while offset + 1 < self.segments() && sacked(offset + 1) {
                offset += 1;
            }
            let (start, end) = (self.index_at(first), self.index_at(offset));
            if self.get(start).after() != end || self.get(end).before() != start {
                return Err(format!("run of sacked segments {first} to {offset} has wrong ends"));
            }
            offset += 1;
        }
        Ok(())
    }
}
