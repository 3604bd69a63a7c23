//! S3: links whose free rate comes and goes in bursts.

use super::umts::{Reading, SHORT, SHORT_FULL};
use super::{figures, goodput_with_headers, mean};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::{is_above, words};
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const S3: Experiment = Experiment {
    id: "S3",
    title: "600, 900 and 1200 kbit/s; bursts of 400 kbit/s on the first and 800 on the third",
    claims: &["PR-023", "PR-024", "PR-025", "PR-026", "PR-027", "PR-028", "PR-029", "PR-030", "PR-065"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-fluctuation";
/// The first five are the papers'. A uniform Random cannot be theirs: it would carry at most three times what bursts
/// leave of the thinnest link, 1.46 Mbit/s, and theirs beats the 1.48 Mbit/s of hRTT-only, the worst (VIII-C.2).
const SCHEDULERS: [&str; 5] = ["adas", "wrr", "random", "hrtt", "nip"];
/// Other readings: Random without weights, round robin in fractions of packets, hRTT of idle links left as it is, hRTT
/// that is the newest sample.
const READINGS: [(&str, &str, &str); 4] = [
    ("uniform random", "random", "nodes.proxy.scheduler=random"),
    ("smooth wrr", "wrr", "nodes.proxy.scheduler=smooth-weighted-round-robin"),
    ("hrtt without ageing", "hrtt", "nodes.proxy.rtt_ageing=false"),
    ("hrtt, newest", "hrtt", "nodes.proxy.rtt_gain=1"),
];
/// Other links and other weights, looked at with the longest bursts: with 50 packets of queue the ideal is there as in
/// the paper, too.
const NETWORKS: [(&str, Reading, Option<&str>); 3] = [
    ("35 ms, 50 packets", SHORT_FULL, None),
    ("35 ms, 10 packets, weights by the divisor", SHORT, Some(LITERAL)),
    ("35 ms, 50 packets, weights by the divisor", SHORT_FULL, Some(LITERAL)),
];
const LITERAL: &str = "nodes.proxy.weight_unit=gcd";
/// What vanilla TCP achieves over all links together at the papers' largest burst: 1.48 Mbit/s is 47 % less than
/// ADAS, which is 97.1 % of it. The length of that burst is not printed; the claims are judged where our ideal comes
/// nearest.
const IDEAL_BPS: f64 = 2.24e6;
/// Mean bursts in ms; pauses are 1 s.
const BURSTS_MS: [u64; 6] = [100, 200, 300, 400, 500, LONGEST_MS];
const LONGEST_MS: u64 = 600;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for burst in BURSTS_MS.into_iter().filter(|burst| !scope.quick || [100, 300, 600].contains(burst)) {
        let set = overrides(scope, &SHORT, burst);
        jobs.extend(schedulers(scope, "", &set, burst)?);
        for (name, variant, change) in READINGS {
            let set = [set.clone(), vec![change.to_string()]].concat();
            jobs.extend(point(scope, format!("{name}/{burst}"), FILE, Some(variant), &set)?);
        }
    }
    for (name, reading, change) in NETWORKS {
        let mut set = overrides(scope, &reading, LONGEST_MS);
        set.extend(change.map(str::to_string));
        jobs.extend(schedulers(scope, &format!("{name}/"), &set, LONGEST_MS)?);
    }
    Ok(jobs)
}

fn overrides(scope: &Scope, reading: &Reading, burst: u64) -> Vec<String> {
    let mut set = reading.overrides(3);
    set.extend([1, 3].map(|flow| format!("flows.background{flow}.on={burst} ms")));
    if scope.quick {
        set.push("duration=100 s".to_string());
    }
    set
}

/// The papers' schedulers, and vanilla TCP on each link alone.
fn schedulers(scope: &Scope, prefix: &str, set: &[String], burst: u64) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for variant in SCHEDULERS {
        let mut set = set.to_vec();
        if variant == "random" {
            set.push("nodes.proxy.scheduler=weighted-random".to_string());
        }
        jobs.extend(point(scope, format!("{prefix}{variant}/{burst}"), FILE, Some(variant), &set)?);
    }
    for member in 1..=3 {
        let mut alone = set.to_vec();
        alone.push("flows.download.transport=tcp".to_string());
        alone.push(format!("flows.download.via=m{member}"));
        jobs.extend(point(scope, format!("{prefix}alone/{burst}/{member}"), FILE, None, &alone)?);
    }
    Ok(jobs)
}

