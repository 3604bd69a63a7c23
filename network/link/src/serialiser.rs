//! When a packet leaves: constant rate, delivery trace, or at once.
use crate::trace::{DeliveryTrace, OPPORTUNITY_BYTES};
use alloc::sync::Arc;
use core::num::NonZeroU64;
use prismux_units::{Duration, Instant, Rate};

/// When a packet's sending begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub starts: Instant,
    pub departs: Instant,
}

/// Gives packets their slots, first come first served.
#[derive(Debug, Clone)]
pub(crate) enum Serialiser {
    Unlimited,
    Constant(ConstantRate),
    Trace(TraceRate),
}

impl Serialiser {
    pub fn new(rate: Option<Rate>, trace: Option<Arc<DeliveryTrace>>) -> Self {
        match (trace, rate) {
            (Some(trace), _) => Self::Trace(TraceRate { trace, opportunity: None, bytes_left: 0 }),
            // A rate of zero is a matter of the link's state: nothing is asked of its serialiser.
            (None, rate) => rate
                .and_then(Pace::new)
                .map_or(Self::Unlimited, |pace| Self::Constant(ConstantRate::new(pace, Busy::default()))),
        }
    }

    /// The slot of a packet that arrives at `now`, behind everything accepted before it.
    #[inline]
    pub fn accept(&mut self, now: Instant, size_bytes: u32) -> Slot {
        match self {
            Self::Constant(rate) => rate.busy.accept(&rate.pace, now, size_bytes),
            Self::Unlimited => Slot { starts: now, departs: now },
            Self::Trace(trace) => trace.accept(now, size_bytes),
        }
    }

    /// When a packet that arrives at `now` would start (at `now` on an idle link).
    #[inline]
    pub fn next_start(&self, now: Instant) -> Instant {
        match self {
            Self::Constant(rate) => rate.busy.until().max(now),
            Self::Unlimited => now,
            Self::Trace(trace) => trace.next_start(now),
        }
    }

    /// The end of all accepted slots; the past when idle.
    pub fn busy_until(&self) -> Instant {
        match self {
            Self::Constant(rate) => rate.busy.until(),
            Self::Unlimited => Instant::ZERO,
            Self::Trace(trace) => trace.opportunity.map_or(Instant::ZERO, |index| trace.trace.time_of(index)),
        }
    }

    /// Forgets all slots after `now`; the caller accepts again what still has to be sent.
    pub fn restart(&mut self, now: Instant) {
        match self {
            Self::Constant(rate) => rate.busy = Busy::until_whole(now),
            Self::Unlimited => {}
            Self::Trace(trace) => trace.opportunity = None,
        }
    }
}

/// How long packets take at a constant rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    bps: NonZeroU64,
    /// `2^64 / bps`, rounded down: multiplying is quicker than dividing.
    reciprocal: u64,
}

impl Pace {
    /// `None` for a rate of zero, which sends nothing.
    pub fn new(rate: Rate) -> Option<Self> {
        let bps = NonZeroU64::new(rate.as_bps())?;
        Some(Self { bps, reciprocal: u64::MAX / bps })
    }

    /// Whole nanoseconds that a packet takes, and the rest with the rate as denominator.
    #[inline]
    fn time_of(&self, size_bytes: u32) -> (u64, u64) {
        let bit_nanos = u64::from(size_bytes) * 8_000_000_000;
        let mut nanos = ((u128::from(bit_nanos) * u128::from(self.reciprocal)) >> 64) as u64;
        let mut rest = bit_nanos - nanos * self.bps.get();
        // The product is too small by less than one.
        if rest >= self.bps.get() {
            nanos += 1;
            rest -= self.bps.get();
        }
        (nanos, rest)
    }
}

/// The end of the last slot, kept exactly, rounded up to nanoseconds and with what that added, so that a busy period of
/// any length does not drift.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Busy {
    until: Instant,
    /// What rounding up has added: `excess / bps` nanoseconds, less than one.
    excess: u64,
}

impl Busy {
    /// A slot that ends at `until`.
    pub fn until_whole(until: Instant) -> Self {
        Self { until, excess: 0 }
    }

    /// End of the last slot, rounded up.
    #[inline]
    pub fn until(&self) -> Instant {
        self.until
    }

    /// The slot of a packet that arrives at `now`.
    #[inline]
    pub fn accept(&mut self, pace: &Pace, now: Instant, size_bytes: u32) -> Slot {
        let (nanos, rest) = pace.time_of(size_bytes);
        if self.until <= now {
            *self = Self::until_whole(now);
        }
        let starts = self.until;
        let over = rest > self.excess;
        self.until += Duration::from_nanos(nanos + u64::from(over));
        self.excess = self.excess + if over { pace.bps.get() } else { 0 } - rest;
        Slot { starts, departs: self.until }
    }
}

/// A constant rate.
#[derive(Debug, Clone)]
pub(crate) struct ConstantRate {
    pace: Pace,
    busy: Busy,
}

impl ConstantRate {
    /// A serialiser that has given out slots until `busy`.
    pub fn new(pace: Pace, busy: Busy) -> Self {
        Self { pace, busy }
    }

    /// Another rate from `now` on; the rest of a packet that would have departed at `departs` goes out at the
    /// new rate, which is not zero. Returns its new departure.
    pub fn change(&mut self, now: Instant, rate: Rate, departs: Instant) -> Instant {
        let left = u128::from(departs.saturating_since(now).as_nanos()) * u128::from(self.pace.bps.get());
        if let Some(pace) = Pace::new(rate) {
            let bps = u128::from(pace.bps.get());
            let nanos = u64::try_from(left.div_ceil(bps)).unwrap_or(u64::MAX);
            let until = Instant::from_nanos(now.as_nanos().saturating_add(nanos));
            let excess = (left.next_multiple_of(bps) - left) as u64;
            *self = Self { pace, busy: Busy { until, excess } };
        }
        self.busy.until()
    }
}

/// Delivery opportunities: each carries [`OPPORTUNITY_BYTES`], a large packet takes several, small ones share;
/// what nobody waits for is wasted.
#[derive(Debug, Clone)]
pub(crate) struct TraceRate {
    trace: Arc<DeliveryTrace>,
    /// The last opportunity given out, if any.
    opportunity: Option<u64>,
    /// What is left in it.
    bytes_left: u32,
}

impl TraceRate {
    /// The opportunity that the next packet starts in, and the bytes it has left.
    fn next(&self, now: Instant) -> (u64, u32) {
        match self.opportunity {
            Some(index) if self.trace.time_of(index) > now => match self.bytes_left {
                0 => (index + 1, OPPORTUNITY_BYTES),
                left => (index, left),
            },
            _ => (self.trace.first_after(now), OPPORTUNITY_BYTES),
        }
    }

    /// On a trace nothing starts at `now`: even a packet that finds nobody before it waits for its opportunity.
    /// It does not count against the queue, so its start is reported as `now`.
    fn next_start(&self, now: Instant) -> Instant {
        match self.opportunity {
            Some(index) if self.trace.time_of(index) > now => self.trace.time_of(self.next(now).0),
            _ => now,
        }
    }

    fn accept(&mut self, now: Instant, size_bytes: u32) -> Slot {
        let starts = self.next_start(now);
        let (mut index, mut left) = self.next(now);
        let mut remaining = size_bytes;
        while remaining > left {
            remaining -= left;
            (index, left) = (index + 1, OPPORTUNITY_BYTES);
        }
        (self.opportunity, self.bytes_left) = (Some(index), left - remaining);
        Slot { starts, departs: self.trace.time_of(index) }
    }
}
