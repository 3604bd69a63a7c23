//! What flows of several pipes share.
use prismux_tcp::engine::EngineMetrics;
use prismux_trace::results::PipeResult;
use prismux_units::Duration;

/// What the application at one end does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PipesRole {
    /// Writes so many bytes, then closes.
    Source { bytes: u64 },
    /// Reads until the peer closes.
    Sink,
}

/// The columns of a pipe.
pub(super) fn pipe_result(sent_bytes: u64, received_bytes: u64, engine: &EngineMetrics) -> PipeResult {
    PipeResult {
        sent_bytes,
        received_bytes,
        retransmitted_segments: engine.counters.retransmitted_segments,
        timeouts: engine.counters.timeouts,
        srtt_s: engine.srtt.map(Duration::as_secs_f64),
        rto_s: Some(engine.rto.as_secs_f64()),
        cwnd_bytes: engine.cwnd_bytes,
    }
}
