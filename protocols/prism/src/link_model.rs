//! Beyond the paper: what a link can carry, learned from what it delivers.
//!
//! In the manner of BBR (draft-ietf-ccwg-bbr): the rate is the largest delivery rate over the last rounds (a round lasts from sending
//! a packet to hearing of it), the propagation time is the shortest round trip of the last seconds, and what may be in flight is a
//! little more than their product. A link starts with a few packets and doubles per round trip until its rate stops growing.
//! All bytes are bytes of TCP sequence space, so rates are rates of useful data.
mod estimates;
mod windowed_max;

use prismux_units::{ByteCount, Duration, Instant, Rate};
use windowed_max::WindowedMax;

/// In flight at most this times rate x shortest RTT ...
const CAP_GAIN: f64 = 1.1;
/// ... and this times in one round of [`PROBE_ROUNDS`], to find out whether the link got faster.
const PROBE_GAIN: f64 = 1.3;
/// See [`PROBE_GAIN`].
const PROBE_ROUNDS: u32 = 12;
/// ... plus this many packets, for links whose product is less than a packet, ...
const CAP_EXTRA_PACKETS: f64 = 3.0;
/// ... plus what passes in this time, for ACKs that come in clumps.
const CAP_EXTRA_TIME: f64 = 0.004;
/// With this many bandwidth-delay products in flight a loss is an overflow, whatever the round trips say.
const CLEAR_OVERLOAD: f64 = 1.5;
/// An overflow, at most one for each round trip, multiplies the cap by this, ...
const RESTRAINT_FACTOR: f64 = 0.95;
/// ... down to this share at most;
const LEAST_RESTRAINT: f64 = 0.7;
/// a second without any gives back this share.
const RESTRAINT_RECOVERY: f64 = 0.02;
/// Gain of the average behind the jitter, per round.
const JITTER_GAIN: f64 = 0.25;
/// Jitter counts up to this share of the shortest RTT.
const MOST_JITTER: f64 = 0.6;
/// First cap, in packets.
const INITIAL_CAP_PACKETS: f64 = 10.0;
/// A round that delivers this much more than the best before it means the link is not full yet.
const STARTUP_GROWTH: f64 = 1.25;
/// A round that delivers less than this share of the cap was short of supply and says nothing about the link.
const FULL_ROUND: f64 = 0.8;
/// Growth within a round, after the startup, that begins another.
const RESTART_GROWTH: f64 = 1.12;
/// Rounds without such growth that end the startup.
const STARTUP_PATIENCE: u8 = 3;
/// Gain of the average behind the loss ratio, per packet.
const LOSS_GAIN: f64 = 1.0 / 1024.0;
/// So many round trips in a row that show a queue end the startup too.
const QUEUED_SAMPLES: u8 = 8;
/// Rounds over which the largest rate counts.
const RATE_WINDOW_ROUNDS: u32 = 14;
/// Rounds over which the shortest RTT counts. Short, because on links with jitter the shortest RTT of a loaded link is well above that
/// of an idle one; the rounds at [`DRAIN_GAIN`] keep a standing queue from passing for propagation.
const RTT_WINDOW_ROUNDS: u32 = 14;
/// ... and it counts at least for this time.
const RTT_WINDOW: Duration = Duration::from_secs(1);
/// The round after one at [`PROBE_GAIN`]: what queued there drains.
const DRAIN_GAIN: f64 = 0.9;

/// A round-trip time and when it was measured.
#[derive(Debug, Clone, Copy)]
struct RttSample {
    rtt: Duration,
    at: Instant,
    round: u32,
}

/// The open measurement round.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// Ends when a packet of at least this index is delivered.
    index: u32,
    /// Bytes delivered when it began.
    delivered: u64,
    /// The last delivery before it began (or its beginning, when the link was idle).
    since: Instant,
    /// The cap stood in the way of sending more at some time.
    limited: bool,
    /// The cap when it began.
    cap: f64,
    /// Round trips in it: least and sum in seconds, and how many.
    least_rtt: f64,
    rtt_sum: f64,
    rtt_count: u32,
}

/// Learned properties of one link.
#[derive(Debug, Clone)]
pub struct LinkModel {
    first_guess: Option<Rate>,
    learning: bool,
    rate: WindowedMax,
    rounds: u32,
    /// The shortest round trip of the last rounds, and a younger candidate to follow it.
    min_rtt: Option<RttSample>,
    next_min_rtt: Option<RttSample>,
    startup: bool,
    best_startup_rate: f64,
    rounds_without_growth: u8,
    queued_in_a_row: u8,
    cap: f64,
    /// Share of the cap left by congestion, 0.6 to 1.
    restraint: f64,
    /// By how much round trips exceed the shortest of their round, in the mean; seconds.
    jitter: f64,
    restrained: Instant,
    packet_bytes: f64,
    delivered: u64,
    last_delivery: Instant,
    next_index: u32,
    round: Option<Round>,
    free_at: Instant,
    loss: f64,
}