/// Goodput of the download, without the background's, headers put back on.
pub(super) fn download(result: &RunResult) -> Option<f64> {
    let share = result.flows.get("download")?.goodput_bps / result.total.goodput_bps;
    goodput_with_headers(result).map(|bps| bps * share)
}

/// Goodput of a variant at a burst, one value for each seed.
fn at(outcomes: &Outcomes<'_>, variant: &str, burst: u64) -> Vec<f64> {
    outcomes.values(&format!("{variant}/{burst}"), download)
}

/// The sum of vanilla TCP on each link alone, beside the same bursts.
fn ideal(outcomes: &Outcomes<'_>, prefix: &str, burst: u64) -> Vec<f64> {
    let alone: Vec<Vec<f64>> =
        (1..=3).map(|m| outcomes.values(&format!("{prefix}alone/{burst}/{m}"), download)).collect();
    let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|seed| alone.iter().map(|own| own[seed]).sum()).collect()
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ran = |burst: &u64| !outcomes.results(&format!("adas/{burst}")).is_empty();
    let points: Vec<u64> = BURSTS_MS.into_iter().filter(ran).collect();
    let at = |variant: &str, burst: u64| at(outcomes, variant, burst);
    let ideal = |burst: u64| ideal(outcomes, "", burst);
    let far = |burst: &u64| (mean(&ideal(*burst)) - IDEAL_BPS).abs();
    let nearest = points.iter().copied().min_by(|a, b| far(a).total_cmp(&far(b)));
    let (small, large) = (points[0], nearest.unwrap_or(points[0]));
    let others =
        |burst: u64| SCHEDULERS[1..].iter().map(|other| (*other, at(other, burst))).collect::<Vec<_>>();
    let by_mean = |a: &(&str, Vec<f64>), b: &(&str, Vec<f64>)| mean(&a.1).total_cmp(&mean(&b.1));
    let best = others(large).into_iter().max_by(by_mean).unwrap_or_default();
    let worst = others(large).into_iter().min_by(by_mean).unwrap_or_default();
    let gain = |other: &[f64]| -> Vec<f64> {
        ratios(&at("adas", large), other).iter().map(|ratio| (ratio - 1.0) * 100.0).collect()
    };
    let mega = |variant: &str| at(variant, large).iter().map(|bps| bps / 1e6).collect::<Vec<_>>();
    let calm = ratios(&at("nip", small), &at("adas", small));
    let (best_gain, worst_gain) = (mean(&gain(&best.1)), mean(&gain(&worst.1)));
    let where_judged = format!("at bursts of {large} ms, where the ideal is as in the paper");
    let nip = ratios(&at("nip", large), &at("adas", large));
    let floor = format!("{}; {}", floor(outcomes, &points), elsewhere(outcomes, "nip", true));
    let one_link = format!(
        "Mbit/s; the quickest link takes all until it drops; refuted: that the ageing of hRTT at idle links decides, \
         which is ours (without it {}), or its smoothing (the newest sample alone {}); {}",
        words(&mega("hrtt without ageing")),
        words(&mega("hrtt, newest")),
        elsewhere(outcomes, "hrtt", false)
    );
    let findings = vec![
        Finding::values("PR-023", gain(&best.1))
            .because(format!("over the best other scheduler ({}) {where_judged}; {floor}", best.0)),
        Finding::values("PR-024", gain(&worst.1)).because(format!(
            "over the worst other scheduler ({}) {where_judged}; what it gets decides, see PR-027",
            worst.0
        )),
        Finding::values("PR-025", ratios(&at("adas", large), &ideal(large))).because(where_judged.clone()),
        judge_random(outcomes, &points, large),
        Finding::values("PR-027", mega("hrtt")).because(one_link),
        Finding::shape(
            "PR-028",
            SCHEDULERS
                .iter()
                .filter(|other| **other != "hrtt")
                .all(|other| is_above(&at(other, large), &at("hrtt", large))),
            format!("lowest at bursts of {large} ms: {}", worst.0),
        ),
        Finding::shape(
            "PR-029",
            (mean(&calm) - 1.0).abs() < 0.05,
            format!("NIP-only over ADAS at the smallest burst {}", words(&calm)),
        ),
        Finding::values("PR-030", nip).because(floor),
        Finding::shape(
            "PR-065",
            best_gain >= 12.0 && worst_gain <= 57.0,
            figures(&[("least gain in %", best_gain), ("largest", worst_gain)]),
        )
        .because("see PR-023 and PR-024"),
    ];
    (findings, vec![table(outcomes, &points), networks(outcomes)])
}

