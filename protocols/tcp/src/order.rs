//! The seam through which both ends watch in which order segments leave and arrive (TCP-DOOR).
use crate::connection::{SegmentIn, SegmentOut};
use crate::engine::Engine;
use core::any::Any;
use core::fmt::Debug;
use prismux_units::{Duration, Instant};

/// What a watch may see of the connection when a segment arrives.
#[derive(Debug)]
pub struct OrderView<'a> {
    /// The time of arrival.
    pub now: Instant,
    /// Data of ours has left.
    pub has_sent: bool,
    /// Measures of the engine, taken on demand.
    pub(crate) engine: &'a Engine,
}

impl OrderView<'_> {
    /// The retransmission timeout without floor and back-off: what RTT samples alone make of it.
    pub fn base_rto(&self) -> Duration {
        self.engine.base_rto()
    }

    /// Smoothed round-trip time, once there is a sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.engine.srtt()
    }
}

/// What a watch wants done about an arrival. All of it happens before the segment is judged and processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderResponse {
    /// The peer is to hear of it at once: an acknowledgement leaves now.
    pub acknowledge: bool,
    /// Reductions of the window from then on are taken back ([`Engine::restore`]).
    pub restore_since: Option<Instant>,
    /// Congestion control stands still until then ([`Engine::freeze`]).
    pub freeze_until: Option<Instant>,
    /// The window may grow until then all the same.
    pub grows_while_frozen: bool,
}

/// Marks the order of sending on segments, and judges by the peer's marks whether segments arrive in that order.
pub trait OrderWatch: Debug + Send + Any {
    /// The peer's SYN has come, which `offers` marks or does not. Returns the option bytes that a data segment carries
    /// from now on.
    fn settle(&mut self, offers: bool) -> u32;

    /// A segment leaves: its marks. `retransmissions` counts those of SYN.
    fn mark(&mut self, segment: &mut SegmentOut, retransmissions: u8);

    /// A segment with ACK has arrived, with a sequence number from a window below to the right edge of what is expected
    /// and an acceptable acknowledgement number. Whether it is old, a duplicate or will be refused by its timestamp,
    /// its place in the order counts.
    fn on_arrival(&mut self, segment: &SegmentIn, view: &OrderView<'_>) -> OrderResponse;
}
