//! S7: PRISM flows and TCP flows share a wired bottleneck.

use super::{figures, mean};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
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
    let points: Vec<String> =
        PRISM_FLOWS.iter().map(usize::to_string).filter(|key| !outcomes.results(key).is_empty()).collect();
    let means: Vec<f64> = points.iter().map(|key| outcomes.mean(key, |r| Some(mean(&goodputs(r))))).collect();
    let variations: Vec<f64> = points.iter().map(|key| outcomes.mean(key, |r| Some(variation(r)))).collect();
    let range = |values: &[f64]| {
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        (low, high)
    };
    let (low, high) = range(&means);
    let (calm, wild) = range(&variations);
    let middle = points[points.len() / 2].clone();
    let settled = outcomes.values(&middle, settling_s);
    let findings = vec![
        Finding::shape(
            "PR-043",
            high < 1.1 * low,
            figures(&[("per-flow mean in kbit/s: least", low / 1e3), ("largest", high / 1e3)]),
        ),
        Finding::shape(
            "PR-044",
            wild - calm < 0.1,
            figures(&[("CoV of per-flow means: least", calm), ("largest", wild)]),
        )
        .because("coefficient of variation over the flows of their mean goodputs"),
        Finding::values("PR-045", settled)
            .because(
                "first second from which on every second brings 90 % of the final mean; slow start over 64 ms with \
                 windows of 4 segments takes no longer",
            ),
    ];
    let mut series = Series::new("PRISM flows", "goodput per flow", &["mean kbit/s", "CoV"]);
    for key in &points {
        let kilo = outcomes.summary(key, |result| Some(mean(&goodputs(result)) / 1e3));
        series.row(key, vec![kilo, outcomes.summary(key, |result| Some(variation(result)))]);
    }
    (findings, vec![series])
}

/// Goodputs of the flows from 5 s to the end.
fn goodputs(result: &RunResult) -> Vec<f64> {
    let Some(series) = &result.series else { return Vec::new() };
    let skip = (5.0 / series.interval_s) as usize;
    series.flows.values().map(|flow| mean(flow.goodput_bps.get(skip..).unwrap_or_default())).collect()
}

/// Standard deviation over mean of the flows' goodputs.
fn variation(result: &RunResult) -> f64 {
    let values = goodputs(result);
    let middle = mean(&values);
    let variance = values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / values.len() as f64;
    variance.sqrt() / middle
}

/// Seconds until the sum of all flows stays within a tenth of its final mean.
fn settling_s(result: &RunResult) -> Option<f64> {
    let series = result.series.as_ref()?;
    let samples = series.flows.values().map(|flow| flow.goodput_bps.len()).min()?;
    let sums: Vec<f64> =
        (0..samples).map(|k| series.flows.values().map(|flow| flow.goodput_bps[k]).sum()).collect();
    let last = mean(&sums[samples / 2..]);
    // Five seconds in a row count as settled.
    let run = (5.0 / series.interval_s) as usize;
    let settled = sums.windows(run.max(1)).position(|window| window.iter().all(|sum| *sum >= 0.9 * last))?;
    Some(settled as f64 * series.interval_s)
}