impl LinkModel {
    /// A link of which only the advertised rate is known.
    pub fn new(advertised_rate: Option<Rate>) -> Self {
        Self {
            first_guess: advertised_rate,
            learning: false,
            rate: WindowedMax::default(),
            rounds: 0,
            min_rtt: None,
            next_min_rtt: None,
            startup: true,
            best_startup_rate: 0.0,
            rounds_without_growth: 0,
            queued_in_a_row: 0,
            cap: INITIAL_CAP_PACKETS * 1448.0,
            restraint: 1.0,
            jitter: 0.0,
            restrained: Instant::ZERO,
            packet_bytes: 1448.0,
            delivered: 0,
            last_delivery: Instant::ZERO,
            next_index: 0,
            round: None,
            free_at: Instant::ZERO,
            loss: 0.0,
        }
    }

    /// Turns learning on: caps become finite.
    pub fn learn(&mut self) {
        self.learning = true;
    }

    /// A packet went out; `in_flight` includes it.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u32, in_flight: u64) {
        self.next_index = self.next_index.wrapping_add(1);
        if let Some(rate) = self.planning_rate() {
            self.free_at = self.free_at.max(now) + Duration::from_secs_f64(f64::from(bytes) / rate);
        }
        if !self.learning {
            return;
        }
        if f64::from(bytes) > self.packet_bytes * 0.9 || self.delivered == 0 {
            self.packet_bytes = f64::from(bytes).clamp(200.0, 9000.0);
        }
        if in_flight == u64::from(bytes) {
            self.last_delivery = now;
        }
        let limited =
            in_flight as f64 + 4.0 * self.packet_bytes > self.cap || in_flight as f64 > 0.85 * self.cap;
        match &mut self.round {
            Some(round) => round.limited |= limited,
            None => {
                self.round = Some(Round {
                    index: self.next_index,
                    delivered: self.delivered,
                    since: self.last_delivery,
                    limited,
                    cap: self.cap,
                    least_rtt: f64::MAX,
                    rtt_sum: 0.0,
                    rtt_count: 0,
                });
            }
        }
    }

    /// The packet with this index arrived, `rtt` after it was sent (`None` where that is ambiguous).
    pub(crate) fn on_delivered(&mut self, now: Instant, bytes: u32, index: u32, rtt: Option<Duration>) {
        self.delivered += u64::from(bytes);
        self.loss *= 1.0 - LOSS_GAIN;
        if !self.learning {
            return;
        }
        if let Some(rtt) = rtt {
            self.on_rtt(now, rtt);
            if let Some(round) = &mut self.round {
                let rtt = rtt.as_secs_f64();
                round.least_rtt = round.least_rtt.min(rtt);
                round.rtt_sum += rtt;
                round.rtt_count += 1;
            }
            self.end_startup_on_queue(rtt);
        }
        if self.startup && self.round.is_some_and(|round| round.limited) {
            self.cap += f64::from(bytes);
        }
        if let Some(round) = self.round.filter(|round| index.wrapping_sub(round.index) as i32 >= 0) {
            self.round = None;
            if round.rtt_count > 1 {
                let spread = round.rtt_sum / f64::from(round.rtt_count) - round.least_rtt;
                self.jitter += (spread - self.jitter) * JITTER_GAIN;
            }
            let elapsed = now.saturating_since(round.since).as_secs_f64();
            if elapsed > 0.0 {
                let bytes = (self.delivered - round.delivered) as f64;
                self.on_round(now, bytes, bytes / elapsed, round.limited, round.cap);
            }
        }
        self.last_delivery = now;
        self.set_cap();
    }

    /// A probe was answered.
    pub(crate) fn on_probe(&mut self, now: Instant, rtt: Duration) {
        self.loss *= 0.9;
        self.on_rtt(now, rtt);
    }

    fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        let sample = RttSample { rtt, at: now, round: self.rounds };
        let old = |sample: &RttSample, share: u32| {
            self.rounds.wrapping_sub(sample.round) > RTT_WINDOW_ROUNDS / share
                && now.saturating_since(sample.at) > RTT_WINDOW / u64::from(share)
        };
        match self.min_rtt {
            Some(least) if rtt > least.rtt && !old(&least, 1) => {
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
    fn end_startup_on_queue(&mut self, rtt: Duration) {
        let (Some(least), true) = (self.min_rtt(), self.startup) else { return };
        let packet = self.planning_rate().map_or(0.0, |rate| self.packet_bytes / rate);
        let limit = 1.2 * least.as_secs_f64() + 0.003 + 2.0 * packet;
        self.queued_in_a_row = if rtt.as_secs_f64() > limit { self.queued_in_a_row + 1 } else { 0 };
        if self.queued_in_a_row >= QUEUED_SAMPLES && self.rate.get() > 0.0 {
            self.startup = false;
        }
    }

    fn on_round(&mut self, now: Instant, bytes: f64, rate: f64, limited: bool, cap: f64) {
        self.rounds = self.rounds.wrapping_add(1);
        let limited = limited && bytes > FULL_ROUND * cap;
        let before = self.rate.get();
        if limited || rate >= before {
            self.rate.update(self.rounds, rate);
        }
        if !self.startup && limited && rate > RESTART_GROWTH * before {
            // The link carries clearly more than it was given: find out how much, quickly.
            self.startup = true;
            self.best_startup_rate = rate;
            self.rounds_without_growth = 0;
            self.queued_in_a_row = 0;
            return;
        }
        self.recover(now);
        if !self.startup || !limited {
            return;
        }
        if rate > self.best_startup_rate * STARTUP_GROWTH {
            self.best_startup_rate = rate;
            self.rounds_without_growth = 0;
        } else {
            self.rounds_without_growth += 1;
            if self.rounds_without_growth >= STARTUP_PATIENCE {
                self.startup = false;
            }
        }
    }

    /// A packet was lost. Says whether it looks like an overflowing queue rather than noise.
    pub(crate) fn on_lost(&mut self, now: Instant, in_flight: u64, last_rtt: Option<Duration>) -> bool {
        if !self.learning {
            self.loss += (1.0 - self.loss) * LOSS_GAIN;
            return false;
        }
        let (Some(least), Some(rtt)) = (self.min_rtt(), last_rtt) else { return false };
        let rate = self.rate.get();
        let product = rate * least.as_secs_f64();
        let queued = rtt.as_secs_f64() > 1.15 * least.as_secs_f64() + self.packet_bytes / rate.max(1.0);
        let load = in_flight as f64 / product.max(1.0);
        let congested = rate > 0.0 && (queued && load > 1.05 || load > CLEAR_OVERLOAD);
        if congested {
            if self.startup {
                self.startup = false;
            } else if now.saturating_since(self.restrained) > least {
                self.restraint = (self.restraint * RESTRAINT_FACTOR).max(LEAST_RESTRAINT);
                self.restrained = now;
            }
            self.set_cap();
        } else if !self.startup {
            // Overflow says nothing about the channel.
            self.loss += (1.0 - self.loss) * LOSS_GAIN;
        }
        congested
    }

    /// The shortest round trip and what jitter adds to it, in seconds: a link whose packets are delayed at random is only full with
    /// the delayed ones in flight too.
    fn loaded_rtt(&self, shortest: Duration) -> f64 {
        let shortest = shortest.as_secs_f64();
        shortest + self.jitter.min(MOST_JITTER * shortest)
    }

    /// Congestion seen long ago is forgiven slowly.
    fn recover(&mut self, now: Instant) {
        let calm = now.saturating_since(self.restrained).as_secs_f64();
        if self.restraint < 1.0 && calm > 1.0 {
            self.restraint = (self.restraint + RESTRAINT_RECOVERY).min(1.0);
            self.restrained = now;
        }
    }

    fn set_cap(&mut self) {
        let (Some(rtt), false) = (self.min_rtt(), self.startup) else { return };
        let rate = self.rate.get();
        let product = rate * self.loaded_rtt(rtt);
        let extra = CAP_EXTRA_PACKETS * self.packet_bytes + CAP_EXTRA_TIME * rate;
        let cap = match self.rounds % PROBE_ROUNDS {
            0 => PROBE_GAIN * product + extra,
            1 => DRAIN_GAIN * product + self.packet_bytes,
            _ => CAP_GAIN * product + extra,
        };
        self.cap = self.restraint * cap;
    }

    /// The learned bandwidth-delay product.
    pub fn product(&self) -> Option<ByteCount> {
        let rtt = self.min_rtt()?;
        Some(ByteCount::new((self.rate.get() * rtt.as_secs_f64()) as u64))
    }
}
