//! S2 and S5: three members of 1.4 Mbit/s, one raised and one lowered; schedulers without ACK control, and how much
//! of the reverse path controller works.

use super::umts::{READINGS, Reading, SHORT};
use super::{figures, mean, trend};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::words;
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios, steady};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;

pub(super) const S2: Experiment = Experiment {
    id: "S2",
    title: "schedulers without ACK control over 1.4 Mbit/s + d, 1.4, 1.4 - d",
    claims: &["PR-019", "PR-020", "PR-021", "PR-022"],
    lab: false,
    jobs: |scope| {
        let mut jobs = jobs(scope, "prism-bandwidth-disparity", &WITH_LITERAL_WEIGHTS)?;
        jobs.extend(hrtt_alone(scope)?);
        Ok(jobs)
    },
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
/// Where the readings that nothing is judged by are looked at.
const LOOKED_AT_PERCENT: [u64; 4] = [0, 20, 40, 70];
/// ADAS where the rates have no common divisor: no weight is ever reached, so that hRTT alone decides.
const HRTT_ALONE: &str = "adas, divisor 1";

fn overrides(scope: &Scope, reading: &Reading, d: u64, more_kbps: u64) -> Vec<String> {
    let mut set = reading.overrides(3);
    set.extend([
        format!("links.wwan1.rate={} kbit/s", 14 * (100 + d)),
        format!("links.wwan2.rate={} kbit/s", 1400 + more_kbps),
        format!("links.wwan3.rate={} kbit/s", 14 * (100 - d)),
    ]);
    if scope.quick {
        set.push("duration=100 s".to_string());
    }
    set
}

fn is_looked_at(scope: &Scope, reading: &Reading, d: u64) -> bool {
    LOOKED_AT_PERCENT.contains(&d) || !scope.quick && reading.name == SHORT.name
}

fn jobs(scope: &Scope, file: &str, variants: &[&str]) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for reading in READINGS.into_iter().filter(|reading| !scope.quick || reading.name == SHORT.name) {
        for d in DISPARITY_PERCENT.into_iter().filter(|d| is_looked_at(scope, &reading, *d)) {
            let set = overrides(scope, &reading, d, 0);
            let name = reading.name;
            for variant in variants {
                jobs.extend(point(scope, format!("{name}/{variant}/{d}"), file, Some(variant), &set)?);
            }
            for member in 1..=3 {
                let mut alone = set.clone();
                alone.push("flows.download.transport=tcp".to_string());
                alone.push(format!("flows.download.via=m{member}"));
                jobs.extend(point(scope, format!("{name}/alone {member}/{d}"), file, None, &alone)?);
            }
        }
    }
    Ok(jobs)
}

/// Rates of which one is off by 1 kbit/s, so that the divisor of the literal weights is 1 kbit/s.
fn hrtt_alone(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for d in DISPARITY_PERCENT.into_iter().filter(|d| is_looked_at(scope, &SHORT, *d)) {
        let set = overrides(scope, &SHORT, d, 1);
        let key = format!("{}/{HRTT_ALONE}/{d}", SHORT.name);
        jobs.extend(point(scope, key, "prism-bandwidth-disparity", Some("adas-gcd"), &set)?);
    }
    Ok(jobs)
}

/// Goodput over the sum of vanilla TCP on each link, for each seed.
fn of_ideal(outcomes: &Outcomes<'_>, reading: &Reading, variant: &str, d: u64) -> Vec<f64> {
    let name = reading.name;
    let alone: Vec<Vec<f64>> =
        (1..=3).map(|m| outcomes.values(&format!("{name}/alone {m}/{d}"), steady)).collect();
    let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
    let ideal: Vec<f64> = (0..seeds).map(|s| alone.iter().map(|own| own[s]).sum()).collect();
    ratios(&outcomes.values(&format!("{name}/{variant}/{d}"), steady), &ideal)
}

fn points(outcomes: &Outcomes<'_>, reading: &Reading, variant: &str) -> Vec<u64> {
    let ran = |d: &u64| !outcomes.results(&format!("{}/{variant}/{d}", reading.name)).is_empty();
    DISPARITY_PERCENT.into_iter().filter(ran).collect()
}

/// The largest value of several lists, seed by seed.
fn largest(lists: &[Vec<f64>]) -> Vec<f64> {
    let seeds = lists.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|seed| lists.iter().map(|list| list[seed]).fold(f64::MIN, f64::max)).collect()
}

