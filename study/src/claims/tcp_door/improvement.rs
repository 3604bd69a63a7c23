//! Figure 3: the improvement over plain TCP, for every setting, alone and congested.

use super::readings::{self, JUDGED_READING};
use super::{ALONE, CONGESTED, FLOW, length};
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use crate::number::digits;
use crate::statistics::Summary;
use prismux_tcp_door::{Configuration, SPANS, Setting};

pub(super) const F3: Experiment = Experiment {
    id: "DOOR3",
    title: "settings of TCP-DOOR against TCP with SACK, alone and congested",
    claims: &[
        "TD-001", "TD-002", "TD-003", "TD-004", "TD-005", "TD-006", "TD-007", "TD-008", "TD-009", "TD-010",
        "TD-011", "TD-012", "TD-013", "TD-018",
    ],
    lab: false,
    jobs,
    judge,
};

pub(super) const DESIGN: Experiment = Experiment {
    id: "DOOR4",
    title: "the design of the study",
    claims: &["TD-017"],
    lab: false,
    jobs: |_| Ok(Vec::new()),
    judge: |_| (vec![Finding::values("TD-017", vec![Setting::all().count() as f64])], Vec::new()),
};

/// Configurations that the paper gives results of.
const JUDGED: [Configuration; 3] =
    [Configuration::All, Configuration::SenderDetection, Configuration::ReceiverDetection];

/// The range of the means that the paper gives for all settings of [`JUDGED`], in percent.
const REPORTED: std::ops::RangeInclusive<f64> = 45.0..=57.0;

/// Why the least mean of a setting stays below the range.
const LEAST_OF_ALL: &str = "; refuted: that ten networks happen to be unfavourable. Over a hundred \
     all-t1x1-t2x4 gains 39.9 ± 3.6 %, and the interval still ends below 45 %";

/// Why improvements beside ten flows are a matter of chance.
const CONGESTION: &str = "each datagram floods the network, and plain TCP is left with less than 1 kbit/s in \
     five of ten networks; the paper does not say how long datagrams are. Refuted: that TCP-DOOR does \
     harm under load. The same 2 kB/s in packets of 1460 bytes instead of 512: all, sd and rd are \
     ahead in 10 of 10 networks";

/// All 56, or when quick those with the least and the greatest T1 and T2.
fn settings(scope: &Scope) -> Vec<Setting> {
    let outermost = [SPANS[0], SPANS[SPANS.len() - 1]];
    let is_run = |span: Option<u32>| !scope.quick || span.is_none_or(|span| outermost.contains(&span));
    Setting::all().filter(|setting| is_run(setting.t1) && is_run(setting.t2)).collect()
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for file in [ALONE, CONGESTED] {
        let plain = [length(scope), JUDGED_READING.of_network()].concat();
        jobs.extend(point(scope, format!("{file}/tcp"), file, Some("tcp"), &plain)?);
        for setting in settings(scope) {
            let set = [length(scope), JUDGED_READING.of_sender(setting)].concat();
            jobs.extend(point(scope, format!("{file}/{}", setting.name()), file, None, &set)?);
        }
    }
    jobs.extend(readings::jobs(scope)?);
    Ok(jobs)
}

/// Improvements of a setting over plain TCP in percent, for each network in which that delivered anything.
pub(super) fn improvements(door: Vec<f64>, plain: &[f64]) -> Vec<f64> {
    let pairs = door.into_iter().zip(plain).filter(|(_, plain)| **plain > 0.0);
    pairs.map(|(door, plain)| 100.0 * (door / plain - 1.0)).collect()
}

/// Improvements in percent of every setting that ran, one for each network in which plain TCP delivered anything.
struct Measured {
    settings: Vec<(Setting, Vec<f64>)>,
    /// Networks in which plain TCP delivered nothing, so that there is no ratio.
    without_ratio: usize,
}

impl Measured {
    fn of(outcomes: &Outcomes<'_>, file: &str) -> Self {
        let goodput = |name: &str| {
            outcomes.values(&format!("{file}/{name}"), |run| Some(run.flows.get(FLOW)?.goodput_bps))
        };
        let plain = goodput("tcp");
        let of = |setting: Setting| (setting, improvements(goodput(&setting.name()), &plain));
        let all = Setting::all().map(of);
        Self {
            settings: all.filter(|(_, values)| !values.is_empty()).collect(),
            without_ratio: plain.iter().filter(|plain| **plain <= 0.0).count(),
        }
    }

