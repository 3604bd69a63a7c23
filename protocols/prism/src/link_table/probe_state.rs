//! What is remembered of the probes of a link.
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// Unanswered probes in a row after which the link is tried with new data instead.
pub(crate) const MAX_UNANSWERED: u8 = 4;

/// The open question to one link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) flow: u32,
    pub(crate) seq: SeqNumber,
    pub(crate) sent: Instant,
}

/// What a link remembers of its probes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProbeState {
    pub(crate) open: Option<Probe>,
    pub(crate) next: Instant,
    pub(crate) unanswered: u8,
}
