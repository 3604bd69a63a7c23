//! How late events were handled: a histogram of fixed size.
use prismux_units::Duration;
use serde::{Deserialize, Serialize};

/// Each power of two nanoseconds is split into so many cells, which bounds the error of a quantile to 1/64.
const CELLS_PER_OCTAVE: usize = 1 << CELL_BITS;
const CELL_BITS: usize = 6;
const OCTAVES: usize = 40;

/// Counts delays in cells that grow with the delay.
#[derive(Debug, Clone)]
pub struct DelayHistogram {
    cells: Vec<u64>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    /// Those of more than [`LATE`].
    late: u64,
}

/// From here on a delay counts as late: links are emulated to the millisecond.
pub const LATE: Duration = Duration::from_millis(1);

impl Default for DelayHistogram {
    fn default() -> Self {
        Self {
            cells: vec![0; CELLS_PER_OCTAVE * OCTAVES],
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            late: 0,
        }
    }
}

impl DelayHistogram {
    /// Counts one delay.
    pub fn record(&mut self, delay: Duration) {
        let nanos = delay.as_nanos();
        self.cells[cell(nanos)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(nanos);
        self.min_ns = self.min_ns.min(nanos);
        self.max_ns = self.max_ns.max(nanos);
        self.late += u64::from(delay > LATE);
    }

    /// The figures that a report needs.
    pub fn summary(&self) -> DelaySummary {
        DelaySummary {
            samples: self.count,
            mean_us: if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 / 1e3 },
            min_us: if self.count == 0 { 0.0 } else { self.min_ns as f64 / 1e3 },
            p50_us: self.quantile_us(0.5),
            p99_us: self.quantile_us(0.99),
            max_us: self.max_ns as f64 / 1e3,
            late: self.late,
        }
    }

    /// The delay that a fraction `q` of all samples does not exceed (upper edge of its cell).
    fn quantile_us(&self, q: f64) -> f64 {
        let wanted = (self.count as f64 * q).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.cells.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                return (upper_edge_ns(index).min(self.max_ns)) as f64 / 1e3;
            }
        }
        0.0
    }
}

/// The cell of a delay: values below [`CELLS_PER_OCTAVE`] have one each, above that so many share an octave.
fn cell(nanos: u64) -> usize {
    let octave = 63 - (nanos | 1).leading_zeros() as usize;
    let index = if octave < CELL_BITS {
        nanos as usize
    } else {
        let within = (nanos >> (octave - CELL_BITS)) as usize % CELLS_PER_OCTAVE;
        (octave - CELL_BITS + 1) * CELLS_PER_OCTAVE + within
    };
    index.min(CELLS_PER_OCTAVE * OCTAVES - 1)
}

/// The largest delay that falls into cell `index`.
fn upper_edge_ns(index: usize) -> u64 {
    if index < CELLS_PER_OCTAVE {
        return index as u64;
    }
    let (shift, within) = (index / CELLS_PER_OCTAVE - 1, index % CELLS_PER_OCTAVE);
    (((CELLS_PER_OCTAVE + within + 1) as u64) << shift) - 1
}

/// A [`DelayHistogram`] in a few figures.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DelaySummary {
    /// How many events.
    pub samples: u64,
    /// Mean in microseconds.
    pub mean_us: f64,
    /// The smallest in microseconds.
    pub min_us: f64,
    /// Median in microseconds.
    pub p50_us: f64,
    /// 99th percentile in microseconds.
    pub p99_us: f64,
    /// The largest in microseconds.
    pub max_us: f64,
    /// How many took more than [`LATE`].
    pub late: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_lies_within_the_edges_of_its_cell() {
        let mut edge_below = None;
        for index in 0..CELLS_PER_OCTAVE * (OCTAVES - CELL_BITS) {
            let edge = upper_edge_ns(index);
            assert_eq!(cell(edge), index, "upper edge of cell {index}");
            if let Some(below) = edge_below {
                assert_eq!(cell(below + 1), index, "lower edge of cell {index}");
            }
            edge_below = Some(edge);
        }
        assert!(cell(u64::MAX) < CELLS_PER_OCTAVE * OCTAVES);
    }

    #[test]
    fn quantiles_of_a_known_distribution() {
        let mut histogram = DelayHistogram::default();
        for micros in 1..=1000 {
            histogram.record(Duration::from_micros(micros));
        }
        let summary = histogram.summary();
        assert_eq!(summary.samples, 1000);
        assert!((summary.mean_us - 500.5).abs() < 0.01);
        assert!((500.0..509.0).contains(&summary.p50_us), "{summary:?}");
        assert!((990.0..=1000.0).contains(&summary.p99_us), "{summary:?}");
        assert_eq!((summary.min_us, summary.max_us), (1.0, 1000.0));
        assert_eq!(summary.late, 0);
    }

    #[test]
    fn more_than_a_millisecond_is_late() {
        let mut histogram = DelayHistogram::default();
        for micros in [10, 1000, 1001, 5000] {
            histogram.record(Duration::from_micros(micros));
        }
        assert_eq!(histogram.summary().late, 2);
    }
}
