//! Instants and durations: integer nanoseconds from the start of the run, eight bytes each.
use crate::number::{ParseQuantityError, parse_scaled, write_scaled};
use core::{fmt, iter, ops, str};

/// A length of time in whole nanoseconds. Text: `"500 ms"`, `"1.5 s"`, `"20 us"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// For ever, for all practical purposes.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1000)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// `secs` seconds, rounded to the nanosecond; negative and NaN become zero.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self(libm::round(secs * 1e9) as u64)
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1000
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds as a float, for reports and closed forms.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// True for no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Sum, at most [`Duration::MAX`].
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Difference, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Scaled by a factor of at least 0, rounded.
    pub fn mul_f64(self, factor: f64) -> Self {
        let product = self.0 as f64 * factor;
        let whole = product as u64;
        Self(whole.saturating_add(u64::from(product - whole as f64 >= 0.5)))
    }

    /// Absolute difference.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl ops::Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl ops::AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl ops::Sub for Duration {
    type Output = Self;
    /// Saturates at zero.
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl ops::Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl ops::Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl iter::Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |a, b| a + b)
    }
}

impl str::FromStr for Duration {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let units =
            [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
        parse_scaled(text, &units, "a duration such as \"500 ms\" (ns, us, ms, s, min, h)").map(Self)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MAX {
            return f.write_str("for ever");
        }
        write_scaled(f, self.0, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)])
    }
}

/// A point in time: nanoseconds since the start of the run (simulator: virtual; Linux: monotonic clock).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// `secs` seconds after the start.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for reports.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time since `earlier`, or zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl ops::Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_nanos()))
    }
}

impl ops::AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl ops::Sub<Duration> for Instant {
    type Output = Self;
    /// Saturates at the start of the run.
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration.as_nanos()))
    }
}

impl ops::Sub for Instant {
    type Output = Duration;
    /// Time between; zero if `earlier` is later.
    fn sub(self, earlier: Self) -> Duration {
        self.saturating_since(earlier)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
