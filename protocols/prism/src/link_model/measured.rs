//! What receipts say of a link, in the terms of its model.
//!
//! A link whose far end returns receipts ([`prismux_receipts`]) need not be guessed at: its rate is what came while its
//! queue was never empty, and a late ACK is no queue. What remains to be found out by trying is whether it would carry
//! more than it is given (`search`).
mod contested;
mod promptness;
mod search;
mod swing;

use super::windowed_max::WindowedMax;
use super::{CAP_GAIN, LinkModel, PROBE_ROUNDS};
use prismux_receipts::LinkEstimate;
use prismux_units::{Duration, Instant, Rate};

/// Bytes of an IPv4 header, and of a TCP header with timestamps: what a packet has beside its data inside the
/// tunnel.
const INNER_HEADER_BYTES: u32 = 20 + 32;
/// Receipts are believed for so long, and for [`FRESH_ROUND_TRIPS`] of the link.
const FRESH: Duration = Duration::from_millis(300);
/// See [`FRESH`].
const FRESH_ROUND_TRIPS: u64 = 3;
/// The average of round trips without a queue is that of so many of them.
const BASE_ROUND_TRIPS: f64 = 4.0;
/// And of so much time, in seconds.
const MIN_BASE_TIME: f64 = 0.1;
/// The round trip without a queue is at most this times the shortest one,
const MAX_BASE: f64 = 1.5;
/// of one to two such spans,
const LEAST_SPAN: Duration = Duration::from_secs(15);
/// and this much more, in seconds.
const MAX_BASE_EXTRA: f64 = 0.05;
/// Jitter is the most of late, and half of it counts after this time: where packets follow one another closely each
/// waits for the slowest before it, all take about as long, and none shows what the next lone one may take. No longer:
/// the queue of others looks like jitter too, and what is theirs would be taken from them.
const JITTER_HALF_LIFE: f64 = 5.0;
/// Others' queue swings like jitter when their senders begin, and then stays.
const RECENT_HALF_LIFE: f64 = 1.0;
/// A queue of this share of the round trip, or of [`MIN_QUEUE`], and of [`JITTERS`] times the jitter, is one for
/// certain.
const QUEUE_SHARE: f64 = 0.15;
/// See [`QUEUE_SHARE`]; seconds.
const MIN_QUEUE: f64 = 0.004;
/// See [`QUEUE_SHARE`].
const JITTERS: f64 = 3.0;
/// A link whose rate swings holds up to so much time of what it carries more, in seconds.
const MAX_SWING_TIME: f64 = 0.1;
/// The same where the link is the only one in use, and its queue holds up no other.
const MAX_SWING_TIME_ALONE: f64 = 0.6;
/// A link that delivers less than this share of what it is given is full.
const SATURATED: f64 = 0.85;
/// Rates that differ by less than this share are those of a link that sends without a pause; no jitter is so even.
const STEADY: f64 = 0.1;
/// A link that delivers this times what it is known to carry has become faster.
const FASTER: f64 = 1.12;
/// So many intervals in a row must show it where one could be jitter.
const PATIENCE: u8 = 2;
/// A link whose queue has overflowed is not searched for more for so long.
const OVERFLOW_REST: Duration = Duration::from_secs(1);
/// In flight is so many times the jitter more, where the round trip is not short beside it.
const JITTER_GAIN: f64 = 2.0;
/// At most this multiple of the product is added for jitter.
const MAX_JITTER_GAIN: f64 = 0.3;
/// A link that was full beyond doubt is taken for full for so many round trips.
const FULL_ROUND_TRIPS: f64 = 2.0;
/// The queue that never empties is that of so long.
const FLOOR_WINDOW: Duration = Duration::from_secs(1);
/// And of so many rounds.
const FLOOR_ROUNDS: u32 = PROBE_ROUNDS + 2;
/// A queue shorter than this share of the round trip, or than [`MIN_TARGET`], shows that the link would carry more.
const TARGET_SHARE: f64 = 0.05;
/// See [`TARGET_SHARE`]; seconds.
const MIN_TARGET: f64 = 0.002;
/// A queue that is so many times as long as ours is meant to be may be that of others.
const OWN_QUEUES: f64 = 1.5;
/// Jitter hides queues of this many times the one that would be a sign without it.
const HIDDEN_QUEUES: f64 = 2.0;
/// Jitter of this many times the queue that would be a sign without it is more than the bursts of a startup look like.
const MUCH_JITTER: f64 = 1.4;
/// The link by its receipts; rates in bytes of useful data per second, times in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// When the latest receipt came.
    at: Instant,
    /// Receipts still come.
    is_fresh: bool,
    /// What the link carries, as far as is known.
    capacity: f64,
    /// What came of late.
    delivery: f64,
    /// Its queue was never empty of late.
    is_busy: bool,
    /// The queue that no packet of late escaped.
    queueing: f64,
    /// Most packets come within this after the quickest around them; see [`JITTER_HALF_LIFE`].
    jitter: f64,
    /// The same, of which half counts after [`RECENT_HALF_LIFE`].
    recent_jitter: f64,
    /// The shortest round trip of receipts, which may come back another way than ACKs.
    own_rtt: f64,
    /// The shortest round trip of this span and of the one before, and when this one began.
    least: [f64; 2],
    least_since: Instant,
    /// Round trips as ACKs show them, less the queue; `None` before the first.
    base: Option<(Instant, f64)>,
    /// The link is full beyond doubt until then.
    full_until: Instant,
    /// It was, when the latest receipt came.
    is_full: bool,
    /// The shortest queue of this span and of the one before.
    floor: [f64; 2],
    /// When this span began, and in which round.
    floor_since: (Instant, u32),
    /// The longest queue in the present round, and the shortest.
    peak: f64,
    least_queue: f64,
    /// The queue was never empty for some time in the present round.
    was_busy: bool,
    /// The least that came in one of the last intervals.
    recent: [f64; 3],
    /// The most of late that came in three intervals in a row.
    best: WindowedMax,
    /// How fast that was sent.
    offered: f64,
    /// What a burst has shown of it; 0 while there is none.
    burst_rate: f64,
    /// How many intervals had been measured.
    intervals: u64,
    /// Intervals in a row that told of more than the link is known to carry, and of less than it was given.
    faster: u8,
    saturated: u8,
    /// Intervals in a row in which a burst took longer to come than to be sent, for certain.
    stretched: u8,
    /// Rounds without a queue, one after the other.
    empty_rounds: usize,
}

