//! S2 and S5: three members of 1.4 Mbit/s, one raised and one lowered; schedulers without ACK control, and how much
//! of the reverse path controller works.

use super::{figures, mean, trend};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios, steady};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;

pub(super) const S2: Experiment = Experiment {
    id: "S2",
    title: "schedulers without ACK control over 1.4 Mbit/s + d, 1.4, 1.4 - d",
    claims: &["PR-019", "PR-020", "PR-021", "PR-022"],
    lab: false,
    jobs: |scope| jobs(scope, "prism-bandwidth-disparity", &WITH_LITERAL_WEIGHTS),
    judge: judge_schedulers,
};

pub(super) const S5: Experiment = Experiment {
    id: "S5",
    title: "the reverse path controller off, partly on and on, over 1.4 Mbit/s + d, 1.4, 1.4 - d",
    claims: &["PR-036", "PR-037", "PR-038"],
    lab: false,
    jobs: |scope| jobs(scope, "prism-reverse-path", &CONTROL),
    judge: judge_control,
};

const SCHEDULERS: [&str; 4] = ["adas", "wrr", "rr", "random"];
const WITH_LITERAL_WEIGHTS: [&str; 5] = ["adas", "wrr", "rr", "random", "adas-gcd"];
const CONTROL: [&str; 3] = ["full", "partial", "none"];
const DISPARITY_PERCENT: [u64; 8] = [0, 10, 20, 30, 40, 50, 60, 70];

fn jobs(scope: &Scope, file: &str, variants: &[&str]) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for d in DISPARITY_PERCENT.into_iter().filter(|d| !scope.quick || [0, 20, 40, 70].contains(d)) {
        let mut set = vec![
            format!("links.wwan1.rate={} kbit/s", 14 * (100 + d)),
            "links.wwan2.rate=1400 kbit/s".to_string(),
            format!("links.wwan3.rate={} kbit/s", 14 * (100 - d)),
        ];
        if scope.quick {
            set.push("duration=100 s".to_string());
        }
        for variant in variants {
            jobs.extend(point(scope, format!("{variant}/{d}"), file, Some(variant), &set)?);
        }
        for member in 1..=3 {
            let mut alone = set.clone();
            alone.push("flows.download.transport=tcp".to_string());
            alone.push(format!("flows.download.via=m{member}"));
            jobs.extend(point(scope, format!("alone/{d}/{member}"), file, None, &alone)?);
        }
    }
    Ok(jobs)
}

/// Goodput over the sum of vanilla TCP on each link, for each seed.
fn of_ideal(outcomes: &Outcomes<'_>, variant: &str, d: u64) -> Vec<f64> {
    let alone: Vec<Vec<f64>> = (1..=3).map(|m| outcomes.values(&format!("alone/{d}/{m}"), steady)).collect();
    let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
    let ideal: Vec<f64> = (0..seeds).map(|s| alone.iter().map(|own| own[s]).sum()).collect();
    ratios(&outcomes.values(&format!("{variant}/{d}"), steady), &ideal)
}

fn points(outcomes: &Outcomes<'_>, variant: &str) -> Vec<u64> {
    DISPARITY_PERCENT
        .into_iter()
        .filter(|d| !outcomes.results(&format!("{variant}/{d}")).is_empty())
        .collect()
}

/// The largest value of several lists, seed by seed.
fn largest(lists: &[Vec<f64>]) -> Vec<f64> {
    let seeds = lists.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|seed| lists.iter().map(|list| list[seed]).fold(f64::MIN, f64::max)).collect()
}

fn table(outcomes: &Outcomes<'_>, points: &[u64], variants: &[&str]) -> Series {
    let mut series = Series::new("d in %", "goodput over the sum of vanilla TCP on each link", variants);
    for &d in points {
        series.row(d, variants.iter().map(|variant| Summary::of(&of_ideal(outcomes, variant, d))).collect());
    }
    series
}

fn judge_schedulers(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let points = points(outcomes, "adas");
    let share = |variant: &str, d: u64| of_ideal(outcomes, variant, d);
    let every: Vec<Vec<f64>> =
        SCHEDULERS.iter().flat_map(|variant| points.iter().map(|&d| share(variant, d))).collect();
    let slope = |variant: &str| trend(&points.iter().map(|&d| mean(&share(variant, d))).collect::<Vec<_>>());
    let gains: Vec<Vec<f64>> = SCHEDULERS[1..]
        .iter()
        .flat_map(|other| points.iter().map(|&d| (*other, d)))
        .map(|(other, d)| {
            ratios(&share("adas", d), &share(other, d)).iter().map(|r| (r - 1.0) * 100.0).collect()
        })
        .collect();
    let (adas, wrr, rr, random) = (slope("adas"), slope("wrr"), slope("rr"), slope("random"));
    let findings = vec![
        Finding::values("PR-019", largest(&every)).because("the largest share of any scheduler at any d"),
        Finding::shape(
            "PR-020",
            adas > 0.0,
            figures(&[("relative slope over d", adas), ("with weights in units of the gcd", slope("adas-gcd"))]),
        )
        .because(
            "the windows here are so small (4 segments) that only ties decide, and with W0 = B / B_min there are few; \
             literal weights make more of them and show the trend, but leave S6 to hRTT alone",
        ),
        Finding::shape(
            "PR-021",
            wrr < 0.0 && rr < 0.0 && random < 0.0,
            figures(&[("relative slopes over d: WRR", wrr), ("RR", rr), ("Random", random)]),
        ),
        Finding::values("PR-022", largest(&gains))
            .because(
                "the largest gain over any other scheduler at any d; a sender that takes three duplicates for a loss \
                 reaches a tenth of the ideal here, whatever schedules",
            ),
    ];
    (findings, vec![table(outcomes, &points, &WITH_LITERAL_WEIGHTS)])
}

fn judge_control(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let points = points(outcomes, "full");
    let share = |variant: &str, d: u64| of_ideal(outcomes, variant, d);
    let full: Vec<f64> = points.iter().map(|&d| mean(&share("full", d))).collect();
    let least = full.iter().copied().fold(f64::MAX, f64::min);
    let none: Vec<Vec<f64>> = points.iter().map(|&d| share("none", d)).collect();
    let gains: Vec<Vec<f64>> =
        points.iter().map(|&d| ratios(&share("partial", d), &share("none", d))).collect();
    let seeds = gains.iter().map(Vec::len).min().unwrap_or(0);
    let average = (0..seeds)
        .map(|seed| gains.iter().map(|gain| (gain[seed] - 1.0) * 100.0).sum::<f64>() / gains.len() as f64)
        .collect();
    let findings = vec![
        Finding::shape("PR-036", least >= 0.9, figures(&[("least share of ideal at any d", least)])),
        Finding::values("PR-037", largest(&none)).because("the largest share at any d"),
        Finding::values("PR-038", average).because(
            "without ACK control our sender of 2002 reaches a tenth of the ideal, not nearly half of it, so that any \
             control gains more; the partial controller itself is where the paper has it, well below the full one",
        ),
    ];
    (findings, vec![table(outcomes, &points, &CONTROL)])
}
