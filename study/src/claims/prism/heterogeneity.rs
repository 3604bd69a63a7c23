//! T3: members that come and go.

use super::repair::mean_repair_s;
use super::testbed::device_queues;
use super::{figures, mean};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::{is_above, words};
use crate::claims::plan::{Job, Outcomes, Scope, goodput_between, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;
use prismux_units::Instant;

pub(super) const T3: Experiment = Experiment {
    id: "T3",
    title: "360 kbit/s all the time, 1080 kbit/s with 0.6 % loss until 40 s, 1800 kbit/s from 60 s",
    claims: &["PR-009", "PR-010", "PR-011", "PR-012", "PR-013", "PR-014"],
    lab: true,
    jobs,
    judge,
};

const FILE: &str = "prism-heterogeneity";
/// Ways by name, the scenario's variant, and the proxy's scheduler under it. The papers do not say how vanilla TCP is
/// striped; their T2, where it takes 90 % of 1080 and 360 kbit/s, leaves striping by weights only.
const WAYS: [(&str, &str, Option<&str>); 6] = [
    ("prism", "prism", None),
    ("linux24", "linux24", None),
    ("linux24 by WRR", "linux24", Some("weighted-round-robin")),
    ("linux24 round robin", "linux24", Some("round-robin")),
    ("vanilla", "vanilla", None),
    ("today", "today", None),
];
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
    for (name, variant, scheduler) in WAYS {
        let mut set = device_queues(3);
        set.extend(scheduler.map(|scheduler| format!("nodes.proxy.scheduler={scheduler}")));
        jobs.extend(point(scope, name.to_string(), FILE, Some(variant), &set)?);
    }
    Ok(jobs)
}

/// Of a way in a phase, its first `skip` seconds left out, one value for each seed.
fn phase(outcomes: &Outcomes<'_>, way: &str, index: usize, skip: f64) -> Vec<f64> {
    let (_, from, to, _) = PHASES[index];
    outcomes.values(way, move |result| goodput_between(result, "download", from + skip, to))
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let over =
        |way: &str, index| ratios(&phase(outcomes, "prism", index, 0.0), &phase(outcomes, way, index, 0.0));
    let (first, last) = (over("linux24", 0), over("linux24", 2));
    let payload_share = outcomes.mean("prism", payload_share);
    let reached: Vec<f64> = (0..PHASES.len())
        .map(|index| mean(&phase(outcomes, "prism", index, SETTLING_S)) / (PHASES[index].3 * payload_share))
        .collect();
    let both = format!("first phase {}, last phase {}", words(&first), words(&last));
    let others = |index: usize| {
        let of = |way: &str| words(&over(way, index));
        format!(
            "over Linux 2.4 striped by PRISM's scheduler; by weighted round robin {}, round robin {}; over the \
             textbook sender {}",
            of("linux24 by WRR"),
            of("linux24 round robin"),
            of("vanilla")
        )
    };
    let bound = aipd_bound_bps();
    let no_more = format!(
        "additive increase and proportional decrease hold at most {:.2} Mbit/s in phase 1: sqrt((1 + p) / (2 q (1 - \
         p))) segments per 300 ms, with p = 0.625 and 0.6 % of three quarters of the segments lost",
        bound / 1e6
    );
    let weighted = "refuted: that the baseline's striping decides. Round robin alone makes the last phase the \
        paper's, and would cap the 90 % that it gives vanilla TCP in T2 at half";
    let mut findings = vec![
        Finding::values("PR-009", first.clone()).because(format!("{}; {no_more}", others(0))),
        Finding::values("PR-010", first.clone()).because(format!("the stronger of two readings of one result; \
            {no_more}")),
        Finding::values("PR-011", last.clone()).because(format!(
            "{}; Linux 2.4 adapts to the reordering of two links without loss, and little is left to gain; {weighted}",
            others(2)
        )),
        Finding::shape("PR-012", mean(&first) >= 3.1 && mean(&last) >= 2.08, both)
            .because("judged as at least 3.1 and at least 2.08 times vanilla TCP; see PR-009 and PR-011"),
        Finding::shape(
            "PR-013",
            reached.iter().all(|share| *share >= 0.9),
            figures(&[("share of capacity in phase 1", reached[0]), ("2", reached[1]), ("3", reached[2])]),
        )
        .because(format!("a phase counts from 10 s after its begin; phases 2 and 3 hold; {no_more}")),
    ];
    findings.extend(judge_repair(outcomes));
    (findings, vec![table(outcomes, payload_share)])
}

fn table(outcomes: &Outcomes<'_>, payload_share: f64) -> Series {
    let columns = [
        "prism",
        "linux24",
        "ratio",
        "linux24 by WRR",
        "linux24 round robin",
        "vanilla",
        "today",
        "capacity",
    ];
    let mut series = Series::new("phase", "goodput in Mbit/s", &columns);
    for (index, (name, _, _, rates)) in PHASES.iter().enumerate() {
        let of = |way: &str| phase(outcomes, way, index, 0.0);
        let cell = |column: &&str| match *column {
            "ratio" => Summary::of(&ratios(&of("prism"), &of("linux24"))),
            "capacity" => Summary::of(&[rates * payload_share / 1e6]),
            way => Summary::of(&of(way).iter().map(|bps| bps / 1e6).collect::<Vec<_>>()),
        };
        series.row(name, columns.iter().map(cell).collect());
    }
    series
}

/// PR-014: how long the receiver waits for what the channel lost in the first phase.
fn judge_repair(outcomes: &Outcomes<'_>) -> Option<Finding> {
    if outcomes.in_lab() {
        let cause = "what the channel loses inside the emulator is not told packet by packet";
        return Some(Finding::not_testable("PR-014", cause));
    }
    let seeds = outcomes.results("prism").len() as u64;
    let scope = Scope { seeds, quick: false };
    let jobs = jobs(&scope).ok()?;
    let repairs = |way: &str| -> Vec<f64> {
        let own = jobs.iter().filter(|job| job.key == way);
        own.filter_map(|job| mean_repair_s(job, "download", "receiver", Instant::from_secs(40))).collect()
    };
    let [prism, linux24, vanilla] = ["prism", "linux24", "vanilla"].map(repairs);
    let text = format!(
        "seconds with PRISM {}, Linux 2.4 {}, the textbook sender {}",
        words(&prism),
        words(&linux24),
        words(&vanilla)
    );
    let much = mean(&prism) <= 0.75 * mean(&linux24) && is_above(&linux24, &prism);
    Some(Finding::shape("PR-014", much, text).because(
        "mean time from a loss of the channel in the first phase to the arrival of the segment; much: a quarter or \
         more",
    ))
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
