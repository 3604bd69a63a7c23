//! Groups of flows that come and go.

use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const ARRIVALS: Experiment = Experiment {
    id: "22c",
    title: "5 TCP and 5 RCP flows, 5 TCP from 50 to 150 s, 5 RCP from 100 to 200 s",
    claims: &["RC-003", "RC-004"],
    lab: false,
    jobs: |scope| -> Result<Vec<Job>, ClaimsError> { point(scope, "arrivals", "rcp-arrivals", None, &[]) },
    judge,
};

const GROUPS: [&str; 4] = ["tcp", "rcp", "late-tcp", "late-rcp"];
const END_S: usize = 200;
/// Two groups are alike when their means differ by less than this share.
const ALIKE: f64 = 0.1;

/// MB received by each flow of a group between two times.
fn received_mb(result: &RunResult, group: &str, from_s: usize, to_s: usize) -> Option<Vec<f64>> {
    let series = result.series.as_ref()?;
    let numbered = |name: &str| name.rsplit_once('-').is_some_and(|(stem, _)| stem == group);
    let flows = series.flows.iter().filter(|(name, _)| numbered(name));
    let sum = |rates: &[f64]| rates.iter().sum::<f64>() * series.interval_s / 8e6;
    flows.map(|(_, flow)| flow.goodput_bps.get(from_s..to_s).map(sum)).collect()
}

fn summary(outcomes: &Outcomes<'_>, group: &str, from_s: usize, to_s: usize, spread: bool) -> f64 {
    outcomes.mean("arrivals", |result| {
        let summary = Summary::of(&received_mb(result, group, from_s, to_s)?)?;
        Some(if spread { summary.sd } else { summary.mean })
    })
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let early = ["tcp", "rcp"].map(|group| summary(outcomes, group, 0, END_S, false));
    let early_sd = ["tcp", "rcp"].map(|group| summary(outcomes, group, 0, END_S, true));
    // Each late group is shown over the 100 s that it lives, in different company: the common part is 50 s.
    let late = [("late-tcp", 50), ("late-rcp", 100)];
    let alive = late.map(|(group, from)| summary(outcomes, group, from, from + 100, false));
    let spread = late.map(|(group, from)| summary(outcomes, group, from, from + 100, true));
    let together = late.map(|(group, _)| summary(outcomes, group, 110, 150, false));
    let apart = |pair: [f64; 2]| (pair[0] / pair[1] - 1.0).abs();
    // The distance of the means is less than the spread within the groups.
    let intertwined = (early[0] - early[1]).abs() < early_sd[0] + early_sd[1];
    let text = |pair: [f64; 2]| format!("{} and {}", digits(pair[0]), digits(pair[1]));
    let findings = vec![
        Finding::shape(
            "RC-003",
            intertwined,
            format!("TCP and RCP: {} MB each, standard deviation {} MB", text(early), text(early_sd)),
        ),
        Finding::shape(
            "RC-004",
            apart(alive) < ALIKE,
            format!(
                "late TCP and RCP groups: {} MB each in their 100 s, standard deviation {} MB; {} MB from 110 to 150 s",
                text(alive),
                text(spread),
                text(together)
            ),
        ),
    ];
    let mut series = Series::new("time in s", "MB received by a flow of the group, mean", &GROUPS);
    for until in (0..=END_S).step_by(10) {
        let cell = |group: &&str| {
            outcomes.summary("arrivals", |result| {
                Summary::of(&received_mb(result, group, 0, until)?).map(|summary| summary.mean)
            })
        };
        series.row(until, GROUPS.iter().map(cell).collect());
    }
    (findings, vec![series])
}
