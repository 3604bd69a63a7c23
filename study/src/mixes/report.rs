//! What came of the mixes: ratios, distributions, and the worst with why.
use super::Mix;
use super::run::{LinkUse, Outcome};
use super::variant::Variant;
use crate::text_table::Table;
use serde::Serialize;
use std::fmt::Write as _;

/// How many of the worst are listed.
const WORST: usize = 10;

/// A mix and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The links.
    pub mix: Mix,
    /// Steady goodput of the best single link, in bit/s.
    pub best_single_bps: f64,
    /// Which link that was, by its place in the mix.
    pub best_single: usize,
    /// One per variant, single links first.
    pub outcomes: Vec<Outcome>,
}

/// A distribution in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distribution {
    /// Smallest.
    pub min: f64,
    /// One in twenty is below.
    pub p5: f64,
    /// One in four is below.
    pub p25: f64,
    /// Half are below.
    pub median: f64,
    /// Three in four are below.
    pub p75: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
}

/// One variant over all mixes.
#[derive(Debug, Clone, Serialize)]
pub struct VariantSummary {
    /// The variant.
    pub variant: Variant,
    /// Steady goodput over the best single link's.
    pub ratio: Distribution,
    /// Mixes below 0.95 of the best single link.
    pub below_best_single: Vec<u32>,
    /// Steady goodput over capacity.
    pub efficiency: Distribution,
}

impl Line {
    /// Of a mix and its outcomes, which must hold every single link.
    pub fn new(mix: Mix, mut outcomes: Vec<Outcome>) -> Self {
        outcomes.sort_by_key(|outcome| outcome.variant);
        let singles = outcomes.iter().filter_map(|outcome| match outcome.variant {
            Variant::Single(place) => Some((place, outcome.steady_goodput_bps)),
            _ => None,
        });
        let (best_single, best_single_bps) =
            singles.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::NAN));
        Self { mix, best_single_bps, best_single, outcomes }
    }

    /// The outcome of one variant, if it was tried.
    pub fn outcome(&self, variant: Variant) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.variant == variant)
    }

    /// Goodput of one variant over that of the best single link.
    pub fn ratio(&self, variant: Variant) -> Option<f64> {
        self.outcome(variant).map(|outcome| outcome.steady_goodput_bps / self.best_single_bps)
    }
}

impl Distribution {
    /// Of some values; `None` without any.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let last = sorted.len().checked_sub(1)?;
        // Linear between neighbours.
        let quantile = |q: f64| {
            let place = q * last as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Some(Self {
            min: sorted[0],
            p5: quantile(0.05),
            p25: quantile(0.25),
            median: quantile(0.5),
            p75: quantile(0.75),
            max: sorted[last],
            mean,
        })
    }
}

/// Sums up one variant over all mixes; `None` if it was tried on none.
pub fn summarise(lines: &[Line], variant: Variant) -> Option<VariantSummary> {
    let efficiencies =
        lines.iter().filter_map(|line| line.outcome(variant)).map(|outcome| outcome.efficiency);
    let below = lines.iter().filter(|line| line.ratio(variant).is_some_and(|ratio| ratio < 0.95));
    Some(VariantSummary {
        variant,
        ratio: Distribution::of(lines.iter().filter_map(|line| line.ratio(variant)))?,
        below_best_single: below.map(|line| line.mix.number).collect(),
        efficiency: Distribution::of(efficiencies)?,
    })
}

/// The variants that use all links and were tried.
pub fn variants(lines: &[Line]) -> Vec<Variant> {
    let tried = |variant: &Variant| lines.iter().any(|line| line.outcome(*variant).is_some());
    let all = [
        Variant::Prism,
        Variant::PrismReceipts,
        Variant::PrismFec,
        Variant::TcpPrism,
        Variant::Paper,
        Variant::Striping,
    ];
    all.into_iter().filter(tried).collect()
}

/// Both distributions of every variant, as a table.
pub fn table(lines: &[Line]) -> String {
    let mut table = Table::new(&["", "min", "5 %", "25 %", "median", "75 %", "max", "below 0.95"]);
    let summaries: Vec<VariantSummary> =
        variants(lines).into_iter().filter_map(|variant| summarise(lines, variant)).collect();
    let mut row = |name: String, d: &Distribution, last: String| {
        let numbers = [d.min, d.p5, d.p25, d.median, d.p75, d.max].map(|value| format!("{value:.3}"));
        table.row([name].into_iter().chain(numbers).chain([last]));
    };
    for summary in summaries.iter().filter(|summary| summary.ratio.mean.is_finite()) {
        let below = summary.below_best_single.len().to_string();
        row(format!("{}: over best single link", summary.variant.name()), &summary.ratio, below);
    }
    for summary in &summaries {
        row(format!("{}: efficiency", summary.variant.name()), &summary.efficiency, String::new());
    }
    table.to_string()
}

/// What lines are sorted by.
type Key<'a> = &'a dyn Fn(&Line) -> f64;

