//! S1: one to five members of random rates.

use super::mean;
use super::umts::{LONG_FULL, Reading, SHORT};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::order::words;
use crate::claims::plan::{Job, Outcomes, Scope, point_by_seed, ratios, steady};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;
use prismux_endpoint::random::Seed;

pub(super) const S1: Experiment = Experiment {
    id: "S1",
    title: "one to five members of 400 kbit/s to 2.4 Mbit/s",
    claims: &["PR-015", "PR-016", "PR-017", "PR-056", "PR-064"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-aggregation";
const MEMBERS: usize = 5;
/// What the WLAN carries from end to end (footnote 7), all members together.
const WLAN_KBPS: u64 = 6000;

/// What the members are like.
#[derive(Debug, Clone, Copy)]
struct Setting {
    /// Behind the name of a variant in keys.
    suffix: &'static str,
    /// Random rates, five that the WLAN carries: footnote 7 ends the community at five members for that reason.
    /// Otherwise whatever their sum.
    fits: bool,
    links: Reading,
}

const JUDGED: Setting = Setting { suffix: "", fits: true, links: SHORT };
const ANY_RATES: Setting = Setting { suffix: " any rates", fits: false, links: SHORT };
const LONG: Setting = Setting { suffix: " long", fits: true, links: LONG_FULL };

impl Setting {
    /// Rates of the five members for a seed, in kbit/s.
    fn kbps(&self, seed: u64) -> Vec<u64> {
        let mut stream = Seed(seed).stream("reproduce/aggregation/rates");
        loop {
            let rates: Vec<u64> = (0..MEMBERS).map(|_| 400 + stream.below(2001)).collect();
            if !self.fits || rates.iter().sum::<u64>() <= WLAN_KBPS {
                return rates;
            }
        }
    }
}

fn overrides(scope: &Scope, setting: &Setting, seed: u64, members: &[usize]) -> Vec<String> {
    let names: Vec<String> = members.iter().map(|member| format!("\"m{member}\"")).collect();
    let mut set = setting.links.overrides(MEMBERS);
    set.push(format!("nodes.proxy.members=[{}]", names.join(", ")));
    set.push(format!("links.radio.rate={WLAN_KBPS} kbit/s"));
    let kbps = setting.kbps(seed);
    set.extend((1..=MEMBERS).map(|m| format!("links.wwan{m}.rate={} kbit/s", kbps[m - 1])));
    if scope.quick {
        set.push("duration=100 s".to_string());
    }
    set
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for setting in &[JUDGED, ANY_RATES, LONG] {
        let suffix = setting.suffix;
        for n in 1..=MEMBERS {
            let members: Vec<usize> = (1..=n).collect();
            for variant in ["prism", "wrr"] {
                let set = |seed| overrides(scope, setting, seed, &members);
                let key = format!("{variant}{suffix}/{n}");
                jobs.extend(point_by_seed(scope, key, FILE, Some(variant), set)?);
            }
            // Each member alone: the best is "No Proxy", the sum of the first n is the ideal.
            let alone = |seed| {
                let mut set = overrides(scope, setting, seed, &members);
                set.push(format!("flows.download.via=m{n}"));
                set
            };
            jobs.extend(point_by_seed(scope, format!("alone{suffix}/{n}"), FILE, Some("no-proxy"), alone)?);
        }
    }
    Ok(jobs)
}

/// The sum of vanilla TCP over each of the first `n` members alone, for each seed.
fn ideal(outcomes: &Outcomes<'_>, setting: &Setting, n: usize) -> Vec<f64> {
    let alone = |m| outcomes.values(&format!("alone{}/{m}", setting.suffix), steady);
    let alone: Vec<Vec<f64>> = (1..=n).map(alone).collect();
    let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|s| alone.iter().map(|own| own[s]).sum()).collect()
}

/// PRISM over the ideal with one to five members, for each seed.
fn shares(outcomes: &Outcomes<'_>, setting: &Setting) -> Vec<Vec<f64>> {
    let share = |n| {
        let prism = outcomes.values(&format!("prism{}/{n}", setting.suffix), steady);
        ratios(&prism, &ideal(outcomes, setting, n))
    };
    (1..=MEMBERS).map(share).collect()
}

/// The best of the first `n` members alone ("No Proxy"), for each seed.
fn best(outcomes: &Outcomes<'_>, setting: &Setting, n: usize) -> Vec<f64> {
    let alone = |m| outcomes.values(&format!("alone{}/{m}", setting.suffix), steady);
    let alone: Vec<Vec<f64>> = (1..=n).map(alone).collect();
    let seeds = alone.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|s| alone.iter().map(|own| own[s]).fold(0.0, f64::max)).collect()
}

