//! Where a retransmission is due at once.

/// The position of a retransmission that is due whatever the window says, or none: in one word, next to what every
/// acknowledgement touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Urgent(u64);

impl Urgent {
    /// Nothing is due. No stream is as long.
    pub(crate) const NONE: Self = Self(u64::MAX);

    pub(crate) const fn at(position: u64) -> Self {
        Self(position)
    }

    #[inline]
    pub(crate) fn position(self) -> Option<u64> {
        (self != Self::NONE).then_some(self.0)
    }
}

impl From<Option<u64>> for Urgent {
    fn from(position: Option<u64>) -> Self {
        position.map_or(Self::NONE, Self::at)
    }
}
