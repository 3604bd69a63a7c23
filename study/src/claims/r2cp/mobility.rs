//! Handoff, migration to another server, two servers at once.

use super::IDEAL;
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, goodput_between, point, steady};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::measures::{longest_gap_s, longest_round_trip_s};
use crate::number::digits;
use prismux_trace::results::RunResult;

pub(super) const HANDOFF: Experiment = Experiment {
    id: "29a",
    title: "a pipe over a new WLAN at 58 s, the old one closed at 60 s or gone at 58 s",
    claims: &["R2-001", "R2-002"],
    lab: true,
    jobs: |scope| each(scope, "r2cp-handoff", &["overlap", "at-once"]),
    judge: judge_handoff,
};

pub(super) const MIGRATION: Experiment = Experiment {
    id: "29b",
    title: "a pipe over a new WLAN at 58 s, to the old server or to a nearer one; 30 MB",
    claims: &["R2-003", "R2-004"],
    lab: true,
    jobs: |scope| each(scope, "r2cp-migration", &["stay", "migrate"]),
    judge: judge_migration,
};

pub(super) const AGGREGATION: Experiment = Experiment {
    id: "29c",
    title: "two servers over two WLANs at and each alone",
    claims: &["R2-005"],
    lab: true,
    jobs: |scope| each(scope, "r2cp-aggregation", &["both", "first-alone", "second-alone"]),
    judge: judge_aggregation,
};

fn each(scope: &Scope, file: &str, variants: &[&str]) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for variant in variants {
        jobs.extend(point(scope, *variant, file, Some(variant), &[])?);
    }
    Ok(jobs)
}

/// Seconds from the first data over the new WLAN to the last over the old one.
fn together_s(result: &RunResult) -> Option<f64> {
    let series = result.series.as_ref()?;
    let carries = |link: &str| {
        let rates = &series.links.get(link)?.throughput_bps;
        let last = rates.iter().rposition(|rate| *rate > 0.0)?;
        Some((rates.iter().position(|rate| *rate > 0.0)?, last))
    };
    let ((_, last), (first, _)) = (carries("wlan1")?, carries("wlan2")?);
    Some((last as f64 - first as f64) * series.interval_s)
}

fn judge_handoff(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let gap = |variant: &str| outcomes.mean(variant, |result| longest_gap_s(result, "download", 57.0, 70.0));
    let round_trip = outcomes.mean("overlap", |result| longest_round_trip_s(result, "download"));
    let figures = format!(
        "longest gap {} ms, round trip {} ms; without overlap {} ms",
        digits(gap("overlap") * 1e3),
        digits(round_trip * 1e3),
        digits(gap("at-once") * 1e3)
    );
    let findings = vec![
        Finding::shape("R2-001", gap("overlap") <= 2.0 * round_trip, figures),
        Finding::values("R2-002", outcomes.values("overlap", together_s))
            .because("from the first data over the new WLAN to the last over the old"),
    ];
    let columns = ["rcp-1", "rcp-2", "aggregate"];
    (findings, vec![over_time(outcomes, "overlap", "wlan1", "wlan2", columns, (56, 64))])
}

/// MB that each of two links and the application have received, over time.
fn over_time(
    outcomes: &Outcomes<'_>,
    point: &str,
    first: &str,
    second: &str,
    columns: [&str; 3],
    window_s: (u64, u64),
) -> Series {
    let mut series = Series::new("time in s", "MB received since the beginning of the figure", &columns);
    let between = |result: &RunResult, which: usize, to_s: f64| {
        let samples = result.series.as_ref()?;
        let rates = match which {
            0 => &samples.links.get(first)?.throughput_bps,
            1 => &samples.links.get(second)?.throughput_bps,
            _ => &samples.flows.get("download")?.goodput_bps,
        };
        let index = |seconds: f64| (seconds / samples.interval_s).round() as usize;
        let window = rates.get(index(window_s.0 as f64)..index(to_s).min(rates.len()))?;
        Some(window.iter().sum::<f64>() * samples.interval_s / 8e6)
    };
    for tick in window_s.0 * 4..=window_s.1 * 4 {
        let at = tick as f64 / 4.0;
        let cell = |which| outcomes.summary(point, |result| between(result, which, at));
        series.row(at, (0..3).map(cell).collect());
    }
    series
}

fn judge_migration(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let slope = |variant: &str| {
        outcomes.mean(variant, |result| goodput_between(result, "download", 65.0, 75.0)) / 1e6
    };
    let (stayed, moved) = (slope("stay"), slope("migrate"));
    let figures = format!("{} Mbit/s from the nearer server, {} from the old", digits(moved), digits(stayed));
    let twice = |result: &RunResult| {
        let count = result.nodes.get("laptop")?.get("duplicate_bytes")?;
        Some(*count as f64)
    };
    let findings = vec![
        Finding::shape("R2-003", moved > stayed, figures),
        Finding::values("R2-004", outcomes.values("migrate", twice))
            .because("payload bytes that arrived twice"),
    ];
    let columns = ["rcp-1", "rcp-3", "aggregate"];
    (findings, vec![over_time(outcomes, "migrate", "wlan1", "near", columns, (56, 76))])
}

fn judge_aggregation(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let rate = |variant: &str| outcomes.mean(variant, steady) / 1e6;
    let (both, first, second) = (rate("both"), rate("first-alone"), rate("second-alone"));
    let figures = format!("{} Mbit/s against {} and {}", digits(both), digits(first), digits(second));
    let finding = Finding::shape("R2-005", both >= IDEAL * (first + second), figures);
    let mut series = Series::new("servers", "goodput in steady state, Mbit/s", &["goodput"]);
    for variant in ["first-alone", "second-alone", "both"] {
        series.row(variant, vec![outcomes.summary(variant, |result| steady(result).map(|bps| bps / 1e6))]);
    }
    (vec![finding], vec![series])
}
