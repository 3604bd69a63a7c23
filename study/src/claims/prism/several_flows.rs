//! S8: three PRISM flows over the same four members.

use super::mean;
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_trace::results::RunResult;

pub(super) const S8: Experiment = Experiment {
    id: "S8",
    title: "three PRISM flows over 600, 900, 1200 and 1500 kbit/s, a proxy each",
    claims: &["PR-046", "PR-047", "PR-048", "PR-049", "PR-050", "PR-051"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-several-flows";
const SEGMENT_BYTES: f64 = 1000.0;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let set: &[String] = if scope.quick { &["duration=100 s".to_string()] } else { &[] };
    point(scope, "all", FILE, None, set)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    const CLAIMS: [(&str, &str, &str); 3] = [
        ("download1", "PR-046", "PR-047"),
        ("download2", "PR-048", "PR-049"),
        ("download3", "PR-050", "PR-051"),
    ];
    let unfair = "the paper's three windows, 60 segments together, are what 4.2 Mbit/s carry in 114 ms: its links had \
                  hardly a queue; here four queues of 50 packets hold 200 more, and slow links 140 ms";
    let mut findings = Vec::new();
    let mut series = Series::new("flow", "congestion window in segments", &["mean", "standard deviation"]);
    for (flow, average, deviation) in CLAIMS {
        let windows = |result: &RunResult| window(result, flow);
        findings.push(
            Finding::values(average, outcomes.values("all", |r| windows(r).map(|w| w.0))).because(unfair),
        );
        findings.push(
            Finding::values(deviation, outcomes.values("all", |r| windows(r).map(|w| w.1))).because(unfair),
        );
        let cell = |part: fn((f64, f64)) -> f64| outcomes.summary("all", |r| windows(r).map(part));
        series.row(flow, vec![cell(|w| w.0), cell(|w| w.1)]);
    }
    (findings, vec![series])
}

/// Mean and standard deviation of a flow's congestion window in segments, the first fifth of the run left out.
fn window(result: &RunResult, flow: &str) -> Option<(f64, f64)> {
    let all = &result.series.as_ref()?.flows.get(flow)?.cwnd_bytes;
    let steady: Vec<f64> =
        all.get(all.len() / 5..)?.iter().map(|bytes| *bytes as f64 / SEGMENT_BYTES).collect();
    let middle = mean(&steady);
    let variance = steady.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / steady.len() as f64;
    (!steady.is_empty()).then(|| (middle, variance.sqrt()))
}
