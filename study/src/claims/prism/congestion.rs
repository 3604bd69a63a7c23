//! S4: bursts of other traffic on the way from the proxy to every base station.

use super::fluctuation::download;
use super::{figures, mean};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;

pub(super) const S4: Experiment = Experiment {
    id: "S4",
    title: "bursts at 20 to 80 % of each link's rate, 1 s or 10 s on, 10 s off",
    claims: &["PR-031", "PR-032", "PR-033", "PR-034", "PR-035"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-path-congestion";
const VARIANTS: [&str; 3] = ["adas", "wrr", "nip"];
const LEVELS_PERCENT: [u64; 4] = [20, 40, 60, 80];
const BURSTS_S: [u64; 2] = [1, 10];
const RATES_KBPS: [u64; 3] = [600, 900, 1200];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for burst in BURSTS_S {
        for level in LEVELS_PERCENT.into_iter().filter(|level| !scope.quick || [20, 80].contains(level)) {
            let mut set = Vec::new();
            for (index, rate) in RATES_KBPS.into_iter().enumerate() {
                set.push(format!("flows.background{}.rate={} kbit/s", index + 1, rate * level / 100));
                set.push(format!("flows.background{}.on={burst} s", index + 1));
            }
            for variant in VARIANTS {
                jobs.extend(point(scope, format!("{variant}/{burst}/{level}"), FILE, Some(variant), &set)?);
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

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ran = |level: &u64| !outcomes.results(&format!("adas/1/{level}")).is_empty();
    let levels: Vec<u64> = LEVELS_PERCENT.into_iter().filter(ran).collect();
    let at = |variant: &str, burst: u64, level: u64| {
        outcomes.values(&format!("{variant}/{burst}/{level}"), download)
    };
    let ideal = |burst: u64, level: u64| -> Vec<f64> {
        let alone: Vec<Vec<f64>> =
            (1..=3).map(|member| at(&format!("alone{member}"), burst, level)).collect();
        let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
        (0..seeds).map(|seed| alone.iter().map(|own| own[seed]).sum()).collect()
    };
    let share =
        |variant: &str, burst: u64, level: u64| ratios(&at(variant, burst, level), &ideal(burst, level));
    let average = |burst: u64| -> Vec<f64> {
        let lists: Vec<Vec<f64>> = levels.iter().map(|&level| share("adas", burst, level)).collect();
        let seeds = lists.iter().map(Vec::len).min().unwrap_or(0);
        (0..seeds).map(|seed| lists.iter().map(|list| list[seed]).sum::<f64>() / lists.len() as f64).collect()
    };
    let (low, high) = (levels[0], levels[levels.len() - 1]);
    let (at_low, at_high) = (mean(&at("adas", 1, low)), mean(&at("adas", 1, high)));
    let [adas, wrr, nip] = VARIANTS.map(|variant| mean(&at(variant, 1, high)));
    let trio =
        figures(&[("Mbit/s at the highest level: ADAS", adas / 1e6), ("WRR", wrr / 1e6), ("NIP", nip / 1e6)]);
    let findings = vec![
        Finding::values("PR-031", average(1)),
        Finding::values("PR-032", average(10)),
        Finding::shape(
            "PR-033",
            at_high < at_low && at_high > 0.75 * at_low,
            figures(&[("Mbit/s at the lowest level", at_low / 1e6), ("at the highest", at_high / 1e6)]),
        ),
        Finding::shape("PR-034", adas >= wrr && adas >= nip, trio.clone())
            .because("with ACK control NIP-only and ADAS differ by less than the interval of either"),
        Finding::shape("PR-035", wrr > 0.85 * adas && nip > 0.85 * adas, trio),
    ];
    let mut series =
        Series::new("burst and level", "goodput over the sum of vanilla TCP on each link", &VARIANTS);
    for burst in BURSTS_S {
        for &level in &levels {
            let row = VARIANTS.iter().map(|variant| Summary::of(&share(variant, burst, level))).collect();
            series.row(format!("{burst} s, {level} %"), row);
        }
    }
    (findings, vec![series])
}
