//! Beyond the paper: what a link can carry, learned from what it delivers.
//!
//! In the manner of BBR (draft-ietf-ccwg-bbr): the rate is the largest delivery rate over the last rounds (a round
//! lasts from sending a packet to hearing of it), the propagation time is the shortest round trip of the last
//! seconds, and what may be in flight is a little more than their product. A link starts with a few packets and
//! doubles per round trip until its rate stops growing. All bytes are bytes of TCP sequence space, so rates are rates
//! of useful data.
mod cap;
mod contest;
mod estimates;
mod loss;
mod measured;
mod overload;
mod queue_sign;
mod round;
mod windowed_max;

use contest::Contest;
pub(crate) use estimates::MAX_IDLE;
use measured::Measured;
use overload::Overload;
use prismux_units::{Duration, Instant, Rate};
use queue_sign::QueueSign;
use round::Round;
use windowed_max::WindowedMax;

/// In flight at most this times rate x shortest RTT, and what [`CAP_EXTRA_PACKETS`] and [`CAP_EXTRA_TIME`] add.
const CAP_GAIN: f64 = 1.1;
/// In one round of [`PROBE_ROUNDS`] this takes the place of [`CAP_GAIN`], to find out whether the link got faster.
const PROBE_GAIN: f64 = 1.3;
/// See [`PROBE_GAIN`].
const PROBE_ROUNDS: u32 = 12;
/// The cap is this many packets larger, for links whose product is less than a packet.
const CAP_EXTRA_PACKETS: f64 = 3.0;
/// The cap is larger by what passes in this time, in seconds, for ACKs that come in clumps.
const CAP_EXTRA_TIME: f64 = 0.004;
/// Gain of the average behind the jitter, per round.
const JITTER_GAIN: f64 = 0.25;
/// Size of a packet assumed before the first is sent.
const INITIAL_PACKET_BYTES: f64 = 1448.0;
/// First cap, in packets.
const INITIAL_CAP_PACKETS: f64 = 10.0;
/// A round that delivers this much more than the best before it means the link is not full yet.
const STARTUP_GROWTH: f64 = 1.25;
/// A round that delivers less than this share of the cap was short of supply and says nothing about the link.
const FULL_ROUND: f64 = 0.8;
/// A round in which less than this share of the cap was in flight at some time was short of supply too.
const STARVED: f64 = 0.35;
/// Without growth of the rate the round trips tell whether the link is full: their mean is above the shortest by this.
const QUEUE_SIGN: f64 = 1.08;
/// Growth within a round, after the startup, that begins another.
const RESTART_GROWTH: f64 = 1.12;
/// Rounds without such growth that end the startup.
const STARTUP_PATIENCE: u8 = 3;
/// Gain of the average behind the loss ratio, per packet.
const LOSS_GAIN: f64 = 1.0 / 1024.0;
/// An answered probe leaves this share of the loss ratio.
const PROBE_LOSS_SHARE: f64 = 0.9;
/// A full round with less than this share of the learned rate is one of a link that has become slower.
const SLOWER: f64 = 0.75;
/// Rounds over which the largest rate counts.
const RATE_WINDOW_ROUNDS: u32 = 14;
/// Rounds over which the shortest RTT counts. Short, because on links with jitter the shortest RTT of a loaded link
/// is well above that of an idle one; the rounds at `DRAIN_GAIN` keep a standing queue from passing for
/// propagation.
const RTT_WINDOW_ROUNDS: u32 = 14;
/// The shortest RTT counts at least for this time.
const RTT_WINDOW: Duration = Duration::from_secs(1);
/// Kernels delay ACKs by no more than this.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// A round-trip time and when it was measured.
#[derive(Debug, Clone, Copy)]
struct RttSample {
    rtt: Duration,
    at: Instant,
    round: u32,
}

/// Learned properties of one link.
#[derive(Debug, Clone)]
pub struct LinkModel {
    first_guess: Option<Rate>,
    learning: bool,
    /// No other link is in use.
    alone: bool,
    rate: WindowedMax,
    rounds: u32,
    /// The shortest round trip of the last rounds, and a younger candidate to follow it.
    min_rtt: Option<RttSample>,
    next_min_rtt: Option<RttSample>,
    startup: bool,
    best_startup_rate: f64,
    rounds_without_growth: u8,
    queue_sign: QueueSign,
    cap: f64,
    overload: Overload,
    contest: Contest,
    /// The last round showed that the link has become slower: until the rate is forgotten, round trips are those of a
    /// queue.
    slower: bool,
    /// By how much round trips exceed the shortest of their round, in the mean; seconds.
    jitter: f64,
    packet_bytes: f64,
    delivered: u64,
    /// When the last of them was heard of.
    delivered_at: Instant,
    round: Option<Round>,
    /// The cap stood in the way in the round before.
    was_limited: bool,
    free_at: Instant,
    /// When it will have sent the last copy.
    copies_end: Instant,
    loss: f64,
    /// The share of packets lost when something last arrived.
    heard_loss: f64,
    /// What receipts say, while they come.
    measured: Option<Measured>,
}