/// PR-026: WRR against Random "in the presence of large fluctuations", judged where the other claims are; other lengths
/// of bursts are printed.
fn judge_random(outcomes: &Outcomes<'_>, points: &[u64], large: u64) -> Finding {
    let text = |burst: u64| {
        let mega =
            |way: &str| words(&at(outcomes, way, burst).iter().map(|bps| bps / 1e6).collect::<Vec<_>>());
        let [wrr, random, uniform, smooth] = ["wrr", "random", "uniform random", "smooth wrr"].map(mega);
        format!(
            "at bursts of {burst} ms WRR {wrr}, Random by weights {random}; without weights {uniform}; WRR in \
             fractions of packets {smooth}"
        )
    };
    let is_worse = is_above(&at(outcomes, "random", large), &at(outcomes, "wrr", large));
    let others: Vec<String> =
        points.iter().filter(|burst| **burst != large).map(|burst| text(*burst)).collect();
    Finding::shape("PR-026", is_worse, format!("Mbit/s {}", text(large))).because(format!(
        "paired over seeds, where the ideal is as in the paper; {}; {}",
        others.join(", "),
        elsewhere(outcomes, "wrr", false)
    ))
}

/// What a scheduler gets on other networks, in Mbit/s or as a share of ADAS.
fn elsewhere(outcomes: &Outcomes<'_>, way: &str, of_adas: bool) -> String {
    let text = |name: &str| {
        let own = at(outcomes, &format!("{name}/{way}"), LONGEST_MS);
        let values = if of_adas {
            ratios(&own, &at(outcomes, &format!("{name}/adas"), LONGEST_MS))
        } else {
            own.iter().map(|bps| bps / 1e6).collect()
        };
        format!("{} ({name})", words(&values))
    };
    format!(
        "with bursts of {LONGEST_MS} ms on other networks {}",
        NETWORKS.map(|(name, ..)| text(name)).join(", ")
    )
}

fn networks(outcomes: &Outcomes<'_>) -> Series {
    let mut columns = SCHEDULERS.to_vec();
    columns.push("ideal");
    let quantity = format!("goodput in Mbit/s, headers counted; bursts of {LONGEST_MS} ms");
    let mut series = Series::new("links and weights", &quantity, &columns);
    let mega = |values: Vec<f64>| Summary::of(&values.iter().map(|bps| bps / 1e6).collect::<Vec<_>>());
    for (name, ..) in NETWORKS {
        let cell = |column: &&str| match *column {
            "ideal" => mega(ideal(outcomes, &format!("{name}/"), LONGEST_MS)),
            way => mega(at(outcomes, &format!("{name}/{way}"), LONGEST_MS)),
        };
        series.row(name, columns.iter().map(cell).collect());
    }
    series
}

/// What the floor of NIP, which NIP-only lacks, gains at any length of bursts.
fn floor(outcomes: &Outcomes<'_>, points: &[u64]) -> String {
    let text = |&burst: &u64| {
        let share = ratios(&at(outcomes, "nip", burst), &at(outcomes, "adas", burst));
        format!("{} at {burst} ms", words(&share))
    };
    let list = points.iter().map(text).collect::<Vec<_>>().join(", ");
    format!(
        "what the floor of NIP costs or gains is small at any length of bursts: NIP-only over ADAS {list}"
    )
}

fn table(outcomes: &Outcomes<'_>, points: &[u64]) -> Series {
    let mut columns = SCHEDULERS.to_vec();
    columns.push("ideal");
    columns.extend(READINGS.map(|(name, ..)| name));
    let mut series = Series::new("mean burst in ms", "goodput in Mbit/s, headers counted", &columns);
    let mega = |values: Vec<f64>| Summary::of(&values.iter().map(|bps| bps / 1e6).collect::<Vec<_>>());
    for &burst in points {
        let cell = |column: &&str| match *column {
            "ideal" => mega(ideal(outcomes, "", burst)),
            way => mega(at(outcomes, way, burst)),
        };
        series.row(burst, columns.iter().map(cell).collect());
    }
    series
}
