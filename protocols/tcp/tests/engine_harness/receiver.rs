//! A reference receiver: which bytes have come, and the ACK that says so (RFC 2018, RFC 2883).
use prismux_tcp::engine::SackRanges;
use prismux_units::Instant;
use std::ops::Range;

/// Deliberately plain: one bit per unit, and the list of recent ranges.
pub struct Receiver {
    arrived: Vec<bool>,
    pub cumulative: u64,
    /// Starts of arrivals, the most recent first, from which SACK blocks are grown.
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
            arrived: vec![false; total as usize],
            cumulative: 0,
            recent: Vec::new(),
            sack_blocks,
            duplicates: 0,
        }
    }

    pub fn on_segment(&mut self, range: Range<u64>, sent_at: Instant, last_in_order: &mut Instant) -> Answer {
        let twice = range.clone().all(|unit| self.arrived[unit as usize]);
        if twice {
            self.duplicates += range.end - range.start;
        }
        // RFC 7323 section 4.3: only a segment at the left edge updates the echo.
        if range.start <= self.cumulative {
            *last_in_order = sent_at;
        }
        for unit in range.clone() {
            self.arrived[unit as usize] = true;
        }
        while self.arrived.get(self.cumulative as usize) == Some(&true) {
            self.cumulative += 1;
        }
        if !twice && range.end > self.cumulative {
            self.recent.insert(0, range.start);
        }
        let sack = self.sack();
        Answer { cumulative: self.cumulative, sack, dsack: twice.then_some(range), echo: *last_in_order }
    }

    /// Distinct islands above the cumulative position, most recent first.
    fn sack(&mut self) -> SackRanges {
        let cumulative = self.cumulative;
        self.recent.retain(|&start| start >= cumulative);
        let mut islands: Vec<Range<u64>> = Vec::new();
        let mut kept = Vec::new();
        for &seed in &self.recent {
            if islands.iter().any(|island| island.contains(&seed)) {
                continue;
            }
            let mut start = seed;
            while start > cumulative && self.arrived[start as usize - 1] {
                start -= 1;
            }
            let mut end = seed;
            while self.arrived.get(end as usize) == Some(&true) {
                end += 1;
            }
            islands.push(start..end);
            kept.push(seed);
        }
        self.recent = kept;
        islands.into_iter().take(self.sack_blocks).collect()
    }

    pub fn complete(&self) -> bool {
        self.cumulative as usize == self.arrived.len()
    }
}
