//! TCP sequence numbers.
use core::{cmp::Ordering, fmt, ops};

/// A 32-bit sequence number with wrapping (serial) arithmetic, RFC 9293 section 3.4.
///
/// The order is only meaningful between numbers less than 2^31 apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// Signed distance from `earlier` to `self`, modulo 2^32.
    pub const fn distance_from(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }

    /// True when `self` comes strictly before `other`.
    pub const fn before(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }

    /// True when `self` comes strictly after `other`.
    pub const fn after(self, other: Self) -> bool {
        self.distance_from(other) > 0
    }

    /// The 64-bit stream position nearest to `reference` whose low 32 bits are this number.
    ///
    /// `origin` is the sequence number of stream position 0; `None` for a number before it.
    pub fn unwrap_near(self, origin: Self, reference: u64) -> Option<u64> {
        let near = origin + (reference as u32);
        let position = reference as i64 + i64::from(self.distance_from(near));
        u64::try_from(position).ok()
    }

    /// The later of two.
    pub fn max(self, other: Self) -> Self {
        if other.after(self) { other } else { self }
    }

    /// The earlier of two.
    pub fn min(self, other: Self) -> Self {
        if other.before(self) { other } else { self }
    }
}

impl ops::Add<u32> for SeqNumber {
    type Output = Self;
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl ops::AddAssign<u32> for SeqNumber {
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}

impl ops::Sub<u32> for SeqNumber {
    type Output = Self;
    fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }
}

impl PartialOrd for SeqNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.distance_from(*other).partial_cmp(&0)
    }
}

impl fmt::Display for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::SeqNumber;

    #[test]
    fn order_wraps_around() {
        let high = SeqNumber(u32::MAX - 1);
        assert!(high.before(high + 5));
        assert_eq!((high + 5).distance_from(high), 5);
        assert!(SeqNumber(3).after(high));
    }

    #[test]
    fn positions_unwrap_near_the_reference() {
        let origin = SeqNumber(0xffff_fff0);
        assert_eq!((origin + 100).unwrap_near(origin, 90), Some(100));
        assert_eq!((origin + 100).unwrap_near(origin, (1 << 32) + 50), Some((1 << 32) + 100));
        assert_eq!((origin - 1).unwrap_near(origin, 0), None);
    }
}
