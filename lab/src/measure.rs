//! From counters to the columns of a result.
mod together;

use crate::emulator::{DirectionReport, EmulatorReport};
use crate::fabric::LINK_MTU_BYTES;
use crate::orders::{Carrier, FETCH_PACKET_BYTES, FETCH_PAYLOAD_BYTES, Orders};
use crate::traffic::{ARRIVAL_CELL, FlowOutcome};
use prismux_plan::{FullPacket, FullSegment, IpFamily, Plan, TCP_IP_HEADER_BYTES};
use prismux_trace::results::{
    Backend, Competitor, DirectionResult, FlowResult, FlowSeries, LinkResult, LinkSeries, Named, RunResult,
    TimeSeries, TotalResult, capacity_bps, goodput_bps,
};
use prismux_units::{Duration, Instant};
use serde_json::Value;
use together::{Measured, steady_together, together, under_way};

/// Builds the result of a run that lasted `duration`.
pub(super) fn result(
    orders: &Orders<'_>,
    scenario_hash: &str,
    duration: Duration,
    outcomes: &Named<FlowOutcome>,
    emulator: &EmulatorReport,
    status: &Named<Value>,
) -> RunResult {
    let (plan, end) = (orders.plan, Instant::ZERO + duration);
    let with_outcome = orders.flows.iter().filter_map(|flow| Some((flow, outcomes.get(&flow.flow.name)?)));
    let measured: Vec<Measured<'_>> =
        with_outcome.map(|(flow, outcome)| Measured::new(flow, outcome, plan.measure.warm_up, end)).collect();
    let flows: Named<FlowResult> =
        measured.iter().map(|flow| (flow.orders.flow.name.clone(), flow.result())).collect();
    let links: Named<LinkResult> = plan
        .links
        .iter()
        .zip(&emulator.links)
        .map(|(link, ways)| (link.name.clone(), link_result(ways, duration)))
        .collect();
    let shared: Vec<_> =
        plan.links.iter().filter(|link| link.shared).map(|link| link.name.as_str()).collect();
    let under_way = under_way(&measured, end);
    let together = together(&measured, &under_way);
    let forward = plan.links.iter().zip(&emulator.links).filter(|(link, _)| link.shared);
    let offered =
        forward.map(|(_, (way, _))| way.offered.until(under_way.end) - way.offered.until(under_way.start));
    let rates = offered.map(|bits| bits / together.seconds.max(1e-9));
    let FullPacket { payload_bytes, packet_bytes } = full_packet(orders);
    let capacity = capacity_bps(rates, payload_bytes, packet_bytes);
    let total = TotalResult::new(together, steady_together(&measured), capacity);
    let mut result = RunResult {
        scenario: plan.name.clone(),
        scenario_hash: scenario_hash.to_owned(),
        backend: Backend::Lab,
        seed: orders.seed.0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        duration_s: duration.as_secs_f64(),
        flows,
        groups: Named::default(),
        links,
        total,
        nodes: status.iter().map(|(node, page)| (node.clone(), counters(page))).collect(),
        programs: Named::default(),
        series: plan.measure.interval.map(|interval| series(plan, interval, outcomes, emulator)),
    };
    result.set_shared_links(shared.iter().copied());
    let competing = measured.iter().filter(|flow| !flow.orders.flow.traffic.is_datagrams());
    result.set_fairness(competing.map(|flow| Competitor {
        flow: &flow.orders.flow.name,
        group: &flow.orders.flow.group,
        active_s: flow.active.start.as_secs_f64()..flow.active.end.as_secs_f64(),
    }));
    if let Some(series) = &mut result.series {
        series.set_shares(&shared);
    }
    result
}

