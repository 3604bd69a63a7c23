//! Outstanding segments that have become too long.
use super::{Index, List, Scoreboard, Segment, SegmentState};
use alloc::vec::Vec;

impl Scoreboard {
    /// Splits segments longer than `mss` after the path's segment size fell. Rare, so the ring is rebuilt.
    pub(crate) fn split(&mut self, mss: u32) {
        let old: Vec<Segment> = (0..self.count).map(|offset| *self.get(self.index_at(offset))).collect();
        let (forward, judged, lost_ever) = (self.forward, self.offset(self.judged), self.lost_ever);
        *self = Self { forward, ..Self::new() };
        let mut flight = Vec::new();
        for (offset, segment) in old.iter().enumerate() {
            if offset as u32 == judged {
                self.judged = self.index_at(self.count);
                self.sacked_above_judged = 0;
            }
            let mut start = segment.start;
            while start < segment.end() {
                let length = (segment.end() - start).min(u64::from(mss)) as u32;
                let index = self.index_at(self.count);
                self.push(start, length, segment.sent_at);
                self.get_mut(index).transmissions = segment.transmissions;
                match segment.state {
                    SegmentState::InFlight => flight.push(index),
                    SegmentState::Lost => self.mark_lost(index),
                    SegmentState::Sacked => {
                        self.unlink(index);
                        self.join_run(index);
                        self.sacked.add(length);
                        self.sacked_above_judged += 1;
                    }
                }
                start += u64::from(length);
            }
        }
        if judged as usize >= old.len() {
            self.judged = self.index_at(self.count);
            self.sacked_above_judged = 0;
        }
        self.lost_ever = lost_ever;
        self.relink_flight(&mut flight);
    }

    /// Restores the order of transmission among the segments in flight.
    fn relink_flight(&mut self, flight: &mut [Index]) {
        flight.sort_by_key(|&index| (self.get(index).sent_at, self.get(index).end()));
        self.flight = List::EMPTY;
        for &index in flight.iter() {
            self.append_to_flight(index);
        }
    }
}
