//! When something is due, and why.
use prismux_units::Instant;

/// When an endpoint wants [`Endpoint::handle_timeout`] called next, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Not before this instant.
    pub at: Instant,
    /// The timer's name, for traces ("rto", "delayed-ack", ...).
    pub why: &'static str,
}

impl Deadline {
    /// The earlier of two optional deadlines; the first of two equal ones.
    pub fn earliest(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.at < a.at { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}
