//! Figures 48 and 49: dual-mode operation beside peers alone, slot by slot.
//!
//! The peer-to-peer mode is an ideal of distributed access (no collisions), its packets are datagrams that return to
//! their source when lost: what TCP adds is not here.

use super::nets::{HOSTS, Net, nets, traffic, waypoint};
use super::{clearly_more, row};
use crate::claims::plan::Scope;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_cellular::DualModeSettings;
use prismux_cellular::simulation::{Access, Outcome, Setup};
use prismux_units::{Duration, Rate};

/// What a pure cellular network would give each of 100 flows.
const REFERENCE: Rate = Rate::from_kbps(20);
const DUAL: fn() -> Access =
    || Access::DualMode { settings: DualModeSettings::default(), reference: REFERENCE };
/// Rate of every flow: more than the cell carries.
const KBPS: Option<u64> = Some(32);

pub(super) fn judge(scope: &Scope) -> (Vec<Finding>, Vec<Series>) {
    let networks = nets(scope.seeds, Net::connected);
    let (mut findings, even) = evenness(&networks);
    let (course, progress) = course(&networks, scope);
    findings.extend(course);
    (findings, vec![even, progress])
}

/// Flows' throughputs in kbit/s, sorted.
fn sorted(outcome: &Outcome) -> Vec<f64> {
    let mut rates: Vec<f64> = (0..HOSTS).map(|flow| outcome.flow_bps(flow) / 1e3).collect();
    rates.sort_by(f64::total_cmp);
    rates
}

/// Figure 48, and the static half of 49.
fn evenness(networks: &[Net]) -> (Vec<Finding>, Series) {
    let pairs: Vec<(Outcome, Outcome)> = networks
        .iter()
        .map(|net| {
            let setup = net.setup(1.0, traffic(KBPS));
            (net.run(&setup, Access::Contention), net.run(&setup, DUAL()))
        })
        .collect();
    let of = |get: fn(&Outcome) -> f64| -> (Vec<f64>, Vec<f64>) {
        pairs.iter().map(|(peers, dual)| (get(peers), get(dual))).unzip()
    };
    let (variation, even) = of(Outcome::variation);
    let (least, lifted) = of(|outcome| sorted(outcome)[HOSTS / 20]);
    let mean = |values: &[f64]| Summary::of(values).map_or(f64::NAN, |summary| summary.mean);
    let found = clearly_more(&variation, &even) && mean(&lifted) > 2.0 * mean(&least);
    let figures = format!(
        "variation {} by {}, the flow at 5 % {} by {} kbit/s (peers by dual mode)",
        digits(mean(&variation)),
        digits(mean(&even)),
        digits(mean(&least)),
        digits(mean(&lifted))
    );
    let mut table = Series::new("flows, sorted", "throughput of a flow, kbit/s", &["peers", "dual mode"]);
    table.experiment = "48 distribution of throughput".to_string();
    let sorts: Vec<(Vec<f64>, Vec<f64>)> =
        pairs.iter().map(|(peers, dual)| (sorted(peers), sorted(dual))).collect();
    for place in (0..HOSTS).step_by(5).chain([HOSTS - 1]) {
        let peers: Vec<f64> = sorts.iter().map(|(peers, _)| peers[place]).collect();
        let dual: Vec<f64> = sorts.iter().map(|(_, dual)| dual[place]).collect();
        row(&mut table, place + 1, [&peers, &dual]);
    }
    let remark = "slot by slot: contention without collisions, datagrams";
    let findings =
        vec![Finding::shape("DM-001", found, figures).because(remark), unfair_flow(&pairs).because(remark)];
    (findings, table)
}