/// A full packet on a member's link, after the first TCP flow: what capacity is reckoned with, here as in the
/// simulator.
fn full_packet(orders: &Orders<'_>) -> FullPacket {
    let flow = orders.flows.iter().find(|flow| flow.carrier != Carrier::Udp);
    if flow.is_some_and(|flow| matches!(flow.carrier, Carrier::Fetch(_))) {
        return FullPacket { payload_bytes: FETCH_PAYLOAD_BYTES, packet_bytes: FETCH_PACKET_BYTES };
    }
    let tunnel_bytes = orders.plan.tunnel_bytes(IpFamily::V4);
    let mss_bytes = flow.and_then(|flow| flow.tcp.mss_bytes).map_or(u32::MAX, u32::from);
    let segment = FullSegment {
        mss_bytes: mss_bytes.min(LINK_MTU_BYTES - TCP_IP_HEADER_BYTES - tunnel_bytes),
        timestamps: flow.is_some_and(|flow| flow.tcp.timestamps != Some(false)),
    };
    segment.packet(orders.plan.counted_tunnel_bytes(IpFamily::V4))
}

/// What the programs at the flows' receivers have counted, by node; counters of several are added up, of pauses the
/// longest is kept.
pub(super) fn add_receivers(result: &mut RunResult, plan: &Plan, outcomes: &Named<FlowOutcome>) {
    let pause = |counters: &Named<u64>| counters.get("longest_pause_us").copied();
    for flow in &plan.flows {
        let Some(outcome) = outcomes.get(&flow.name).filter(|outcome| !outcome.counters.is_empty()) else {
            continue;
        };
        let node = result.nodes.entry(plan[flow.to].name.clone()).or_default();
        let is_longest = pause(&outcome.counters) > pause(node);
        for (name, &count) in &outcome.counters {
            let known = node.entry(name.clone()).or_default();
            match name.ends_with("_us") {
                true if is_longest => *known = count,
                true => {}
                false => *known += count,
            }
        }
    }
}

/// The whole numbers of a status page's `counters` and `drops`; of a host that routes those that the simulator has.
fn counters(page: &Value) -> Named<u64> {
    if page["role"] == "route" {
        let columns = prismux_routing::Statistics::default().columns();
        let count = |(name, _): (&str, u64)| Some((name.to_owned(), page["counters"][name].as_u64()?));
        return columns.into_iter().filter_map(count).collect();
    }
    let tables = ["counters", "drops"].into_iter().filter_map(|table| page[table].as_object());
    tables.flatten().filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect()
}

fn link_result((forward, reverse): &(DirectionReport, DirectionReport), duration: Duration) -> LinkResult {
    let way = |way: &DirectionReport| {
        let (rate, stats) = (way.mean_rate_bps, &way.stats);
        let seconds = duration.as_secs_f64();
        let result = DirectionResult::new(rate, stats.delivered_bytes, stats.dropped_packets(), seconds);
        match way.is_managed {
            true => result.managed(stats.early_drops, stats.marked_packets),
            false => result,
        }
    };
    LinkResult::new(way(forward), way(reverse))
}

fn series(
    plan: &Plan,
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
                resequencing_bytes: Vec::new(),
                srtt_s: outcome.samples.iter().map(|(_, srtt)| srtt.as_secs_f64()).collect(),
                delay_s: Vec::new(),
            },
        );
    }
    for (link, (forward, reverse)) in plan.links.iter().zip(&emulator.links) {
        let columns = LinkSeries {
            throughput_bps: forward.delivered_bytes.iter().map(rate).collect(),
            share: Vec::new(),
            queue_bytes: forward.queue_bytes.clone(),
            dropped_packets: forward.dropped_packets.clone(),
            marked_packets: forward.marked_packets.clone(),
            reverse_throughput_bps: reverse.delivered_bytes.iter().map(rate).collect(),
            reverse_queue_bytes: reverse.queue_bytes.clone(),
            reverse_dropped_packets: reverse.dropped_packets.clone(),
        };
        series.links.insert(link.name.clone(), columns);
    }
    series
}

/// A device's name and the packets it could not transmit, from a line of `/proc/net/dev`: eight columns about
/// receiving, then bytes, packets, errors and drops of transmitting.
pub(super) fn transmit_drops(line: &str) -> Option<(&str, u64)> {
    let (name, columns) = line.split_once(':')?;
    Some((name.trim(), columns.split_whitespace().nth(11)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn transmit_drops_are_the_twelfth_column() {
        let line = " wwan1: 1 2 3 4 5 6 7 8 9000 100 0 17 0 0 0 0";
        assert_eq!(super::transmit_drops(line), Some(("wwan1", 17)));
        assert_eq!(super::transmit_drops("Inter-|   Receive"), None);
    }
}
