//! CPU time: what the scheduler has charged, not what the wall clock says, so that other work on the machine counts
//! less.
use nix::time::{ClockId, clock_gettime};
use std::time::Instant;

/// CPU seconds of the calling thread so far; `None` where the system has no such clock.
pub fn thread_seconds() -> Option<f64> {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
    Some(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}

/// CPU seconds of all threads of this process so far; `None` where the system has no such clock.
pub fn process_seconds() -> Option<f64> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    Some(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}

/// A clock that reads CPU time of the calling thread where there is such a thing, else the wall's.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    cpu_s: Option<f64>,
    begun: Instant,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self { cpu_s: thread_seconds(), begun: Instant::now() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        match self.cpu_s.zip(thread_seconds()) {
            Some((before, now)) => now - before,
            None => self.begun.elapsed().as_secs_f64(),
        }
    }
}

/// The middle of some values (the mean of the two in the middle of an even number); NaN without any.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[half],
        _ => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// The smallest of some values: other work on the machine only ever adds.
pub fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::{best, median};

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(best(&[3.0, 1.0, 2.0]), 1.0);
    }
}
