//! T1: two links whose delays differ by 0 to 500 ms.

use super::{figures, mean, mean_over, trend};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, efficiency, goodput, point, steady_efficiency};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_trace::results::RunResult;

pub(super) const T1: Experiment = Experiment {
    id: "T1",
    title: "1800 and 600 kbit/s, 500 ms; the second link up to 500 ms slower; 14 MB",
    claims: &["PR-001", "PR-002", "PR-003", "PR-004", "PR-058"],
    lab: true,
    jobs,
    judge,
};

const FILE: &str = "prism-delay-disparity";
const VARIANTS: [&str; 6] = ["prism", "today", "vanilla", "vanilla-newreno", "linux24", "linux24-newreno"];
const DIFFERENCES_MS: [u64; 11] = [0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    let step = if scope.quick { 2 } else { 1 };
    for difference in DIFFERENCES_MS.into_iter().step_by(step) {
        let set = [format!("links.wwan2.forward.delay={} ms", 500 + difference)];
        for variant in VARIANTS {
            jobs.extend(point(scope, format!("{variant}/{difference}"), FILE, Some(variant), &set)?);
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ran = |ms: &u64| !outcomes.results(&format!("prism/{ms}")).is_empty();
    let points: Vec<u64> = DIFFERENCES_MS.into_iter().filter(ran).collect();
    let keys = |variant: &str, within: &dyn Fn(u64) -> bool| -> Vec<String> {
        points.iter().filter(|ms| within(**ms)).map(|ms| format!("{variant}/{ms}")).collect()
    };
    let all = |variant: &str| mean(&mean_over(outcomes, &keys(variant, &|_| true), goodput));
    let below = mean_over(outcomes, &keys("prism", &|ms| ms < 400), steady_efficiency);
    let above = mean_over(outcomes, &keys("prism", &|ms| ms >= 400), steady_efficiency);
    let (low, high) = (mean(&below), mean(&above));
    let (prism, sack, newreno) = (all("prism"), all("vanilla"), all("vanilla-newreno"));
    let (adaptive, adaptive_newreno) = (all("linux24"), all("linux24-newreno"));
    let held: Vec<f64> = points.iter().map(|ms| outcomes.mean(&format!("prism/{ms}"), held_acks)).collect();
    let findings = vec![
        Finding::values("PR-001", below).because(
            "steady state, headers counted as overhead of the links; with 50 packets of queue the quick link overflows \
             before the slow one is full from 300 ms on, see Q for other queues",
        ),
        Finding::shape(
            "PR-002",
            high <= low && high > 0.8 * low,
            figures(&[("below 400 ms", low), ("from 400 ms", high)]),
        )
        .because("more than slightly lower with 50 packets of queue: equal N / W asks of the quick link's queue \
            what the slow link's delay holds; with 100 packets the papers' curve appears, see Q"),
        Finding::shape(
            "PR-003",
            sack < 0.75 * prism && newreno < 0.75 * prism,
            figures(&[
                ("PRISM Mbit/s", prism / 1e6),
                ("with SACK", sack / 1e6),
                ("NewReno", newreno / 1e6),
                ("for information, Linux 2.4 with SACK", adaptive / 1e6),
                ("without", adaptive_newreno / 1e6),
            ]),
        ),
        Finding::shape(
            "PR-004",
            sack < newreno,
            figures(&[
                ("with SACK Mbit/s", sack / 1e6),
                ("NewReno", newreno / 1e6),
                ("for information, Linux 2.4 with SACK", adaptive / 1e6),
                ("without", adaptive_newreno / 1e6),
            ]),
        )
        .because(if outcomes.in_lab() {
            "the sender of this kernel adapts to reordering by what SACK tells it, and cannot without"
        } else {
            "the two textbook senders are equally slow; of the two of Linux 2.4 the one with SACK is the slower"
        }),
        Finding::shape(
            "PR-058",
            trend(&held) > 0.0 && held.last() > held.first(),
            figures(&[("ACKs held at 0 ms", held[0]), ("at the largest difference", held[held.len() - 1])]),
        ),
    ];
    let mut steady =
        Series::new("delay difference in ms", "goodput over capacity in steady state", &VARIANTS);
    let mut whole =
        Series::new("delay difference in ms", "goodput over capacity for the whole 14 MB", &VARIANTS);
    for ms in &points {
        let row = |of: fn(&RunResult) -> Option<f64>| {
            VARIANTS.iter().map(|variant| outcomes.summary(&format!("{variant}/{ms}"), of)).collect()
        };
        steady.row(ms, row(steady_efficiency));
        whole.row(ms, row(efficiency));
    }
    (findings, vec![steady, whole])
}

/// ACKs that the proxy held back in the whole run.
fn held_acks(result: &RunResult) -> Option<f64> {
    result.nodes.get("proxy")?.get("acks_held").map(|&count| count as f64)
}
