//! Twenty flows over one bottleneck, from none to all of them RCP.

use super::goodputs_kbps;
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const FAIRNESS: Experiment = Experiment {
    id: "22a",
    title: "20 flows, 0 to 20 of them RCP, over 10 Mbit/s",
    claims: &["RC-001", "RC-002"],
    lab: false,
    jobs,
    judge,
};

const RECEIVERS: [u64; 9] = [0, 2, 5, 8, 10, 12, 15, 18, 20];
const FLOWS: u64 = 20;
/// Within this share of the common mean the means are equal.
const EQUAL: f64 = 0.05;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for receivers in RECEIVERS {
        let (variant, counts) = match receivers {
            0 => ("all-tcp", [FLOWS / 2, FLOWS / 2]),
            FLOWS => ("all-rcp", [FLOWS / 2, FLOWS / 2]),
            _ => ("mixed", [FLOWS - receivers, receivers]),
        };
        let set = [format!("flows.tcp.count={}", counts[0]), format!("flows.rcp.count={}", counts[1])];
        jobs.extend(point(scope, format!("{receivers}"), "rcp-fairness", Some(variant), &set)?);
    }
    Ok(jobs)
}

fn all_kbps(result: &RunResult) -> Vec<f64> {
    [goodputs_kbps(result, "tcp"), goodputs_kbps(result, "rcp")].concat()
}

fn mean(values: &[f64]) -> Option<f64> {
    Summary::of(values).map(|summary| summary.mean)
}

/// Coefficient of variation over all flows of a run.
fn variation(result: &RunResult) -> Option<f64> {
    Summary::of(&all_kbps(result)).map(|summary| summary.sd / summary.mean)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let key = |receivers: u64| receivers.to_string();
    let all = |receivers: u64| outcomes.mean(&key(receivers), |result| mean(&all_kbps(result)));
    let cov = |receivers: u64| outcomes.mean(&key(receivers), variation);
    let of = |receivers: u64, transport: &'static str| {
        outcomes.mean(&key(receivers), |result| mean(&goodputs_kbps(result, transport)))
    };
    let list = |of: &dyn Fn(u64) -> f64| {
        let text = |receivers: &u64| format!("{} with {receivers}", digits(of(*receivers)));
        RECEIVERS.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let flat = RECEIVERS.iter().all(|&receivers| (all(receivers) / all(0) - 1.0).abs() < EQUAL);
    // Shares of each kind of flow in the common mean.
    let mixed = || RECEIVERS.iter().copied().filter(|&receivers| receivers != 0 && receivers != FLOWS);
    let off = |receivers: u64, transport| (of(receivers, transport) / all(receivers) - 1.0).abs();
    let worst = mixed().map(|receivers| off(receivers, "tcp").max(off(receivers, "rcp"))).fold(0.0, f64::max);
    let tolerance = 0.02;
    let steady = RECEIVERS.iter().all(|&receivers| cov(receivers) <= cov(0) + tolerance);
    let means = format!("kbit/s for each flow: {}", list(&all));
    let remark = format!(
        "means of the RCP and of the TCP flows lie within {} % of the common mean in every mixture",
        digits(worst * 100.0)
    );
    let findings = vec![
        Finding::shape("RC-001", flat && worst < EQUAL, means).because(remark),
        Finding::shape("RC-002", steady, list(&cov)).because(format!(
            "coefficient of variation over 270 s; not above that of TCP alone by more than {tolerance}"
        )),
    ];
    let columns = ["all flows", "tcp", "rcp", "variation"];
    let quantity = "mean goodput of a flow in kbit/s; coefficient of variation over flows";
    let mut series = Series::new("flows over RCP", quantity, &columns);
    for receivers in RECEIVERS {
        let cell = |of: &dyn Fn(&RunResult) -> Option<f64>| outcomes.summary(&key(receivers), of);
        let kind = |transport| cell(&|result| mean(&goodputs_kbps(result, transport)));
        let row = vec![cell(&|result| mean(&all_kbps(result))), kind("tcp"), kind("rcp"), cell(&variation)];
        series.row(receivers, row);
    }
    (findings, vec![series])
}
