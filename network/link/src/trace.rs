//! Mahimahi packet-delivery traces (Netravali et al., USENIX ATC 2015): one line per delivery opportunity, the
//! time in whole milliseconds; an opportunity carries one full-size packet; the trace repeats for ever.
use alloc::vec::Vec;
use core::fmt;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// Bytes one delivery opportunity carries: an IP packet of full size.
pub const OPPORTUNITY_BYTES: u32 = 1500;

/// A checked trace: times in order, at least one, and a period above zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// Opportunity times, milliseconds, never decreasing.
    times_ms: Vec<u32>,
}

/// Why a text is not a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceError {
    /// Line (from 1) that is not a whole number of milliseconds.
    NotANumber {
        /// Where.
        line: usize,
    },
    /// Line (from 1) with a time before the one above.
    GoesBack {
        /// Where.
        line: usize,
    },
    /// No opportunity at all.
    Empty,
    /// The last time is zero, so the trace would repeat without time passing.
    NoPeriod,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber { line } => write!(f, "line {line} is not a time in whole milliseconds"),
            Self::GoesBack { line } => write!(f, "line {line} lies before the line above it"),
            Self::Empty => f.write_str("the trace has no delivery opportunity"),
            Self::NoPeriod => f.write_str("the last time of a trace is its period and must be above 0 ms"),
        }
    }
}

impl core::error::Error for TraceError {}

impl fmt::Display for DeliveryTrace {
    /// In Mahimahi's format: a line for each opportunity.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.times_ms.iter().try_for_each(|ms| writeln!(f, "{ms}"))
    }
}

impl DeliveryTrace {
    /// Reads a trace; empty lines and lines that start with `#` are skipped.
    ///
    /// # Errors
    /// The first line that is no time, goes back in time, or is all there is.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut times_ms = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let time: u32 = line.parse().map_err(|_| TraceError::NotANumber { line: index + 1 })?;
            if times_ms.last().is_some_and(|&last| time < last) {
                return Err(TraceError::GoesBack { line: index + 1 });
            }
            times_ms.push(time);
        }
        Self::new(times_ms)
    }

    /// A trace of times that never decrease.
    pub(crate) fn new(times_ms: Vec<u32>) -> Result<Self, TraceError> {
        match times_ms.last() {
            None => Err(TraceError::Empty),
            Some(0) => Err(TraceError::NoPeriod),
            Some(_) => Ok(Self { times_ms }),
        }
    }

    /// After so long the trace starts again.
    pub fn period(&self) -> Duration {
        Duration::from_millis(u64::from(self.times_ms[self.times_ms.len() - 1]))
    }

    /// Opportunities in one period.
    pub fn opportunities(&self) -> usize {
        self.times_ms.len()
    }

    /// The rate of a link that uses every opportunity in full.
    pub fn mean_rate(&self) -> Rate {
        let bytes = ByteCount::new(self.times_ms.len() as u64 * u64::from(OPPORTUNITY_BYTES));
        Rate::from_transfer(bytes, self.period()).unwrap_or(Rate::ZERO)
    }

    /// The part of this trace, repeated for ever, from `start` on that lasts `length`, as a trace that begins at zero;
    /// its period ends with its last opportunity. `None` where no packet could leave meanwhile.
    pub fn part(&self, start: Duration, length: Duration) -> Option<Self> {
        let begin = Instant::ZERO + start;
        let times = (self.first_after(begin)..).map(|index| self.time_of(index) - begin);
        let times = times.take_while(|time| *time <= length);
        Self::new(times.map(|time| time.as_millis() as u32).collect()).ok()
    }

    /// Time of the opportunity counted `index` from the start of the run.
    pub(crate) fn time_of(&self, index: u64) -> Instant {
        let count = self.times_ms.len() as u64;
        let within = Duration::from_millis(u64::from(self.times_ms[(index % count) as usize]));
        Instant::ZERO + self.period() * (index / count) + within
    }

    /// The first opportunity after `now`. (Mahimahi serves an opportunity before it takes packets that arrive
    /// in the same instant.)
    pub(crate) fn first_after(&self, now: Instant) -> u64 {
        let period = self.period().as_nanos();
        let (round, within) = (now.as_nanos() / period, now.as_nanos() % period);
        let passed = self.times_ms.partition_point(|&ms| u64::from(ms) * 1_000_000 <= within);
        round * self.times_ms.len() as u64 + passed as u64
    }
}
