//! From counters to the columns of a result.
use super::emulator::{DirectionReport, EmulatorReport};
use super::fabric::LINK_MTU_BYTES;
use super::plan::{FlowPlan, LabPlan, Traffic};
use super::traffic::{ARRIVAL_CELL, Arrivals, FlowOutcome};
use prismux_trace::results::{
    Backend, FlowResult, FlowSeries, LinkResult, LinkSeries, Named, RunResult, TimeSeries, TotalResult,
    capacity_bps, goodput_bps,
};
use prismux_units::{Duration, Instant};
use serde_json::Value;

/// IPv4 and TCP headers with the timestamp option, in bytes: what a full packet spends on them.
const HEADER_BYTES: u32 = 52;

/// Builds the result of a run that lasted `duration`.
pub(super) fn result(
    plan: &LabPlan,
    duration: Duration,
    outcomes: &Named<FlowOutcome>,
    emulator: &EmulatorReport,
    status: &Named<Value>,
) -> RunResult {
    let end = Instant::ZERO + duration;
    let flows: Named<FlowResult> = plan
        .flows
        .iter()
        .filter_map(|flow| {
            Some((flow.name.clone(), flow_result(flow, outcomes.get(&flow.name)?, plan.warm_up, end)))
        })
        .collect();
    let links: Named<LinkResult> = plan
        .links
        .iter()
        .zip(&emulator.links)
        .map(|(link, (forward, _))| (link.name.clone(), link_result(forward, duration)))
        .collect();
    let shared: Vec<_> =
        plan.links.iter().filter(|link| link.shared).map(|link| link.name.as_str()).collect();
    let rates = shared.iter().filter_map(|&name| links.get(name)?.rate_bps).map(|bps| bps as f64);
    let capacity = capacity_bps(rates, LINK_MTU_BYTES - HEADER_BYTES, LINK_MTU_BYTES);
    let bulk = plan.flows.iter().filter(|flow| matches!(flow.traffic, Traffic::Bulk { .. }));
    let total = TotalResult::new(bulk.filter_map(|flow| flows.get(&flow.name)), capacity);
    let mut result = RunResult {
        scenario: plan.name.clone(),
        scenario_hash: plan.scenario_hash.clone(),
        backend: Backend::Lab,
        seed: plan.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        duration_s: duration.as_secs_f64(),
        flows,
        links,
        total,
        nodes: status.iter().map(|(node, page)| (node.clone(), counters(page))).collect(),
        series: plan.series_interval.map(|interval| series(plan, interval, outcomes, emulator)),
    };
    result.set_shared_links(shared.iter().copied());
    if let Some(series) = &mut result.series {
        series.set_shares(&shared);
    }
    result
}

fn flow_result(flow: &FlowPlan, outcome: &FlowOutcome, warm_up: Duration, end: Instant) -> FlowResult {
    let arrivals = &outcome.arrivals;
    let stop = flow.stop.map_or(end, |stop| stop.min(end));
    let last = outcome.completed_at.unwrap_or(stop);
    let sum = |count: fn(&super::traffic::tcp_info::TcpInfo) -> Option<u64>| {
        outcome.senders.iter().map(count).sum::<Option<u64>>()
    };
    FlowResult {
        transport: flow.transport_name().to_owned(),
        goodput_bps: goodput_bps(arrivals.total_bytes, (last - flow.start).as_secs_f64()),
        steady_goodput_bps: steady_goodput_bps(arrivals, flow.start + warm_up, last),
        bytes: arrivals.total_bytes,
        completion_s: outcome.completed_at.map(|at| (at - flow.start).as_secs_f64()),
        retransmitted_segments: sum(|info| Some(info.retransmitted_segments)).unwrap_or(0),
        spurious_retransmissions: sum(|info| info.spurious_retransmissions),
        timeouts: sum(|info| info.timeouts).unwrap_or(0),
        sha256: outcome.sha256.clone(),
    }
}

/// Goodput in the whole [`ARRIVAL_CELL`]s between `from` and `to`; `None` where there is not one.
fn steady_goodput_bps(arrivals: &Arrivals, from: Instant, to: Instant) -> Option<f64> {
    let cell_ns = ARRIVAL_CELL.as_nanos();
    let cells = from.as_nanos().div_ceil(cell_ns) as usize..(to.as_nanos() / cell_ns) as usize;
    if cells.is_empty() {
        return None;
    }
    // No cell behind the last arrival was ever made.
    let bytes: u64 = arrivals.cells.iter().take(cells.end).skip(cells.start).sum();
    Some(goodput_bps(bytes, cells.len() as f64 * ARRIVAL_CELL.as_secs_f64()))
}

/// The whole numbers of a status page's `counters` and `drops`.
fn counters(page: &Value) -> Named<u64> {
    let tables = ["counters", "drops"].into_iter().filter_map(|table| page[table].as_object());
    tables.flatten().filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect()
}

fn link_result(forward: &DirectionReport, duration: Duration) -> LinkResult {
    let (rate, stats) = (forward.mean_rate_bps, &forward.stats);
    LinkResult::new(rate, stats.delivered_bytes, stats.dropped_packets(), duration.as_secs_f64())
}

fn series(
    plan: &LabPlan,
    interval: Duration,
    outcomes: &Named<FlowOutcome>,
    emulator: &EmulatorReport,
) -> TimeSeries {
    let mut series = TimeSeries::new(interval.as_secs_f64());
    let rate = |bytes: &u64| goodput_bps(*bytes, interval.as_secs_f64());
    for (name, outcome) in outcomes {
        let per_sample = (interval.as_nanos() / ARRIVAL_CELL.as_nanos()).max(1) as usize;
        let sums = outcome.arrivals.cells.chunks(per_sample).map(|cells| cells.iter().sum::<u64>());
        series.flows.insert(
            name.clone(),
            FlowSeries {
                goodput_bps: sums.map(|bytes| rate(&bytes)).collect(),
                cwnd_bytes: outcome.samples.iter().map(|(cwnd, _)| *cwnd).collect(),
                held_acks: Vec::new(),
                srtt_s: outcome.samples.iter().map(|(_, srtt)| srtt.as_secs_f64()).collect(),
            },
        );
    }
    for (link, (forward, _)) in plan.links.iter().zip(&emulator.links) {
        let columns = LinkSeries {
            throughput_bps: forward.delivered_bytes.iter().map(rate).collect(),
            share: Vec::new(),
            queue_bytes: forward.queue_bytes.clone(),
        };
        series.links.insert(link.name.clone(), columns);
    }
    series
}
