//! Special cases: pipes of equal rate, and loads close to the capacity.
//!
//! Equal pipes have rate 1, unequal ones the rates 1 and `ratio`; delays are in service times of the first.
//! `intensity` is the share of the capacity that arrives.
use super::Delays;
use libm::sqrt;

/// Load at which a packet split evenly over equal pipes stops being the worst and becomes the (local) best for
/// resequencing.
pub const EVEN_SPLIT_TURNS_AT: f64 = core::f64::consts::SQRT_2 - 1.0;

/// Load from which the transport's delay of resequencing is at most the application's at an even split, equal pipes.
pub const TRANSPORT_RESEQUENCES_LESS_FROM: f64 = 1.0 / 3.0;

/// Transport, equal pipes: (26), (27); the same for every split.
pub fn transport_equal(intensity: f64) -> Delays {
    Delays { queueing: 1.0 / (1.0 - intensity * intensity), resequencing: intensity / (1.0 + intensity) }
}

/// Application, equal pipes, even split: (28), (29).
pub fn application_equal(intensity: f64) -> Delays {
    Delays { queueing: 1.0 / (1.0 - intensity), resequencing: intensity / (2.0 * (1.0 - intensity)) }
}

/// Total delay of [`application_equal`] less that of [`transport_equal`]: positive at every load.
pub fn penalty_equal(intensity: f64) -> f64 {
    intensity * (1.0 + 3.0 * intensity) / (2.0 * (1.0 - intensity * intensity))
}

/// Application, unequal pipes, proportional split: (31), (32). The source takes them for the best split's.
pub fn application_proportional(intensity: f64, ratio: f64) -> Delays {
    Delays {
        queueing: 2.0 / ((1.0 + ratio) * (1.0 - intensity)),
        resequencing: (1.0 - ratio + ratio * ratio) / (ratio + ratio * ratio) * intensity / (1.0 - intensity),
    }
}

/// Application, load near the capacity: the least delay of resequencing tends to this, at spare rates of the two
/// pipes in the ratio `sqrt(ratio)` to 1. Not in the source.
pub fn least_resequencing_heavy(intensity: f64, ratio: f64) -> f64 {
    2.0 * sqrt(ratio) / ((1.0 + ratio) * (1.0 + ratio) * (1.0 - intensity))
}

/// Application, load near the capacity: the least total delay tends to this, at equal spare rates of the two pipes.
/// Not in the source.
pub fn least_total_heavy(intensity: f64, ratio: f64) -> f64 {
    3.0 / ((1.0 + ratio) * (1.0 - intensity))
}

/// Transport, unequal pipes: the delay of resequencing at full load, the same for every split (33).
pub fn transport_resequencing_full(ratio: f64) -> f64 {
    (1.0 - ratio + ratio * ratio) / (ratio + ratio * ratio)
}

/// The largest load of equal pipes, evenly split by the application, whose total delay is at most `bound` (above 1).
/// Follows from (28) and (29).
pub fn largest_load_application(bound: f64) -> f64 {
    (2.0 * bound - 2.0) / (2.0 * bound + 1.0)
}

/// The same for the transport. Follows from (26) and (27).
pub fn largest_load_transport(bound: f64) -> f64 {
    let slack = bound - 1.0;
    (sqrt(1.0 + 4.0 * slack * slack) - 1.0) / (2.0 * slack)
}
