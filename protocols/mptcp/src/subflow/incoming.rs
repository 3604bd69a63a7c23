//! Mappings that have arrived: which bytes of the peer's stream the bytes of a subflow are.
use super::Subflow;
use crate::segment::Segment;
use alloc::collections::BTreeMap;
use core::ops::Range;

/// Mappings kept at most: more are not needed for what a subflow may have under way out of order.
const MAX_MAPPINGS: usize = 4096;

/// A stretch of the subflow: its end, and the offset in the stream of its first byte.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    end: u64,
    data: u64,
}

/// Stretches by their place in the subflow.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    stretches: BTreeMap<u64, Stretch>,
    /// Everything below has been delivered.
    delivered: u64,
    /// Everything from here on lies so far from its place in the stream: MPTCP is over.
    infinite: Option<(u64, u64)>,
}

impl Subflow {
    /// The place in the subflow of the first payload byte of `segment`; `None` for one before the first.
    pub(crate) fn position_of(&self, segment: &Segment) -> Option<u64> {
        segment.tcp.seq.unwrap_near(self.peer_initial + 1, self.tcp.bytes_received_in_order())
    }

    /// Learns that `positions` are the bytes of the stream from `data` on. What is known already stays (section
    /// 3.3.1). False when there is no room.
    pub(crate) fn learn_mapping(&mut self, positions: Range<u64>, data: u64) -> bool {
        let incoming = &mut self.incoming;
        let start = positions.start.max(incoming.delivered);
        if start >= positions.end || incoming.infinite.is_some() {
            return true;
        }
        let data = data + (start - positions.start);
        let end = positions.end;
        let before = incoming.stretches.range_mut(..=start).next_back();
        if let Some((&at, stretch)) = before
            && stretch.end >= start
        {
            if stretch.end >= end {
                return true;
            }
            if stretch.end == start && stretch.data + (start - at) == data {
                let limit =
                    incoming.stretches.range(start + 1..).next().map_or(end, |(&next, _)| next.min(end));
                if let Some(stretch) = incoming.stretches.get_mut(&at) {
                    stretch.end = stretch.end.max(limit);
                }
                return true;
            }
        }
        if incoming.stretches.len() >= MAX_MAPPINGS {
            return false;
        }
        // Where stretches overlap, the one that came first holds.
        let from =
            incoming.stretches.range(..=start).next_back().map_or(start, |(_, known)| known.end.max(start));
        let until = incoming.stretches.range(start + 1..).next().map_or(end, |(&next, _)| next.min(end));
        if from < until {
            incoming.stretches.insert(from, Stretch { end: until, data: data + (from - start) });
        }
        true
    }

    /// From the place `position` on everything is the stream from `data` on (section 3.7).
    pub(crate) fn learn_infinite_mapping(&mut self, position: u64, data: u64) {
        self.incoming.infinite.get_or_insert((position, data));
    }

    /// The bytes of the stream at the start of `positions`, as far as one mapping goes; `None` when there is none.
    pub(crate) fn data_at(&self, positions: &Range<u64>) -> Option<Range<u64>> {
        let incoming = &self.incoming;
        if let Some((start, data)) = incoming.infinite.filter(|(start, _)| positions.start >= *start) {
            let first = data + (positions.start - start);
            return Some(first..first + (positions.end - positions.start));
        }
        let (&at, stretch) = incoming.stretches.range(..=positions.start).next_back()?;
        let end = stretch.end.min(positions.end);
        let first = stretch.data + (positions.start - at);
        (end > positions.start).then(|| first..first + (end - positions.start))
    }

    /// The next bytes of the stream that are in order in the subflow, which has everything up to `readable`. `None`
    /// when there are no more; an error when they have no mapping.
    pub(crate) fn deliver_next(&mut self, readable: u64) -> Option<Result<Range<u64>, Unmapped>> {
        let positions = self.incoming.delivered..readable;
        if positions.is_empty() {
            return None;
        }
        let Some(data) = self.data_at(&positions) else { return Some(Err(Unmapped)) };
        self.incoming.delivered += data.end - data.start;
        let delivered = self.incoming.delivered;
        while let Some(first) = self.incoming.stretches.first_entry()
            && first.get().end <= delivered
        {
            first.remove();
        }
        Some(Ok(data))
    }
}

/// Bytes arrived of which nobody has said where they belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unmapped;
