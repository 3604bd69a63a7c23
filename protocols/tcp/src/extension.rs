//! The seam through which a sender learns more from an acknowledgement than TCP itself would.
use crate::engine::{EngineMetrics, LossNotice};
use core::fmt::Debug;
use prismux_units::Instant;
use prismux_wire::{SeqNumber, TcpHeader};

/// What an extension may see of the sender when an acceptable acknowledgement arrives.
#[derive(Debug)]
pub struct SenderView<'a> {
    /// The time of arrival.
    pub now: Instant,
    /// Our initial sequence number.
    pub initial_sequence: SeqNumber,
    /// Stream position acknowledged before this segment.
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

    /// Window, RTT and counters of the engine before this acknowledgement.
    pub fn engine_metrics(&self) -> EngineMetrics {
        self.engine.metrics()
    }
}

/// A sender's extra ear: called, before the engine is, with every acceptable segment that acknowledges something new, carries
/// SACK blocks or arrives while something is outstanding.
pub trait SenderExtension: Debug + Send {
    /// Looks at the header (its options above all); a returned notice is handed to the engine with the
    /// acknowledgement.
    fn on_ack(&mut self, header: &TcpHeader, view: &SenderView<'_>) -> Option<LossNotice>;
}
