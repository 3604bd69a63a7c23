//! A plain TCP in the network that the host moves to.

use super::{GOLDEN, PLASTIC, between_ms, bytes_after, spread, times};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point_by_seed};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;

pub(super) const CROSS_TRAFFIC: Experiment = Experiment {
    id: "X",
    title: "a host moves into a WLAN of 5 Mbit/s in which a neighbour downloads",
    claims: &["HO-002"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "tcp-ho-cross-traffic";
/// Who moves in, and what it believes, in kbit/s.
const NEWCOMERS: [(&str, &str, u64); 5] = [
    ("nobody", "alone", 5000),
    ("tcp", "tcp", 5000),
    ("tcp-ho x0.5", "tcp-ho", 2500),
    ("tcp-ho x1", "tcp-ho", 5000),
    ("tcp-ho x2", "tcp-ho", 10_000),
];

fn moments(seed: u64) -> (u64, u64) {
    let down = between_ms(20.0, 22.0, spread(seed, GOLDEN));
    (down, down + between_ms(1.0, 10.0, spread(seed, PLASTIC)))
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for (newcomer, variant, kbps) in NEWCOMERS {
        let set = |seed| {
            let (down, back) = moments(seed);
            let mut set = times(down, back, 35);
            set.push(format!("events.2.bandwidth={kbps} kbit/s"));
            set
        };
        jobs.extend(point_by_seed(scope, newcomer, FILE, Some(variant), set)?);
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns =
        ["neighbour, 0 to 10 s", "neighbour, 10 to 30 s", "newcomer, 0 to 10 s", "newcomer, 10 to 30 s"];
    let mut table = Series::new("newcomer", "Mbit/s after the handoff", &columns);
    let rate = |newcomer: &str, flow: &str, from: u64, to: u64| {
        outcomes.summary(newcomer, |result| {
            let (_, back) = moments(result.seed);
            bytes_after(result, flow, back, from, to).map(|bytes| bytes * 8.0 / 1e6 / (to - from) as f64)
        })
    };
    for (newcomer, _, _) in NEWCOMERS {
        let cell = |flow, from, to| rate(newcomer, flow, from, to);
        let cells = vec![
            cell("beside", 0, 10),
            cell("beside", 10, 30),
            cell("download", 0, 10),
            cell("download", 10, 30),
        ];
        table.row(newcomer, cells);
    }
    let mean = |newcomer: &str, from, to| rate(newcomer, "beside", from, to).map_or(f64::NAN, |s| s.mean);
    let half = mean("nobody", 0, 10) / 2.0;
    let plain = mean("tcp", 10, 30);
    let told = ["tcp-ho x0.5", "tcp-ho x1", "tcp-ho x2"];
    let early: Vec<f64> = told.iter().map(|newcomer| mean(newcomer, 0, 10)).collect();
    let late: Vec<f64> = told.iter().map(|newcomer| mean(newcomer, 10, 30)).collect();
    let found = early.iter().all(|rate| *rate >= 0.9 * half) && late.iter().all(|rate| *rate >= 0.9 * plain);
    let list = |rates: &[f64]| rates.iter().map(|rate| digits(*rate)).collect::<Vec<_>>().join(", ");
    let figures = format!(
        "neighbour's Mbit/s with half, right and twice the estimate: {} in the first 10 s (half of the link: \
            {}), {} from 10 to 30 s (beside plain TCP: {})",
        list(&early),
        digits(half),
        list(&late),
        digits(plain)
    );
    let finding = Finding::shape("HO-002", found, figures).because(
        "not adversely: nine tenths of half the link at once, and of what plain TCP leaves it later",
    );
    (vec![finding], vec![table])
}
