//! Every formula against a simulation that does not use it.

use super::{Agreement, Bench, computed, loaded, queueing, resequencing};
use crate::claims::verdict::Finding;
use prismux_theory::queueing::simulation::{Estimate, Splitter, states_found, waits_beside_busy};
use prismux_theory::queueing::{Delays, limits, transport};

/// Loads and ratios; and splits as shares of the stable range.
const LOADS: [f64; 3] = [0.3, 0.6, 0.8];
const RATIOS: [f64; 3] = [1.0, 3.0, 8.0];
const SHARES: [f64; 2] = [0.3, 0.6];

pub(super) fn judge(bench: &Bench) -> Vec<Finding> {
    let mut findings = Vec::from(delays(bench));
    findings.extend(waits(bench));
    findings.push(states(bench));
    findings.extend(equal_pipes(bench));
    findings.extend(proportional(bench));
    findings
}

/// (12), (13), (24), (25).
fn delays(bench: &Bench) -> [Finding; 4] {
    let over_grid = |splitter| {
        let (mut resequenced, mut queued) = (Agreement::default(), Agreement::default());
        for (load, ratio) in LOADS.into_iter().flat_map(|load| RATIOS.map(|ratio| (load, ratio))) {
            let pair = loaded(load, ratio);
            let (low, high) = match splitter {
                Splitter::Application => pair.stable_splits(),
                Splitter::Transport => (0.0, 1.0),
            };
            for share in SHARES {
                let split = low + share * (high - low);
                let (runs, expected) = (bench.run(&pair, split, splitter), computed(&pair, split, splitter));
                resequenced.add(Estimate::of(runs.iter().map(resequencing)), expected.resequencing);
                queued.add(Estimate::of(runs.iter().map(queueing)), expected.queueing);
            }
        }
        (resequenced, queued)
    };
    let (application, transport) = (over_grid(Splitter::Application), over_grid(Splitter::Transport));
    [
        application.0.finding("QM-001"),
        application.1.finding("QM-002"),
        transport.0.finding("QM-006"),
        transport.1.finding("QM-007"),
    ]
}

/// (14), (15).
fn waits(bench: &Bench) -> [Finding; 2] {
    let pairs = [[1.0, 1.0], [1.0, 3.0], [2.0, 0.7]];
    let mut agreements = [Agreement::default(), Agreement::default()];
    for [first, second] in pairs {
        for (agreement, (own, other)) in agreements.iter_mut().zip([(first, second), (second, first)]) {
            let runs = waits_beside_busy(own, other, bench.effort, Bench::SEED);
            agreement.add(Estimate::of(runs.into_iter()), transport::wait_beside_busy(own, other));
        }
    }
    let [first, second] = agreements;
    let sign = "with exp(-m1 t) in the integrand; with the printed exp(+m1 t) rates 1 and 3 would give 1/6 \
        instead of 1/12";
    [first.finding("QM-003").because(sign), second.finding("QM-004")]
}

/// (19) to (23).
fn states(bench: &Bench) -> Finding {
    const WAITING: usize = 3;
    let mut agreement = Agreement::default();
    for (load, ratio, split) in [(0.4, 1.0, 0.3), (0.8, 3.0, 0.0), (0.6, 8.0, 1.0)] {
        let pair = loaded(load, ratio);
        let states = transport::states(&pair, split);
        let expected = [
            states.idle,
            states.second_busy,
            states.first_busy,
            states.both_busy,
            states.waiting(WAITING as u32),
        ];
        let runs = states_found(&pair, split, WAITING, bench.effort, Bench::SEED);
        for (state, expected) in expected.into_iter().enumerate() {
            agreement.add(Estimate::of(runs.iter().map(|found| found[state])), expected);
        }
    }
    agreement.finding("QM-005")
}

/// (26) to (29).
fn equal_pipes(bench: &Bench) -> [Finding; 4] {
    let compare = |splitter, splits: &[f64], expected: fn(f64) -> Delays| {
        let (mut resequenced, mut queued) = (Agreement::default(), Agreement::default());
        for load in [0.1, 0.5, 0.9] {
            for &split in splits {
                let runs = bench.run(&loaded(load, 1.0), split, splitter);
                resequenced.add(Estimate::of(runs.iter().map(resequencing)), expected(load).resequencing);
                queued.add(Estimate::of(runs.iter().map(queueing)), expected(load).queueing);
            }
        }
        (resequenced, queued)
    };
    let transport = compare(Splitter::Transport, &[0.0, 0.37, 1.0], limits::transport_equal);
    let application = compare(Splitter::Application, &[0.5], limits::application_equal);
    [
        transport.0.finding("QM-008"),
        transport.1.finding("QM-009"),
        application.0.finding("QM-010"),
        application.1.finding("QM-011"),
    ]
}

/// (31), (32), and the queueing delay at a fixed capacity.
fn proportional(bench: &Bench) -> [Finding; 3] {
    let (mut resequenced, mut queued, mut scaled) =
        (Agreement::default(), Agreement::default(), Agreement::default());
    for ratio in [1.5, 3.0, 10.0] {
        for load in [0.5, 0.8] {
            let pair = loaded(load, ratio);
            let runs = bench.run(&pair, pair.proportional_split(), Splitter::Application);
            let expected = limits::application_proportional(load, ratio);
            resequenced.add(Estimate::of(runs.iter().map(resequencing)), expected.resequencing);
            queued.add(Estimate::of(runs.iter().map(queueing)), expected.queueing);
            let of_capacity = runs.iter().map(|run| run.queueing * pair.capacity());
            scaled.add(Estimate::of(of_capacity), 2.0 / (1.0 - load));
        }
    }
    let best = "true of the proportional split, which is not the best one as the source says";
    [
        resequenced.finding("QM-027").because(best),
        queued.finding("QM-028").because(best),
        scaled.finding("QM-030"),
    ]
}
