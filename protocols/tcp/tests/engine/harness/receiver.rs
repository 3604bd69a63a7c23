//! A reference receiver: which bytes have come, and the ACK that says so (RFC 2018, RFC 2883).
use prismux_tcp::engine::SackRanges;
use prismux_units::Instant;
use std::collections::BTreeMap;
use std::ops::Range;

/// Islands of arrived units, and the list of recent arrivals.
pub struct Receiver {
    /// Start and end of each island above the cumulative position.
    islands: BTreeMap<u64, u64>,
    pub cumulative: u64,
    total: u64,
    /// Starts of arrivals, the most recent first, from which SACK blocks are taken.
    recent: Vec<u64>,
    pub sack_blocks: usize,
    /// Units that came more than once.
    pub duplicates: u64,
}

/// What the receiver answers to one segment.
#[derive(Debug, Clone)]
pub struct Answer {
    pub cumulative: u64,
    pub sack: SackRanges,
    pub dsack: Option<Range<u64>>,
    /// When the segment that is echoed left (timestamps of RFC 7323: the oldest not yet echoed, or the one that
    /// filled the hole).
    pub echo: Instant,
}

impl Receiver {
    pub fn new(total: u64, sack_blocks: usize) -> Self {
        Self {
            islands: BTreeMap::new(),
            cumulative: 0,
            total,
            recent: Vec::new(),
            sack_blocks,
            duplicates: 0,
        }
    }

    /// The island that contains `position`.
    fn island(&self, position: u64) -> Option<Range<u64>> {
        let (&start, &end) = self.islands.range(..=position).next_back()?;
        (position < end).then_some(start..end)
    }

    fn insert(&mut self, range: Range<u64>) {
        let (mut start, mut end) = (range.start.max(self.cumulative), range.end);
        while let Some((&other, &other_end)) = self.islands.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            self.islands.remove(&other);
            start = start.min(other);
            end = end.max(other_end);
        }
        if start <= self.cumulative {
            self.cumulative = self.cumulative.max(end);
        } else if start < end {
            self.islands.insert(start, end);
        }
    }

    pub fn on_segment(&mut self, range: Range<u64>, sent_at: Instant, last_in_order: &mut Instant) -> Answer {
        let twice = range.end <= self.cumulative
            || self.island(range.start).is_some_and(|island| range.end <= island.end);
        if twice {
            self.duplicates += range.end - range.start;
        }
        // RFC 7323 section 4.3: only a segment at the left edge updates the echo.
        if range.start <= self.cumulative {
            *last_in_order = sent_at;
        }
        if !twice {
            self.insert(range.clone());
            self.recent.insert(0, range.start);
        }
        let sack = self.sack();
        Answer { cumulative: self.cumulative, sack, dsack: twice.then_some(range), echo: *last_in_order }
    }

    /// Distinct islands, the most recently extended first.
    fn sack(&mut self) -> SackRanges {
        let mut kept = Vec::new();
        let mut islands: Vec<Range<u64>> = Vec::new();
        for &seed in &self.recent {
            if let Some(island) = self.island(seed)
                && !islands.contains(&island)
            {
                islands.push(island);
                kept.push(seed);
            }
        }
        self.recent = kept;
        islands.into_iter().take(self.sack_blocks).collect()
    }

    pub fn complete(&self) -> bool {
        self.cumulative == self.total
    }
}
