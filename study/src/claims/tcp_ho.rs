//! TCP-HO: every class of handoff against plain TCP, the idle time after a disconnection, the neighbours, the rules.

mod classes;
mod cross_traffic;
mod disconnection;
mod rules;

use super::Experiment;
use prismux_trace::results::RunResult;

/// All of them.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    classes::CLASSES,
    disconnection::AT_THE_CAP,
    disconnection::BELOW_THE_CAP,
    cross_traffic::CROSS_TRAFFIC,
    rules::RULES,
];

/// Sampling interval of the scenarios, and the unit of all times here, in milliseconds.
const TICK_MS: u64 = 10;

/// A number in [0, 1) for each seed: consecutive seeds spread evenly, whatever their number.
fn spread(seed: u64, step: f64) -> f64 {
    (seed as f64 * step).fract()
}

/// Irrational steps for two quantities that shall not move together.
const GOLDEN: f64 = 0.618_033_988_749_895;
const PLASTIC: f64 = 0.754_877_666_246_693;

/// `low` to `high` seconds by `share`, in whole ticks of milliseconds.
fn between_ms(low_s: f64, high_s: f64, share: f64) -> u64 {
    ((low_s + (high_s - low_s) * share) * 1000.0) as u64 / TICK_MS * TICK_MS
}

/// Overrides that end the link at `down_ms` and complete the handoff at `back_ms`; the run lasts `after_s` longer.
fn times(down_ms: u64, back_ms: u64, after_s: u64) -> Vec<String> {
    vec![
        format!("events.0.at={down_ms} ms"),
        format!("events.1.at={back_ms} ms"),
        format!("events.2.at={back_ms} ms"),
        format!("duration={} ms", back_ms + after_s * 1000),
    ]
}

/// Seconds from `back_ms` to the end of the sample in which the application of `flow` got the first new byte; `None`
/// when it never did.
fn resumed_s(result: &RunResult, flow: &str, back_ms: u64) -> Option<f64> {
    let series = result.series.as_ref()?;
    let from = (back_ms / TICK_MS) as usize;
    let rates = series.flows.get(flow)?.goodput_bps.get(from..)?;
    let silent = rates.iter().position(|rate| *rate > 0.0)?;
    Some((silent + 1) as f64 * series.interval_s)
}

/// Bytes that the application of `flow` got between two times after `back_ms`.
fn bytes_after(result: &RunResult, flow: &str, back_ms: u64, from_s: u64, to_s: u64) -> Option<f64> {
    let series = result.series.as_ref()?;
    let at = |seconds: u64| ((back_ms + seconds * 1000) / TICK_MS) as usize;
    let rates = series.flows.get(flow)?.goodput_bps.get(at(from_s)..at(to_s))?;
    Some(rates.iter().sum::<f64>() * series.interval_s / 8.0)
}
