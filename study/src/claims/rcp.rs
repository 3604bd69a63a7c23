//! RCP: beside TCP, behind a crowded way back, over a radio link that damages packets, by satellite, asleep while the
//! channel is bad; its rules. Named after the figures.

mod arrivals;
mod fairness;
mod listed_losses;
mod reverse_load;
mod rules;
mod same_sender;
mod satellite;
mod sleep;
mod wireless_loss;

use super::Experiment;
use prismux_trace::results::RunResult;

/// All of them.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    fairness::FAIRNESS,
    arrivals::ARRIVALS,
    reverse_load::REVERSE_LOAD,
    wireless_loss::WIRELESS_LOSS,
    listed_losses::LISTED_LOSSES,
    satellite::SATELLITE,
    sleep::SLEEP,
    rules::RULES,
];

/// Steady goodputs of the flows of a transport, in kbit/s.
fn goodputs_kbps(result: &RunResult, transport: &str) -> Vec<f64> {
    let flows = result.flows.values().filter(|flow| flow.transport == transport);
    flows.filter_map(|flow| flow.steady_goodput_bps).map(|bps| bps / 1e3).collect()
}
