//! One cell, cellular and peer-to-peer, and what joins the two (chapters 6 to 9 of the thesis).
//!
//! * [`nets`]: random cells with their flows, as setups of the slotted cell and as scenarios of the packet simulator.
//! * [`reuse`], [`dual_mode`], [`access_points`]: what is judged slot by slot alone.
//! * [`size`], [`skew`], [`locality`], [`load`], [`mobility`], [`stations`]: what needs 802.11, ad-hoc routing and TCP,
//!   and so the packet simulator, beside the slotted cell on the same networks.
//!
//! The cellular model and assisted scheduling run slot by slot; their packets are datagrams. An ordering holds when the
//! 95 % interval of the paired difference over the networks lies on its side of 0.

mod access_points;
mod dual_mode;
mod load;
mod locality;
mod mobility;
mod nets;
mod reuse;
mod size;
mod skew;
mod stations;

use super::Experiment;
use super::plan::Scope;
use super::report::Series;
use super::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_trace::results::RunResult;

/// Experiments that need the packet simulator.
pub(super) const EXPERIMENTS: &[Experiment] =
    &[size::F33, skew::F35, locality::F36, load::F37, mobility::F40, stations::F50];

/// Figures that slots suffice for, with the first and the last claim about each.
pub(super) const FIGURES: &[(&str, [&str; 2])] = &[
    ("31", ["NM-001", "NM-001"]),
    ("38", ["NM-018", "NM-022"]),
    ("48", ["DM-001", "DM-004"]),
    ("51", ["MM-001", "MM-006"]),
];

/// What is judged slot by slot alone, and what nothing can judge.
pub(super) fn judge(scope: &Scope) -> (Vec<Finding>, Vec<Series>) {
    let mut findings = Vec::new();
    let mut series = Vec::new();
    for part in [reuse::judge, dual_mode::judge, access_points::judge] {
        let (found, tables) = part(scope);
        findings.extend(found);
        series.extend(tables);
    }
    (findings, series)
}

/// Whether `above` is clearly more than its partner in `below` of the same network: the 95 % interval of the
/// difference lies above 0.
pub(super) fn clearly_more(above: &[f64], below: &[f64]) -> bool {
    let differences: Vec<f64> = above.iter().zip(below).map(|(above, below)| above - below).collect();
    let summary = Summary::of(&differences);
    summary.is_some_and(|summary| summary.mean > 0.0 && summary.ci95.is_none_or(|[low, _]| low > 0.0))
}

/// An ordering with a remark; where it is not found, the remark says what all orderings share.
fn ordering(claim: &'static str, found: bool, figures: String, remark: &str) -> Finding {
    let unclear =
        "at one point at least the difference over these networks is not clear of 0 on the reported side";
    let cause = match (found, remark) {
        (true, remark) => remark.to_string(),
        (false, "") => unclear.to_string(),
        (false, remark) => format!("{remark}; {unclear}"),
    };
    Finding::shape(claim, found, figures).because(cause)
}

/// Means, in the order of their points.
fn means(values: &[Vec<f64>]) -> Vec<f64> {
    values.iter().map(|values| Summary::of(values).map_or(f64::NAN, |summary| summary.mean)).collect()
}

/// "0.5, 1.2, 3".
fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|value| digits(*value)).collect();
    words.join(", ")
}

/// A row of a table, from values over the networks.
fn row<const N: usize>(series: &mut Series, label: impl ToString, cells: [&[f64]; N]) {
    series.row(label, cells.map(Summary::of).to_vec());
}

/// Throughput of a run's flows, in bits per second.
fn rates(result: &RunResult) -> Vec<f64> {
    result.flows.values().map(|flow| flow.goodput_bps).collect()
}

/// Standard deviation over mean of the flows' throughputs.
fn variation(result: &RunResult) -> Option<f64> {
    let rates = rates(result);
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / rates.len() as f64;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

/// Throughput of all flows of a run, in Mbit/s.
fn total_mbps(result: &RunResult) -> Option<f64> {
    Some(rates(result).iter().sum::<f64>() / 1e6)
}
