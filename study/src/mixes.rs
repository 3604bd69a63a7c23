//! Random mixes of links: is one download over all of them ever slower than over the best one alone, and how much of
//! their capacity does it get?
//!
//! * [`Mix`]: two to five links drawn at random from a seed and a number;
//! * [`run`]: one variant of using a mix, simulated;
//! * [`evaluation`]: all mixes in all variants;
//! * [`report`]: what came of a mix, over all mixes, and why the worst are bad;
//! * [`series`]: one run over time, to find out why.
pub mod evaluation;
pub mod report;
pub mod run;
pub mod series;
pub mod variant;

use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_units::{ByteCount, Duration, Probability, Rate};
use serde::Serialize;
use std::fmt;

/// Full-size packets that the smallest queue holds.
const MIN_QUEUE_PACKETS: u64 = 20;
/// Bytes of a full-size packet.
pub const PACKET_BYTES: u64 = 1500;

/// One link of a mix, the same in both directions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MixLink {
    /// Rate in bits per second, 0.4 to 100 Mbit/s, uniform in its logarithm.
    pub rate_bps: u64,
    /// One-variant delay in milliseconds, 5 to 400, uniform in its logarithm.
    pub delay_ms: f64,
    /// Share of packets lost at random: none on half of the links, up to 1 % on the others.
    pub loss: f64,
    /// Room for waiting packets: one bandwidth-delay product, at least 20 packets.
    pub queue_bytes: u64,
}

/// Some links to be used together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mix {
    /// Its number: the same number and seed give the same mix, whichever others are drawn.
    pub number: u32,
    /// Two to five.
    pub links: Vec<MixLink>,
}

impl MixLink {
    fn draw(random: &mut RandomStream) -> Self {
        let rate_bps = log_uniform(random, 0.4e6, 100e6).round() as u64;
        let delay_ms = (log_uniform(random, 5.0, 400.0) * 10.0).round() / 10.0;
        let loss = if random.chance(0.5) { 0.0 } else { (random.uniform() * 1e4).round() / 1e6 };
        let bdp = rate_bps as f64 / 8.0 * 2.0 * delay_ms / 1e3;
        let queue_bytes = (bdp as u64).max(MIN_QUEUE_PACKETS * PACKET_BYTES);
        Self { rate_bps, delay_ms, loss, queue_bytes }
    }

    /// The link for the simulator.
    pub fn config(&self) -> LinkConfig {
        let delay = Duration::from_secs_f64(self.delay_ms / 1e3);
        let loss = Probability::new(self.loss).filter(|_| self.loss > 0.0);
        LinkConfig::new(Rate::from_bps(self.rate_bps), delay)
            .with_queue(QueueLimit::Bytes(ByteCount::new(self.queue_bytes)))
            .with_loss(loss.map_or(LossModel::None, LossModel::Bernoulli))
    }
}

impl fmt::Display for MixLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} Mbit/s {} ms", self.rate_bps as f64 / 1e6, self.delay_ms)?;
        if self.loss > 0.0 { write!(f, " {:.2} %", self.loss * 100.0) } else { Ok(()) }
    }
}

impl Mix {
    /// Draws the mix of this number.
    pub fn draw(seed: Seed, number: u32) -> Self {
        let mut random = seed.stream(&format!("mix/{number}"));
        let count = 2 + random.below(4);
        Self { number, links: (0..count).map(|_| MixLink::draw(&mut random)).collect() }
    }

    /// The link with the highest rate; the receiver's default route leads over it.
    pub fn fastest(&self) -> usize {
        (0..self.links.len()).max_by_key(|&index| self.links[index].rate_bps).unwrap_or(0)
    }
}

/// A value whose logarithm is uniform between those of `low` and `high`.
fn log_uniform(random: &mut RandomStream, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

#[cfg(test)]
mod tests;
