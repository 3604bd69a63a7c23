//! Whether a link that returns receipts would carry more than it is given: that is found out by trying.
use super::{JITTERS, LinkModel, PATIENCE, PROBE_ROUNDS};
use crate::link_model::PROBE_GAIN;
use crate::link_model::round::Round;
use prismux_units::Instant;

/// A link that carried this times as much of late is asked for that again anyway.
const STEADY_SWING: f64 = 1.05;
/// What a link without a queue is given, as a multiple of what it is known to carry, round after round; after the last
/// the startup begins anew.
const SEARCH: [f64; 3] = [1.25, 1.25, 1.5];

impl LinkModel {
    /// What a link without a queue is given, as a multiple of what it is known to carry; 1 for one that has a queue.
    pub(in crate::link_model) fn search_gain(&self) -> f64 {
        if self.probes_through_jitter() {
            return PROBE_GAIN;
        }
        let hungry = self.measured().filter(|measured| {
            !measured.is_full && !measured.is_busy && measured.queueing < measured.target()
        });
        hungry.and_then(|measured| SEARCH.get(measured.empty_rounds)).copied().unwrap_or(1.0)
    }

    /// Jitter hides whether there is a queue, so a link that has much is given more in one round of some; what others
    /// may have filled is left to them.
    fn probes_through_jitter(&self) -> bool {
        let is_hidden = self.measured().is_some_and(|measured| measured.hides_queues() && !measured.is_full);
        let is_due = !self.startup && self.rounds.is_multiple_of(PROBE_ROUNDS) && self.swing() < STEADY_SWING;
        is_hidden && is_due && self.contest.is_unlikely()
    }

    /// The startup ends when the link is given more than it carries: while its cap doubles that shows at once, and
    /// jitter cannot feign it for long. A link that is given bursts alone shows it by their length, when no queue
    /// stays.
    pub(super) fn end_startup_when_busy(&mut self) {
        let Some(measured) = self.measured.as_mut().filter(|_| self.startup) else { return };
        let (saturated, queueing) = (measured.saturated, measured.queueing);
        let shown = measured.burst_rate > 0.0 && queueing > JITTERS * measured.jitter;
        let certain = saturated > 0 && queueing > measured.certain_queue();
        let stretched = measured.stretched >= PATIENCE;
        if shown || certain || stretched || saturated >= PATIENCE && queueing > measured.queue() {
            self.startup = false;
            measured.capacity = measured.capacity.max(measured.delivery).max(measured.burst_rate);
        }
    }

    /// A round is over on a link that returns receipts.
    pub(in crate::link_model) fn end_measured_round(&mut self, now: Instant, round: &Round) {
        self.rounds = self.rounds.wrapping_add(1);
        self.overload.recover(now);
        let rounds = self.rounds;
        let is_full = round.limited && !round.starved;
        self.contend(now, round);
        let Some(measured) = &mut self.measured else { return };
        measured.forget_old_floor(now, rounds);
        let peak = core::mem::replace(&mut measured.peak, measured.queueing);
        let was_busy = core::mem::replace(&mut measured.was_busy, measured.is_busy);
        if !is_full || self.startup {
            measured.empty_rounds = 0;
            return;
        }
        let empty = peak < measured.target() && !measured.is_full && !was_busy;
        measured.empty_rounds = if empty { measured.empty_rounds + 1 } else { 0 };
        if measured.faster >= PATIENCE || measured.empty_rounds >= SEARCH.len() {
            (measured.faster, measured.saturated) = (0, 0);
            (measured.stretched, measured.empty_rounds) = (0, 0);
            self.startup = true;
        }
    }
}
