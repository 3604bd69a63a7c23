//! A change of path under the connection, as somebody tells the engine of it (TCP-HO).
use prismux_units::Duration;

/// A new path, as far as its properties are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathChange {
    /// The window to begin with, in bytes; at least a segment is used.
    pub window_bytes: u64,
    /// Slow-start threshold, in bytes; `None` keeps the old one.
    pub threshold_bytes: Option<u64>,
    /// No timeout is shorter than this until [`PathUpdate::settled`].
    pub min_rto: Duration,
}

/// What becomes known about the path later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathUpdate {
    /// New slow-start threshold, in bytes; the window stays.
    pub threshold_bytes: Option<u64>,
    /// The path is known well enough: [`PathChange::min_rto`] no longer holds.
    pub settled: bool,
}
