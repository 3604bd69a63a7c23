//! R²CP: moving between networks and servers, several servers at once, a target rate; rates, round trips and
//! neighbours that differ; the worked example of the scheduler. Named after the figures.

mod fluctuation;
mod mobility;
mod policy;
mod rates;
mod round_trips;
mod rules;

use super::Experiment;
use prismux_trace::results::RunResult;

/// All of them.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    mobility::HANDOFF,
    mobility::MIGRATION,
    mobility::AGGREGATION,
    policy::POLICY,
    rates::RATES,
    round_trips::ROUND_TRIPS,
    fluctuation::FLUCTUATION,
    rules::RULES,
];

/// Ways to choose the segment of a request: by rank, the first pending, round robin.
const WAYS: [&str; 3] = ["r2cp", "r2cp-s", "apps"];
/// What counts as the ideal.
const IDEAL: f64 = 0.95;

/// Share of arriving packets that found three quarters of the receive buffer taken, in percent.
fn nearly_full_percent(result: &RunResult) -> Option<f64> {
    let counters = result.nodes.get("client")?;
    let count = |name: &str| counters.get(name).map(|&count| count as f64);
    Some(100.0 * count("found_buffer_nearly_full")? / count("data_packets")?.max(1.0))
}
