//! What carries the object over the open paths, whichever protocol it is.
use super::event::PathLoss;
use super::ptcp::Ptcp;
use super::r2cp::R2cp;
use crate::channel::Message;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_r2cp::policy::Cost;
use prismux_sealed::Entropy;
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::ops::Range;

/// Something a carrier has to say about its paths or the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CarrierEvent {
    /// Something new of the object has come.
    Accepted {
        /// Where in the object it belongs.
        offset: u64,
        /// Where it lies in the packet or segment that came.
        part: Range<usize>,
    },
    /// What came makes no sense.
    Malformed,
    /// The path carries.
    Opened(usize),
    /// The path carries no more.
    Lost(usize, PathLoss),
    /// The path carries no more, by the user's wish.
    Closed(usize),
    /// What comes over the path ends elsewhere than the object.
    OtherEnd(usize),
    /// Every byte is here.
    Complete,
}

/// A message that came over a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathMessage<'a> {
    pub(super) path: usize,
    pub(super) ecn: Ecn,
    pub(super) message: Message<'a>,
}

/// A message that is to go over a path; [`Carrier::message`] has its bytes until the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathTransmit {
    pub(super) path: usize,
    pub(super) ecn: Ecn,
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
pub(super) enum Carrier {
    R2cp(Box<R2cp>),
    Ptcp(Box<Ptcp>),
}

/// The same of either protocol.
macro_rules! of_either {
    ($carrier:expr, $protocol:ident => $answer:expr) => {
        match $carrier {
            Carrier::R2cp($protocol) => $answer,
            Carrier::Ptcp($protocol) => $answer,
        }
    };
}

impl Carrier {
    /// Path `path` is open: a pipe may begin there.
    pub(super) fn open(&mut self, now: Instant, path: usize, cost: Cost, entropy: &mut Entropy) {
        match self {
            Self::R2cp(r2cp) => r2cp.open(now, path, entropy.sequence_number(), cost),
            Self::Ptcp(ptcp) => ptcp.open(now, path),
        }
    }

    /// The user wants no more of path `path`: what is on its way still arrives, then [`CarrierEvent::Closed`] says so.
    pub(super) fn close_path(&mut self, now: Instant, path: usize) {
        of_either!(self, protocol => protocol.close_path(now, path));
    }

    /// Path `path` is no more; what its pipe owes comes over others.
    pub(super) fn drop_path(&mut self, now: Instant, path: usize) {
        of_either!(self, protocol => protocol.drop_path(now, path));
    }

    /// Nothing that ends beyond `position` is asked for: by R²CP, which asks.
    pub(super) fn ask_up_to(&mut self, now: Instant, position: u64) {
        if let Self::R2cp(r2cp) = self {
            r2cp.ask_up_to(now, position);
        }
    }

    /// These bytes are here from elsewhere, and not asked for: by R²CP, which asks.
    pub(super) fn already_here(&mut self, now: Instant, range: &Range<u64>) {
        if let Self::R2cp(r2cp) = self {
            r2cp.already_here(now, range);
        }
    }

    /// The user wants no more: the server is told.
    pub(super) fn abort(&mut self, now: Instant) {
        of_either!(self, protocol => protocol.abort(now));
    }

    /// The bytes of the last transmit.
    pub(super) fn message(&self) -> &[u8] {
        of_either!(self, protocol => protocol.message())
    }

    /// What `path` carries.
    pub(super) fn carried(&self, path: usize) -> Carried {
        of_either!(self, protocol => protocol.carried(path))
    }

    /// Bytes of the object that are here without a gap.
    pub(super) fn in_order_bytes(&self) -> u64 {
        of_either!(self, protocol => protocol.in_order_bytes())
    }

    /// Payload bytes that had arrived before.
    pub(super) fn duplicate_bytes(&self) -> u64 {
        of_either!(self, protocol => protocol.duplicate_bytes())
    }

    /// Nothing more will be said.
    pub(super) fn is_closed(&self) -> bool {
        of_either!(self, protocol => protocol.is_closed())
    }
}

impl Endpoint for Carrier {
    type Input<'a> = PathMessage<'a>;
    type Transmit = PathTransmit;
    type Event = CarrierEvent;

    fn handle_input(&mut self, now: Instant, input: PathMessage<'_>) {
        of_either!(self, protocol => protocol.handle_input(now, input));
    }

    fn handle_timeout(&mut self, now: Instant) {
        of_either!(self, protocol => protocol.handle_timeout(now));
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<PathTransmit> {
        of_either!(self, protocol => protocol.poll_transmit(now))
    }

    fn poll_event(&mut self) -> Option<CarrierEvent> {
        of_either!(self, protocol => protocol.poll_event())
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        of_either!(self, protocol => protocol.poll_timeout())
    }
}