impl LinkModel {
    /// A link of which only the advertised rate is known.
    pub fn new(advertised_rate: Option<Rate>) -> Self {
        Self {
            first_guess: advertised_rate,
            learning: false,
            alone: false,
            rate: WindowedMax::default(),
            rounds: 0,
            min_rtt: None,
            next_min_rtt: None,
            startup: true,
            best_startup_rate: 0.0,
            rounds_without_growth: 0,
            queue_sign: QueueSign::default(),
            cap: INITIAL_CAP_PACKETS * INITIAL_PACKET_BYTES,
            overload: Overload::default(),
            contest: Contest::default(),
            slower: false,
            jitter: 0.0,
            packet_bytes: INITIAL_PACKET_BYTES,
            delivered: 0,
            delivered_at: Instant::ZERO,
            round: None,
            was_limited: false,
            free_at: Instant::ZERO,
            copies_end: Instant::ZERO,
            loss: 0.0,
            heard_loss: 0.0,
            measured: None,
        }
    }

    /// Turns learning on: caps become finite.
    pub fn learn(&mut self) {
        self.learning = true;
    }

    /// Whether no other link is in use.
    pub(crate) fn set_alone(&mut self, alone: bool) {
        self.alone = alone;
    }

    /// A copy of so many bytes went out, which is not counted as under way.
    pub(crate) fn on_copy(&mut self, now: Instant, bytes: u32) {
        self.occupy(now, bytes);
        self.copies_end = self.free_at;
    }

    fn occupy(&mut self, now: Instant, bytes: u32) {
        if let Some(rate) = self.planning_rate().map(|rate| rate * self.pace_gain()) {
            self.free_at = self.free_at.max(now) + Duration::from_secs_f64(f64::from(bytes) / rate);
        }
    }

