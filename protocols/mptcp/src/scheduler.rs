//! Which subflow gets the next bytes: pure functions of what the subflows look like.
use crate::config::Scheduler;
use alloc::boxed::Box;
use core::fmt::Debug;
use prismux_units::{Duration, Instant};

/// The most bytes that Linux queues at a subflow before it chooses again: an IP packet less its headers.
pub(crate) const BURST_BYTES: u64 = 65_428;

/// A subflow, as schedulers see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubflowView {
    /// It may carry new bytes: established, not in trouble, and no backup while others work.
    pub usable: bool,
    /// Its congestion window lets a segment go.
    pub has_room: bool,
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// Round-trip time variation.
    pub rttvar: Duration,
    /// Congestion window in bytes.
    pub window_bytes: u64,
    /// Bytes sent and not acknowledged.
    pub in_flight_bytes: u64,
    /// Bytes sent and not acknowledged, or queued.
    pub held_bytes: u64,
    /// The most bytes that may be held.
    pub queue_bytes: u64,
    /// Rate at which it sends in bytes per second: under Linux's scheduler averaged as there, else a window per
    /// round trip.
    pub rate: f64,
    /// Payload of a full segment.
    pub segment_bytes: u32,
}

/// What there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Now.
    pub now: Instant,
    /// Offset in the stream of the first byte that no subflow has been given.
    pub next_byte: u64,
    /// Bytes that no subflow has been given.
    pub unsent_bytes: u64,
    /// Bytes that the peer's window leaves.
    pub window_bytes: u64,
    /// The peer's window has kept bytes back since the last call.
    pub was_blocked: bool,
}

/// A scheduler from outside this crate.
pub trait CustomScheduler: Debug + Send {
    /// The subflow, by its place in `views`, that gets the next segment; `None` lets the bytes wait. Then, and where
    /// the subflow has no room, the next question comes with the next acknowledgement, timer or write.
    fn choose(&mut self, views: &[SubflowView], offer: &Offer) -> Option<usize>;
}

/// A scheduler with its memory.
#[derive(Debug)]
pub struct Chooser {
    scheduler: Scheduler,
    /// In its place.
    custom: Option<Box<dyn CustomScheduler>>,
    /// Round robin: who was last.
    last: usize,
    /// ECF: bytes wait for the fast subflow.
    waiting: bool,
    /// BLEST: how much more the fast subflow is reckoned to send, in hundredths, and when that was last changed.
    lambda: u32,
    changed_at: Instant,
    blocked: bool,
}

/// ECF: while bytes wait, waiting looks so much better (beta).
const ECF_HYSTERESIS: f64 = 0.25;
/// BLEST: bounds and steps of lambda, in hundredths.
const MIN_LAMBDA: u32 = 100;
const MAX_LAMBDA: u32 = 130;