impl Measured {
    fn new(now: Instant) -> Self {
        Self {
            at: now,
            is_fresh: true,
            capacity: 0.0,
            delivery: 0.0,
            is_busy: false,
            queueing: 0.0,
            jitter: 0.0,
            recent_jitter: 0.0,
            own_rtt: f64::MAX,
            least: [f64::MAX; 2],
            least_since: now,
            base: None,
            full_until: now,
            is_full: false,
            floor: [f64::MAX; 2],
            floor_since: (now, 0),
            peak: 0.0,
            least_queue: 0.0,
            was_busy: false,
            recent: [0.0; 3],
            best: WindowedMax::default(),
            offered: 0.0,
            burst_rate: 0.0,
            intervals: 0,
            faster: 0,
            saturated: 0,
            stretched: 0,
            empty_rounds: 0,
        }
    }

    /// A receipt; `useful` is the share of the link's bytes that is useful data.
    fn update(&mut self, now: Instant, rounds: u32, estimate: &LinkEstimate, useful: f64) {
        let rate = |rate: Option<Rate>| rate.map_or(0.0, |rate| rate.as_bps() as f64 / 8.0 * useful);
        let elapsed = now.saturating_since(self.at).as_secs_f64();
        let jitter = estimate.jitter_p95.unwrap_or_default().as_secs_f64();
        self.jitter = jitter.max(libm::exp2(-elapsed / JITTER_HALF_LIFE) * self.jitter);
        self.recent_jitter = jitter.max(libm::exp2(-elapsed / RECENT_HALF_LIFE) * self.recent_jitter);
        (self.at, self.is_fresh) = (now, true);
        self.delivery = rate(estimate.delivery_rate);
        self.offered = rate(estimate.offered_rate);
        self.is_busy = estimate.is_busy;
        self.burst_rate = rate(estimate.burst_rate);
        self.own_rtt = estimate.min_rtt.map_or(f64::MAX, Duration::as_secs_f64);
        self.queueing = estimate.queueing_delay.unwrap_or_default().as_secs_f64();
        if self.intervals != estimate.intervals {
            self.intervals = estimate.intervals;
            self.recent = [self.delivery, self.recent[0], self.recent[1]];
            let faster = self.delivery > FASTER * self.capacity;
            self.faster = if faster { self.faster.saturating_add(1) } else { 0 };
            let saturated = self.is_busy && self.delivery < SATURATED * self.offered;
            self.saturated = if saturated { self.saturated.saturating_add(1) } else { 0 };
            let steady = (self.delivery - self.recent[1]).abs() < STEADY * self.delivery;
            let stretched = steady
                && self.delivery < SATURATED * self.offered
                && estimate.queue_growth.as_secs_f64() > self.certain_queue();
            self.stretched = if stretched { self.stretched.saturating_add(1) } else { 0 };
        }
        let base = self.base().unwrap_or(0.0);
        let patience = if self.jitter > MIN_TARGET { PATIENCE } else { 1 };
        if self.saturated >= patience || self.queueing > self.certain_queue() {
            self.full_until = now + Duration::from_secs_f64(FULL_ROUND_TRIPS * (base + self.queueing));
        }
        // What comes is what the link carries only where it has more to carry; delay alone may be jitter.
        let [a, b, c] = self.recent;
        let (least, median) = (a.min(b).min(c), a.min(b).max(a.max(b).min(c)));
        self.is_full = now <= self.full_until;
        self.capacity = match estimate.busy_rate.filter(|_| self.is_full) {
            Some(_) => rate(estimate.busy_rate).max(median),
            None => self.capacity.max(rate(estimate.capacity)).max(least),
        };
        self.best.update(rounds, least);
        self.floor[0] = self.floor[0].min(self.queueing);
        self.peak = self.peak.max(self.queueing);
        self.least_queue = self.least_queue.min(self.queueing);
        self.was_busy |= self.is_busy;
    }

