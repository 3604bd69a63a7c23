//! What the applications at the ends of flows go by.

/// A stream without end: more than any run carries, and far from overflow.
pub(crate) const ENDLESS: u64 = 1 << 62;

/// What the application must know after its machine has been driven; gathered while the machine is borrowed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Notes {
    /// In-order bytes so far, when they changed.
    pub readable: u64,
    pub connected: bool,
    pub peer_closed: bool,
    pub ended: bool,
}
