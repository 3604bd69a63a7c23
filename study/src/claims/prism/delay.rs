//! T1: two links whose delays differ by 0 to 500 ms.

use super::testbed::{self, device_queues};
use super::{figures, mean, mean_over, trend};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::{is_above, words};
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
const VARIANTS: [&str; 6] = ["prism", "today", "linux24", "linux24-newreno", "vanilla", "vanilla-newreno"];
const DIFFERENCES_MS: [u64; 11] = [0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500];

/// What stripes vanilla TCP over the links is not stated: PRISM's scheduler is what is judged by, these are looked at.
const STRIPED_BY: [&str; 2] = ["round-robin", "weighted-round-robin"];
/// With SACK and without.
const ERA: [&str; 2] = [VARIANTS[2], VARIANTS[3]];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    let step = if scope.quick { 2 } else { 1 };
    for difference in DIFFERENCES_MS.into_iter().step_by(step) {
        let mut set = device_queues(2);
        set.push(format!("links.wwan2.forward.delay={} ms", 500 + difference));
        for variant in VARIANTS {
            jobs.extend(point(scope, format!("{variant}/{difference}"), FILE, Some(variant), &set)?);
        }
        for (scheduler, variant) in STRIPED_BY.into_iter().flat_map(|by| ERA.map(|variant| (by, variant))) {
            let set = [set.clone(), vec![format!("nodes.proxy.scheduler={scheduler}")]].concat();
            jobs.extend(point(
                scope,
                format!("{variant} {scheduler}/{difference}"),
                FILE,
                Some(variant),
                &set,
            )?);
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
    let all = |variant: &str| mean_over(outcomes, &keys(variant, &|_| true), goodput);
    let below = mean_over(outcomes, &keys("prism", &|ms| ms < 400), efficiency);
    let above = mean_over(outcomes, &keys("prism", &|ms| ms >= 400), efficiency);
    let (low, high) = (mean(&below), mean(&above));
    let [prism, _, sack, newreno, textbook, textbook_newreno] = VARIANTS.map(all);
    let held: Vec<f64> = points.iter().map(|ms| outcomes.mean(&format!("prism/{ms}"), held_acks)).collect();
    let mega = |values: &[f64]| words(&values.iter().map(|bps| bps / 1e6).collect::<Vec<_>>());
    let baselines = format!(
        "Mbit/s over all differences: PRISM {}, vanilla with SACK {}, NewReno {}; the textbook sender {} and {}",
        mega(&prism),
        mega(&sack),
        mega(&newreno),
        mega(&textbook),
        mega(&textbook_newreno)
    );
    let share = |of: &[f64]| mean(of) / mean(&prism);
    let findings = vec![
        Finding::values("PR-001", below).because(testbed::WHOLE_TRANSFER),
        Finding::shape(
            "PR-002",
            high < low && high > 0.8 * low,
            figures(&[("below 400 ms", low), ("from 400 ms", high)]),
        )
        .because("the same; slightly: by less than a fifth. of other queues see Q"),
        Finding::shape("PR-003", share(&sack) < 0.75 && share(&newreno) < 0.75, baselines.clone())
            .because("far: by a quarter or more"),
        Finding::shape("PR-004", is_above(&newreno, &sack), baselines).because(if outcomes.in_lab() {
            "the sender of this kernel adapts to reordering by what SACK tells it, and cannot without".into()
        } else {
            format!(
                "paired over seeds. Not refuted: that it hangs on what stripes vanilla TCP over the links, which is \
                 not stated: {}",
                STRIPED_BY.map(|by| striped(&all, by)).join("; ")
            )
        }),
        Finding::shape(
            "PR-058",
            trend(&held) > 0.0 && held.last() > held.first(),
            figures(&[("ACKs held at 0 ms", held[0]), ("at the largest difference", held[held.len() - 1])]),
        ),
    ];
    let mut whole =
        Series::new("delay difference in ms", "goodput over capacity for the whole 14 MB", &VARIANTS);
    let mut steady =
        Series::new("delay difference in ms", "goodput over capacity in steady state", &VARIANTS);
    for ms in &points {
        let row = |of: fn(&RunResult) -> Option<f64>| {
            VARIANTS.iter().map(|variant| outcomes.summary(&format!("{variant}/{ms}"), of)).collect()
        };
        whole.row(ms, row(efficiency));
        steady.row(ms, row(steady_efficiency));
    }
    (findings, vec![whole, steady])
}

/// Vanilla TCP with SACK and without, striped by another scheduler than PRISM's.
fn striped(all: &dyn Fn(&str) -> Vec<f64>, by: &str) -> String {
    let [sack, newreno] = ERA.map(|variant| {
        let bps = all(&format!("{variant} {by}"));
        bps.iter().map(|bps| bps / 1e6).collect::<Vec<_>>()
    });
    let below = if is_above(&newreno, &sack) { "clearly below" } else { "not clearly below" };
    format!("by {by} with SACK {}, {below} NewReno's {}", words(&sack), words(&newreno))
}

/// ACKs that the proxy held back in the whole run.
fn held_acks(result: &RunResult) -> Option<f64> {
    result.nodes.get("proxy")?.get("acks_held").map(|&count| count as f64)
}
