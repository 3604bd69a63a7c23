//! Split by the application: every pipe has its own queue, and what has been dealt out cannot be taken back.
use super::{Delays, Pair};
use libm::{exp, lgamma, log};

/// Points of the first search for a best split.
const COARSE: usize = 2_000;
/// Halvings (nearly) of the interval around the best of them.
const FINE: usize = 60;

/// Mean delays when each packet goes to the first pipe with probability `split`: (12) and (13). `None` where a queue
/// would grow without bound.
pub fn delays(pair: &Pair, split: f64) -> Option<Delays> {
    if !pair.is_stable(split) {
        return None;
    }
    let Pair { arrivals, service: [first, second] } = *pair;
    let (left, right) = (arrivals * split, arrivals * (1.0 - split));
    let (spare_left, spare_right) = (first - left, second - right);
    let weight = first * spare_left * spare_left + second * spare_right * spare_right;
    let shared = first * second * spare_left * spare_right * (pair.capacity() - arrivals);
    Some(Delays {
        queueing: split / spare_left + (1.0 - split) / spare_right,
        resequencing: arrivals * split * (1.0 - split) * weight / shared,
    })
}

/// The split with the smallest mean delay of resequencing, by search: the source's (30) is its limit.
pub fn least_resequencing_split(pair: &Pair) -> f64 {
    least(pair, |delays| delays.resequencing)
}

/// The split with the smallest mean delay in all, by search.
pub fn least_total_split(pair: &Pair) -> f64 {
    least(pair, |delays| delays.total())
}

/// The stable split that makes `cost` smallest: the best point of a grid, then golden sections around it. There may be
/// several local minima, hence the grid.
fn least(pair: &Pair, cost: impl Fn(Delays) -> f64) -> f64 {
    let (low, high) = pair.stable_splits();
    let at = |split: f64| delays(pair, split).map_or(f64::INFINITY, &cost);
    let point = |step: usize| low + (high - low) * step as f64 / COARSE as f64;
    let best = (0..=COARSE).map(point).min_by(|a, b| at(*a).total_cmp(&at(*b))).unwrap_or(low);
    let width = (high - low) / COARSE as f64;
    let (mut from, mut to) = ((best - width).max(low), (best + width).min(high));
    let golden = 0.618_033_988_749_894_8;
    for _ in 0..FINE {
        let span = golden * (to - from);
        let (inner_low, inner_high) = (to - span, from + span);
        if at(inner_low) < at(inner_high) { to = inner_high } else { from = inner_low }
    }
    let middle = (from + to) / 2.0;
    if at(best) <= at(middle) { best } else { middle }
}

/// Chance that exactly `overtaken` packets of the other pipe are served before a packet that finds `ahead` others in
/// its own pipe is, given that the other pipe does not run empty (6). `own` and `other` are the pipes' rates.
pub fn overtaking_chance(own: f64, other: f64, ahead: u32, overtaken: u32) -> f64 {
    let (stays, passes) = (own / (own + other), other / (own + other));
    let (ahead, overtaken) = (f64::from(ahead), f64::from(overtaken));
    let ways = lgamma(ahead + overtaken + 1.0) - lgamma(ahead + 1.0) - lgamma(overtaken + 1.0);
    exp(ways + (ahead + 1.0) * log(stays) + overtaken * log(passes))
}

/// Mean delay of resequencing of a packet that finds `ahead` others in its own pipe and `beside` in the other one:
/// (7), and (8) with the pipes exchanged.
pub fn resequencing_behind(own: f64, other: f64, ahead: u32, beside: u32) -> f64 {
    let left = |overtaken: u32| f64::from(beside - overtaken) / other;
    (0..=beside).map(|overtaken| overtaking_chance(own, other, ahead, overtaken) * left(overtaken)).sum()
}

/// (7) over all states of both queues, with utilisations `own_load` and `other_load`, not yet normalised: (10), and
/// (11) with the pipes exchanged.
pub fn resequencing_sum(own: f64, other: f64, own_load: f64, other_load: f64) -> f64 {
    let (stays, passes) = (own / (own + other), other / (own + other));
    let empty = 1.0 - other_load;
    stays * other_load / (other * empty * empty * (1.0 - own_load * stays - other_load * passes))
}
