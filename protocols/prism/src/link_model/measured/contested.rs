//! Whether others fill the queue of a link that returns receipts, and what it is given then.
use super::{CAP_GAIN, JITTERS, LinkModel, OWN_QUEUES};
use crate::link_model::round::Round;
use prismux_units::{Duration, Instant};

/// Round trips without the queue that exceed the shortest by this share of the queue make it doubtful.
const WAY_BACK: f64 = 0.5;
/// A link that has this share of what it carries in a round trip under way is used as far as it is known.
const PACED: f64 = 0.85;

impl LinkModel {
    /// Others' senders leave no more of a link than is taken.
    pub(super) fn contend(&mut self, now: Instant, round: &Round) {
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
}
