//! S4: bursts of other traffic on the way from the proxy to every base station.
//!
//! Section VIII-C.3: not the radio links are congested here, but "paths from a proxy to every base station", lines of
//! 10 Mbit/s between routers (VIII-A), and the level is "the percentage of WWAN link's bandwidth by which background
//! traffic congests". So a burst leaves of such a line what its radio link carries, less that percentage. Queues of the
//! lines are the 50 packets that ns-2 gives unless told otherwise.

use super::fluctuation::download;
use super::umts::SHORT;
use super::{figures, mean};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::{is_above, is_not_below, words};
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;

pub(super) const S4: Experiment = Experiment {
    id: "S4",
    title: "bursts that leave the paths to the base stations 20 to 80 % short of their links, 1 s or 10 s on, 10 s off",
    claims: &["PR-031", "PR-032", "PR-033", "PR-034", "PR-035"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-path-congestion";
const VARIANTS: [&str; 3] = ["adas", "wrr", "nip"];
/// Other readings: weights in units of the divisor; senders that are told of no loss.
const READINGS: [(&str, &str); 2] =
    [("adas, gcd", "nodes.proxy.weight_unit=gcd"), ("adas, no reports", "nodes.proxy.loss_reports=false")];
const LEVELS_PERCENT: [u64; 4] = [20, 40, 60, 80];
const BURSTS_S: [u64; 2] = [1, 10];
const RATES_KBPS: [u64; 3] = [600, 900, 1200];
/// Between routers.
const LINE_KBPS: u64 = 10_000;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for burst in BURSTS_S {
        for level in LEVELS_PERCENT.into_iter().filter(|level| !scope.quick || [20, 80].contains(level)) {
            let mut set = SHORT.overrides(3);
            for (index, rate) in RATES_KBPS.into_iter().enumerate() {
                let left = rate * (100 - level) / 100;
                set.push(format!("flows.background{}.rate={} kbit/s", index + 1, LINE_KBPS - left));
                set.push(format!("flows.background{}.on={burst} s", index + 1));
            }
            for variant in VARIANTS {
                jobs.extend(point(scope, format!("{variant}/{burst}/{level}"), FILE, Some(variant), &set)?);
            }
            for (name, change) in READINGS {
                let set = [set.clone(), vec![change.to_string()]].concat();
                jobs.extend(point(scope, format!("{name}/{burst}/{level}"), FILE, Some("adas"), &set)?);
            }
            for member in 1..=3 {
                let mut alone = set.clone();
                alone.push("flows.download.transport=tcp".to_string());
                alone.push(format!("flows.download.via=m{member}"));
                jobs.extend(point(scope, format!("alone{member}/{burst}/{level}"), FILE, None, &alone)?);
            }
        }
    }
    Ok(jobs)
}

/// Goodput over the sum of vanilla TCP on each link beside the same bursts, one value for each seed.
fn share(outcomes: &Outcomes<'_>, variant: &str, burst: u64, level: u64) -> Vec<f64> {
    let at = |variant: &str| outcomes.values(&format!("{variant}/{burst}/{level}"), download);
    let alone: Vec<Vec<f64>> = (1..=3).map(|member| at(&format!("alone{member}"))).collect();
    let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
    let ideal: Vec<f64> = (0..seeds).map(|seed| alone.iter().map(|own| own[seed]).sum()).collect();
    ratios(&at(variant), &ideal)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ran = |level: &u64| !outcomes.results(&format!("adas/1/{level}")).is_empty();
    let levels: Vec<u64> = LEVELS_PERCENT.into_iter().filter(ran).collect();
    let share = |variant: &str, burst: u64, level: u64| share(outcomes, variant, burst, level);
    let average = |burst: u64| -> Vec<f64> {
        let lists: Vec<Vec<f64>> = levels.iter().map(|&level| share("adas", burst, level)).collect();
        let seeds = lists.iter().map(Vec::len).min().unwrap_or(0);
        (0..seeds).map(|seed| lists.iter().map(|list| list[seed]).sum::<f64>() / lists.len() as f64).collect()
    };
    let (low, high) = (levels[0], levels[levels.len() - 1]);
    // The level of congestion rises with burst time and peak rate (VIII-C.3): the highest is the longest burst's.
    let longest = BURSTS_S[BURSTS_S.len() - 1];
    let [adas, wrr, nip] = VARIANTS.map(|variant| share(variant, longest, high));
    let trio = format!(
        "share of ideal in bursts of {longest} s at {high} %: ADAS {}, WRR {}, NIP {}",
        words(&adas),
        words(&wrr),
        words(&nip)
    );
    let [(short_low, short_high), (long_low, long_high)] =
        BURSTS_S.map(|burst| (share("adas", burst, low), share("adas", burst, high)));
    let slight = |low: &[f64], high: &[f64]| is_above(low, high) && mean(high) > 0.8 * mean(low);
    let falls = format!(
        "share of ideal from {low} to {high} %: bursts of 1 s {} to {}, of 10 s {} to {}",
        words(&short_low),
        words(&short_high),
        words(&long_low),
        words(&long_high)
    );
    let everywhere = |variant: &str| -> f64 {
        let points = BURSTS_S.iter().flat_map(|&burst| levels.iter().map(move |&level| (burst, level)));
        mean(&points.map(|(burst, level)| mean(&share(variant, burst, level))).collect::<Vec<_>>())
    };
    let all = VARIANTS.map(everywhere);
    let close = all[1..].iter().all(|other| *other > 0.85 * all[0]);
    let findings = vec![
        Finding::values("PR-031", average(1)),
        Finding::values("PR-032", average(10)),
        Finding::shape("PR-033", slight(&short_low, &short_high) && slight(&long_low, &long_high), falls)
            .because(format!(
                "slight: by less than a fifth, with either length of bursts; with bursts of 1 s it is. One window \
                 serves all links, and what a congested one loses shrinks it for the idle ones; refuted: that the \
                 unit of the weights hides it (at {high} % in bursts of {longest} s with that of the divisor {}), that \
                 reports do it (without them {})",
                words(&share(READINGS[0].0, longest, high)),
                words(&share(READINGS[1].0, longest, high))
            )),
        Finding::shape("PR-034", is_not_below(&adas, &wrr) && is_not_below(&adas, &nip), trio)
            .because("at the highest level, paired over seeds"),
        Finding::shape(
            "PR-035",
            close,
            figures(&[
                ("share of ideal over all levels and bursts: ADAS", all[0]),
                ("WRR", all[1]),
                ("NIP", all[2]),
            ]),
        )
        .because("close: within 15 %"),
    ];
    (findings, vec![table(outcomes, &levels)])
}

fn table(outcomes: &Outcomes<'_>, levels: &[u64]) -> Series {
    let mut columns = VARIANTS.to_vec();
    columns.extend(READINGS.map(|(name, _)| name));
    let mut series =
        Series::new("burst and level", "goodput over the sum of vanilla TCP on each link", &columns);
    for burst in BURSTS_S {
        for &level in levels {
            let cell = |variant: &&str| Summary::of(&share(outcomes, variant, burst, level));
            series.row(format!("{burst} s, {level} %"), columns.iter().map(cell).collect());
        }
    }
    series
}
