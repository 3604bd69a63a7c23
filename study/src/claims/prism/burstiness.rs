//! S6: four nearly equal links; the re-sequencing buffer.

use super::umts::{READINGS, Reading, SHORT};
use super::{Measure, goodput_with_headers};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::words;
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
const SEGMENT_BYTES: f64 = 1000.0;
/// Schedulers by name, the scenario's variant, and what is changed in it. Weighted round robin serves whole packets
/// (section IV-B.1), here one each; the others are readings.
const SCHEDULERS: [(&str, &str, &str); 4] = [
    ("adas", "adas", "nodes.proxy.scheduler=adas"),
    ("wrr", "wrr", "nodes.proxy.scheduler=weighted-round-robin"),
    ("smooth wrr", "wrr", "nodes.proxy.scheduler=smooth-weighted-round-robin"),
    ("adas, gcd", "adas", "nodes.proxy.weight_unit=gcd"),
];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for reading in READINGS.into_iter().filter(|reading| !scope.quick || reading.name == SHORT.name) {
        for (name, variant, change) in SCHEDULERS {
            let mut set = reading.overrides(4);
            set.push(change.to_string());
            if scope.quick {
                set.push("duration=100 s".to_string());
            }
            let key = format!("{}/{name}", reading.name);
            jobs.extend(point(scope, key, FILE, Some(variant), &set)?);
        }
    }
    Ok(jobs)
}

/// Of a scheduler in a reading, one value for each seed.
fn at(outcomes: &Outcomes<'_>, reading: &Reading, name: &str, of: Measure) -> Vec<f64> {
    outcomes.values(&format!("{}/{name}", reading.name), of)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let mega = |name: &str| at(outcomes, &SHORT, name, mbps);
    let gain: Vec<f64> =
        ratios(&mega("adas"), &mega("wrr")).iter().map(|ratio| (ratio - 1.0) * 100.0).collect();
    let buffers = |reading: &Reading, name: &str| {
        ratios(&at(outcomes, reading, name, mean_buffer), &at(outcomes, reading, "adas", mean_buffer))
    };
    let ran = READINGS.iter().filter(|reading| !buffers(reading, "wrr").is_empty());
    let by_reading: Vec<String> = ran
        .map(|reading| {
            let [whole, smooth] = ["wrr", "smooth wrr"].map(|name| words(&buffers(reading, name)));
            format!("{whole} and {smooth} ({})", reading.name)
        })
        .collect();
    let findings = vec![
        Finding::values("PR-039", buffers(&SHORT, "wrr")).because(format!(
            "highest - left on average; whole packets and fractions of them, by reading of the links: {}. Round \
             robin that reaches only 2.5 Mbit/s, as published, keeps the queue of its slowest link full and needs \
             that much more buffer; one in fractions, whose buffer is near the published one, loses nothing",
            by_reading.join(", ")
        )),
        Finding::values("PR-040", mega("adas")),
        Finding::values("PR-041", mega("wrr")).because(format!(
            "whole packets, one of each link in a round; in fractions {}",
            words(&mega("smooth wrr"))
        )),
        Finding::values("PR-042", gain).because("over whole packets"),
    ];
    (findings, tables(outcomes))
}

/// The reading that is judged by, then the others.
fn tables(outcomes: &Outcomes<'_>) -> Vec<Series> {
    let columns: [(&str, Measure); 3] =
        [("Mbit/s with headers", mbps), ("buffer in packets", mean_buffer), ("ACKs held", mean_held)];
    let table = |reading: &Reading| {
        let quantity = match reading.name == SHORT.name {
            true => "goodput and buffer".to_string(),
            false => format!("goodput and buffer; {}", reading.name),
        };
        let mut series = Series::new("scheduler", &quantity, &columns.map(|(name, _)| name));
        for (name, ..) in SCHEDULERS {
            let key = format!("{}/{name}", reading.name);
            series.row(name, columns.map(|(_, of)| outcomes.summary(&key, of)).to_vec());
        }
        (!at(outcomes, reading, "adas", mbps).is_empty()).then_some(series)
    };
    READINGS.iter().filter_map(table).collect()
}

fn mbps(result: &RunResult) -> Option<f64> {
    goodput_with_headers(result).map(|bps| bps / 1e6)
}

/// Mean of a column over the run, its first fifth left out.
fn steady_mean(column: &[u64]) -> Option<f64> {
    let steady = &column[column.len() / 5..];
    (!steady.is_empty()).then(|| steady.iter().sum::<u64>() as f64 / steady.len() as f64)
}

/// The re-sequencing buffer as the papers measure it, `highest - left`, in packets.
fn mean_buffer(result: &RunResult) -> Option<f64> {
    let flow = result.series.as_ref()?.flows.get("download")?;
    steady_mean(&flow.resequencing_bytes).map(|bytes| bytes / SEGMENT_BYTES)
}

/// ACKs held.
fn mean_held(result: &RunResult) -> Option<f64> {
    steady_mean(&result.series.as_ref()?.flows.get("download")?.held_acks)
}
