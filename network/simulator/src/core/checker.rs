//! Checks that no correct run can fail: every byte once and in order, windows respected, no packet unaccounted for.
//!
//! Switched on they watch every segment; switched off they cost one branch.
use prismux_tcp::SegmentOut;
use prismux_units::Instant;
use std::collections::BTreeMap;

/// What one end of a TCP flow must keep to. Faults are collected, not thrown, so that a test shows them all.
#[derive(Debug, Default)]
pub(crate) struct StreamCheck {
    /// Byte ranges accepted beyond `in_order`: start to end.
    beyond: BTreeMap<u64, u64>,
    /// Everything below was accepted.
    accepted_to: u64,
    /// Last announced as readable.
    readable_to: u64,
    /// The peer's advertised right edge, refreshed before every drive.
    pub peer_edge: u64,
    faults: Vec<String>,
}

/// More are of no use to anybody.
const MAX_FAULTS: usize = 20;

impl StreamCheck {
    /// A segment leaves: it must lie within the window that the peer has advertised.
    pub fn sent(&mut self, now: Instant, segment: &SegmentOut) {
        let end = segment.stream_offset + u64::from(segment.payload_bytes);
        if segment.payload_bytes > 0 && end > self.peer_edge {
            self.fault(format!("{now}: sent up to {end}, beyond the peer's edge {}", self.peer_edge));
        }
    }

    /// Bytes are accepted as `[stream_offset, + bytes)`; the segment carried those of `carried`.
    pub fn accepted(&mut self, now: Instant, carried: u64, stream_offset: u64, bytes: u32) {
        if carried != stream_offset {
            self.fault(format!("{now}: byte {carried} was taken for byte {stream_offset}"));
        }
        let (start, end) = (stream_offset, stream_offset + u64::from(bytes));
        let before = self.beyond.range(..end).next_back().map_or(0, |(_, &end)| end);
        if start < self.accepted_to || before > start {
            self.fault(format!("{now}: bytes {start}..{end} were accepted twice"));
            return;
        }
        self.beyond.insert(start, end);
        while let Some(next) = self.beyond.remove(&self.accepted_to) {
            self.accepted_to = next;
        }
    }

    /// The application is told that it can read up to `up_to`.
    pub fn readable(&mut self, now: Instant, up_to: u64) {
        if up_to > self.accepted_to {
            self.fault(format!("{now}: readable to {up_to}, but byte {} is missing", self.accepted_to));
        }
        if up_to < self.readable_to {
            self.fault(format!("{now}: readable went back from {} to {up_to}", self.readable_to));
        }
        self.readable_to = up_to;
    }

    /// What went wrong.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    fn fault(&mut self, text: String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StreamCheck;
    use prismux_units::Instant;

    #[test]
    fn faults_are_found() {
        let now = Instant::ZERO;
        let mut check = StreamCheck::default();
        check.accepted(now, 0, 0, 100);
        check.accepted(now, 200, 200, 100);
        check.readable(now, 100);
        assert_eq!(check.faults().len(), 0);
        check.readable(now, 101); // a hole begins at 100
        check.readable(now, 99); // backwards
        check.accepted(now, 250, 250, 10); // again
        check.accepted(now, 50, 50, 10); // again
        check.accepted(now, 100, 110, 10); // other bytes than carried
        assert_eq!(check.faults().len(), 5, "{:?}", check.faults());
    }
}
