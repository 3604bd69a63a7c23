//! R²CP: moving between networks and servers, several servers at once, a target rate; rates, round trips and
//! neighbours that differ; the worked example of the scheduler. Named after the figures.

mod fluctuation;
mod mobility;
mod policy;
mod rates;
mod round_trips;
mod rules;

use super::Experiment;
use crate::claims::ClaimsError;
use crate::claims::plan::{Job, Scope, point};
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

/// Ways to choose the segment of a request, by rank, the first pending, round robin; and an application that stripes
/// over two RCP connections, whose buffers together have the size of R²CP's.
const WAYS: [&str; 4] = ["r2cp", "r2cp-s", "dealt", APPS];
/// The application. It writes at one server, to which both connections lead.
const APPS: &str = "apps";

/// The runs of one way at one point: `set` is for the links, `window_kb` the receive buffer.
fn point_of(
    scope: &Scope,
    key: String,
    (shipped, way): (&str, &str),
    set: &[String],
    window_kb: u64,
) -> Result<Vec<Job>, ClaimsError> {
    let (shipped, variant, window_kb) = match way {
        APPS => ("striping-over-rcp", "unaware", window_kb / 2),
        way => (shipped, way, window_kb),
    };
    let window = format!("flows.download.tcp.window={window_kb} kB");
    point(scope, key, shipped, Some(variant), &[set, &[window]].concat())
}
/// The receive buffer of figures 30(a) to (c), which the source does not state: one for the whole figure, the sum of
/// the rates of (b) times the longest round trip, and a fifth more. The application's connections have half of it each.
const WINDOW_KB: u64 = 256;
/// What counts as the ideal.
const IDEAL: f64 = 0.95;

/// Share of arriving packets that found three quarters of the receive buffer taken, in percent.
fn nearly_full_percent(result: &RunResult) -> Option<f64> {
    let counters = result.nodes.get("client")?;
    let count = |name: &str| counters.get(name).map(|&count| count as f64);
    Some(100.0 * count("found_buffer_nearly_full")? / count("data_packets")?.max(1.0))
}
