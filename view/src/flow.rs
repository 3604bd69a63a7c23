//! Following one TCP flow through its segments: offsets in the stream, what is sent again, what waits.
use prismux_trace::event::{Segment, Text};
use std::collections::BTreeMap;

/// A segment of a record.
pub(crate) type ReadSegment<'a> = Segment<Text<'a>>;

/// What is known of a flow's numbers so far.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// Sequence number of the first byte of data, once known.
    base: Option<u32>,
    /// The latest offsets of data and of ACKs: the wrapped numbers of the next ones lie near them.
    near: u64,
    /// Everything that was sent over some path.
    pub sent: Ranges,
    /// Everything that arrived at the receiver.
    pub received: Ranges,
    /// ACKs at the proxy that have not left it: when they came, and their offsets.
    pub at_proxy: Vec<(u64, u64)>,
    /// ACKs that were held at the proxy and have left it, in the order of their release.
    pub held: Vec<(u64, u64)>,
    /// The greatest ACK that reached the sender.
    pub acknowledged: u64,
}

impl Tracker {
    /// The offsets of a data segment's payload in the stream; `None` without payload.
    pub fn data(&mut self, segment: &ReadSegment<'_>) -> Option<(u64, u64)> {
        if segment.flags.contains('S') {
            self.base.get_or_insert(segment.seq.wrapping_add(1));
        }
        if segment.payload_bytes == 0 {
            return None;
        }
        let base = *self.base.get_or_insert(segment.seq);
        let start = self.unwrap(segment.seq.wrapping_sub(base));
        Some((start, start + u64::from(segment.payload_bytes)))
    }

    /// The offset that an ACK of the data carries.
    pub fn ack(&mut self, segment: &ReadSegment<'_>) -> Option<u64> {
        let base = self.base?;
        // Without the ACK bit (a dot) the number means nothing, as in resets.
        let acknowledges = segment.flags.contains('.') && !segment.flags.contains('S');
        acknowledges.then(|| self.unwrap(segment.ack.wrapping_sub(base)))
    }

    /// The proxy lets an ACK go at `time`, and with it all up to its offset. True when it had held some of them for
    /// longer than `passing_ns`.
    pub fn release(&mut self, time: u64, ack: u64, passing_ns: u64) -> bool {
        let before = self.held.len();
        let held = &mut self.held;
        self.at_proxy.retain(|&(came, offset)| {
            if offset <= ack && time.saturating_sub(came) > passing_ns {
                held.push((came, offset));
            }
            offset > ack
        });
        self.held.len() > before
    }

    /// The offset next to the latest one whose lower 32 bits are `low`.
    fn unwrap(&mut self, low: u32) -> u64 {
        let step = i64::from(low.wrapping_sub(self.near as u32) as i32);
        let offset = self.near.saturating_add_signed(step);
        self.near = self.near.max(offset);
        offset
    }
}

/// A set of byte ranges.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    /// Start and end of each; they neither overlap nor touch.
    ranges: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Ranges {
    /// Adds `start .. end`; true when any of it is new.
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        let (mut from, mut to) = (start, end);
        let mut covered = 0;
        while let Some((&s, &e)) = self.ranges.range(..=to).next_back().filter(|&(_, &e)| e >= from) {
            covered += e.min(end).saturating_sub(s.max(start));
            (from, to) = (from.min(s), to.max(e));
            self.ranges.remove(&s);
        }
        self.ranges.insert(from, to);
        let new = (end - start) - covered;
        self.bytes += new;
        new > 0
    }

    /// The end of what is there without a gap from offset 0 on.
    pub fn in_order(&self) -> u64 {
        self.ranges.first_key_value().filter(|&(&start, _)| start == 0).map_or(0, |(_, &end)| end)
    }

    /// Bytes beyond the first gap.
    pub fn beyond_gap(&self) -> u64 {
        self.bytes - self.in_order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_count_every_byte_once(inserts in prop::collection::vec((0..200u64, 1..40u64), 0..60)) {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 240]);
            for (start, length) in inserts {
                let span = start as usize..(start + length) as usize;
                let new = bytes[span.clone()].iter().any(|byte| !byte);
                prop_assert_eq!(ranges.insert(start, start + length), new);
                bytes[span].fill(true);
                let in_order = bytes.iter().position(|byte| !byte).unwrap_or(bytes.len());
                prop_assert_eq!(ranges.in_order(), in_order as u64);
                let all = bytes.iter().filter(|byte| **byte).count();
                prop_assert_eq!(ranges.beyond_gap(), (all - in_order) as u64);
            }
        }
    }

    fn segment(line: &str) -> ReadSegment<'_> {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn offsets_go_on_where_sequence_numbers_wrap() {
        let mut flow = Tracker::default();
        let syn = segment(r#"{"seq":4294967000,"ack":0,"flags":"S","window":1,"payload_bytes":0}"#);
        assert_eq!(flow.data(&syn), None);
        let first = segment(r#"{"seq":4294967001,"ack":0,"flags":".","window":1,"payload_bytes":1000}"#);
        assert_eq!(flow.data(&first), Some((0, 1000)));
        let second = segment(r#"{"seq":705,"ack":0,"flags":".","window":1,"payload_bytes":500}"#);
        assert_eq!(flow.data(&second), Some((1000, 1500)));
        let ack = segment(r#"{"seq":1,"ack":705,"flags":".","window":1,"payload_bytes":0}"#);
        assert_eq!(flow.ack(&ack), Some(1000));
        let reset = segment(r#"{"seq":1,"ack":0,"flags":"R","window":1,"payload_bytes":0}"#);
        assert_eq!(flow.ack(&reset), None);
        // An old segment, sent again after the wrap.
        assert_eq!(flow.data(&first), Some((0, 1000)));
    }
}
