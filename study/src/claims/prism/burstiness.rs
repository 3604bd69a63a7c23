//! S6: four nearly equal links; the re-sequencing buffer.

use super::goodput_with_headers;
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_trace::results::RunResult;

pub(super) const S6: Experiment = Experiment {
    id: "S6",
    title: "620, 720, 720 and 860 kbit/s",
    claims: &["PR-039", "PR-040", "PR-041", "PR-042"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-burstiness";

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let set: &[String] = if scope.quick { &["duration=100 s".to_string()] } else { &[] };
    let mut jobs = point(scope, "adas", FILE, Some("adas"), set)?;
    jobs.extend(point(scope, "wrr", FILE, Some("wrr"), set)?);
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let mega = |result: &RunResult| goodput_with_headers(result).map(|bps| bps / 1e6);
    let (adas, wrr) = (outcomes.values("adas", mega), outcomes.values("wrr", mega));
    let (adas_held, wrr_held) = (outcomes.values("adas", mean_held), outcomes.values("wrr", mean_held));
    let gain = ratios(&adas, &wrr).iter().map(|ratio| (ratio - 1.0) * 100.0).collect();
    let findings = vec![
        Finding::values("PR-039", ratios(&wrr_held, &adas_held))
            .because(
                "ACKs held on average, each for one packet beyond the first hole; WRR fills the queues \
                    unevenly, and 50 \
                 packets of queue leave more room for that than the paper's seem to have had",
            ),
        Finding::values("PR-040", adas),
        Finding::values("PR-041", wrr).because(
            "nothing is lost by holding ACKs: bursts of released ACKs fit the queues of 50 packets, so WRR reaches the \
             aggregate too",
        ),
        Finding::values("PR-042", gain).because("see PR-041"),
    ];
    let mut series = Series::new("scheduler", "goodput and buffer", &["Mbit/s with headers", "ACKs held"]);
    for variant in ["adas", "wrr"] {
        series.row(variant, vec![outcomes.summary(variant, mega), outcomes.summary(variant, mean_held)]);
    }
    (findings, vec![series])
}

/// ACKs held on average over the run, its first fifth left out.
fn mean_held(result: &RunResult) -> Option<f64> {
    let held = &result.series.as_ref()?.flows.get("download")?.held_acks;
    let steady = &held[held.len() / 5..];
    (!steady.is_empty()).then(|| steady.iter().sum::<u64>() as f64 / steady.len() as f64)
}
