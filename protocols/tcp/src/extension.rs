//! The seam through which a sender learns more from an acknowledgement than TCP itself would.
use crate::engine::{AckOutcome, EngineMetrics, LossNotice, PathChange, PathUpdate};
use core::any::Any;
use core::fmt::Debug;
use prismux_units::{Instant, Rate};
use prismux_wire::{SeqNumber, TcpHeader};

/// What an extension may see of the sender when an acceptable acknowledgement arrives.
#[derive(Debug)]
pub struct SenderView<'a> {
    /// The time of arrival.
    pub now: Instant,
    /// Our initial sequence number.
    pub initial_sequence: SeqNumber,
    /// Stream position acknowledged: before this segment in [`SenderExtension::on_ack`], with it in
    /// [`SenderExtension::steer`].
    pub acknowledged: u64,
    /// Stream position just after the highest ever sent (FIN counted).
    pub sent_end: u64,
    /// Measures of the engine, taken on demand.
    pub(crate) engine: &'a crate::engine::Engine,
}

impl SenderView<'_> {
    /// The stream position of a sequence number of ours, if it has been sent and not been acknowledged.
    pub fn outstanding_position(&self, seq: SeqNumber) -> Option<u64> {
        seq.unwrap_near(self.initial_sequence + 1, self.acknowledged)
            .filter(|position| (self.acknowledged..self.sent_end).contains(position))
    }

    /// The segment acknowledges all that is acknowledged: it is not an old one that arrives late.
    pub fn is_current(&self, header: &TcpHeader) -> bool {
        header.ack == self.initial_sequence + 1 + (self.acknowledged as u32)
    }

    /// Window, RTT and counters of the engine: before this acknowledgement in [`SenderExtension::on_ack`], after it in
    /// [`SenderExtension::steer`].
    pub fn engine_metrics(&self) -> EngineMetrics {
        self.engine.metrics()
    }

    /// Payload bytes of a full segment.
    pub fn segment_bytes(&self) -> u32 {
        self.engine.mss()
    }

    /// Segments of the window that the connection began with.
    pub fn initial_window_segments(&self) -> u32 {
        self.engine.initial_window_segments()
    }
}

/// What an extension wants of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Steering {
    /// Nothing.
    #[default]
    Keep,
    /// To start over on another path.
    NewPath(PathChange),
    /// To take in what became known about the path.
    Update(PathUpdate),
}

/// A sender's extra ear. Segments reach it when they are acceptable and acknowledge something new, carry SACK blocks
/// or a handoff notice, or arrive while something is outstanding.
pub trait SenderExtension: Debug + Send + Any {
    /// Before the engine. Looks at the header (its options above all); a returned notice is handed to the engine with
    /// the acknowledgement.
    fn on_ack(&mut self, _header: &TcpHeader, _view: &SenderView<'_>) -> Option<LossNotice> {
        None
    }

    /// After the engine; `outcome` is what the acknowledgement did.
    fn steer(&mut self, _header: &TcpHeader, _outcome: &AckOutcome, _view: &SenderView<'_>) -> Steering {
        Steering::Keep
    }

    /// Our own host has another link, whose bandwidth it estimates so.
    fn on_own_handoff(&mut self, _bandwidth: Option<Rate>, _view: &SenderView<'_>) -> Steering {
        Steering::Keep
    }
}
