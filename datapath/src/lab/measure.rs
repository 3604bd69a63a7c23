//! From counters to the columns of a result.
use super::emulator::{DirectionReport, EmulatorReport};
use super::fabric::LINK_MTU_BYTES;
use super::plan::{FlowPlan, LabPlan, Role};
use super::traffic::{ARRIVAL_CELL, Arrivals, FlowOutcome};
use prismux_trace::results::{
    Backend, FlowResult, FlowSeries, LinkResult, LinkSeries, Named, RunResult, TimeSeries, TotalResult,
    capacity_bps, goodput_bps,
};
use prismux_units::{Duration, Instant};

/// IPv4 and TCP headers with the timestamp option, in bytes: what a full packet spends on them.
const HEADER_BYTES: u32 = 52;

/// Builds the result of a run that lasted `duration`.
pub(super) fn result(
    plan: &LabPlan,
    duration: Duration,
    outcomes: &Named<FlowOutcome>,
    emulator: &EmulatorReport,
) -> RunResult {
    let end = Instant::ZERO + duration;
    let flows: Named<FlowResult> = plan
        .flows
        .iter()
        .filter_map(|flow| Some((flow.name.clone(), flow_result(flow, outcomes.get(&flow.name)?, end))))
        .collect();
    let links: Named<LinkResult> = plan
        .links
        .iter()
        .zip(&emulator.links)
        .map(|(link, (forward, _))| (link.name.clone(), link_result(forward, duration)))
        .collect();
    let shared = shared_links(plan);
    let rates = shared.iter().filter_map(|name| links.get(*name)?.rate_bps).map(|bps| bps as f64);
    let capacity = capacity_bps(rates, LINK_MTU_BYTES - HEADER_BYTES, LINK_MTU_BYTES);
    let bulk = plan.flows.iter().filter(|flow| flow.transport.is_bulk());
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
        nodes: Named::default(),
        series: plan.series_interval.map(|interval| series(plan, interval, outcomes, emulator)),
    };
    result.set_shared_links(shared.iter().copied());
    if let Some(series) = &mut result.series {
        series.set_shares(&shared);
    }
    result
}

/// The links that make up the capacity: those the plan names, or each between a proxy and a member.
pub(super) fn shared_links(plan: &LabPlan) -> Vec<&str> {
    if !plan.shared_links.is_empty() {
        return plan.shared_links.iter().map(String::as_str).collect();
    }
    let role = |name: &str| plan.nodes.iter().find(|node| node.name == name).map(|node| &node.role);
    let between =
        |a: &str, b: &str| matches!((role(a), role(b)), (Some(Role::Proxy(_)), Some(Role::Member(_))));
    let shared = plan.links.iter().filter(|link| between(&link.a, &link.b) || between(&link.b, &link.a));
    shared.map(|link| link.name.as_str()).collect()
}

fn flow_result(flow: &FlowPlan, outcome: &FlowOutcome, end: Instant) -> FlowResult {
    let arrivals = &outcome.arrivals;
    let stop = flow.stop.map_or(end, |stop| stop.min(end));
    let last = outcome.completed_at.unwrap_or(stop);
    let sum = |count: fn(&super::traffic::tcp_info::TcpInfo) -> Option<u64>| {
        outcome.senders.iter().map(count).sum::<Option<u64>>()
    };
    FlowResult {
        transport: flow.transport.name().to_owned(),
        goodput_bps: goodput_bps(arrivals.total_bytes, (last - flow.start).as_secs_f64()),
        steady_goodput_bps: steady_goodput_bps(arrivals, flow.start, last),
        bytes: arrivals.total_bytes,
        completion_s: outcome.completed_at.map(|at| (at - flow.start).as_secs_f64()),
        retransmitted_segments: sum(|info| Some(info.retransmitted_segments)).unwrap_or(0),
        spurious_retransmissions: sum(|info| info.spurious_retransmissions),
        timeouts: sum(|info| info.timeouts).unwrap_or(0),
        sha256: outcome.sha256.clone(),
    }
}

/// Goodput over the middle of a flow: the first third, which holds slow start, and the last
/// [`ARRIVAL_CELL`]s, which are cut by the end, are left out. `None` for a flow too short to have a middle.
fn steady_goodput_bps(arrivals: &Arrivals, start: Instant, last: Instant) -> Option<f64> {
    let cell = |at: Instant| (at.as_nanos() / ARRIVAL_CELL.as_nanos()) as usize;
    let from = cell(start + (last - start) / 3) + 1;
    let to = cell(last).min(arrivals.cells.len());
    let bytes: u64 = arrivals.cells.get(from..to)?.iter().sum();
    (to >= from + 5).then(|| goodput_bps(bytes, (to - from) as f64 * ARRIVAL_CELL.as_secs_f64()))
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
