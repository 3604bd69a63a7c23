//! The experiments of the two PRISM papers, named as in the reproduction notes: T1 to T3 on the testbed, S1 to S8
//! in simulation, and what needs no network.

mod aggregation;
mod burstiness;
mod congestion;
mod delay;
mod design;
mod disparity;
mod fairness;
mod fluctuation;
mod heterogeneity;
mod loss;
mod played_download;
mod readings;
mod repair;
mod resources;
mod rules;
mod scheduling_cost;
mod several_flows;
mod testbed;
mod umts;

use super::Experiment;
use super::order::mean;
use super::plan::Outcomes;
use prismux_trace::results::RunResult;

/// All of them.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    delay::T1,
    loss::T2,
    heterogeneity::T3,
    readings::Q,
    aggregation::S1,
    disparity::S2,
    disparity::S5,
    fluctuation::S3,
    congestion::S4,
    burstiness::S6,
    fairness::S7,
    several_flows::S8,
    resources::MEMORY,
    resources::ENERGY,
    rules::RULES,
    resources::OTHER,
];

/// A quantity of a run.
type Measure = fn(&RunResult) -> Option<f64>;

/// A quantity averaged over several points, one value for each seed.
fn mean_over(outcomes: &Outcomes<'_>, keys: &[String], of: impl Fn(&RunResult) -> Option<f64>) -> Vec<f64> {
    let columns: Vec<Vec<f64>> = keys.iter().map(|key| outcomes.values(key, &of)).collect();
    let seeds = columns.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds)
        .map(|seed| columns.iter().map(|column| column[seed]).sum::<f64>() / columns.len() as f64)
        .collect()
}

/// Least-squares slope of `values` over their index, relative to their mean.
fn trend(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (x_mean, y_mean) = ((n - 1.0) / 2.0, mean(values));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let x = index as f64 - x_mean;
        xy += x * (value - y_mean);
        xx += x * x;
    }
    xy / xx / y_mean
}

/// Goodput as the sum of link rates would count it: headers put back on. The papers compare with link rates.
fn goodput_with_headers(result: &RunResult) -> Option<f64> {
    let rates: f64 = result
        .links
        .values()
        .filter(|link| link.shared)
        .filter_map(|link| link.rate_bps)
        .map(|r| r as f64)
        .sum();
    (result.total.capacity_bps > 0.0).then(|| result.total.goodput_bps * rates / result.total.capacity_bps)
}

/// Figures of a shape: "a 1.23, b 4.56".
fn figures(list: &[(&str, f64)]) -> String {
    let text = |(name, value): &(&str, f64)| format!("{name} {}", crate::number::digits(*value));
    list.iter().map(text).collect::<Vec<_>>().join(", ")
}
