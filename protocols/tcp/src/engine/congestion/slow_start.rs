//! Slow start, for any policy.
use super::hystart::HyStart;
use super::policy::{AckSample, Window};

/// Grows the window by bytes, or a segment per ACK, or as what watches for its end allows.
///
/// Returns the bytes left over once the threshold is reached, for congestion avoidance to use.
pub(super) fn slow_start(
    hystart: &mut Option<HyStart>,
    per_ack: bool,
    sample: &AckSample,
    window: &mut Window,
) -> u64 {
    let mut bytes = if per_ack { u64::from(window.mss) } else { sample.bytes };
    if let Some(hystart) = hystart {
        bytes = hystart.on_ack(sample, bytes, window);
    }
    if per_ack {
        window.cwnd += bytes;
        return 0;
    }
    let room = window.ssthresh.saturating_sub(window.cwnd);
    let used = bytes.min(room);
    window.cwnd += used;
    bytes - used
}
