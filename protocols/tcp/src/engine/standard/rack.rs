//! Time-based loss detection with an adaptive reordering window (RFC 8985 sections 5 and 6).
use crate::engine::delivery::Newest;
use prismux_units::{Duration, Instant};

/// Recoveries for which a widened window is kept (section 6.2 step 4).
const PERSIST: u8 = 16;
/// Widest window, in quarters of the minimum RTT; the smoothed RTT bounds it anyway.
const MAX_MULTIPLIER: u16 = 1000;

/// Per-connection variables of section 5.3.
#[derive(Debug, Clone)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the most recently sent segment that was delivered.
    pub(crate) sent_at: Instant,
    pub(crate) end: u64,
    /// RACK.rtt.
    pub(crate) rtt: Duration,
    /// RACK.dsack_round: one widening until this position is acknowledged.
    dsack_round: Option<u64>,
    multiplier: u16,
    persist: u8,
    pub(crate) reordering_seen: bool,
}

/// What the reordering window depends on at one moment (section 6.2 step 4).
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowInputs {
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) srtt: Option<Duration>,
    pub(crate) in_recovery: bool,
    pub(crate) sacked_segments: u32,
    pub(crate) dup_threshold: u32,
    pub(crate) adaptive: bool,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            sent_at: Instant::ZERO,
            end: 0,
            rtt: Duration::ZERO,
            dsack_round: None,
            multiplier: 1,
            persist: PERSIST,
            reordering_seen: false,
        }
    }

    /// Step 2: takes the newest delivered segment, unless the ACK may belong to an earlier transmission of it.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        newest: &Newest,
        min_rtt: Option<Duration>,
        echoed_before: bool,
    ) {
        let rtt = now - newest.sent_at;
        if newest.retransmitted && (echoed_before || min_rtt.is_some_and(|minimum| rtt < minimum)) {
            return;
        }
        self.rtt = rtt;
        if newest.sent_at > self.sent_at || (newest.sent_at == self.sent_at && newest.end > self.end) {
            self.sent_at = newest.sent_at;
            self.end = newest.end;
        }
    }

    /// Step 4, first half: a DSACK widens the window, once per round trip.
    pub(crate) fn on_dsack(&mut self, acked: u64, next: u64) {
        if self.dsack_round.is_some_and(|round| acked >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() {
            self.dsack_round = Some(next);
            self.multiplier = (self.multiplier + 1).min(MAX_MULTIPLIER);
            self.persist = PERSIST;
        }
    }

    /// Step 4: a recovery ended; after sixteen without a DSACK the window is narrow again.
    pub(crate) fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Step 4, second half: RACK.reo_wnd.
    pub(crate) fn reordering_window(&self, inputs: &WindowInputs) -> Duration {
        if !self.reordering_seen && (inputs.in_recovery || inputs.sacked_segments >= inputs.dup_threshold) {
            return Duration::ZERO;
        }
        let quarter = inputs.min_rtt.unwrap_or(Duration::ZERO) / 4;
        let multiplier = if inputs.adaptive { u64::from(self.multiplier) } else { 1 };
        (quarter * multiplier).min(inputs.srtt.unwrap_or(quarter))
    }
}
