//! A target rate: the dear pipe carries what the cheap one leaves.

use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::measures::correlation;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const POLICY: Experiment = Experiment {
    id: "29d",
    title: "a stream wanted at 720 kbit/s, bursts of 800 kbit/s on the cheap path of 1 Mbit/s",
    claims: &["R2-006", "R2-007"],
    lab: true,
    jobs,
    judge,
};

/// Left out at the start, and the length of the figure, in seconds.
const WARM_UP: usize = 10;
const SHOWN: usize = 60;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    point(scope, "policy", "r2cp-policy", None, &[])
}

/// Bins of one second: total, first pipe, second pipe, in kbit/s. A pipe's link carries nothing else.
fn bins(result: &RunResult) -> Option<[Vec<f64>; 3]> {
    let series = result.series.as_ref()?;
    let kbps = |rates: &[f64]| rates.iter().skip(WARM_UP).map(|bps| bps / 1e3).collect::<Vec<_>>();
    Some([
        kbps(&series.flows.get("download")?.goodput_bps),
        kbps(&series.links.get("wlan1")?.throughput_bps),
        kbps(&series.links.get("wlan2")?.throughput_bps),
    ])
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let runs: Vec<[Vec<f64>; 3]> = outcomes.results("policy").iter().filter_map(|run| bins(run)).collect();
    let total = |run: &[Vec<f64>; 3]| Summary::of(&run[0]);
    let means: Vec<f64> = runs.iter().filter_map(total).map(|total| total.mean).collect();
    let spread = Summary::of(&runs.iter().filter_map(total).map(|total| total.sd).collect::<Vec<_>>());
    let mirrored =
        Summary::of(&runs.iter().filter_map(|run| correlation(&run[1], &run[2])).collect::<Vec<_>>());
    let mean = |summary: Option<Summary>| summary.map_or(f64::NAN, |summary| summary.mean);
    let (spread, mirrored) = (mean(spread), mean(mirrored));
    let findings = vec![
        Finding::values("R2-006", means)
            .because(format!("bins of 1 s; standard deviation within a run {} kbit/s", digits(spread))),
        Finding::shape(
            "R2-007",
            mirrored < -0.8,
            format!("correlation of the pipes' bins {}", digits(mirrored)),
        ),
    ];
    let mut series =
        Series::new("time in s", "kbit/s in bins of 1 s, first seed", &["total", "rcp-1", "rcp-2"]);
    if let Some([total, first, second]) = runs.first() {
        for second_index in 0..SHOWN.min(total.len()) {
            let cell = |column: &Vec<f64>| column.get(second_index).and_then(|value| Summary::of(&[*value]));
            series.row(WARM_UP + second_index, [total, first, second].map(cell).to_vec());
        }
    }
    (findings, vec![series])
}
