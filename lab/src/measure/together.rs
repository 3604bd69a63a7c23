//! The flows' lines, and what all flows delivered together over one stretch of time, as the simulator has it.
use crate::orders::{Carrier, FlowOrders};
use crate::traffic::tcp_info::TcpInfo;
use crate::traffic::{ARRIVAL_CELL, FlowOutcome};
use prismux_trace::results::{FlowResult, PacketResult, PipeResult, Stretch, goodput_bps};
use prismux_units::{Duration, Instant};
use std::ops::Range;

/// Shares of a flow's bytes between which its steady goodput is measured: slow start and tail left out. The first one
/// counts only where no warm-up time is set. The simulator has the same.
const STEADY_FROM: f64 = 0.2;
const STEADY_TO: f64 = 0.95;

/// A flow of the run and when it did what.
#[derive(Debug)]
pub(super) struct Measured<'a> {
    pub orders: &'a FlowOrders<'a>,
    outcome: &'a FlowOutcome,
    /// From its start to its end.
    pub active: Range<Instant>,
    /// From the end of the warm-up (without one, of the first fifth of the bytes) to the end (of a file: to 95 % of
    /// it); `None` for a flow too short for that.
    steady: Option<Range<Instant>>,
}

impl<'a> Measured<'a> {
    /// A flow of a run that ended at `end`.
    pub fn new(
        orders: &'a FlowOrders<'a>,
        outcome: &'a FlowOutcome,
        warm_up: Option<Duration>,
        end: Instant,
    ) -> Self {
        let stop = orders.stop.map_or(end, |stop| stop.min(end));
        let active = orders.start..outcome.completed_at.unwrap_or(stop);
        let reached = |bytes: f64| outcome.arrivals.reached(bytes as u64);
        let total = orders.file_bytes().map(|bytes| bytes as f64);
        let from = match (total, warm_up) {
            (Some(total), None) => reached(total * STEADY_FROM),
            (_, warm_up) => Some(orders.start + warm_up.unwrap_or_default()),
        };
        let to = match total {
            Some(total) => reached(total * STEADY_TO),
            None => Some(active.end),
        };
        let steady = from.zip(to).map(|(from, to)| from..to);
        Self { orders, outcome, active, steady }
    }

    /// Bytes that arrived in whole cells of `stretch`, and the length of these; `None` where there is none.
    fn delivered_in(&self, stretch: &Range<Instant>) -> Option<Stretch> {
        let cell_ns = ARRIVAL_CELL.as_nanos();
        let cells =
            stretch.start.as_nanos().div_ceil(cell_ns) as usize..(stretch.end.as_nanos() / cell_ns) as usize;
        // No cell behind the last arrival was ever made.
        let bytes = self.outcome.arrivals.cells.iter().take(cells.end).skip(cells.start).sum();
        let seconds = cells.len() as f64 * ARRIVAL_CELL.as_secs_f64();
        (!cells.is_empty()).then_some(Stretch { bytes, seconds })
    }

    /// The flow's line.
    pub fn result(&self) -> FlowResult {
        let Self { orders, outcome, active, steady } = self;
        let sum = |count: fn(&TcpInfo) -> Option<u64>| outcome.senders.iter().map(count).sum::<Option<u64>>();
        let of_pipes = |count: fn(&PipeResult) -> u64| outcome.pipes.values().map(count).sum::<u64>();
        let steady = steady.as_ref().and_then(|steady| self.delivered_in(steady));
        FlowResult {
            transport: orders.flow.transport_name().to_owned(),
            goodput_bps: goodput_bps(
                outcome.arrivals.by(active.end),
                (active.end - active.start).as_secs_f64(),
            ),
            steady_goodput_bps: steady.map(|steady| steady.goodput_bps()),
            bytes: outcome.arrivals.total_bytes,
            completion_s: outcome.completed_at.map(|at| (at - active.start).as_secs_f64()),
            retransmitted_segments: sum(|info| Some(info.retransmitted_segments)).unwrap_or(0)
                + of_pipes(|pipe| pipe.retransmitted_segments),
            spurious_retransmissions: sum(|info| info.spurious_retransmissions)
                .filter(|_| !matches!(orders.carrier, Carrier::Fetch(_))),
            timeouts: sum(|info| info.timeouts).unwrap_or(0) + of_pipes(|pipe| pipe.timeouts),
            packets: outcome
                .packets
                .map(|[sent, received]| PacketResult::new(sent, sent.saturating_sub(received))),
            acks: None,
            delay: outcome.delay,
            response: outcome.response,
            sha256: outcome.sha256.clone(),
            pipes: outcome.pipes.clone(),
        }
    }
}

/// From the start of the first to the end of the last; of a run without flows, that ended at `end`, all of it.
pub(super) fn under_way(flows: &[Measured<'_>], end: Instant) -> Range<Instant> {
    let first = flows.iter().map(|flow| flow.active.start).min();
    let last = flows.iter().map(|flow| flow.active.end).max();
    first.unwrap_or_default()..last.unwrap_or(end)
}

/// What all delivered while any was under way.
pub(super) fn together(flows: &[Measured<'_>], under_way: &Range<Instant>) -> Stretch {
    let bytes = flows.iter().map(|flow| flow.outcome.arrivals.by(flow.active.end)).sum();
    Stretch { bytes, seconds: (under_way.end - under_way.start).as_secs_f64() }
}

/// What all delivered while every one of them was steady.
pub(super) fn steady_together(flows: &[Measured<'_>]) -> Option<Stretch> {
    let steady: Option<Vec<&Range<Instant>>> = flows.iter().map(|flow| flow.steady.as_ref()).collect();
    let steady = steady?;
    let from = steady.iter().map(|steady| steady.start).max()?;
    let to = steady.iter().map(|steady| steady.end).min()?.max(from);
    let parts = flows.iter().map(|flow| flow.delivered_in(&(from..to)));
    let parts: Vec<Stretch> = parts.collect::<Option<_>>()?;
    Some(Stretch { bytes: parts.iter().map(|part| part.bytes).sum(), seconds: parts.first()?.seconds })
}
