//! Was the machinery sound? Losses declared, false ones among them, and what senders resent, over all runs.

use super::plan::Job;
use super::report::Series;
use super::verdict::Finding;
use crate::measures::dropped_on_the_way_back;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;
use std::collections::BTreeMap;

const COLUMNS: [&str; 6] =
    ["losses declared", "of these by time", "of these false", "resent", "of these spurious", "timeouts"];

/// One row for each experiment and variant whose proxies control ACKs: means per run.
pub(super) fn table(work: &[(&'static str, Job)], results: &[RunResult]) -> Series {
    let mut groups: BTreeMap<String, Vec<[f64; COLUMNS.len()]>> = BTreeMap::new();
    for ((experiment, job), result) in work.iter().zip(results) {
        let variant = job.key.split('/').next().unwrap_or_default();
        if let Some(counts) = counts(result) {
            groups.entry(format!("{experiment} {variant}")).or_default().push(counts);
        }
    }
    let mut series = Series::new("experiment and variant", "counts per run", &COLUMNS);
    series.experiment = "Soundness of every run with ACK control".to_string();
    for (label, runs) in groups {
        let column = |index: usize| Summary::of(&runs.iter().map(|run| run[index]).collect::<Vec<_>>());
        series.row(label, (0..COLUMNS.len()).map(column).collect());
    }
    series
}

/// The counts of one run; `None` when no proxy held an ACK.
fn counts(result: &RunResult) -> Option<[f64; COLUMNS.len()]> {
    let sum = |name: &str| result.nodes.values().filter_map(|node| node.get(name)).sum::<u64>() as f64;
    let flows = || result.flows.values().filter(|flow| flow.transport.starts_with("tcp"));
    (sum("acks_held") > 0.0).then(|| {
        [
            sum("losses_detected"),
            sum("losses_by_time"),
            sum("false_losses"),
            flows().map(|flow| flow.retransmitted_segments).sum::<u64>() as f64,
            flows().filter_map(|flow| flow.spurious_retransmissions).sum::<u64>() as f64,
            flows().map(|flow| flow.timeouts).sum::<u64>() as f64,
        ]
    })
}

/// ACKs lost in a row, bounded by all that were lost on the way back in any run.
pub(super) fn lost_acks(results: &[RunResult]) -> Option<Finding> {
    let most = results.iter().map(dropped_on_the_way_back).max().unwrap_or(0) as f64;
    let remark = "the most ACKs that any run lost on the way back, in a row or not";
    (!results.is_empty()).then(|| Finding::values("PR-056", vec![most]).because(remark))
}
