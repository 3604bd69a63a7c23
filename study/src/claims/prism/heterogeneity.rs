//! T3: members that come and go.

use super::{figures, mean};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, goodput_between, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const T3: Experiment = Experiment {
    id: "T3",
    title: "360 kbit/s all the time, 1080 kbit/s with 0.6 % loss until 40 s, 1800 kbit/s from 60 s",
    claims: &["PR-009", "PR-010", "PR-011", "PR-012", "PR-013", "PR-014"],
    lab: true,
    jobs,
    judge,
};

const FILE: &str = "prism-heterogeneity";
const VARIANTS: [&str; 4] = ["prism", "vanilla", "linux24", "today"];
/// Name, seconds from and to, sum of the link rates present.
const PHASES: [(&str, f64, f64, f64); 3] = [
    ("0 to 40 s", 0.0, 40.0, 1.44e6),
    ("40 to 60 s", 40.0, 60.0, 0.36e6),
    ("60 to 90 s", 60.0, 90.0, 2.16e6),
];
/// Slow start at these delays, and draining what a member that left had queued, take so long.
const SETTLING_S: f64 = 10.0;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for variant in VARIANTS {
        jobs.extend(point(scope, variant.to_string(), FILE, Some(variant), &[])?);
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let phase = |variant: &str, index: usize, skip: f64| {
        let (_, from, to, _) = PHASES[index];
        outcomes.values(variant, move |result| goodput_between(result, "download", from + skip, to))
    };
    let first = ratios(&phase("prism", 0, 0.0), &phase("vanilla", 0, 0.0));
    let last = ratios(&phase("prism", 2, 0.0), &phase("vanilla", 2, 0.0));
    let payload_share = outcomes.mean("prism", payload_share);
    let reached: Vec<f64> = (0..PHASES.len())
        .map(|index| mean(&phase("prism", index, SETTLING_S)) / (PHASES[index].3 * payload_share))
        .collect();
    let stalled = |variant: &str| outcomes.mean(variant, |result| Some(stalled_seconds(result)));
    let (prism_stalled, vanilla_stalled) = (stalled("prism"), stalled("vanilla"));
    let both = figures(&[("first phase", mean(&first)), ("last phase", mean(&last))]);
    let adaptive = |index| mean(&ratios(&phase("prism", index, 0.0), &phase("linux24", index, 0.0)));
    let baseline = |index| {
        if outcomes.in_lab() {
            return format!("against Reno of this kernel; {:.2} with timestamps", adaptive(index));
        }
        format!(
            "against the textbook sender of the time; {:.2} against Linux 2.4, which adapts to reordering",
            adaptive(index)
        )
    };
    let bound = aipd_bound_bps();
    let findings = vec![
        Finding::values("PR-009", first.clone()).because(baseline(0)),
        Finding::values("PR-010", first.clone()).because("the stronger of two readings of one result"),
        Finding::values("PR-011", last.clone()).because(baseline(2)),
        Finding::shape("PR-012", mean(&first) >= 3.1 && mean(&last) >= 2.08, both)
            .because("judged as at least 3.1 and at least 2.08 times vanilla TCP"),
        Finding::shape(
            "PR-013",
            reached.iter().all(|share| *share >= 0.9),
            figures(&[("share of capacity in phase 1", reached[0]), ("2", reached[1]), ("3", reached[2])]),
        )
        .because(format!(
            "a phase counts from 10 s after its begin; additive increase and proportional decrease cannot hold \
             more than {:.2} Mbit/s in phase 1: sqrt((1 + p) / (2 q (1 - p))) segments per 300 ms, \
             with p = 0.625 and 0.6 % of three quarters of the segments lost",
            bound / 1e6
        )),
        Finding::shape(
            "PR-014",
            prism_stalled < vanilla_stalled,
            figures(&[("stalled seconds of 30 with PRISM", prism_stalled), ("vanilla", vanilla_stalled)]),
        )
        .because(
            "recovery time judged by the seconds from 10 to 40 s with less than half of the mean goodput",
        ),
    ];
    let columns = ["prism", "vanilla", "ratio", "linux24", "ratio to it", "today", "capacity"];
    let mut series = Series::new("phase", "goodput in Mbit/s", &columns);
    for (index, (name, _, _, rates)) in PHASES.iter().enumerate() {
        let [prism, vanilla, linux24, today] = VARIANTS.map(|variant| phase(variant, index, 0.0));
        let mega = |values: &[f64]| Summary::of(&values.iter().map(|bps| bps / 1e6).collect::<Vec<_>>());
        let capacity = Summary::of(&[rates * payload_share / 1e6]);
        let row = vec![
            mega(&prism),
            mega(&vanilla),
            Summary::of(&ratios(&prism, &vanilla)),
            mega(&linux24),
            Summary::of(&ratios(&prism, &linux24)),
            mega(&today),
            capacity,
        ];
        series.row(name, row);
    }
    (findings, vec![series])
}

/// What additive increase and proportional decrease can hold in the first phase: the mean of a sawtooth between p W
/// and W segments that grows by one segment a round trip and loses one in 1/q.
fn aipd_bound_bps() -> f64 {
    const SEGMENT_BITS: f64 = 960.0 * 8.0;
    // The packets of the slow link are out so long, and what is sent after them cannot be acknowledged before.
    const ROUND_TRIP_S: f64 = 0.3;
    let keep = 1.0 - 1080.0 / (2.0 * 1440.0);
    let lost = 0.006 * 1080.0 / 1440.0;
    let segments = f64::sqrt((1.0 + keep) / (2.0 * lost * (1.0 - keep)));
    segments * SEGMENT_BITS / ROUND_TRIP_S
}

/// Payload in what the shared links carry.
fn payload_share(result: &RunResult) -> Option<f64> {
    let rates: f64 = result
        .links
        .values()
        .filter(|link| link.shared)
        .filter_map(|link| link.rate_bps)
        .map(|bps| bps as f64)
        .sum();
    (rates > 0.0).then(|| result.total.capacity_bps / rates)
}

/// Seconds of the first phase, after slow start, that brought less than half of its mean.
fn stalled_seconds(result: &RunResult) -> f64 {
    let Some(series) = &result.series else { return f64::NAN };
    let Some(flow) = series.flows.get("download") else { return f64::NAN };
    let index = |seconds: f64| ((seconds / series.interval_s) as usize).min(flow.goodput_bps.len());
    let window = &flow.goodput_bps[index(10.0)..index(40.0)];
    let half = mean(window) / 2.0;
    window.iter().filter(|bps| **bps < half).count() as f64 * series.interval_s
}
