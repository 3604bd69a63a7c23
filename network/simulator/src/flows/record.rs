//! A flow's place in the run and in the report.
use crate::core::ids::FlowId;
use prismux_trace::results::goodput_bps;
use prismux_units::Instant;
use std::ops::Range;

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
    /// When it was stopped, and the bytes delivered by then: what was on its way counts no more.
    pub stopped: Option<(Instant, u64)>,
    /// Steady state begins a set time after the start, not at a share of the bytes.
    pub warms_up: bool,
    /// Where steady state begins and ends: time and bytes by then.
    pub steady_from: Option<(Instant, u64)>,
    pub steady_to: Option<(Instant, u64)>,
    /// Points that the run's totals know of, by number.
    told: [bool; 3],
}

/// A point in a flow's life at which the run takes stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    SteadyFrom,
    SteadyTo,
    End,
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
            stopped: None,
            warms_up: false,
            steady_from: None,
            steady_to: None,
            told: [false; 3],
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

    /// From its start to its end, or to `now`; an empty time before it has started.
    pub fn active_time(&self, now: Instant) -> Range<Instant> {
        let end = self.finished_at.or(self.stopped.map(|(at, _)| at)).unwrap_or(now);
        self.started_at.unwrap_or(end)..end
    }

    /// Of `bytes` delivered, those by its end.
    pub fn bytes_in_time(&self, bytes: u64) -> u64 {
        self.stopped.map_or(bytes, |(_, by_then)| by_then)
    }

    /// True once, after the flow has come to what `point` says.
    pub fn take_passed(&mut self, point: Point) -> bool {
        let passed = match point {
            Point::SteadyFrom => self.steady_from.is_some(),
            Point::SteadyTo => self.steady_to.is_some(),
            Point::End => self.finished_at.is_some() || self.stopped.is_some(),
        };
        passed && !std::mem::replace(&mut self.told[point as usize], true)
    }

    /// True where [`FlowRecord::take_passed`] has something to tell.
    pub fn has_news(&self) -> bool {
        let ended = self.finished_at.is_some() || self.stopped.is_some();
        self.told != [self.steady_from.is_some(), self.steady_to.is_some(), ended]
    }

    /// Goodput in steady state, if it got there.
    pub fn steady_goodput_bps(&self, now: Instant, bytes: u64) -> Option<f64> {
        let (from, bytes_from) = self.steady_from?;
        let until = match self.bytes {
            Some(_) => self.steady_to?,
            None => (self.active_time(now).end, self.bytes_in_time(bytes)),
        };
        let seconds = (until.0 - from).as_secs_f64();
        (seconds > 0.0).then(|| goodput_bps(until.1.saturating_sub(bytes_from), seconds))
    }
}
