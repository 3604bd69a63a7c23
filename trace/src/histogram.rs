//! How long things took, many of them, in little memory.
use prismux_units::Duration;

/// Each power of two nanoseconds is split into so many cells, all equally wide.
const CELLS_PER_OCTAVE: usize = 1 << CELL_BITS;
const CELL_BITS: usize = 6;

/// Counts durations in cells that grow with the duration.
///
/// Count, mean, least and greatest are exact. A quantile is the middle of its cell, at most 1/128 of the value off
/// (exact below 64 ns, and where all durations are equal). Memory goes with the span of what was recorded: 256 bytes
/// for each power of two in it, 15 kB at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelayHistogram {
    /// From the cell numbered `first` on.
    cells: Vec<u32>,
    first: usize,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self { cells: Vec::new(), first: 0, count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl DelayHistogram {
    /// Counts one duration.
    pub fn record(&mut self, duration: Duration) {
        let nanos = duration.as_nanos();
        let place = self.make_room(cell_of(nanos));
        if let Some(count) = self.cells.get_mut(place) {
            *count = count.saturating_add(1);
        }
        self.count += 1;
        self.sum_ns += u128::from(nanos);
        self.min_ns = self.min_ns.min(nanos);
        self.max_ns = self.max_ns.max(nanos);
    }

    /// The place of the cell with this number, which is there afterwards.
    fn make_room(&mut self, number: usize) -> usize {
        let octave = number - number % CELLS_PER_OCTAVE;
        if self.cells.is_empty() {
            self.first = octave;
        }
        if octave < self.first {
            self.cells.splice(..0, std::iter::repeat_n(0, self.first - octave));
            self.first = octave;
        }
        if number - self.first >= self.cells.len() {
            self.cells.resize(octave - self.first + CELLS_PER_OCTAVE, 0);
        }
        number - self.first
    }

    /// How many were recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.sum_ns).unwrap_or(u64::MAX))
    }

    /// Their mean; `None` without any.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    /// The least of them; `None` without any.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.min_ns))
    }

    /// The greatest of them; `None` without any.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.max_ns))
    }

    /// The duration that a share `q` of them, between 0 and 1, does not exceed; `None` without any.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let wanted = ((self.count as f64 * q).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let cell = self.cells.iter().position(|&count| {
            seen += u64::from(count);
            seen >= wanted
        })?;
        Some(Duration::from_nanos(middle_ns(self.first + cell).clamp(self.min_ns, self.max_ns)))
    }
}

/// The number of the cell that a duration falls into: values below [`CELLS_PER_OCTAVE`] have one each, above that so
/// many share an octave.
const fn cell_of(nanos: u64) -> usize {
    let octave = 63 - (nanos | 1).leading_zeros() as usize;
    if octave < CELL_BITS {
        return nanos as usize;
    }
    let within = (nanos >> (octave - CELL_BITS)) as usize % CELLS_PER_OCTAVE;
    (octave - CELL_BITS + 1) * CELLS_PER_OCTAVE + within
}

/// The middle of a cell.
const fn middle_ns(cell: usize) -> u64 {
    if cell < CELLS_PER_OCTAVE {
        return cell as u64;
    }
    let (shift, within) = (cell / CELLS_PER_OCTAVE - 1, cell % CELLS_PER_OCTAVE);
    let width = 1_u64 << shift;
    (((CELLS_PER_OCTAVE + within) as u64) << shift) + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_known_distribution_are_right_to_one_part_in_128() {
        let mut histogram = DelayHistogram::default();
        // Backwards, so that the cells grow at both ends.
        for micros in (1..=10_000).rev() {
            histogram.record(Duration::from_micros(micros));
        }
        assert_eq!(histogram.count(), 10_000);
        assert!((histogram.mean_s().unwrap() - 5_000.5e-6).abs() < 1e-12);
        assert_eq!(histogram.min(), Some(Duration::from_micros(1)));
        assert_eq!(histogram.max(), Some(Duration::from_millis(10)));
        for (q, micros) in
            [(0.0001, 1.0), (0.01, 100.0), (0.5, 5000.0), (0.95, 9500.0), (0.99, 9900.0), (1.0, 1e4)]
        {
            let found = histogram.quantile(q).unwrap().as_secs_f64() * 1e6;
            assert!((found / micros - 1.0).abs() <= 1.0 / 128.0, "{q}: {found} for {micros}");
        }
    }

    #[test]
    fn equal_durations_are_exact_and_nothing_has_no_quantile() {
        let mut histogram = DelayHistogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.mean_s(), histogram.max()), (None, None, None));
        let delay = Duration::from_nanos(20_123_457);
        (0..1000).for_each(|_| histogram.record(delay));
        assert_eq!([0.5, 0.95, 0.99].map(|q| histogram.quantile(q)), [Some(delay); 3]);
    }

    #[test]
    fn every_value_lies_in_a_cell_whose_middle_is_near() {
        for exponent in 0..64 {
            for offset in [0, 1, 3] {
                let nanos = (1_u64 << exponent) + (offset << exponent) / 4;
                let middle = middle_ns(cell_of(nanos));
                assert!(middle.abs_diff(nanos) <= nanos / 128 + 1, "{nanos}: {middle}");
            }
        }
        assert_eq!(cell_of(0), 0);
    }

    #[test]
    fn memory_is_bounded_by_the_span_of_what_was_recorded() {
        let mut histogram = DelayHistogram::default();
        for millis in 20..200 {
            histogram.record(Duration::from_millis(millis));
        }
        assert!(histogram.cells.len() <= 5 * CELLS_PER_OCTAVE, "{}", histogram.cells.len());
        histogram.record(Duration::ZERO);
        histogram.record(Duration::MAX);
        assert!(histogram.cells.len() * size_of::<u32>() <= 15_360, "{}", histogram.cells.len());
    }
}