    /// A round trip by ACKs.
    pub(super) fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        // A packet that was stuck came with a queue that no receipt has told of yet.
        let rtt = rtt.as_secs_f64();
        if now.saturating_since(self.least_since) > LEAST_SPAN {
            (self.least, self.least_since) = ([f64::MAX, self.least[0]], now);
        }
        self.least[0] = self.least[0].min(rtt);
        let most = MAX_BASE * self.least[0].min(self.least[1]) + MAX_BASE_EXTRA;
        let sample = (rtt - self.queueing).clamp(0.0, most);
        let (before, mean) = self.base.unwrap_or((now, sample));
        let elapsed = now.saturating_since(before).as_secs_f64();
        let span = (BASE_ROUND_TRIPS * mean).max(MIN_BASE_TIME);
        self.base = Some((now, mean + (sample - mean) * elapsed / (elapsed + span)));
    }

    /// The mean round trip without a queue.
    fn base(&self) -> Option<f64> {
        self.base.map(|(_, mean)| mean)
    }

    /// The mean round trip now, with the queue; 0 before the first.
    fn round_trip(&self) -> f64 {
        self.base().map_or(0.0, |base| base + self.queueing)
    }

    /// The mean round trip when the link is just full: a queue that never empties is another's, or jitter. `swing`: how
    /// many times what it carries now may be asked of it.
    fn loaded_rtt(&self, swing: f64, alone: bool) -> Option<f64> {
        let base = self.base()?;
        let floor = self.floor().min(base.max(JITTERS * self.jitter));
        let most = if alone { MAX_SWING_TIME_ALONE } else { MAX_SWING_TIME };
        Some(base + floor + ((swing - 1.0) * base).min(most))
    }

    /// The queue that never emptied of late, in seconds.
    fn floor(&self) -> f64 {
        let floor = self.floor[0].min(self.floor[1]);
        if floor < f64::MAX { floor } else { 0.0 }
    }

    /// What jitter adds to the multiple of the product that is in flight: less, and a link that carries more than is
    /// known would never show it.
    fn jitter_gain(&self) -> f64 {
        self.base()
            .filter(|&base| base > 0.0)
            .map_or(0.0, |base| (JITTER_GAIN * self.jitter / base).min(MAX_JITTER_GAIN))
    }

    /// A delay above the least that is a queue where there is no jitter. What ACKs take on another link's way back
    /// makes no queue longer.
    fn queue(&self) -> f64 {
        (QUEUE_SHARE * self.base().unwrap_or(0.0).min(self.own_rtt)).max(MIN_QUEUE)
    }

    /// A delay above the least that no jitter makes.
    fn certain_queue(&self) -> f64 {
        self.queue() + JITTERS * self.jitter
    }

    /// Jitter hides queues.
    fn is_jittery(&self) -> bool {
        JITTERS * self.jitter > HIDDEN_QUEUES * self.queue()
    }

    /// Jitter hides queues for certain: more than bursts of a startup leave behind.
    fn hides_queues(&self) -> bool {
        self.jitter > MUCH_JITTER * self.queue()
    }

    /// A delay above the least that is none to speak of.
    fn target(&self) -> f64 {
        (TARGET_SHARE * self.base().unwrap_or(0.0).min(self.own_rtt)).max(MIN_TARGET)
    }

    fn forget_old_floor(&mut self, now: Instant, round: u32) {
        let (since, first_round) = self.floor_since;
        let is_old =
            now.saturating_since(since) > FLOOR_WINDOW && round.wrapping_sub(first_round) > FLOOR_ROUNDS;
        if is_old {
            self.floor = [f64::MAX, self.floor[0]];
            self.floor_since = (now, round);
        }
    }
}

