//! S8: three PRISM flows over the same four members.
//!
//! An agent is invoked for each flow (section VIII-E.2), so each has its own state of the links (NIP, hRTT, W, N).
//! Whether an agent's link-state table is its own, the papers do not say: one for the community is another reading.

use super::mean;
use super::umts::{READINGS, Reading, SHORTEST};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::words;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const S8: Experiment = Experiment {
    id: "S8",
    title: "three PRISM flows over 600, 900, 1200 and 1500 kbit/s, each with its own link state",
    claims: &["PR-046", "PR-047", "PR-048", "PR-049", "PR-050", "PR-051"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-several-flows";
const SEGMENT_BYTES: f64 = 1000.0;
/// Share of a run that is left out.
const SETTLING: f64 = 0.2;

/// One state of the links for the three flows.
const COMMUNITY: &str = "link state of the community, 35 ms, 5 packets";

const CLAIMS: [(&str, &str, &str); 3] =
    [("download1", "PR-046", "PR-047"), ("download2", "PR-048", "PR-049"), ("download3", "PR-050", "PR-051")];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    let set = |reading: &Reading| {
        let mut set = reading.overrides(4);
        set.extend(scope.quick.then(|| "duration=100 s".to_string()));
        set
    };
    for reading in READINGS.into_iter().filter(|reading| !scope.quick || reading.name == SHORTEST.name) {
        jobs.extend(point(scope, reading.name, FILE, None, &set(&reading))?);
    }
    jobs.extend(point(scope, COMMUNITY, FILE, Some("community"), &set(&SHORTEST))?);
    Ok(jobs)
}

/// The same with one state of the links for all.
fn community(outcomes: &Outcomes<'_>, flow: &str, part: fn((f64, f64)) -> f64) -> Vec<f64> {
    outcomes.values(COMMUNITY, |result| window(result, flow, SETTLING).map(part))
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let values = |reading: &Reading, flow: &str, part: fn((f64, f64)) -> f64| {
        outcomes.values(reading.name, |result| window(result, flow, SETTLING).map(part))
    };
    let why = "the three windows of the paper, 60 segments together, are what 4.2 Mbit/s carry in 114 ms, a round \
        trip without waiting: its links had hardly a queue, so it is judged with 5 packets";
    let mut findings = Vec::new();
    for (flow, average, deviation) in CLAIMS {
        let by_reading = |part: fn((f64, f64)) -> f64| -> String {
            let text =
                |reading: &Reading| format!("{} ({})", words(&values(reading, flow, part)), reading.name);
            let ran = READINGS.iter().filter(|reading| !values(reading, flow, part).is_empty());
            ran.map(text).collect::<Vec<_>>().join(", ")
        };
        for (claim, part) in [(average, mean_of as fn((f64, f64)) -> f64), (deviation, deviation_of)] {
            let whole = outcomes.values(SHORTEST.name, |result| window(result, flow, 0.0).map(part));
            let remark = format!(
                "{why}; by reading of the links: {}; with the slow start at the beginning {}; with the link state \
                 of the community {}",
                by_reading(part),
                words(&whole),
                words(&community(outcomes, flow, part))
            );
            findings.push(Finding::values(claim, values(&SHORTEST, flow, part)).because(remark));
        }
    }
    let table = |reading: &Reading| {
        let quantity = match reading.name == SHORTEST.name {
            true => "congestion window in segments".to_string(),
            false => format!("congestion window in segments; {}", reading.name),
        };
        let mut series = Series::new("flow", &quantity, &["mean", "standard deviation"]);
        for (flow, ..) in CLAIMS {
            let cell = |part| Summary::of(&values(reading, flow, part));
            series.row(flow, vec![cell(mean_of), cell(deviation_of)]);
        }
        (!outcomes.results(reading.name).is_empty()).then_some(series)
    };
    let mut shared = Series::new(
        "flow",
        &format!("congestion window in segments; {COMMUNITY}"),
        &["mean", "standard deviation"],
    );
    for (flow, ..) in CLAIMS {
        let cell = |part| Summary::of(&community(outcomes, flow, part));
        shared.row(flow, vec![cell(mean_of), cell(deviation_of)]);
    }
    let rest = READINGS.iter().filter(|reading| reading.name != SHORTEST.name);
    let tables = std::iter::once(&SHORTEST).chain(rest).filter_map(table);
    (findings, tables.chain([shared]).collect())
}

fn mean_of((mean, _): (f64, f64)) -> f64 {
    mean
}

fn deviation_of((_, deviation): (f64, f64)) -> f64 {
    deviation
}

/// Mean and standard deviation of a flow's congestion window in segments, the first `share` of the run left out.
fn window(result: &RunResult, flow: &str, share: f64) -> Option<(f64, f64)> {
    let all = &result.series.as_ref()?.flows.get(flow)?.cwnd_bytes;
    let steady: Vec<f64> = all
        .get((all.len() as f64 * share) as usize..)?
        .iter()
        .map(|bytes| *bytes as f64 / SEGMENT_BYTES)
        .collect();
    let middle = mean(&steady);
    let variance = steady.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / steady.len() as f64;
    (!steady.is_empty()).then(|| (middle, variance.sqrt()))
}
