//! Whether others fill the queue of a link that returns receipts, and what it is given then.
use super::{CAP_GAIN, JITTERS, LinkModel, Measured, OWN_QUEUES};
use crate::link_model::contest::Shown;
use crate::link_model::round::Round;
use prismux_units::{Duration, Instant};

/// Round trips without the queue that exceed the shortest by this share of the queue make it doubtful.
const WAY_BACK: f64 = 0.5;
/// A link that has this share of what it carries in a round trip under way is used as far as it is known.
const PACED: f64 = 0.85;

impl LinkModel {
    /// Others' senders leave no more of a link than is taken.
    pub(super) fn contend(&mut self, now: Instant, round: &Round) {
        let (rate, extra) = (self.learned(), self.cap_extra());
        let Some(measured) = &mut self.measured else { return };
        let least = core::mem::replace(&mut measured.least_queue, measured.queueing);
        let Some(base) = measured.base().filter(|base| *base > 0.0 && rate > 0.0) else { return };
        let round_trip = measured.round_trip();
        // Where the pace stands in the way, and not the cap, no more is under way than the pace brings.
        let is_paced = round.peak_in_flight() as f64 > PACED * rate * round_trip;
        let used = round.limited && !round.starved || is_paced;
        if self.startup || !(used || self.contest.is_on()) {
            return;
        }
        let own = OWN_QUEUES * ((CAP_GAIN - 1.0) * base + extra / rate);
        // Where the way back jitters as much, so does the way there: packets that keep their order all wait for the
        // latest, as in a queue.
        let swings = base - measured.least[0].min(measured.least[1]) > WAY_BACK * least;
        let shown = Shown {
            full: least > own.max(JITTERS * measured.recent_jitter) && !swings,
            lost: round.lost > 0.0 && measured.peak > measured.certain_queue(),
            given: self.cap / self.packet_bytes,
            under_way: round.peak_in_flight() as f64 / self.packet_bytes,
            round_trip: Duration::from_secs_f64(round_trip),
        };
        self.contest.on_round(now, shown);
    }

    /// The rate at which a contested link would carry its window, in bytes per second; 0 for others.
    pub(in crate::link_model) fn contested_rate(&self) -> f64 {
        let round_trip = self.measured().map_or(0.0, Measured::round_trip);
        if round_trip > 0.0 { self.contest.window() * self.packet_bytes / round_trip } else { 0.0 }
    }
}
