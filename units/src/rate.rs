//! Data rates.
use crate::number::{ParseQuantityError, parse_scaled, write_scaled};
use crate::{ByteCount, Duration};
use core::{fmt, iter, ops, str};

/// A rate in bits per second. Text: `"1800 kbit/s"`, `"50 Mbit/s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Self = Self(0);

    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// `kbps` kilobits (1000 bits) per second.
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps * 1000)
    }

    /// `mbps` megabits per second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }

    /// The rate at which `bytes` pass in `time`; `None` for no time at all.
    pub fn from_transfer(bytes: ByteCount, time: Duration) -> Option<Self> {
        let nanos = u128::from(time.as_nanos());
        (nanos > 0).then(|| {
            let bps = u128::from(bytes.as_u64()) * 8 * 1_000_000_000 / nanos;
            Self(u64::try_from(bps).unwrap_or(u64::MAX))
        })
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Scaled by a factor of at least 0, rounded.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self(libm::round(self.0 as f64 * factor) as u64)
    }

    /// Time to send `bytes`, rounded up; a zero rate never gets there ([`Duration::MAX`]).
    pub fn transmission_time(self, bytes: ByteCount) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        match bytes.bits().checked_mul(1_000_000_000) {
            Some(scaled) => Duration::from_nanos(scaled.div_ceil(self.0)),
            None => {
                let nanos = (u128::from(bytes.bits()) * 1_000_000_000).div_ceil(u128::from(self.0));
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }

    /// Bytes that pass in `time`, rounded down (a bandwidth-delay product).
    pub fn bytes_in(self, time: Duration) -> ByteCount {
        let bytes = u128::from(self.0) * u128::from(time.as_nanos()) / 8_000_000_000;
        ByteCount::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl ops::Add for Rate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl iter::Sum for Rate {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |a, b| a + b)
    }
}

impl str::FromStr for Rate {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let units = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
        parse_scaled(text, &units, "a rate such as \"600 kbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s)").map(Self)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1000), ("bit/s", 1)];
        write_scaled(f, self.0, &units)
    }
}
