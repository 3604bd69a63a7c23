//! A flow's place in the run and in the report.
use crate::core::ids::FlowId;
use prismux_trace::results::goodput_bps;
use prismux_units::{Duration, Instant};

/// Shares of a flow's bytes between which its steady goodput is measured: slow start and tail left out. The first one
/// counts only where no warm-up time is set.
const STEADY_FROM: f64 = 0.2;
const STEADY_TO: f64 = 0.95;

/// How far a flow has got.
#[derive(Debug)]
pub(crate) struct FlowRecord {
    pub flow: FlowId,
    pub name: String,
    pub transport: String,
    /// Payload to carry, when there is an end.
    pub bytes: Option<u64>,
    /// The run is not complete without it.
    pub counts: bool,
    pub started_at: Option<Instant>,
    pub finished_at: Option<Instant>,
    pub stopped_at: Option<Instant>,
    /// Steady state begins a set time after the start, not at a share of the bytes.
    pub warms_up: bool,
    /// Where steady state begins and ends: time and bytes by then.
    pub steady_from: Option<(Instant, u64)>,
    pub steady_to: Option<(Instant, u64)>,
}

impl FlowRecord {
    pub fn new(flow: FlowId, name: &str, transport: &str, bytes: Option<u64>, counts: bool) -> Self {
        Self {
            flow,
            name: name.into(),
            transport: transport.into(),
            bytes,
            counts,
            started_at: None,
            finished_at: None,
            stopped_at: None,
            warms_up: false,
            steady_from: None,
            steady_to: None,
        }
    }

    /// Notes the marks that `bytes` in-order bytes have reached, and returns the next one.
    pub fn pass_marks(&mut self, now: Instant, bytes: u64) -> u64 {
        let Some(total) = self.bytes else { return u64::MAX };
        let mark = |share: f64| ((total as f64 * share) as u64).max(1);
        let (from, to) = (mark(STEADY_FROM), mark(STEADY_TO));
        if self.steady_from.is_none() && bytes >= from && !self.warms_up {
            self.steady_from = Some((now, bytes));
        }
        if self.steady_to.is_none() && bytes >= to {
            self.steady_to = Some((now, bytes));
        }
        if bytes >= total {
            self.finish(now);
        }
        [from, to, total].into_iter().find(|&mark| bytes < mark).unwrap_or(u64::MAX)
    }

    /// The flow has carried what it had to.
    pub fn finish(&mut self, now: Instant) {
        self.finished_at.get_or_insert(now);
    }

    /// True once, after the flow with an end has reached it.
    pub fn take_finished(&mut self) -> bool {
        let finished = self.counts && self.finished_at.is_some();
        self.counts &= !finished;
        finished
    }

    /// Time from start to end, or to `now`.
    pub fn active_time(&self, now: Instant) -> Duration {
        let end = self.finished_at.or(self.stopped_at).unwrap_or(now);
        self.started_at.map_or(Duration::ZERO, |start| end - start)
    }

    /// Goodput in steady state, if it got there.
    pub fn steady_goodput_bps(&self, now: Instant, bytes: u64) -> Option<f64> {
        let (from, bytes_from) = self.steady_from?;
        let until = match self.bytes {
            Some(_) => self.steady_to?,
            None => (self.stopped_at.unwrap_or(now), bytes),
        };
        let seconds = (until.0 - from).as_secs_f64();
        (seconds > 0.0).then(|| goodput_bps(until.1.saturating_sub(bytes_from), seconds))
    }
}
