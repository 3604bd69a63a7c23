//! Figures that are read off a result: pauses, round trips, how two series go together.
use prismux_plan::{Flow, Plan};
use prismux_trace::results::RunResult;

/// The longest time between `from_s` and `to_s` in which nothing came for the application of `flow`, in seconds and
/// no finer than the intervals of the series; `None` without series.
pub fn longest_gap_s(result: &RunResult, flow: &str, from_s: f64, to_s: f64) -> Option<f64> {
    let series = result.series.as_ref()?;
    let rates = &series.flows.get(flow)?.goodput_bps;
    let index = |seconds: f64| (seconds / series.interval_s).round() as usize;
    let window = rates.get(index(from_s)..index(to_s).min(rates.len()))?;
    let longest = window.split(|rate| *rate > 0.0).map(<[f64]>::len).max()?;
    Some(longest as f64 * series.interval_s)
}

/// The longest smoothed round trip of the pipes of `flow` at the end, in seconds.
pub fn longest_round_trip_s(result: &RunResult, flow: &str) -> Option<f64> {
    let pipes = &result.flows.get(flow)?.pipes;
    pipes.values().filter_map(|pipe| pipe.srtt_s).reduce(f64::max)
}

/// Packets that all links together dropped from their second node to their first.
pub fn dropped_on_the_way_back(result: &RunResult) -> u64 {
    result.links.values().filter_map(|link| link.reverse).map(|reverse| reverse.dropped_packets).sum()
}

/// Packets that managed queues dropped early, and that they marked, in both directions of all links; `None` without
/// any.
pub fn managed_queues(result: &RunResult) -> Option<[u64; 2]> {
    let ways = result.links.values().flat_map(|link| {
        let back = link.reverse.unwrap_or_default();
        [(link.early_drops, link.marked_packets), (back.early_drops, back.marked_packets)]
    });
    let counts = ways.filter_map(|(early, marked)| Some([early?, marked?]));
    counts.reduce(|sum, way| [sum[0] + way[0], sum[1] + way[1]])
}

/// Why the flows together have no goodput in steady state; `None` where they have one.
pub fn why_no_steady_state(plan: &Plan, result: &RunResult) -> Option<String> {
    if result.total.steady_goodput_bps.is_some() {
        return None;
    }
    let unknown =
        |flow: &&Flow| result.flows.get(&flow.name).is_some_and(|it| it.steady_goodput_bps.is_none());
    let Some(flow) = plan.flows.iter().find(unknown) else {
        return (plan.flows.len() > 1).then(|| "its flows were never in steady state together".to_owned());
    };
    let is_whole = result.flows.get(&flow.name)?.completion_s.is_some();
    Some(match flow.file_bytes() {
        Some(_) if !is_whole => {
            format!("the run ended before \"{}\" had carried 95 % of its bytes", flow.name)
        }
        _ => format!("\"{}\" did not outlast the warm-up", flow.name),
    })
}

/// Pearson's correlation, as far as both series go; `None` where one does not vary.
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let count = a.len().min(b.len());
    let mean = |values: &[f64]| values[..count].iter().sum::<f64>() / count.max(1) as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| -> f64 {
        x.iter().zip(y).take(count).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
    };
    let scale = (product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b)).sqrt();
    (scale > 0.0).then(|| product(a, mean_a, b, mean_b) / scale)
}

#[cfg(test)]
mod tests;
