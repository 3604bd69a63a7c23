//! What links are called.
use core::fmt;

/// A link of the community, numbered by the host (small numbers: they index a table), below [`LinkId::COUNT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub u8);

impl LinkId {
    /// So many links a proxy has at most: a record of a packet has one byte for the number of its link, and one value
    /// of it says that there is none yet.
    pub const COUNT: usize = u8::MAX as usize;
    /// No link.
    pub(crate) const NONE: Self = Self(u8::MAX);
}

impl fmt::Display for LinkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "link {}", self.0)
    }
}
