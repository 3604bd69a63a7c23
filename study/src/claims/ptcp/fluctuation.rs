//! Rates that change again and again.

use super::pipes::{self, COUNTS, ORDER};
use super::{
    LARGE_KB, duration, figures, ideal, jobs_at, least, links, mbps, mean, most, seconds, sockets, variant,
};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::words;
use crate::claims::plan::{Job, Outcomes, Scope, point, point_by_seed, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;
use prismux_endpoint::random::Seed;

pub(super) const PIPES: Experiment = Experiment {
    id: "P4",
    title: "2 to 5 pipes whose rates become a random tenth of 0.2 to 1 every 3, 10, 6, 20 and 5 s",
    claims: &[
        "PT-009", "PT-010", "PT-011", "PT-012", "PT-013", "PT-014", "PT-015", "ST-004", "ST-013", "ST-014",
    ],
    lab: false,
    jobs: pipe_jobs,
    judge: judge_pipes,
};

pub(super) const PERIODS: Experiment = Experiment {
    id: "P5",
    title: "2 Mbit/s fixed beside 5 Mbit/s with a random tenth every period; estimates every 10 s",
    claims: &["ST-015"],
    lab: false,
    jobs: period_jobs,
    judge: judge_periods,
};

/// Full rates in kbit/s and seconds between changes, by pipe.
const FULL_KBPS: [u64; 5] = [2000, 5000, 500, 1000, 10_000];
const PERIOD_S: [u64; 5] = [3, 10, 6, 20, 5];
const PERIODS_S: [u64; 5] = [10, 5, 3, 2, 1];
/// Smaller buffers in kB, of both ways: the fewer, the less of a stale estimate they bridge.
const SMALLER_KB: [u64; 2] = [256, super::DEFAULT_KB];

/// Changes of the rates of `pipes` over `seconds`, as an override.
fn changes(seed: u64, pipes: &[usize], period: impl Fn(usize) -> u64, seconds: u64) -> String {
    let mut list: Vec<(u64, String)> = Vec::new();
    for &pipe in pipes {
        let mut random = Seed(seed).stream(&format!("rates/pipe{pipe}"));
        for at in (0..seconds).step_by(period(pipe) as usize) {
            let kbps = FULL_KBPS[pipe - 1] * (2 + random.below(9)) / 10;
            list.push((at, format!("{{at = \"{at} s\", link = \"pipe{pipe}\", rate = \"{kbps} kbit/s\"}}")));
        }
    }
    list.sort_by_key(|(at, _)| *at);
    let list: Vec<String> = list.into_iter().map(|(_, text)| text).collect();
    format!("events=[{}]", list.join(", "))
}

/// What striping applications know: the true rates, again every 10 s.
fn estimates(way: &str) -> Vec<String> {
    let mut set = sockets(way, LARGE_KB);
    if variant(way) != "ptcp" {
        set.push("flows.upload.striping.estimate_every=10 s".to_string());
    }
    set
}

fn pipe_jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let seconds = seconds(scope);
    let base = |seed: u64| vec![changes(seed, &ORDER, |pipe| PERIOD_S[pipe - 1], seconds), duration(scope)];
    let mut jobs = jobs_at(scope, "5", &ORDER, &[], &base)?;
    for count in COUNTS {
        for way in super::WAYS {
            let set = |seed: u64| [base(seed), vec![links(&ORDER[..count])], estimates(way)].concat();
            jobs.extend(point_by_seed(
                scope,
                format!("{way}/{count}"),
                super::FILE,
                Some(variant(way)),
                set,
            )?);
        }
    }
    // The same without changes.
    jobs.extend(jobs_at(scope, "calm", &ORDER, &[], &|_| vec![duration(scope)])?);
    for count in COUNTS {
        let set = [sockets("smart", LARGE_KB), vec![duration(scope), links(&ORDER[..count])]].concat();
        jobs.extend(point(scope, format!("smart/calm {count}"), super::FILE, Some("smart"), &set)?);
    }
    Ok(jobs)
}

/// The smart application's share of the ideal with constant rates.
fn calm_share(outcomes: &Outcomes<'_>, count: usize) -> Vec<f64> {
    ratios(&mbps(outcomes, "smart", &format!("calm {count}")), &ideal(outcomes, "calm", &ORDER[..count]))
}

