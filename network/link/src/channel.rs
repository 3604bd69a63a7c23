//! What the channel does to a packet: loss, jitter, duplication, damage.
use crate::config::{LinkConfig, LossModel};
use alloc::format;
use alloc::vec::Vec;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_units::{Duration, Probability};

/// The channel's verdict on one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fate {
    pub lost: bool,
    pub duplicated: bool,
    pub corrupted: bool,
    pub extra_delay: Duration,
}

/// The random part of a link. Every kind of accident has its own stream, so that adding one never changes
/// the others.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    loss: LossModel,
    /// Gilbert-Elliott: in the bad state.
    bad: bool,
    jitter_max: Duration,
    duplicate: Probability,
    corrupt: Probability,
    damaged_packets: Vec<u64>,
    /// Packets drawn for so far.
    drawn: u64,
    loss_stream: RandomStream,
    jitter_stream: RandomStream,
    duplicate_stream: RandomStream,
    corrupt_stream: RandomStream,
}

impl Channel {
    pub fn new(config: &LinkConfig, seed: Seed, name: &str) -> Self {
        let stream = |part: &str| seed.stream(&format!("link/{name}/{part}"));
        Self {
            loss: config.loss,
            bad: false,
            jitter_max: config.jitter.max,
            duplicate: config.duplicate,
            corrupt: config.corrupt,
            damaged_packets: config.damaged_packets.clone(),
            drawn: 0,
            loss_stream: stream("loss"),
            jitter_stream: stream("jitter"),
            duplicate_stream: stream("duplicate"),
            corrupt_stream: stream("corrupt"),
        }
    }

    /// True when every packet passes untouched.
    pub fn is_perfect(&self) -> bool {
        self.loss == LossModel::None
            && self.jitter_max.is_zero()
            && self.duplicate == Probability::ZERO
            && self.corrupt == Probability::ZERO
            && self.damaged_packets.is_empty()
    }

    pub fn set_loss(&mut self, loss: LossModel) {
        self.loss = loss;
        self.bad = false;
    }

    /// Draws the fate of the next packet.
    pub fn draw(&mut self) -> Fate {
        let extra = match self.jitter_max.as_nanos() {
            0 => 0,
            max => self.jitter_stream.below(max.saturating_add(1)),
        };
        let chosen = self.damaged_packets.contains(&self.drawn);
        self.drawn += 1;
        Fate {
            lost: self.draw_loss(),
            duplicated: self.duplicate_stream.chance(self.duplicate.as_f64()),
            corrupted: self.corrupt_stream.chance(self.corrupt.as_f64()) || chosen,
            extra_delay: Duration::from_nanos(extra),
        }
    }

    fn draw_loss(&mut self) -> bool {
        match self.loss {
            LossModel::None => false,
            LossModel::Bernoulli(p) => self.loss_stream.chance(p.as_f64()),
            LossModel::GilbertElliott(chain) => {
                let (loss, leave) = match self.bad {
                    false => (chain.loss_good, chain.good_to_bad),
                    true => (chain.loss_bad, chain.bad_to_good),
                };
                let lost = self.loss_stream.chance(loss.as_f64());
                if self.loss_stream.chance(leave.as_f64()) {
                    self.bad = !self.bad;
                }
                lost
            }
        }
    }
}
