//! The peer's direction.
use super::reassembly::Reassembly;
use super::receive_window::ReceiveWindow;
use prismux_wire::SeqNumber;

/// The peer's direction: one cache line before the peer's FIN.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Receiving {
    pub(super) initial: SeqNumber,
    /// The FIN has been reached in order.
    pub(super) closed: bool,
    /// The FIN has been seen.
    pub(super) fin_seen: bool,
    pub(super) window: ReceiveWindow,
    pub(super) reassembly: Reassembly,
    /// Position of the peer's FIN, once seen.
    pub(super) fin_position: u64,
}

const _: () = assert!(core::mem::offset_of!(Receiving, fin_position) == 64, "a cache line before it");

impl Receiving {
    /// Position of the peer's FIN, once seen.
    pub(super) fn fin_at(&self) -> Option<u64> {
        self.fin_seen.then_some(self.fin_position)
    }

    /// The next position expected, FIN counted.
    pub(super) fn next(&self) -> u64 {
        self.reassembly.next() + u64::from(self.closed)
    }

    /// The next sequence number expected (RCV.NXT).
    pub(super) fn next_sequence(&self) -> SeqNumber {
        self.initial + 1 + (self.next() as u32)
    }
}