/// Weighted round robin without ACK control over the best single member, with two to five, for each seed.
fn striped(outcomes: &Outcomes<'_>, setting: &Setting) -> Vec<Vec<f64>> {
    let of = |n| outcomes.values(&format!("wrr{}/{n}", setting.suffix), steady);
    (2..=MEMBERS).map(|n| ratios(&of(n), &best(outcomes, setting, n))).collect()
}

fn list(shares: &[Vec<f64>]) -> String {
    shares.iter().map(|share| words(share)).collect::<Vec<_>>().join(", ")
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let ideal = |n| ideal(outcomes, &JUDGED, n);
    let best = |n| best(outcomes, &JUDGED, n);
    let prism = |n: usize| outcomes.values(&format!("prism/{n}"), steady);
    let wrr = |n: usize| outcomes.values(&format!("wrr/{n}"), steady);
    let (fitting, any) = (shares(outcomes, &JUDGED), shares(outcomes, &ANY_RATES));
    let growth: Vec<f64> = (1..=MEMBERS).map(|n| mean(&prism(n))).collect();
    let (striped, striped_long) = (striped(outcomes, &JUDGED), striped(outcomes, &LONG));
    let near_ideal = fitting.iter().all(|share| mean(share) >= 0.95);
    let share_text = format!("PRISM over ideal with 1 to 5 members: {}", list(&fitting));
    let air = format!(
        "over a WLAN that carries 6 Mbit/s (footnote 7), with rates whose sum it carries; with any rates, where it \
         is the bottleneck of five members: {}",
        list(&any)
    );
    let growth_text = growth.iter().map(|bps| format!("{:.2}", bps / 1e6)).collect::<Vec<_>>().join(", ");
    let findings = vec![
        Finding::shape("PR-015", near_ideal, share_text.clone()).because(air.clone()),
        Finding::shape(
            "PR-016",
            growth.windows(2).all(|pair| pair[1] > pair[0]),
            format!("Mbit/s with 1 to 5 members: {growth_text}"),
        ),
        Finding::shape(
            "PR-017",
            striped.iter().all(|share| mean(share) < 1.0),
            format!("WRR over the best single member, 2 to 5 members: {}", list(&striped)),
        )
        .because(format!(
            "at every size; with links of {}: {}",
            LONG.links.name,
            list(&striped_long)
        )),
        Finding::shape("PR-064", near_ideal, share_text).because(format!("the same run as PR-015; {air}")),
    ];
    let columns = ["prism", "wrr", "no proxy", "ideal", "prism / ideal"];
    let mut series = Series::new("members", "goodput in steady state, Mbit/s", &columns);
    for n in 1..=MEMBERS {
        let mega = |values: Vec<f64>| Summary::of(&values.iter().map(|bps| bps / 1e6).collect::<Vec<_>>());
        let share = Summary::of(&ratios(&prism(n), &ideal(n)));
        series.row(n, vec![mega(prism(n)), mega(wrr(n)), mega(best(n)), mega(ideal(n)), share]);
    }
    (findings, vec![series])
}
