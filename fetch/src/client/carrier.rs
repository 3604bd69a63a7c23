//! What carries the object over the open paths, whichever protocol it is.
use super::traffic::Store;
use crate::channel::Message;
use prismux_r2cp::policy::Cost;
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;

/// Something a carrier has to say about its paths or the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    /// Something new of the object has come.
    News,
    /// The path carries.
    Opened(usize),
    /// The path carries no more, and why.
    Lost(usize, &'static str),
    /// The path carries no more, by the user's wish.
    Closed(usize),
    /// What comes over the path cannot be the object.
    Refused(usize, String),
    /// Every byte is here.
    Complete,
}

/// Measures of what a path carries now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Carried {
    /// Bytes it was the first to bring since it was opened.
    pub(super) received_bytes: u64,
    /// Smoothed round trip.
    pub(super) round_trip: Option<Duration>,
    /// Retransmission timeout, where it is ours.
    pub(super) timeout: Option<Duration>,
    /// Bytes asked for over it, those asked for again included.
    pub(super) asked_bytes: u64,
    /// Asked for and not here, in bytes.
    pub(super) outstanding_bytes: u64,
    /// Segments asked for again.
    pub(super) repeated_segments: u64,
    /// Retransmission timeouts.
    pub(super) timeouts: u64,
}

/// A protocol between the open paths and the object's bytes.
pub(super) trait Carrier {
    /// Path `path` is open: a pipe may begin there.
    fn open(&mut self, now: Instant, path: usize, cost: Cost);

    /// The user wants no more of path `path`: what is on its way still arrives, then [`Note::Closed`] says so.
    fn close_path(&mut self, now: Instant, path: usize);

    /// Path `path` is no more; what its pipe owes comes over others.
    fn drop_path(&mut self, now: Instant, path: usize);

    /// A message came over `path`; bytes of the object go to `store`. False if it makes no sense here.
    fn receive(
        &mut self,
        now: Instant,
        path: usize,
        ecn: Ecn,
        message: &Message<'_>,
        store: &mut Store<'_>,
    ) -> bool;

    /// Appends the next message to `message`, and says over which path it goes.
    fn transmit(&mut self, now: Instant, message: &mut Vec<u8>) -> Option<(usize, Ecn)>;

    /// When [`Carrier::handle_timeout`] wants to be called.
    fn deadline(&self) -> Option<Instant>;

    /// Time has reached the deadline.
    fn handle_timeout(&mut self, now: Instant);

    /// The next note.
    fn poll_note(&mut self) -> Option<Note>;

    /// What `path` carries.
    fn carried(&self, path: usize) -> Carried;

    /// Bytes of the object that are here without a gap.
    fn in_order_bytes(&self) -> u64;

    /// Payload bytes that had arrived before.
    fn duplicate_bytes(&self) -> u64;

    /// The user wants no more: the server is told.
    fn abort(&mut self, now: Instant);

    /// Nothing more will be said.
    fn is_closed(&self) -> bool;
}