/// The worst mixes of a variant by ratio to the best single link and by efficiency, with their links and why.
pub fn worst(lines: &[Line], variant: Variant) -> String {
    let mut text = String::new();
    let tried: Vec<&Line> = lines.iter().filter(|line| line.outcome(variant).is_some()).collect();
    let efficiency = |line: &Line| line.outcome(variant).map_or(f64::NAN, |outcome| outcome.efficiency);
    let ratio = |line: &Line| line.ratio(variant).unwrap_or(f64::NAN);
    let orders: [(&str, Key<'_>); 2] = [("ratio to best single link", &ratio), ("efficiency", &efficiency)];
    let mut described: Vec<u32> = Vec::new();
    // Without the single links there is nothing to compare with.
    let known = |(_, key): &(&str, Key<'_>)| tried.iter().all(|line| key(line).is_finite());
    for (name, key) in orders.into_iter().filter(known) {
        let mut order = tried.clone();
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: worst by {name}", variant.name());
        for line in order.into_iter().take(WORST) {
            if described.contains(&line.mix.number) {
                let _ = writeln!(text, "  mix {}: see above", line.mix.number);
            } else {
                described.push(line.mix.number);
                text += &describe(line, variant);
            }
        }
    }
    text
}

/// A mix in a few lines: links, figures, why.
fn describe(line: &Line, variant: Variant) -> String {
    let mut text = String::new();
    let Some(outcome) = line.outcome(variant) else { return text };
    let of_best_single =
        line.ratio(variant).filter(|ratio| ratio.is_finite()).map_or(String::new(), |ratio| {
            let (link, mbps) = (line.best_single + 1, line.best_single_bps / 1e6);
            format!("{ratio:.3} of best single (link {link}, {mbps:.2} Mbit/s), ")
        });
    let _ = writeln!(text, "  mix {}: {of_best_single}efficiency {:.3}", line.mix.number, outcome.efficiency);
    for (place, (link, usage)) in line.mix.links.iter().zip(&outcome.links).enumerate() {
        let single = line.outcome(Variant::Single(place));
        let alone =
            single.map_or(String::new(), |single| format!(", alone {:.0} %", single.efficiency * 100.0));
        let _ = writeln!(
            text,
            "    link {}: {link}: used {:.0} %{alone}{}",
            place + 1,
            usage.utilization * 100.0,
            proxy_view(usage)
        );
    }
    let _ = writeln!(text, "    why: {}", why(line, outcome));
    text
}

fn proxy_view(usage: &LinkUse) -> String {
    let Some(state) = usage.state else { return String::new() };
    let number =
        |value: Option<f64>, scale: f64| value.map_or("?".into(), |value| format!("{:.1}", value * scale));
    let reason = usage.reason.filter(|reason| !reason.is_empty());
    format!(
        "; proxy: {} Mbit/s, rtt {} (min {}) ms, standby {:.0} %, {state}{}; queue drops {}",
        number(usage.mean_learned_rate_bps, 1e-6),
        number(usage.mean_rtt_ms, 1.0),
        number(usage.min_rtt_ms, 1.0),
        usage.standby_share * 100.0,
        reason.map_or(String::new(), |reason| format!(" ({reason})")),
        usage.queue_drops
    )
}

/// Where the missing capacity is, and what the sender went through.
fn why(line: &Line, outcome: &Outcome) -> String {
    let capacity: f64 = line.mix.links.iter().map(|link| link.rate_bps as f64).sum();
    let idle =
        |place: usize| (1.0 - outcome.links[place].utilization) * line.mix.links[place].rate_bps as f64;
    let mut places: Vec<usize> = (0..outcome.links.len()).collect();
    places.sort_by(|&a, &b| idle(b).total_cmp(&idle(a)));
    let mut causes: Vec<String> = Vec::new();
    for place in places.into_iter().filter(|&place| idle(place) > 0.03 * capacity) {
        let how = match outcome.links[place].standby_share {
            share if share > 0.5 => "on standby",
            _ if outcome.links[place].queue_drops > 0 => "overflowing at times, else idle",
            _ => "idle",
        };
        causes.push(format!(
            "{:.0} % of capacity unused on link {} ({how})",
            idle(place) / capacity * 100.0,
            place + 1
        ));
    }
    let sender = &outcome.sender;
    if sender.steady_timeouts > 0 {
        causes.push(format!("{} timeouts in steady state", sender.steady_timeouts));
    }
    causes.push(format!(
        "{} recoveries, {} resent ({} spurious), {} reductions undone",
        sender.fast_recoveries,
        sender.retransmitted_segments,
        sender.spurious_retransmissions,
        sender.undone_reductions
    ));
    causes.push(format!(
        "mean window {:.0} KB at {:.0} ms",
        sender.mean_cwnd_bytes / 1e3,
        sender.mean_srtt_ms
    ));
    let repairs = outcome.proxy.get("local_repairs").copied().unwrap_or(0);
    let by_time = outcome.proxy.get("losses_by_time").copied().unwrap_or(0);
    let false_losses = outcome.proxy.get("false_losses").copied().unwrap_or(0);
    causes.push(format!("proxy: {repairs} repairs, {by_time} losses by age, {false_losses} false"));
    causes.join("; ")
}

#[cfg(test)]
mod tests;