fn judge_pipes(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let of = |way: &str, count: usize| pipes::share(outcomes, way, count);
    let ptcp = least(&COUNTS, |count| of("ptcp", count));
    let lead = least(&COUNTS, |count| {
        let rivals = of("smart", count).into_iter().zip(of("unaware", count));
        of("ptcp", count).iter().zip(rivals).map(|(own, (smart, unaware))| own - smart.max(unaware)).collect()
    });
    let unaware = COUNTS.map(|n| of("unaware", n));
    let unaware_text: Vec<String> = unaware.iter().map(|share| words(share)).collect();
    let (smart_two, calm_smart) = (of("smart", 2), calm_share(outcomes, 2));
    // What changes leave of the share with constant rates, where they leave most.
    let left = most(&COUNTS, |count| ratios(&of("smart", count), &calm_share(outcomes, count)));
    let calm = mean(&ideal(outcomes, "calm", &ORDER[..2]));
    let kept: Vec<f64> = ideal(outcomes, "5", &ORDER[..2]).iter().map(|mbps| mbps / calm).collect();
    let mut findings =
        pipes::sums(outcomes, [("PT-009", 4.2), ("PT-010", 4.5), ("PT-011", 5.1), ("PT-012", 11.1)]);
    findings.extend([
        Finding::values("PT-013", kept),
        Finding::shape(
            "PT-014",
            mean(&ptcp) >= 0.95,
            figures(&[("least share of ideal, 2 to 5 pipes", &ptcp)]),
        ),
        Finding::shape(
            "PT-015",
            mean(&lead) > 0.0,
            figures(&[("least lead over both, in shares of ideal", &lead)]),
        ),
        Finding::shape(
            "ST-004",
            mean(&smart_two) < mean(&calm_smart),
            figures(&[("smart, share of ideal, changing", &smart_two), ("constant", &calm_smart)]),
        ),
        Finding::shape(
            "ST-013",
            mean(&left) <= 0.9,
            figures(&[(
                "smart, share of ideal over that with constant rates, largest of 2 to 5 pipes",
                &left,
            )]),
        )
        .because("significantly: by a tenth or more of its share of the ideal, at every number of pipes"),
        Finding::shape(
            "ST-014",
            unaware.iter().all(|share| mean(share) < 0.95),
            format!("unaware, share of ideal with 2 to 5 pipes: {}", unaware_text.join(", ")),
        )
        .because(
            "the source says that pTCP closely follows the ideal, and that this is not the case for the unaware \
             application (section 4.3.3): below 0.95 with any number of pipes",
        ),
    ]);
    (findings, vec![pipes::by_count(outcomes)])
}

fn period_jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for period in PERIODS_S {
        for way in ["ptcp", "smart"] {
            let set = |seed: u64| {
                let set =
                    vec![changes(seed, &[2], |_| period, seconds(scope)), duration(scope), links(&[1, 2])];
                [set, estimates(way)].concat()
            };
            let variant = Some(variant(way));
            jobs.extend(point_by_seed(scope, format!("{way}/{period}"), super::FILE, variant, set)?);
            for kb in SMALLER_KB.into_iter().filter(|_| JUDGED_S.contains(&period)) {
                let set = |seed: u64| [set(seed), sockets(way, kb)].concat();
                let key = format!("{way}/{period}, {kb} kB");
                jobs.extend(point_by_seed(scope, key, super::FILE, variant, set)?);
            }
        }
    }
    Ok(jobs)
}

/// The periods that the claim is judged by: that of the estimates, a slight mismatch, a great one.
const JUDGED_S: [u64; 3] = [10, 5, 1];

/// The smart application's goodput over pTCP's at the periods judged, with buffers of so many kB.
fn with_buffers(outcomes: &Outcomes<'_>, kb: u64) -> String {
    let of = |way: &str, period: u64| mbps(outcomes, way, &format!("{period}, {kb} kB"));
    let shares = JUDGED_S.map(|period| words(&ratios(&of("smart", period), &of("ptcp", period))));
    format!("{} with {kb} kB", shares.join(", "))
}

fn judge_periods(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let of = |way: &str, period: u64| mbps(outcomes, way, &period.to_string());
    let relative = |period: u64| ratios(&of("smart", period), &of("ptcp", period));
    let (matched, slight, fast) = (relative(10), relative(5), relative(1));
    let falls = mean(&slight) < 0.9 * mean(&matched) && mean(&fast) < 0.9 * mean(&matched);
    let findings = vec![
        Finding::shape(
            "ST-015",
            falls,
            figures(&[("smart over pTCP at 10 s", &matched), ("5 s", &slight), ("1 s", &fast)]),
        )
        .because(format!(
            "drastic: by a tenth or more, at 5 s as at 1 s. Buffers of {LARGE_KB} kB bridge much of the time in which \
             an estimate is stale; not refuted by smaller ones, of both ways: {}",
            SMALLER_KB.map(|kb| with_buffers(outcomes, kb)).join("; ")
        )),
    ];
    let mut series = Series::new("period, s", "goodput, Mbit/s", &["pTCP", "smart"]);
    for period in PERIODS_S {
        series.row(period, ["ptcp", "smart"].map(|way| Summary::of(&of(way, period))).to_vec());
    }
    (findings, vec![series])
}
