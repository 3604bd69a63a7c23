//! Congestion control that stands still for a while, and reductions that are remembered so that they can be taken back
//! (TCP-DOOR).
use super::Sender;
use crate::engine::congestion::{Congestion, CongestionControl};
use crate::engine::interface::Phase;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};

/// The most reductions remembered; then the oldest is forgotten.
const MAX_REMEMBERED: usize = 64;

/// What a reduction found.
#[derive(Debug, Clone, Copy)]
struct Before {
    at: Instant,
    cwnd: u64,
    ssthresh: u64,
    backoff: u8,
}

/// A freeze, and the reductions that may be taken back, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Freeze {
    until: Instant,
    /// The window grows all the same: only reductions are left out.
    grows: bool,
    /// The present recovery repairs losses and leaves the window alone.
    unreduced: bool,
    reductions: VecDeque<Before>,
}

impl Freeze {
    const NONE: Self =
        Self { until: Instant::ZERO, grows: false, unreduced: false, reductions: VecDeque::new() };
}

impl Sender {
    /// From now on reductions are remembered, and [`Sender::freeze_until`] and [`Sender::restore`] do something.
    pub(crate) fn remember_reductions(&mut self) {
        self.freeze.get_or_insert_with(|| Box::new(Freeze::NONE));
    }

    pub(crate) fn remembers_reductions(&self) -> bool {
        self.freeze.is_some()
    }

    /// Window, threshold and timeout keep their values.
    #[inline]
    pub(crate) fn is_frozen(&self, now: Instant) -> bool {
        self.freeze.as_ref().is_some_and(|freeze| now < freeze.until)
    }

    /// The window does not grow either.
    #[inline]
    pub(crate) fn is_window_frozen(&self, now: Instant) -> bool {
        self.freeze.as_ref().is_some_and(|freeze| now < freeze.until && !freeze.grows)
    }

    /// The present recovery repairs losses and leaves the window alone.
    #[inline]
    pub(crate) fn recovers_unreduced(&self) -> bool {
        self.freeze.as_ref().is_some_and(|freeze| freeze.unreduced)
    }

    /// Congestion control stands still until then, if it does not already for longer.
    pub(crate) fn freeze_until(&mut self, now: Instant, until: Instant, grows: bool) {
        let under_way = matches!(self.phase, Phase::Recovery | Phase::Reducing);
        let Some(freeze) = &mut self.freeze else { return };
        let frozen_so_far = freeze.until.max(now);
        freeze.until = freeze.until.max(until);
        (freeze.grows, freeze.unreduced) = (grows, freeze.unreduced | under_way);
        let longer = freeze.until - frozen_so_far;
        // Time in which nothing may grow does not count for a growth that follows time.
        if !grows && longer > Duration::ZERO && matches!(self.congestion, Congestion::Cubic(_)) {
            self.congestion.on_idle(longer);
        }
    }

    /// While frozen, losses are repaired without a reduction. Says whether that is so; a recovery may begin then.
    pub(crate) fn leaves_out_reduction(&mut self, now: Instant) -> bool {
        let frozen = self.is_frozen(now);
        if let Some(freeze) = &mut self.freeze
            && frozen
        {
            self.counters.frozen_reductions += 1;
            freeze.unreduced = true;
        }
        frozen
    }

    /// The window is about to fall, or the timeout to grow, for a loss.
    #[inline]
    pub(crate) fn note_reduction(&mut self, now: Instant) {
        let backoff = self.rtt.backoff();
        let Some(freeze) = &mut self.freeze else { return };
        freeze.unreduced = false;
        if freeze.reductions.len() >= MAX_REMEMBERED {
            freeze.reductions.pop_front();
        }
        let (cwnd, ssthresh) = (self.window.cwnd, self.window.ssthresh);
        freeze.reductions.push_back(Before { at: now, cwnd, ssthresh, backoff });
    }

    /// A mark, unlike a loss, is no effect of the route: nothing stands still any more, and nothing from before it can
    /// be taken back.
    pub(crate) fn thaw(&mut self) {
        if let Some(freeze) = &mut self.freeze {
            **freeze = Freeze::NONE;
        }
    }

    /// The recovery is over.
    #[inline]
    pub(crate) fn end_unreduced(&mut self) -> bool {
        self.freeze.as_mut().is_some_and(|freeze| core::mem::take(&mut freeze.unreduced))
    }

    /// Takes back all reductions from `since` on. What is lost stays lost and is repaired, at the restored window.
    /// Says whether there were any.
    pub(crate) fn restore(&mut self, now: Instant, since: Instant) -> bool {
        let under_way = matches!(self.phase, Phase::Recovery | Phase::Reducing);
        let Some(freeze) = &mut self.freeze else { return false };
        let oldest = freeze.reductions.iter().find(|before| before.at >= since).copied();
        freeze.reductions.clear();
        let Some(before) = oldest else { return false };
        freeze.unreduced |= under_way;
        // What has grown larger since then is not made smaller.
        self.window.cwnd = self.window.cwnd.max(before.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(before.ssthresh);
        self.congestion.on_undo(&self.window);
        self.rtt.lower_backoff(before.backoff);
        if self.rto_at < Instant::MAX {
            self.rto_at = self.rto_at.min(now + self.rtt.rto());
        }
        self.counters.restorations += 1;
        true
    }

    /// An RTT sample for the timeout, which does not follow it while frozen. Says whether it did.
    #[inline]
    pub(crate) fn take_rtt_sample(&mut self, now: Instant, rtt: Duration) -> bool {
        let taken = !self.is_frozen(now);
        if taken {
            self.rtt.sample(now, rtt, self.acked, self.next);
        } else {
            self.rtt.note_minimum(now, rtt);
        }
        taken
    }

    /// Forgets the back-off, unless frozen.
    pub(crate) fn reset_backoff(&mut self, now: Instant) {
        if !self.is_frozen(now) {
            self.rtt.reset_backoff();
        }
    }
}
