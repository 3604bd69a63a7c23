//! pTCP and application striping: the experiments of one chapter serve the claims of both.
//!
//! Every point compares pTCP, a smart and an unaware striping application, and the *ideal*: the sum of separate TCP
//! connections, each alone on its link, in the same network.

mod blackout;
mod disparity;
mod fluctuation;
mod mixed;
mod pipes;
mod rules;

use super::Experiment;
use super::order::mean;
use super::plan::{Job, Outcomes, Scope, point_by_seed, steady};
use super::verdict::Finding;
use crate::claims::ClaimsError;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

/// All of them.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    disparity::RATES,
    disparity::BUFFERS,
    pipes::PIPES,
    fluctuation::PIPES,
    fluctuation::PERIODS,
    blackout::BLACKOUT,
    mixed::MIXED,
    rules::RULES,
];

const FILE: &str = "pipes";
/// Ways of using several links. The receiver of the unaware application "reads from each socket only in-sequence
/// packets" (section 4.3): it has no buffer for the rest and, as another reading, one as large as a socket's.
const WAYS: [&str; 6] = ["ptcp", "smart", "unaware", "unaware W", "ptcp 64", "smart 64"];
/// Their names in tables, after the ideal.
const COLUMNS: [&str; 7] = ["ideal", "pTCP", "smart", "unaware", "unaware, W", "pTCP, 64 kB", "smart, 64 kB"];

/// The variant of the scenario for a way.
fn variant(way: &str) -> &str {
    way.split(' ').next().unwrap_or(way)
}

/// Buffers of `kb` kB: of each pipe of pTCP, or of each socket and of the resequencing receiver of an application.
fn sockets(way: &str, kb: u64) -> Vec<String> {
    let kb = if way.ends_with(" 64") { DEFAULT_KB } else { kb };
    let resequencing = match way {
        "ptcp" | "ptcp 64" => return vec![format!("flows.upload.tcp.window={kb} kB")],
        "unaware" => 0,
        _ => kb,
    };
    vec![
        format!("flows.upload.tcp.window={kb} kB"),
        format!("flows.upload.striping.buffer={resequencing} kB"),
    ]
}

/// One buffer for all ways, our reading: it holds what a pipe repairs and its queue, or buffers would be measured
/// instead of the ways. The source has 64 kB for each pipe (section 4.2.5), which stands beside it.
const LARGE_KB: u64 = 2000;
/// The source's default.
const DEFAULT_KB: u64 = 64;

/// As long as the source's runs; shorter for a first look.
fn duration(scope: &Scope) -> String {
    format!("duration={} s", seconds(scope))
}

fn seconds(scope: &Scope) -> u64 {
    if scope.quick { 120 } else { 600 }
}

/// Overrides of a point, which may depend on the seed.
type Overrides<'a> = &'a dyn Fn(u64) -> Vec<String>;

fn links(pipes: &[usize]) -> String {
    let names: Vec<String> = pipes.iter().map(|pipe| format!("\"pipe{pipe}\"")).collect();
    format!("flows.upload.links=[{}]", names.join(", "))
}

/// Runs of the ways in `ways`, with socket buffers in kB, over `pipes`, and of each pipe alone, at the point `at`.
fn jobs_at(
    scope: &Scope,
    at: &str,
    pipes: &[usize],
    ways: &[(&str, u64)],
    set: Overrides<'_>,
) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for &(way, kb) in ways {
        let with = |seed: u64| [set(seed), vec![links(pipes)], sockets(way, kb)].concat();
        jobs.extend(point_by_seed(scope, format!("{way}/{at}"), FILE, Some(variant(way)), with)?);
    }
    for pipe in pipes {
        let with = |seed: u64| [set(seed), vec![links(&[*pipe])]].concat();
        jobs.extend(point_by_seed(scope, format!("alone/{at}/{pipe}"), FILE, Some("single"), with)?);
    }
    Ok(jobs)
}

/// Steady goodput at a point in Mbit/s, one value for each seed.
fn mbps(outcomes: &Outcomes<'_>, way: &str, at: &str) -> Vec<f64> {
    outcomes.values(&format!("{way}/{at}"), steady).iter().map(|bps| bps / 1e6).collect()
}

/// The sum of the pipes alone, in Mbit/s, one value for each seed.
fn ideal(outcomes: &Outcomes<'_>, at: &str, pipes: &[usize]) -> Vec<f64> {
    let alone: Vec<Vec<f64>> =
        pipes.iter().map(|pipe| mbps(outcomes, "alone", &format!("{at}/{pipe}"))).collect();
    let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|seed| alone.iter().map(|own| own[seed]).sum()).collect()
}

/// Share of the ideal, one value for each seed.
fn share(outcomes: &Outcomes<'_>, way: &str, at: &str, pipes: &[usize]) -> Vec<f64> {
    super::plan::ratios(&mbps(outcomes, way, at), &ideal(outcomes, at, pipes))
}

/// Named figures in a row: the mean of each over its seeds, and the 95 % interval.
fn figures(list: &[(&str, &[f64])]) -> String {
    let text = |(name, values): &(&str, &[f64])| {
        let value = digits(mean(values));
        match Summary::of(values).and_then(|summary| summary.ci95) {
            Some([low, high]) => format!("{name} {value} ({} to {})", digits(low), digits(high)),
            None => format!("{name} {value}"),
        }
    };
    list.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The values at the point where their mean is least.
fn least<P: Copy>(points: &[P], of: impl Fn(P) -> Vec<f64>) -> Vec<f64> {
    let all = points.iter().map(|&point| of(point));
    all.min_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or_default()
}

/// The values at the point where their mean is largest.
fn most<P: Copy>(points: &[P], of: impl Fn(P) -> Vec<f64>) -> Vec<f64> {
    let all = points.iter().map(|&point| of(point));
    all.max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or_default()
}

/// A claim that names the sum of link rates: below it, and close to the ideal.
fn below_the_sum(claim: &'static str, sum_mbps: f64, mbps: &[f64], share: &[f64]) -> Finding {
    let close = mean(mbps) <= sum_mbps && mean(share) >= 0.95;
    let text = figures(&[("Mbit/s", mbps), ("share of ideal", share)]);
    Finding::shape(claim, close, text).because("close: at least 0.95 of the sum of separate connections")
}

/// Throughput of a link in each sample between two times, in Mbit/s.
fn throughput(result: &RunResult, link: &str, from_s: f64, to_s: f64) -> Vec<f64> {
    let Some(series) = &result.series else { return Vec::new() };
    let Some(link) = series.links.get(link) else { return Vec::new() };
    let index = |seconds: f64| ((seconds / series.interval_s) as usize).min(link.throughput_bps.len());
    link.throughput_bps[index(from_s)..index(to_s)].iter().map(|bps| bps / 1e6).collect()
}