/// The flow that fares worst among peers, in both models, after the first 20 s.
fn unfair_flow(pairs: &[(Outcome, Outcome)]) -> Finding {
    let (mut worst, mut served) = (Vec::new(), Vec::new());
    for (peers, dual) in pairs {
        let worst_flow = (0..HOSTS).min_by_key(|&flow| peers.delivered[flow]).unwrap_or(0);
        worst.push(peers.flow_bps(worst_flow) / 1e3);
        served.push(dual.flow_bps(worst_flow) / 1e3);
    }
    let mean = |values: &[f64]| Summary::of(values).map_or(f64::NAN, |summary| summary.mean);
    // A starving flow looks at its peers for a monitoring interval between two sojourns.
    let settings = DualModeSettings::default();
    let (sojourn_s, monitor_s) = (settings.sojourn.as_secs_f64(), settings.monitor.as_secs_f64());
    let share = sojourn_s / (sojourn_s + monitor_s);
    let found = clearly_more(&served, &worst) && mean(&served) > share * REFERENCE.as_bps() as f64 / 1e3;
    let figures = format!(
        "the worst flow: {} kbit/s among peers, {} in dual mode",
        digits(mean(&worst)),
        digits(mean(&served))
    );
    Finding::shape("DM-004", found, figures)
}

/// Figure 49(a): the flow that waits longest for its first packet among moving peers.
fn course(networks: &[Net], scope: &Scope) -> (Vec<Finding>, Series) {
    let seconds = if scope.quick { 100 } else { 250 };
    let mut table = Series::new("time, s", "packets of the flow that waits longest", &["peers", "dual mode"]);
    table.experiment = "49 a flow that is partitioned while hosts move".to_string();
    let (mut waits, mut dual_waits, mut returns) = (Vec::new(), Vec::new(), 0);
    for (number, net) in networks.iter().enumerate() {
        // Sparse, so that hosts are cut off for long.
        let setup = Setup {
            movement: Some(waypoint(2.0)),
            range_m: 175.0,
            duration: Duration::from_secs(seconds),
            ..net.setup(1.0, traffic(Some(8)))
        };
        let light = Access::DualMode { settings: DualModeSettings::default(), reference: Rate::from_kbps(8) };
        let (peers, dual) = (net.run(&setup, Access::Contention), net.run(&setup, light));
        let slot_s = setup.slot().as_secs_f64();
        let first = |outcome: &Outcome, flow: usize| {
            let arrival = outcome.arrivals.iter().find(|(_, of)| *of == flow);
            arrival.map_or(seconds as f64, |(slot, _)| *slot as f64 * slot_s)
        };
        // The flow that waits longest and still finds a way.
        let found = |flow: &usize| peers.delivered[*flow] > 0;
        let late = (0..HOSTS).filter(found);
        let late = late.max_by(|&a, &b| first(&peers, a).total_cmp(&first(&peers, b))).unwrap_or(0);
        waits.push(first(&peers, late));
        dual_waits.push(longest_gap_s(&dual, late, seconds as f64, slot_s));
        returns += u32::from(dual.hops > 0 && dual.direct > 0);
        if number == 0 {
            for second in (0..=seconds).step_by(10) {
                let until = |outcome: &Outcome| {
                    let in_time = |(slot, flow): &&(u64, usize)| {
                        *flow == late && *slot as f64 * slot_s <= second as f64
                    };
                    outcome.arrivals.iter().filter(in_time).count() as f64
                };
                row(&mut table, second, [&[until(&peers)], &[until(&dual)]]);
            }
        }
    }
    let mean = |values: &[f64]| Summary::of(values).map_or(f64::NAN, |summary| summary.mean);
    let found = clearly_more(&waits, &dual_waits) && returns as usize == networks.len();
    let figures = format!(
        "first packet of the flow that waits longest: {} s among peers; longest pause in dual mode {} s",
        digits(mean(&waits)),
        digits(mean(&dual_waits))
    );
    let remark = "slot by slot, range 175 m so that hosts are cut off; both modes serve in every run";
    let findings = vec![
        Finding::not_testable(
            "DM-002",
            "a sample trace of one flow in one network, neither of which is stated",
        ),
        Finding::shape("DM-003", found, figures).because(remark),
    ];
    (findings, table)
}

/// The longest time without an arrival of `flow`, in seconds.
fn longest_gap_s(outcome: &Outcome, flow: usize, end_s: f64, slot_s: f64) -> f64 {
    let arrivals = outcome.arrivals.iter().filter(|(_, of)| *of == flow);
    let times = arrivals.map(|(slot, _)| *slot as f64 * slot_s).chain([end_s]);
    let (longest, _) = times.fold((0.0_f64, 0.0), |(longest, last), time| (longest.max(time - last), time));
    longest
}
