//! Bursts of UDP on the way back.

use super::goodputs_kbps;
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::measures::dropped_on_the_way_back;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

pub(super) const REVERSE_LOAD: Experiment = Experiment {
    id: "22d",
    title: "20 flows, up to 100 bursty UDP flows on the way back",
    claims: &["RC-005", "RC-006"],
    lab: false,
    jobs,
    judge,
};

const LOADS: [u64; 6] = [0, 20, 40, 60, 80, 100];
const TRANSPORTS: [&str; 2] = ["tcp", "rcp"];
/// RCP follows TCP when it lies within this share of it.
const NEAR: f64 = 0.15;
/// Payload of the load's packets of 1000 bytes.
const PAYLOAD_BYTES: f64 = 972.0;

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for load in LOADS {
        // No flow at all cannot be said: one that begins at the very end.
        let set = match load {
            0 => vec!["flows.load.count=1".to_string(), "flows.load.start=299 s".to_string()],
            _ => vec![format!("flows.load.count={load}")],
        };
        for transport in TRANSPORTS {
            let key = format!("{transport}/{load}");
            jobs.extend(point(scope, key, "rcp-reverse-load", Some(transport), &set)?);
        }
    }
    jobs.extend(point(scope, "alone", "rcp-reverse-load", Some("load-alone"), &[])?);
    Ok(jobs)
}

/// Share of the load's packets that the bottleneck of the way back drops, in percent.
fn dropped_percent(result: &RunResult) -> Option<f64> {
    let dropped = dropped_on_the_way_back(result) as f64;
    let load = result.flows.values().filter(|flow| flow.transport == "pareto");
    let delivered = load.map(|flow| flow.bytes as f64).sum::<f64>() / PAYLOAD_BYTES;
    Some(100.0 * dropped / (dropped + delivered))
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let kbps = |transport: &'static str| {
        move |result: &RunResult| Summary::of(&goodputs_kbps(result, transport)).map(|summary| summary.mean)
    };
    let rate =
        |transport: &'static str, load: u64| outcomes.mean(&format!("{transport}/{load}"), kbps(transport));
    let ratio = |load: u64| rate("rcp", load) / rate("tcp", load);
    let near = LOADS.iter().all(|&load| (ratio(load) - 1.0).abs() < NEAR);
    let text =
        |load: &u64| format!("{} and {} with {load}", digits(rate("rcp", *load)), digits(rate("tcp", *load)));
    let figures = LOADS.iter().map(text).collect::<Vec<_>>().join(", ");
    let findings = vec![
        Finding::values("RC-005", outcomes.values("alone", dropped_percent))
            .because("100 sources into 10 Mbit/s, the reconstructed rate of the way back"),
        Finding::shape("RC-006", near, format!("kbit/s for each flow of RCP and of TCP: {figures}"))
            .because(format!("follows closely: within {} %", digits(NEAR * 100.0))),
    ];
    let mut series =
        Series::new("UDP flows on the way back", "mean goodput of a flow in kbit/s", &TRANSPORTS);
    for load in LOADS {
        let cell = |transport| outcomes.summary(&format!("{transport}/{load}"), kbps(transport));
        series.row(load, TRANSPORTS.map(cell).to_vec());
    }
    (findings, vec![series])
}
