//! Whether a link that returns receipts would carry more than it is given: that is found out by trying.
use super::{CAP_GAIN, JITTERS, LinkModel, OWN_QUEUES, PATIENCE};
use crate::link_model::round::Round;
use prismux_units::{Duration, Instant};

/// What a link without a queue is given, as a multiple of what it is known to carry, round after round; after the last
/// the startup begins anew.
const SEARCH: [f64; 3] = [1.25, 1.25, 1.5];

/// Round trips without the queue that exceed the shortest by this share of the queue make it doubtful.
const WAY_BACK: f64 = 0.5;
/// A link that has this share of what it carries in a round trip under way is used as far as it is known.
const PACED: f64 = 0.85;

impl LinkModel {
    /// What a link without a queue is given, as a multiple of what it is known to carry; 1 for one that has a queue.
    pub(in crate::link_model) fn search_gain(&self) -> f64 {
        let hungry = self.measured().filter(|measured| {
            !measured.is_full && !measured.is_busy && measured.queueing < measured.target()
        });
        hungry.and_then(|measured| SEARCH.get(measured.empty_rounds)).copied().unwrap_or(1.0)
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

    /// Others' senders leave no more of a link than is taken.
    fn contend(&mut self, now: Instant, round: &Round) {
        // Where the pace stands in the way, and not the cap, no more is under way than the pace brings.
        let paced = self.learned() * round.mean_rtt();
        let used = round.limited && !round.starved || round.peak_in_flight() as f64 > PACED * paced;
        let extra = self.cap_extra() / self.learned().max(1.0);
        let Some(measured) = &mut self.measured else { return };
        let least = core::mem::replace(&mut measured.least_queue, measured.queueing);
        if self.startup || !(used || self.contest.is_on()) {
            return;
        }
        let base = measured.base().unwrap_or(0.0);
        let own = OWN_QUEUES * ((CAP_GAIN - 1.0) * base + extra);
        // Where the way back jitters as much, so does the way there: packets that keep their order all wait for the
        // latest, as in a queue.
        let swings = base - measured.least[0].min(measured.least[1]) > WAY_BACK * least;
        let full = least > own.max(JITTERS * measured.recent_jitter) && !swings;
        let lost = round.lost > 0.0 && measured.peak > measured.certain_queue();
        let round_trip = Duration::from_secs_f64(round.mean_rtt());
        self.contest.on_round(now, (full, lost), self.cap / self.packet_bytes, round_trip);
    }

    /// The rate at which a contested link would carry its window, in bytes per second; 0 for others.
    pub(in crate::link_model) fn contested_rate(&self) -> f64 {
        let window = self.contest.window() * self.packet_bytes;
        let round_trip =
            self.measured().map_or(0.0, |measured| measured.base().unwrap_or(0.0) + measured.queueing);
        if round_trip > 0.0 { window / round_trip } else { 0.0 }
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
