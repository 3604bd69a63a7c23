//! Was the machinery sound? Losses declared, false ones among them, and what senders resent, over all runs.

use super::plan::Job;
use super::report::Series;
use super::verdict::Finding;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;
use std::collections::BTreeMap;

const COLUMNS: [&str; 7] = [
    "losses declared",
    "of these by time",
    "of these false",
    "resent",
    "of these spurious",
    "timeouts",
    "ACKs lost in a row, at most",
];

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
            lost_in_a_row(result) as f64,
        ]
    })
}

/// The most ACKs of one flow that were lost one after the other.
fn lost_in_a_row(result: &RunResult) -> u64 {
    result.flows.values().filter_map(|flow| flow.acks).map(|acks| acks.most_lost_in_a_row).max().unwrap_or(0)
}

/// So many lost in a row may raise false alarms, says the source of "more than three consecutive ACK losses".
const HARMLESS_ROW: u64 = 3;

/// Runs in which some flow lost more than three ACKs in a row.
pub(super) fn lost_acks(results: &[RunResult]) -> Option<Finding> {
    let rows: Vec<u64> = results.iter().map(lost_in_a_row).collect();
    let runs = rows.iter().filter(|&&row| row > HARMLESS_ROW).count();
    let remark = format!(
        "runs, of {}, in which some flow lost more than {HARMLESS_ROW} ACKs in a row; the longest row of all: {}",
        rows.len(),
        rows.iter().max().unwrap_or(&0)
    );
    (!results.is_empty()).then(|| Finding::values("PR-056", vec![runs as f64]).because(remark))
}