    fn within<'a>(
        &'a self,
        configurations: &'a [Configuration],
    ) -> impl Iterator<Item = &'a (Setting, Vec<f64>)> {
        self.settings.iter().filter(|(setting, _)| configurations.contains(&setting.configuration))
    }

    /// For each network, the mean over the settings of some configurations.
    fn by_network(&self, configurations: &[Configuration]) -> Vec<f64> {
        let lists: Vec<&Vec<f64>> = self.within(configurations).map(|(_, values)| values).collect();
        let networks = lists.first().map_or(0, |values| values.len());
        let mean =
            |network: usize| lists.iter().map(|values| values[network]).sum::<f64>() / lists.len() as f64;
        (0..networks).map(mean).collect()
    }

    /// For each network, the share of settings in percent whose improvement is as `is` says.
    fn share(&self, is: impl Fn(f64) -> bool) -> Vec<f64> {
        let lists: Vec<&Vec<f64>> = self.within(&JUDGED).map(|(_, values)| values).collect();
        let networks = lists.first().map_or(0, |values| values.len());
        let count = |network: usize| lists.iter().filter(|values| is(values[network])).count();
        (0..networks).map(|network| 100.0 * count(network) as f64 / lists.len() as f64).collect()
    }

    /// The setting of a configuration with the lowest or the highest mean.
    fn extreme(&self, configuration: Configuration, highest: bool) -> Option<(String, Summary)> {
        let sign = if highest { -1.0 } else { 1.0 };
        self.within(&[configuration])
            .filter_map(|(setting, values)| Some((setting.name(), Summary::of(values)?)))
            .min_by(|(_, a), (_, b)| (sign * a.mean).total_cmp(&(sign * b.mean)))
    }

    /// Goodput of a setting over plain TCP's, in percent.
    fn ratio(&self, setting: Setting) -> Option<Summary> {
        let (_, values) = self.settings.iter().find(|(known, _)| *known == setting)?;
        Summary::of(&values.iter().map(|improvement| 100.0 + improvement).collect::<Vec<f64>>())
    }

    /// Mean over the judged settings of a quantity of their improvements, without network `left_out`.
    fn over_settings(&self, left_out: Option<usize>, of: impl Fn(&Summary) -> f64) -> f64 {
        let quantity = |(_, values): &(Setting, Vec<f64>)| {
            let kept = values.iter().enumerate().filter(|(network, _)| Some(*network) != left_out);
            let kept: Vec<f64> = kept.map(|(_, value)| *value).collect();
            Summary::of(&kept).map_or(f64::NAN, |summary| of(&summary))
        };
        let all: Vec<f64> = self.within(&JUDGED).map(quantity).collect();
        all.iter().sum::<f64>() / all.len() as f64
    }
}

/// What leaving out each network does to a statistic over all of them, as values whose mean and spread are its own
/// (the jackknife's pseudo-values: J. Tukey, 1958).
fn pseudo_values(networks: usize, statistic: impl Fn(Option<usize>) -> f64) -> Vec<f64> {
    let (n, whole) = (networks as f64, statistic(None));
    (0..networks).map(|network| n * whole - (n - 1.0) * statistic(Some(network))).collect()
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let (alone, congested) = (Measured::of(outcomes, ALONE), Measured::of(outcomes, CONGESTED));
    let mut findings = vec![
        Finding::values("TD-001", alone.by_network(&JUDGED))
            .because(format!("mean over the settings of all, sd and rd; {}", readings::words(outcomes))),
        Finding::values("TD-009", alone.share(|improvement| improvement < 0.0)),
        Finding::values("TD-010", alone.share(|improvement| improvement > 0.0)),
    ];
    let ranges = [["TD-002", "TD-003"], ["TD-004", "TD-005"], ["TD-006", "TD-007"]];
    for (configuration, [lowest, highest]) in JUDGED.into_iter().zip(ranges) {
        findings.extend(range_end(&alone, configuration, (lowest, false)));
        findings.extend(range_end(&alone, configuration, (highest, true)));
    }
    findings.extend(spread(&alone, &congested));
    findings.push(mostly_positive(&congested));
    findings.push(either_detector(&alone));
    findings.push(Finding::not_testable(
        "TD-018",
        &format!("no values are known to compare with; measured, mean improvement alone: {}", others(&alone)),
    ));
    if alone.without_ratio + congested.without_ratio > 0 {
        let remark = format!(
            "plain TCP delivered nothing in {} of the networks alone and {} of the congested ones, which have no ratio",
            alone.without_ratio, congested.without_ratio
        );
        findings.iter_mut().for_each(|finding| finding.add_remark(&remark));
    }
    let by_setting = [table(&alone, &JUDGED), table(&congested, &JUDGED), single(&alone), single(&congested)];
    (findings, by_setting.into_iter().chain([readings::table(outcomes)]).collect())
}

