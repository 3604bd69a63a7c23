//! Sizes in bytes.
use crate::number::{ParseQuantityError, parse_scaled, write_scaled};
use core::{fmt, ops, str};

/// A number of bytes. Text: `"1500 B"`, `"14 MB"` (SI prefixes only).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteCount(u64);

impl ByteCount {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// As a plain integer.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// As bits.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }

    /// Difference, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl ops::Add for ByteCount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl ops::AddAssign for ByteCount {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl str::FromStr for ByteCount {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let units = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
        parse_scaled(text, &units, "a size such as \"1500 B\" or \"14 MB\" (B, kB, MB, GB, TB)").map(Self)
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1)])
    }
}