impl Chooser {
    /// A scheduler that has chosen nothing yet.
    pub const fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler,
            custom: None,
            last: usize::MAX,
            waiting: false,
            lambda: MIN_LAMBDA,
            changed_at: Instant::ZERO,
            blocked: false,
        }
    }

    /// One that asks `custom`.
    pub(crate) fn custom(custom: Box<dyn CustomScheduler>) -> Self {
        Self { custom: Some(custom), ..Self::new(Scheduler::MinRtt) }
    }

    /// The subflow, by its place in `views`, that gets the next bytes; `None` when they wait.
    ///
    /// [`Scheduler::Redundant`] gives every subflow its own: here the one with the least round-trip time is meant.
    pub fn choose(&mut self, views: &[SubflowView], offer: &Offer) -> Option<usize> {
        self.blocked |= offer.was_blocked;
        if let Some(custom) = &mut self.custom {
            let can_send = |place: &usize| views.get(*place).is_some_and(|view| view.usable && view.has_room);
            return custom.choose(views, offer).filter(can_send);
        }
        match self.scheduler {
            Scheduler::Linux => linux(views),
            Scheduler::MinRtt | Scheduler::Redundant => least_rtt(views, |view| view.has_room),
            Scheduler::RoundRobin => self.round_robin(views),
            Scheduler::Blest => self.blest(views, offer),
            Scheduler::Ecf => self.ecf(views, offer),
        }
    }

    fn round_robin(&mut self, views: &[SubflowView]) -> Option<usize> {
        let first = self.last.wrapping_add(1);
        let next = (0..views.len()).map(|step| (first + step) % views.len());
        let chosen = next.into_iter().find(|&place| views[place].usable && views[place].has_room)?;
        self.last = chosen;
        Some(chosen)
    }

    /// Ferlin et al., section III: in the time of the slow subflow's round trip the fast one could send X bytes; they
    /// must fit the window beside what the slow one has out.
    fn blest(&mut self, views: &[SubflowView], offer: &Offer) -> Option<usize> {
        let fast = least_rtt(views, |_| true)?;
        self.adapt_lambda(offer.now, views[fast].srtt);
        let chosen = least_rtt(views, |view| view.has_room)?;
        if chosen == fast {
            return Some(fast);
        }
        let (slow, fast) = (&views[chosen], &views[fast]);
        let rounds = ratio(slow.srtt, fast.srtt);
        let segment = f64::from(fast.segment_bytes);
        let grown = fast.window_bytes as f64 / segment + (rounds - 1.0) / 2.0;
        let would_send = segment * grown * rounds * f64::from(self.lambda) / 100.0;
        let total = offer.window_bytes + views.iter().map(|view| view.in_flight_bytes).sum::<u64>();
        let left = total as f64 - (slow.in_flight_bytes + u64::from(slow.segment_bytes)) as f64;
        (would_send <= left).then_some(chosen)
    }

    /// Lambda grows where the window was full all the same, and shrinks where not, once per round trip.
    fn adapt_lambda(&mut self, now: Instant, round_trip: Duration) {
        if now.saturating_since(self.changed_at) < round_trip {
            return;
        }
        let lambda = if self.blocked { self.lambda + 1 } else { self.lambda - 1 };
        self.lambda = lambda.clamp(MIN_LAMBDA, MAX_LAMBDA);
        (self.changed_at, self.blocked) = (now, false);
    }

    /// Lim et al., algorithm 1.
    fn ecf(&mut self, views: &[SubflowView], offer: &Offer) -> Option<usize> {
        let fast = least_rtt(views, |_| true)?;
        let chosen = least_rtt(views, |view| view.has_room)?;
        if chosen == fast {
            return Some(fast);
        }
        let (slow, fast) = (&views[chosen], &views[fast]);
        let waiting = offer.unsent_bytes as f64;
        let rounds = 1.0 + waiting / fast.window_bytes.max(1) as f64;
        let margin = fast.rttvar.max(slow.rttvar).as_secs_f64();
        let (fast_rtt, slow_rtt) = (fast.srtt.as_secs_f64(), slow.srtt.as_secs_f64());
        let patience = if self.waiting { 1.0 + ECF_HYSTERESIS } else { 1.0 };
        if rounds * fast_rtt >= patience * (slow_rtt + margin) {
            self.waiting = false;
            return Some(chosen);
        }
        let by_slow = waiting / slow.window_bytes.max(1) as f64 * slow_rtt;
        if by_slow >= 2.0 * fast_rtt + margin {
            self.waiting = true;
            return None;
        }
        Some(chosen)
    }
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64().max(1e-6)
}

/// The usable subflow with the least round-trip time for which `wanted` holds.
fn least_rtt(views: &[SubflowView], wanted: impl Fn(&SubflowView) -> bool) -> Option<usize> {
    let usable = views.iter().enumerate().filter(|(_, view)| view.usable && wanted(view));
    usable.min_by_key(|(_, view)| view.srtt).map(|(place, _)| place)
}

/// The subflow that would have sent soonest what it holds, unless its queue is full.
fn linux(views: &[SubflowView]) -> Option<usize> {
    let linger = |view: &SubflowView| view.held_bytes as f64 / view.rate.max(1.0);
    let usable = views.iter().enumerate().filter(|(_, view)| view.usable);
    let (place, view) = usable.min_by(|(_, a), (_, b)| linger(a).total_cmp(&linger(b)))?;
    (view.held_bytes < view.queue_bytes).then_some(place)
}

#[cfg(test)]
mod tests;
