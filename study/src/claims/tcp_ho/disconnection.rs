//! How long a flow stands still after a disconnection: by arithmetic a saw-tooth over the disconnection's length.

use super::{GOLDEN, TICK_MS, between_ms, resumed_s, spread, times};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, point_by_seed};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;

pub(super) const AT_THE_CAP: Experiment = Experiment {
    id: "D1",
    title: "a disconnection of 200 to 264 s: the back-off is at its cap",
    claims: &["HO-004"],
    lab: false,
    jobs: cap_jobs,
    judge: judge_cap,
};

pub(super) const BELOW_THE_CAP: Experiment = Experiment {
    id: "D2",
    title: "disconnections of 0.25 to 30 s",
    claims: &["HO-005"],
    lab: false,
    jobs: tooth_jobs,
    judge: judge_tooth,
};

const FILE: &str = "tcp-ho-disconnection";
const DOWN_MS: u64 = 20_000;
const PLAIN: &str = "tcp-2005";
const TOLD: &str = "tcp-ho-2005";
/// Longest timeout of the variants.
const CAP_S: f64 = 64.0;

/// Overrides for a disconnection of `gap_ms`. Only the way to the host is cut: its last ACKs still arrive, so that
/// the first segment sent again is also the first that the host misses.
fn cut(gap_ms: u64) -> Vec<String> {
    let mut set = times(DOWN_MS, DOWN_MS + gap_ms, 70);
    set.push("events.0.direction=forward".to_string());
    set
}

fn cap_gap_ms(seed: u64) -> u64 {
    between_ms(200.0, 200.0 + CAP_S, spread(seed, GOLDEN))
}

fn cap_jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for variant in [PLAIN, TOLD] {
        let set = |seed| cut(cap_gap_ms(seed));
        jobs.extend(point_by_seed(scope, format!("cap/{variant}"), FILE, Some(variant), set)?);
    }
    Ok(jobs)
}

fn judge_cap(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let idle = |variant: &str| {
        outcomes.values(&format!("cap/{variant}"), |result| {
            resumed_s(result, "download", DOWN_MS + cap_gap_ms(result.seed))
        })
    };
    let (plain, told) = (idle(PLAIN), idle(TOLD));
    let saved: Vec<f64> = plain.iter().zip(&told).map(|(plain, told)| plain - told).collect();
    let (least, most) = saved.iter().fold((f64::MAX, f64::MIN), |(l, m), s| (l.min(*s), m.max(*s)));
    let mean = saved.iter().sum::<f64>() / saved.len() as f64;
    let within = !saved.is_empty() && least >= 0.0 && most <= CAP_S;
    // Evenly spread phases: the mean is half the cap, give or take what a few phases leave.
    let even = (mean - CAP_S / 2.0).abs() <= CAP_S / 2.0 / (saved.len().max(1) as f64).sqrt();
    let figures = format!("least {} s, mean {} s, most {} s", digits(least), digits(mean), digits(most));
    let mut table =
        Series::new("seed", "seconds from the link's return to the first new data", &["tcp", "tcp-ho"]);
    for (index, (plain, told)) in plain.iter().zip(&told).enumerate() {
        table.row(index + 1, vec![Summary::of(&[*plain]), Summary::of(&[*told])]);
    }
    (vec![Finding::shape("HO-004", within && even, figures)], vec![table])
}

/// Lengths of the disconnection: close together where the timeouts are, then wider.
fn gaps_ms() -> Vec<u64> {
    (1..=16).map(|quarter| quarter * 250).chain((5..=30).map(|seconds| seconds * 1000)).collect()
}

fn tooth_jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    // Nothing in it is random.
    let scope = Scope { seeds: 1, ..*scope };
    for gap in gaps_ms() {
        for variant in [PLAIN, TOLD] {
            let set = cut(gap);
            jobs.extend(point(&scope, format!("{gap}/{variant}"), FILE, Some(variant), &set)?);
        }
    }
    Ok(jobs)
}

/// The instants, in seconds from the disconnection on, at which a retransmission reaches the host if the link is there:
/// the first two as measured, the later ones by doubling.
struct Doubling {
    first: f64,
    timeout: f64,
}

impl Doubling {
    /// From the instants measured, in order. `None` without two.
    fn from(instants: &[f64]) -> Option<Self> {
        let first = *instants.first()?;
        let second = instants.iter().find(|instant| **instant > first + 0.1)?;
        Some(Self { first, timeout: (second - first) / 2.0 })
    }

    /// Number `k`, counted from 1: the first, and then r0 (2^k - 2) later.
    fn instant(&self, k: u32) -> f64 {
        self.first + self.timeout * (f64::from(2_u32.pow(k)) - 2.0)
    }

    /// How well the time series tells `instant`: to two of its samples, and as well as r0, which is half the
    /// difference of two of them.
    fn resolution(&self, instant: f64) -> f64 {
        let sample = TICK_MS as f64 / 1000.0;
        2.0 * sample + instant * (sample / 2.0 / self.timeout)
    }

    /// The first instant for which the link is back in time: the packet reaches the link `flight` before the host.
    fn after(&self, gap: f64, flight: f64) -> f64 {
        (1..24).map(|k| self.instant(k)).find(|instant| instant - flight >= gap).unwrap_or(f64::NAN)
    }
}

/// Delay of the link, and a full packet's time on it: 100 ms, and 1500 bytes at 384 kbit/s.
const FLIGHT_S: f64 = 0.100 + 1500.0 * 8.0 / 384_000.0;

fn judge_tooth(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns = ["tcp", "tcp-ho", "saved", "saved, by arithmetic"];
    let mut table =
        Series::new("disconnection in s", "seconds from the link's return to the first new data", &columns);
    let measured: Vec<(f64, f64, f64)> = gaps_ms()
        .into_iter()
        .filter_map(|gap| {
            let idle = |variant: &str| {
                let values = outcomes.values(&format!("{gap}/{variant}"), |result| {
                    resumed_s(result, "download", DOWN_MS + gap)
                });
                values.first().copied()
            };
            Some((gap as f64 / 1000.0, idle(PLAIN)?, idle(TOLD)?))
        })
        .collect();
    let instants: Vec<f64> = measured.iter().map(|(gap, plain, _)| gap + plain).collect();
    let Some(doubling) = Doubling::from(&instants) else { return (Vec::new(), Vec::new()) };
    let (mut worst, mut largest, mut found) = (0.0f64, 0.0f64, true);
    for (gap, plain, told) in measured {
        let expected = doubling.after(gap, FLIGHT_S) - gap - told;
        let saved = plain - told;
        worst = worst.max((saved - expected).abs());
        found &= (saved - expected).abs() <= doubling.resolution(gap + plain);
        largest = largest.max(saved);
        let cells = [plain, told, saved, expected];
        table.row(gap, cells.iter().map(|cell| Summary::of(&[*cell])).collect());
    }
    let figures = format!(
        "r0 {} s, largest saving {} s, largest deviation {} s",
        digits(doubling.timeout),
        digits(largest),
        digits(worst)
    );
    (vec![Finding::shape("HO-005", found, figures)], vec![table])
}
