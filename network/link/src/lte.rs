//! Delivery traces like those of an LTE link in motion, made from a seed.
//!
//! Three things make such a link what it is, each with its own scale of time:
//!
//! * *slow fading* (shadows, distance, load of the cell): the logarithm of the rate wanders around its mean (an
//!   Ornstein-Uhlenbeck process), correlated over [`SLOW_CORRELATION_S`]; *fast fading* adds a second one on the
//!   scale of [`FAST_CORRELATION_S`];
//! * *scheduling*: the base station serves a phone in turns of 1 to 10 ms, and all that the rate allowed since the
//!   last turn leaves in the same millisecond, in a clump;
//! * *outages* (handovers, tunnels): nothing leaves for [`MIN_OUTAGE_MS`] or more, now and then.
use crate::trace::{DeliveryTrace, OPPORTUNITY_BYTES};
use alloc::vec::Vec;
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Rate};

/// Spread of the logarithm of the rate by slow fading, and how long it stays alike.
const SLOW_SPREAD: f64 = 0.6;
const SLOW_CORRELATION_S: f64 = 3.0;
/// The same of fast fading.
const FAST_SPREAD: f64 = 0.3;
const FAST_CORRELATION_S: f64 = 0.1;
/// The rate stays between these multiples of its mean.
const MIN_OF_MEAN: f64 = 0.05;
const MAX_OF_MEAN: f64 = 4.0;
/// Mean of what a turn of the scheduler takes beyond the first millisecond, and its bound.
const MEAN_LATER_MS: f64 = 2.0;
const MAX_TURN_MS: u32 = 10;
/// Mean time between outages, shortest outage, and mean of what it lasts beyond that.
const BETWEEN_OUTAGES_S: f64 = 10.0;
const MIN_OUTAGE_MS: u32 = 100;
const MEAN_OUTAGE_BEYOND_MS: f64 = 200.0;

/// A trace of so long a time whose rate has this mean while there is no outage. `None` where not a single packet could
/// leave.
pub fn trace(mean_rate: Rate, duration: Duration, random: &mut RandomStream) -> Option<DeliveryTrace> {
    let end_ms = u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
    let packets_per_ms = mean_rate.as_bps() as f64 / 8e3 / f64::from(OPPORTUNITY_BYTES);
    let mut slow = Wander::new(SLOW_SPREAD, SLOW_CORRELATION_S, random);
    let mut fast = Wander::new(FAST_SPREAD, FAST_CORRELATION_S, random);
    let mut next_outage_ms = random.exponential(BETWEEN_OUTAGES_S * 1e3);
    let (mut now_ms, mut credit_packets, mut times_ms) = (0_u32, 0.0, Vec::new());
    loop {
        let turn_ms = (1 + random.exponential(MEAN_LATER_MS) as u32).min(MAX_TURN_MS);
        let turn_s = f64::from(turn_ms) / 1e3;
        now_ms = now_ms.saturating_add(turn_ms);
        let logarithm = slow.pass(turn_s, random) + fast.pass(turn_s, random);
        // The mean of what is log-normal lies above its median.
        let mean_logarithm = (SLOW_SPREAD * SLOW_SPREAD + FAST_SPREAD * FAST_SPREAD) / 2.0;
        let of_mean = libm::exp(logarithm - mean_logarithm).clamp(MIN_OF_MEAN, MAX_OF_MEAN);
        if f64::from(now_ms) >= next_outage_ms {
            let beyond_ms = random.exponential(MEAN_OUTAGE_BEYOND_MS) as u32;
            now_ms = now_ms.saturating_add(MIN_OUTAGE_MS.saturating_add(beyond_ms));
            next_outage_ms = f64::from(now_ms) + random.exponential(BETWEEN_OUTAGES_S * 1e3);
        }
        if now_ms > end_ms {
            return DeliveryTrace::new(times_ms).ok();
        }
        credit_packets += packets_per_ms * f64::from(turn_ms) * of_mean;
        let leaving = credit_packets as usize;
        times_ms.extend(core::iter::repeat_n(now_ms, leaving));
        credit_packets -= leaving as f64;
    }
}

/// An Ornstein-Uhlenbeck process around zero, in its steady state from the start.
struct Wander {
    value: f64,
    spread: f64,
    correlation_s: f64,
}

impl Wander {
    fn new(spread: f64, correlation_s: f64, random: &mut RandomStream) -> Self {
        Self { value: spread * normal(random), spread, correlation_s }
    }

    /// Its value after so many seconds.
    fn pass(&mut self, seconds: f64, random: &mut RandomStream) -> f64 {
        let kept = libm::exp(-seconds / self.correlation_s);
        self.value = kept * self.value + libm::sqrt(1.0 - kept * kept) * self.spread * normal(random);
        self.value
    }
}

/// A draw from the standard normal distribution (Box and Muller 1958).
fn normal(random: &mut RandomStream) -> f64 {
    let radius = libm::sqrt(random.exponential(2.0));
    radius * libm::cos(2.0 * core::f64::consts::PI * random.uniform())
}

#[cfg(test)]
mod tests;
