//! How long packets take, one way: two clocks that nobody has set, and that do not run alike.
//!
//! A packet's delay is its arrival on the far clock less its sending on the near one: right but for a constant, so
//! only differences mean something. The least of the last 40 s is what the way takes without a queue.
use crate::windowed::{Histogram, Windowed};
use alloc::collections::VecDeque;
use prismux_units::{ByteCount, Duration, Instant, Rate};

mod skew;
use skew::Skew;

/// The least delay of so long counts as that of an empty queue.
pub(super) const MIN_WINDOW: Duration = Duration::from_secs(40);
/// Packets on each side of one that its jitter is measured against, at least,
const ASIDE: usize = 8;
/// and time on each side.
const ASIDE_TIME: Duration = Duration::from_millis(20);
/// And nothing that was sent so long before or after.
const MAX_ASIDE: Duration = Duration::from_millis(500);
/// The latest packets that are remembered.
const LATEST: usize = 128;
/// Of packets closer to each other than this, the quickest stands for both.
const SPACING: Duration = Duration::from_micros(500);
/// The queue of late is that of so long.
const MIN_SPAN: Duration = Duration::from_millis(20);
/// A queue is one that is longer than this and than twice the jitter.
const MIN_BUSY: Duration = Duration::from_millis(5);

/// A packet that came.
#[derive(Debug, Clone, Copy)]
struct Passage {
    sent_at: Instant,
    /// Bytes sent before it.
    sent_before: u64,
    /// Nanoseconds, without drift.
    delay: i64,
}

/// One-way delays of a link.
#[derive(Debug)]
pub(super) struct DelayMeter {
    least: Windowed,
    /// The latest last.
    latest: VecDeque<Passage>,
    /// How many of the latest have been judged for jitter.
    judged: usize,
    jitter: Histogram,
    skew: Skew,
}

impl DelayMeter {
    /// Nothing is known.
    pub fn new() -> Self {
        Self {
            least: Windowed::min(MIN_WINDOW),
            latest: VecDeque::with_capacity(LATEST),
            judged: 0,
            jitter: Histogram::new(),
            skew: Skew::default(),
        }
    }

    /// A packet sent at `sent_at`, after `sent_before` bytes, took `delay` (nanoseconds, but for the constant) over a
    /// link that is known to carry `rate`. Returns that delay without drift, and what of it is above the least.
    pub fn forward(
        &mut self,
        now: Instant,
        (sent_at, sent_before): (Instant, u64),
        delay: i64,
        rate: Option<Rate>,
    ) -> (i64, Duration) {
        self.skew.forward(now, delay);
        let delay = delay - self.skew.correction();
        self.least.add(now, delay);
        self.note((sent_at, sent_before), delay, rate);
        (delay, nanos(delay - self.least.get(now).unwrap_or(delay)))
    }

    /// Remembers a packet, and judges how much longer than others those before it took.
    fn note(&mut self, (sent_at, sent_before): (Instant, u64), delay: i64, rate: Option<Rate>) {
        if let Some(last) = self.latest.back_mut()
            && sent_at.saturating_since(last.sent_at) < SPACING
            && last.sent_at.saturating_since(sent_at) < SPACING
        {
            last.delay = last.delay.min(delay);
            return;
        }
        if self.latest.len() >= LATEST {
            self.latest.pop_front();
            self.judged = self.judged.saturating_sub(1);
        }
        self.latest.push_back(Passage { sent_at, sent_before, delay });
        while let Some(&passage) = self.latest.get(self.judged) {
            let is_old = passage.sent_at + ASIDE_TIME <= sent_at && self.judged + ASIDE < self.latest.len();
            if !is_old {
                break;
            }
            if let Some(floor) = rate.and_then(|rate| self.floor_around(self.judged, &passage, rate)) {
                self.jitter.add(nanos(passage.delay - floor));
            }
            self.judged += 1;
        }
    }

    /// The higher one of the least delays before and after a packet: a queue that grows or shrinks is no jitter, nor is
    /// one that packets make for those behind them when they are sent all at once.
    fn floor_around(&self, index: usize, passage: &Passage, rate: Rate) -> Option<i64> {
        let is_aside = |(steps, other): &(usize, &Passage)| {
            let apart = apart(other, passage);
            apart < MAX_ASIDE && (*steps < ASIDE || apart <= ASIDE_TIME)
        };
        let own_queue = |other: &Passage| {
            let bytes = ByteCount::new(passage.sent_before.saturating_sub(other.sent_before));
            let queue = rate.transmission_time(bytes).saturating_sub(apart(other, passage));
            i64::try_from(queue.as_nanos()).unwrap_or(i64::MAX)
        };
        let before = self.latest.range(..index).rev().enumerate().take_while(is_aside);
        let after = self.latest.range(index + 1..).enumerate().take_while(is_aside);
        let least_before = before.map(|(_, other)| other.delay + own_queue(other)).min()?;
        let least_after = after.map(|(_, other)| other.delay).min()?;
        Some(least_before.max(least_after))
    }

    /// A receipt took `delay` on its way back, but for the opposite of the constant.
    pub fn backward(&mut self, now: Instant, delay: i64) {
        self.skew.backward(now, delay);
    }

    /// A percentile of how much longer packets take than the quickest around them.
    pub fn jitter(&self, share: f64) -> Option<Duration> {
        self.jitter.percentile(share)
    }

    /// The queue that no packet of late escaped.
    pub fn queueing(&self, now: Instant) -> Option<Duration> {
        let span = (self.jitter(0.95).unwrap_or_default() * 2).max(MIN_SPAN);
        let newest = self.latest.back()?.sent_at;
        let recent = self.latest.iter().rev().enumerate();
        let recent = recent.take_while(|(index, passage)| {
            passage.sent_at + span >= newest || *index < ASIDE && passage.sent_at + MAX_ASIDE >= newest
        });
        let floor = recent.map(|(_, passage)| passage.delay).min()?;
        Some(nanos(floor - self.least.get(now)?))
    }

    /// Whether the queue was never empty of late.
    pub fn is_busy(&self, now: Instant) -> bool {
        let least = (self.jitter(0.95).unwrap_or_default() * 2).max(MIN_BUSY);
        self.latest.len() >= ASIDE && self.queueing(now).is_some_and(|queueing| queueing > least)
    }
}

/// The time between the sending of two packets.
fn apart(one: &Passage, other: &Passage) -> Duration {
    one.sent_at.saturating_since(other.sent_at).max(other.sent_at.saturating_since(one.sent_at))
}

/// A difference of times that is not below zero, but for errors.
fn nanos(difference: i64) -> Duration {
    Duration::from_nanos(u64::try_from(difference).unwrap_or(0))
}