impl LinkModel {
    /// A receipt came. The tunnel adds `tunnel_bytes` to a packet.
    pub(crate) fn on_estimate(&mut self, now: Instant, estimate: &LinkEstimate, tunnel_bytes: u32) {
        if !self.learning {
            return;
        }
        let useful = self.packet_bytes / (self.packet_bytes + f64::from(tunnel_bytes + INNER_HEADER_BYTES));
        let rounds = self.rounds;
        self.measured.get_or_insert_with(|| Measured::new(now)).update(now, rounds, estimate, useful);
        self.end_startup_when_busy();
        self.set_cap();
    }

    /// Where receipts cease to come, what they said last is where the guess from ACKs begins.
    pub(super) fn doubt_receipts(&mut self, now: Instant) {
        let Some(measured) = self.measured.as_mut().filter(|measured| measured.is_fresh) else { return };
        let round_trips = Duration::from_secs_f64(measured.base().unwrap_or(0.0)) * FRESH_ROUND_TRIPS;
        measured.is_fresh = now.saturating_since(measured.at) <= FRESH.max(round_trips);
        if !measured.is_fresh && measured.capacity > 0.0 {
            let rate = measured.capacity;
            self.rate.update(self.rounds, rate);
        }
    }

    /// What receipts say, while they come.
    pub(super) fn measured(&self) -> Option<&Measured> {
        self.measured.as_ref().filter(|measured| measured.is_fresh)
    }

    /// Its far end has returned receipts.
    pub(crate) fn has_receipts(&self) -> bool {
        self.measured.is_some()
    }

    /// Receipts come: what is lost is known, not guessed.
    pub(crate) fn is_measured(&self) -> bool {
        self.measured().is_some()
    }

    /// The learned rate, bytes per second; 0 while nothing is known.
    pub(super) fn learned(&self) -> f64 {
        self.measured()
            .map(|measured| measured.capacity)
            .filter(|&rate| rate > 0.0)
            .unwrap_or_else(|| self.rate.get())
    }

    /// See [`Measured::loaded_rtt`].
    pub(super) fn measured_rtt(&self) -> Option<f64> {
        self.measured()?.loaded_rtt(self.swing(), self.alone)
    }

    /// The mean round trip without a queue, in seconds; 0 while that is not known.
    pub(super) fn idle_rtt(&self) -> f64 {
        self.measured().and_then(Measured::base).unwrap_or(0.0)
    }

    /// The queue never empties, though no more than `extra` seconds of it are meant to be there.
    pub(super) fn queues_for_good(&self, extra: f64) -> bool {
        self.measured().is_some_and(|measured| {
            let own = OWN_QUEUES * ((CAP_GAIN - 1.0) * measured.base().unwrap_or(0.0) + extra);
            measured.floor() > own.max(JITTERS * measured.jitter)
        })
    }

    /// A packet that is lost now was most likely lost to a full queue: of late there was one for certain.
    pub(super) fn has_queue(&self) -> bool {
        self.measured().is_some_and(|measured| measured.peak > measured.certain_queue())
    }

    /// The queue of the link has overflowed: it is full, however short that queue is.
    pub(super) fn note_overflow(&mut self, now: Instant) {
        if let Some(measured) = &mut self.measured {
            measured.full_until = now + OVERFLOW_REST;
            measured.is_full = true;
        }
    }

    /// See [`Measured::jitter_gain`].
    pub(super) fn jitter_gain(&self) -> f64 {
        self.measured().map_or(0.0, Measured::jitter_gain)
    }
}

#[cfg(test)]
mod tests;