/// A table for each reading that ran; the one that is judged by comes first.
fn tables(outcomes: &Outcomes<'_>, variants: &[&str]) -> Vec<Series> {
    let table = |reading: &Reading| {
        let points = points(outcomes, reading, variants[0]);
        let quantity = match reading.name == SHORT.name {
            true => "goodput over the sum of vanilla TCP on each link".to_string(),
            false => format!("goodput over the sum of vanilla TCP on each link; {}", reading.name),
        };
        let mut series = Series::new("d in %", &quantity, variants);
        for &d in &points {
            let cell = |variant: &&str| Summary::of(&of_ideal(outcomes, reading, variant, d));
            series.row(d, variants.iter().map(cell).collect());
        }
        (!points.is_empty()).then_some(series)
    };
    READINGS.iter().filter_map(table).collect()
}

fn judge_schedulers(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let points = points(outcomes, &SHORT, "adas");
    let share = |variant: &str, d: u64| of_ideal(outcomes, &SHORT, variant, d);
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
    let far = points.last().copied().unwrap_or_default();
    let alone = ratios(&share(HRTT_ALONE, far), &share("random", far));
    let hrtt_alone = format!(
        "refuted: that the network read into the papers hides it (the tables of the other readings). Nearest comes \
         a divisor of 1 kbit/s, with which no weight is ever reached and hRTT alone decides: slope {:.3}, at \
         {far} % {} times Random. But then ADAS were hRTT-only, which section VIII-C.2 finds worst",
        slope(HRTT_ALONE),
        words(&alone)
    );
    let findings = vec![
        Finding::values("PR-019", largest(&every)).because("the largest share of any scheduler at any d"),
        Finding::shape(
            "PR-020",
            adas > 0.0,
            figures(&[
                ("relative slope over d", adas),
                ("with weights in units of the gcd", slope("adas-gcd")),
            ]),
        )
        .because(hrtt_alone.clone()),
        Finding::shape(
            "PR-021",
            wrr < 0.0 && rr < 0.0 && random < 0.0,
            figures(&[("relative slopes over d: WRR", wrr), ("RR", rr), ("Random", random)]),
        ),
        Finding::values("PR-022", largest(&gains))
            .because(format!("the largest gain over any other scheduler at any d; {hrtt_alone}")),
    ];
    let mut variants = WITH_LITERAL_WEIGHTS.to_vec();
    variants.push(HRTT_ALONE);
    (findings, tables(outcomes, &variants))
}

fn judge_control(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let points = points(outcomes, &SHORT, "full");
    let share = |variant: &str, d: u64| of_ideal(outcomes, &SHORT, variant, d);
    let full: Vec<f64> = points.iter().map(|&d| mean(&share("full", d))).collect();
    let least = full.iter().copied().fold(f64::MAX, f64::min);
    let none: Vec<Vec<f64>> = points.iter().map(|&d| share("none", d)).collect();
    let findings = vec![
        Finding::shape("PR-036", least >= 0.9, figures(&[("least share of ideal at any d", least)])),
        Finding::values("PR-037", largest(&none)).because("the largest share at any d"),
        Finding::values("PR-038", partial_gain(outcomes, &SHORT)).because(partial_gains(outcomes)),
    ];
    (findings, tables(outcomes, &CONTROL))
}

/// What re-sequencing alone gains over nothing, in percent, on average over d, for each seed.
fn partial_gain(outcomes: &Outcomes<'_>, reading: &Reading) -> Vec<f64> {
    let points = points(outcomes, reading, "full");
    let share = |variant: &str, d: u64| of_ideal(outcomes, reading, variant, d);
    let gains: Vec<Vec<f64>> =
        points.iter().map(|&d| ratios(&share("partial", d), &share("none", d))).collect();
    let seeds = gains.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds)
        .map(|seed| gains.iter().map(|gain| (gain[seed] - 1.0) * 100.0).sum::<f64>() / gains.len() as f64)
        .collect()
}

/// The same in every reading, in words.
fn partial_gains(outcomes: &Outcomes<'_>) -> String {
    let of = |reading: &Reading| (reading.name, partial_gain(outcomes, reading));
    let ran = READINGS.iter().map(of).filter(|(_, gains)| !gains.is_empty());
    let text = |(name, gains): (&str, Vec<f64>)| format!("{} ({name})", words(&gains));
    let list = ran.map(text).collect::<Vec<_>>().join(", ");
    format!("by reading of the links: {list}: the queues decide what timeouts alone have to repair")
}
