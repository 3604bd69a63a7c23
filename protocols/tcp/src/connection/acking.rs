//! The acknowledgement that a connection owes its peer.

/// Whether an acknowledgement is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AckNeed {
    /// Nothing to say.
    None,
    /// With the next segment or when the timer fires.
    Delayed,
    /// Now.
    Now,
}

/// When to acknowledge.
#[derive(Debug)]
pub(super) struct Acking {
    pub(super) need: AckNeed,
    /// Segments that arrived since the last acknowledgement.
    pub(super) segments: u8,
    /// Segments still to acknowledge at once (start of the connection).
    pub(super) quick: u8,
}
