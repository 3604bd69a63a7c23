//! Packets that a link loses: noise of its channel, or a queue that overflows.
use super::{LOSS_GAIN, LinkModel, PROBE_LOSS_SHARE, overload};
use prismux_units::{Duration, Instant};

impl LinkModel {
    /// A packet was lost while this much was in flight. Says whether it looks like an overflowing queue rather than
    /// noise.
    pub(crate) fn on_lost(&mut self, now: Instant, bytes: u32, in_flight: u64) -> bool {
        if !self.learning {
            self.loss += (1.0 - self.loss) * LOSS_GAIN;
            return false;
        }
        let Some(round) = &mut self.round else { return false };
        round.lost += f64::from(bytes);
        let passed = ((self.delivered - round.delivered) as f64 + round.lost).max(in_flight as f64);
        let overflow = overload::is_overflow(round.lost, passed, self.packet_bytes);
        let least = self.min_rtt.map_or(Duration::ZERO, |least| least.rtt);
        if overflow && self.startup {
            self.startup = false;
        } else if overflow {
            self.overload.on_overflow(now, least);
        }
        // Overflow says nothing about the channel, unless it goes on when there is no queue any more.
        let burst = in_flight as f64 > overload::BURST * self.cap || self.has_queue();
        if !(self.startup || burst || overflow && self.overload.may_ease()) {
            self.loss += (1.0 - self.loss) * LOSS_GAIN;
        }
        if overflow {
            self.note_overflow(now);
            self.set_cap();
        }
        overflow
    }

    /// Nothing was sent for a while because of losses: they may be over.
    pub(crate) fn forgive_losses(&mut self) {
        self.loss *= PROBE_LOSS_SHARE;
        self.heard_loss = self.loss;
    }

    /// A packet that was declared lost has arrived after all.
    pub(crate) fn on_false_loss(&mut self, bytes: u32) {
        self.loss = (self.loss - LOSS_GAIN).max(0.0);
        if let Some(round) = &mut self.round {
            round.lost = (round.lost - f64::from(bytes)).max(0.0);
        }
    }

    /// The link is dead for now: what it lost since something last arrived was lost to the outage, and says nothing
    /// of the channel.
    pub(crate) fn on_silent(&mut self) {
        self.loss = self.heard_loss;
    }
}