    /// Packet number `index` of the link went out; `in_flight` includes it.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u32, index: u32, in_flight: u64) {
        self.occupy(now, bytes);
        if !self.learning {
            return;
        }
        self.doubt_receipts(now);
        if f64::from(bytes) > self.packet_bytes * 0.9 || self.delivered == 0 {
            self.packet_bytes = f64::from(bytes).clamp(200.0, 9000.0);
        }
        let limited =
            in_flight as f64 + 4.0 * self.packet_bytes > self.cap || in_flight as f64 > 0.85 * self.cap;
        if in_flight == u64::from(bytes) || self.round.is_none() {
            // The link was idle: what it did before says nothing about the round that begins.
            self.delivered_at = now;
            self.round = Some(Round::new(index, now, self.cap, self.delivered, in_flight));
        }
        if let Some(round) = &mut self.round {
            round.limited |= limited;
            round.on_in_flight(in_flight);
            round.on_sent(now, index, self.delivered, self.delivered_at);
        }
    }

    /// The packet with this index arrived, `rtt` after it was sent (`None` where that is ambiguous); `in_flight` are
    /// left, and the next packet of the link will have number `next_index`.
    pub(crate) fn on_delivered(
        &mut self,
        now: Instant,
        bytes: u32,
        (index, next_index): (u32, u32),
        rtt: Option<Duration>,
        in_flight: u64,
    ) {
        self.delivered += u64::from(bytes);
        self.loss *= 1.0 - LOSS_GAIN;
        self.heard_loss = self.loss;
        if !self.learning {
            return;
        }
        if let Some(rtt) = rtt.filter(|rtt| !self.may_be_held(*rtt, bytes)) {
            self.on_rtt(now, rtt);
            if let Some(round) = &mut self.round {
                round.on_rtt(rtt);
            }
            if let Some(measured) = &mut self.measured {
                measured.on_rtt(now, rtt);
            }
            if self.measured().is_none() {
                self.end_startup_on_queue(now, rtt);
            }
        }
        if let Some(round) = &mut self.round {
            round.starved |= (in_flight as f64) < STARVED * self.cap.min(round.cap);
            if self.startup && (round.limited || self.was_limited) {
                self.cap += f64::from(bytes);
            }
        }
        if let Some(round) = self.round.filter(|round| index.wrapping_sub(round.index) as i32 >= 0) {
            self.was_limited = round.limited;
            // Some round is open at all times: senders come in bursts, and a burst's deliveries must not fall between
            // two rounds.
            let first_sent = round.marker_sent(now);
            self.round = Some(Round::new(next_index, first_sent, self.cap, self.delivered, in_flight));
            self.end_round(now, &round);
        }
        self.delivered_at = now;
        self.set_cap();
    }

    /// True when the ACK of a packet of `bytes` that was alone on the link may have been delayed by the receiver, which
    /// waits for a second packet (RFC 9293 section 3.8.6.3): its round trip says too much.
    fn may_be_held(&self, rtt: Duration, bytes: u32) -> bool {
        let is_alone = self.round.is_some_and(|round| round.peak_in_flight() <= u64::from(bytes));
        is_alone && self.min_rtt().is_some_and(|least| rtt > least && rtt <= least + MAX_ACK_DELAY)
    }

    /// A packet arrived that this link may have delivered. That is no measure of its rate; but while only such
    /// packets are under way, a link in its startup would else be given no more for ever.
    pub(crate) fn on_uncertain(&mut self, bytes: u32) {
        if self.learning && self.startup && self.round.is_some_and(|round| round.limited) {
            self.cap += f64::from(bytes);
        }
    }

    /// A probe was answered.
    pub(crate) fn on_probe(&mut self, now: Instant, rtt: Duration) {
        self.loss *= PROBE_LOSS_SHARE;
        self.heard_loss = self.loss;
        self.on_rtt(now, rtt);
        if let Some(measured) = &mut self.measured {
            measured.on_rtt(now, rtt);
        }
    }

    fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        let sample = RttSample { rtt, at: now, round: self.rounds };
        let old = |sample: &RttSample, share: u32| {
            self.rounds.wrapping_sub(sample.round) > RTT_WINDOW_ROUNDS / share
                && now.saturating_since(sample.at) > RTT_WINDOW / u64::from(share)
        };
        match self.min_rtt {
            Some(least) if rtt > least.rtt && (self.slower || !old(&least, 1)) => {
                if self.next_min_rtt.is_none_or(|next| rtt <= next.rtt || old(&next, 2)) {
                    self.next_min_rtt = Some(sample);
                }
            }
            Some(least) if rtt > least.rtt => {
                self.min_rtt = self.next_min_rtt.take().filter(|next| !old(next, 1)).or(Some(sample));
            }
            _ => (self.min_rtt, self.next_min_rtt) = (Some(sample), None),
        }
    }

    /// A queue has built up: for a while every round trip has been well above the shortest.
    fn end_startup_on_queue(&mut self, now: Instant, rtt: Duration) {
        let (Some(shortest), true) = (self.min_rtt(), self.startup) else { return };
        let packet = self.planning_rate().map_or(0.0, |rate| self.packet_bytes / rate);
        if rtt.as_secs_f64() <= QueueSign::longest(shortest, packet) {
            self.queue_sign = QueueSign::default();
            return;
        }
        let seen = self.queue_sign.note(now, self.delivered);
        let (Some(rate), before) = (seen, self.rate.get()) else { return };
        if before > 0.0 {
            self.startup = false;
            // No link carries more in a round trip than was in flight on it.
            let in_flight = self.round.map_or(0, |round| round.peak_in_flight()) as f64;
            self.rate
                .update(self.rounds, rate.min(in_flight.max(self.cap) / shortest.as_secs_f64()).max(before));
        }
    }

    fn end_round(&mut self, now: Instant, round: &Round) {
        if let Some(jitter) = round.jitter() {
            self.jitter += (jitter - self.jitter) * JITTER_GAIN;
        }
        if self.measured().is_some() {
            return self.end_measured_round(now, round);
        }
        let shortest = self.min_rtt().unwrap_or(Duration::ZERO);
        let Some(rate) = round.rate(now, self.delivered, shortest) else { return };
        let (bytes, before) = ((self.delivered - round.delivered) as f64, self.rate.get());
        let full = round.limited && !round.starved && bytes > FULL_ROUND * round.cap;
        self.slower = full && rate < SLOWER * before;
        self.rounds = self.rounds.wrapping_add(1);
        if full || rate >= before {
            self.rate.update(self.rounds, rate);
        }
        if !self.startup && full && rate > RESTART_GROWTH * before {
            // The link carries clearly more than it was given: find out how much, quickly.
            self.startup = true;
            self.best_startup_rate = rate;
            self.rounds_without_growth = 0;
            self.queue_sign = QueueSign::default();
            return;
        }
        self.overload.recover(now);
        if self.startup && full {
            self.judge_growth(rate, round.mean_rtt());
        }
    }

    /// Startup ends when more in flight brings no more rate. Where it did not raise the round trip either, there was
    /// just no more to send.
    fn judge_growth(&mut self, rate: f64, mean_rtt: f64) {
        let least = self.min_rtt().map_or(f64::MAX, |least| least.as_secs_f64());
        if rate > self.best_startup_rate * STARTUP_GROWTH {
            self.best_startup_rate = rate;
            self.rounds_without_growth = 0;
        } else if mean_rtt > QUEUE_SIGN * least + self.packet_bytes / rate {
            self.rounds_without_growth += 1;
            self.startup = self.rounds_without_growth < STARTUP_PATIENCE;
        }
    }
}

#[cfg(test)]
mod tests;
