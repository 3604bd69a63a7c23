//! S7: PRISM flows and TCP flows share a wired bottleneck.

use super::{figures, mean};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const S7: Experiment = Experiment {
    id: "S7",
    title: "20 flows over 10 Mbit/s, 0 to 20 of them PRISM flows",
    claims: &["PR-043", "PR-044", "PR-045"],
    lab: false,
    jobs,
    judge,
};

const FILE: &str = "prism-fairness";
const FLOWS: usize = 20;
const PRISM_FLOWS: [usize; 6] = [0, 4, 8, 12, 16, 20];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for prism in PRISM_FLOWS.into_iter().filter(|n| !scope.quick || [0, 8, 20].contains(n)) {
        let mut set = Vec::new();
        for flow in 1..=FLOWS {
            let (rpc, transport) = if flow <= prism { ("full", "tcp-prism") } else { ("off", "tcp") };
            // A PRISM flow stripes over two unlike links; a plain one has the first of them alone.
            let second = if flow <= prism { format!(", \"m{flow}b\"") } else { String::new() };
            set.push(format!("nodes.proxy{flow}.members=[\"m{flow}\"{second}]"));
            set.push(format!("nodes.proxy{flow}.rpc={rpc}"));
            set.push(format!("flows.flow{flow}.transport={transport}"));
        }
        jobs.extend(point(scope, prism.to_string(), FILE, None, &set)?);
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let points: Vec<usize> =
        PRISM_FLOWS.into_iter().filter(|n| !outcomes.results(&n.to_string()).is_empty()).collect();
    let of = |n: usize, of: &dyn Fn(&RunResult) -> f64| outcomes.values(&n.to_string(), |r| Some(of(r)));
    let group = |n: usize, kind: Kind| of(n, &|result| mean(&goodputs(result, n, kind)));
    let all: Vec<f64> = points.iter().map(|&n| mean(&group(n, Kind::All))).collect();
    let variations: Vec<f64> =
        points.iter().map(|&n| mean(&of(n, &|r| variation(&goodputs(r, n, Kind::All))))).collect();
    let range = |values: &[f64]| {
        values.iter().fold((f64::MAX, f64::MIN), |(l, h), value| (l.min(*value), h.max(*value)))
    };
    // Where there are flows of both kinds.
    let mixed = points.iter().copied().filter(|n| (1..FLOWS).contains(n));
    let shares: Vec<f64> =
        mixed.map(|n| mean(&ratios(&group(n, Kind::Prism), &group(n, Kind::Plain)))).collect();
    let ((low, high), (calm, wild), (least, most)) = (range(&all), range(&variations), range(&shares));
    let middle = points[points.len() / 2];
    let settled = outcomes.values(&middle.to_string(), settling_s);
    let findings = vec![
        Finding::shape(
            "PR-043",
            high < 1.1 * low && least > 0.8 && most < 1.25,
            figures(&[
                ("per-flow mean in kbit/s: least", low / 1e3),
                ("largest", high / 1e3),
                ("PRISM flows over TCP flows: least", least),
                ("largest", most),
            ]),
        )
        .because(
            "flat within a tenth, and neither kind below four fifths of the other: the mean of all flows is flat as \
             long as they fill the link",
        ),
        Finding::shape(
            "PR-044",
            wild - calm < 0.1,
            figures(&[("CoV of per-flow means: least", calm), ("largest", wild)]),
        )
        .because("coefficient of variation over the flows of their mean goodputs"),
        Finding::values("PR-045", settled).because(
            "the first second from which on the flows' mean and their CoV, second by second, stay where they stay in \
             the second half of the run: within three standard deviations",
        ),
    ];
    let columns = ["mean kbit/s", "CoV", "PRISM kbit/s", "TCP kbit/s"];
    let mut series = Series::new("PRISM flows", "goodput per flow", &columns);
    for &n in &points {
        let kilo = |kind| {
            let values: Vec<f64> =
                group(n, kind).iter().map(|bps| bps / 1e3).filter(|kbps| !kbps.is_nan()).collect();
            Summary::of(&values)
        };
        let cov = Summary::of(&of(n, &|result| variation(&goodputs(result, n, Kind::All))));
        series.row(n, vec![kilo(Kind::All), cov, kilo(Kind::Prism), kilo(Kind::Plain)]);
    }
    (findings, vec![series])
}

/// Which flows are looked at.
#[derive(Debug, Clone, Copy)]
enum Kind {
    All,
    Prism,
    Plain,
}

/// Mean goodputs from 5 s to the end of the flows of a kind, of which the first `prism` are PRISM flows.
fn goodputs(result: &RunResult, prism: usize, kind: Kind) -> Vec<f64> {
    let Some(series) = &result.series else { return Vec::new() };
    let skip = (5.0 / series.interval_s) as usize;
    let numbers = match kind {
        Kind::All => 1..=FLOWS,
        Kind::Prism => 1..=prism,
        Kind::Plain => prism + 1..=FLOWS,
    };
    let flows = numbers.filter_map(|flow| series.flows.get(&format!("flow{flow}")));
    flows.map(|flow| mean(flow.goodput_bps.get(skip..).unwrap_or_default())).collect()
}

/// Standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let middle = mean(values);
    let variance = values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / values.len() as f64;
    variance.sqrt() / middle
}

/// Seconds until mean and CoV of the flows, second by second, have come to where they are in the second half.
fn settling_s(result: &RunResult) -> Option<f64> {
    let series = result.series.as_ref()?;
    let per_second = (1.0 / series.interval_s).round() as usize;
    let seconds = series.flows.values().map(|flow| flow.goodput_bps.len()).min()? / per_second.max(1);
    let at = |second: usize| -> Vec<f64> {
        let part = second * per_second..(second + 1) * per_second;
        series.flows.values().filter_map(|flow| flow.goodput_bps.get(part.clone()).map(mean)).collect()
    };
    let means: Vec<f64> = (0..seconds).map(|second| mean(&at(second))).collect();
    let variations: Vec<f64> = (0..seconds).map(|second| variation(&at(second))).collect();
    let settled = [means, variations].map(|column| settles(&column));
    settled.into_iter().collect::<Option<Vec<usize>>>()?.into_iter().max().map(|second| second as f64)
}

/// The first place of three in a row within three standard deviations of the second half's mean.
fn settles(column: &[f64]) -> Option<usize> {
    let late = &column[column.len() / 2..];
    let middle = mean(late);
    let band =
        3.0 * (late.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / late.len() as f64).sqrt();
    column.windows(3).position(|three| three.iter().all(|value| (value - middle).abs() <= band))
}