/// One end of the range of means of a configuration, judged as lying in the range that the paper gives.
fn range_end(
    measured: &Measured,
    configuration: Configuration,
    (claim, highest): (&'static str, bool),
) -> Option<Finding> {
    let (name, summary) = measured.extreme(configuration, highest)?;
    let figures = format!("{} ± {} % with {name}", digits(summary.mean), digits(summary.half_width()));
    let [low, high] = summary.ci95.unwrap_or([summary.mean; 2]);
    // The interval of the mean must reach the range.
    let found = high >= *REPORTED.start() && low <= *REPORTED.end();
    let mut remark =
        "judged by whether the interval of the mean reaches the range of 45 to 57 % that the paper gives: \
         a gain that fails to appear is not one below 57 %"
            .to_string();
    if (configuration, highest) == (Configuration::All, false) {
        remark += LEAST_OF_ALL;
    }
    Some(Finding::shape(claim, found, figures).because(remark))
}

/// Spread over mean alone, and the spread congested against alone.
fn spread(alone: &Measured, congested: &Measured) -> [Finding; 2] {
    let networks = |measured: &Measured| measured.settings.first().map_or(0, |(_, values)| values.len());
    let mean = alone.over_settings(None, |summary| summary.mean);
    let relative = pseudo_values(networks(alone), |left_out| {
        alone.over_settings(left_out, |s| s.sd) / alone.over_settings(left_out, |s| s.mean)
    });
    let common = networks(alone).min(networks(congested));
    let twice = pseudo_values(common, |left_out| {
        congested.over_settings(left_out, |s| s.sd) / alone.over_settings(left_out, |s| s.sd)
    });
    let sd = digits(alone.over_settings(None, |summary| summary.sd));
    let relative = if mean > 0.0 {
        Finding::values("TD-008", relative)
    } else {
        Finding::shape("TD-008", false, format!("standard deviation {sd} %, mean {} %", digits(mean)))
            .because("where nothing is gained in the mean, the ratio says nothing")
    };
    let remark =
        format!("standard deviation alone {sd} %; mean over the settings, interval by the jackknife");
    [relative, Finding::values("TD-011", twice).because(remark)]
}

/// For how many settings more than 91 % of the congested networks gain.
fn mostly_positive(congested: &Measured) -> Finding {
    let share = |values: &Vec<f64>| values.iter().filter(|v| **v > 0.0).count() as f64 / values.len() as f64;
    let shares: Vec<f64> = congested.within(&JUDGED).map(|(_, values)| share(values)).collect();
    let enough = shares.iter().filter(|share| **share > 0.91).count();
    let mean = 100.0 * shares.iter().sum::<f64>() / shares.len() as f64;
    let figures =
        format!("more than 91 % in {enough} of {} settings; {} % in the mean", shares.len(), digits(mean));
    Finding::shape("TD-012", 2 * enough > shares.len(), figures).because(CONGESTION)
}

/// No two of the three detectors differ: the intervals of the paired differences hold 0.
fn either_detector(alone: &Measured) -> Finding {
    let means = JUDGED.map(|configuration| alone.by_network(&[configuration]));
    let (mut found, mut figures) = (true, Vec::new());
    for [one, other] in [[0, 1], [0, 2], [1, 2]] {
        let pairs = means[one].iter().zip(&means[other]);
        let differences: Vec<f64> = pairs.map(|(one, other)| one - other).collect();
        let Some(summary) = Summary::of(&differences) else { continue };
        let [low, high] = summary.ci95.unwrap_or([summary.mean; 2]);
        found &= low <= 0.0 && high >= 0.0;
        let names = format!("{} - {}", JUDGED[one].name(), JUDGED[other].name());
        figures.push(format!("{names}: {} ± {}", digits(summary.mean), digits(summary.half_width())));
    }
    Finding::shape("TD-013", found, format!("percent, paired by network, {}", figures.join(", ")))
}

/// Means of the configurations whose results are lost.
fn others(measured: &Measured) -> String {
    let configurations = [Configuration::TemporaryDisabling, Configuration::InstantRecovery];
    let each = measured.within(&configurations).filter_map(|(setting, values)| {
        let summary = Summary::of(values)?;
        Some(format!("{} {} ± {} %", setting.name(), digits(summary.mean), digits(summary.half_width())))
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A row for every T1 and T2, a column for every configuration that has both.
fn table(measured: &Measured, configurations: &[Configuration; 3]) -> Series {
    let names = configurations.map(Configuration::name);
    let mut table = Series::new("T1 x T2, timer units", "goodput over TCP's, %", &names);
    for t1 in SPANS {
        for t2 in SPANS {
            let of = |configuration: &Configuration| {
                let setting = Setting { configuration: *configuration, t1: Some(t1), t2: Some(t2) };
                measured.ratio(setting)
            };
            let cells: Vec<Option<Summary>> = configurations.iter().map(of).collect();
            if cells.iter().any(Option::is_some) {
                table.row(format!("{t1} x {t2}"), cells);
            }
        }
    }
    table
}

/// A row for every span of the one response that is on.
fn single(measured: &Measured) -> Series {
    let mut table = Series::new("T1 or T2, timer units", "goodput over TCP's, %", &["td", "ir"]);
    for span in SPANS {
        let (td, ir) = (Configuration::TemporaryDisabling, Configuration::InstantRecovery);
        let cells = vec![
            measured.ratio(Setting { configuration: td, t1: Some(span), t2: None }),
            measured.ratio(Setting { configuration: ir, t1: None, t2: Some(span) }),
        ];
        if cells.iter().any(Option::is_some) {
            table.row(span, cells);
        }
    }
    table
}
