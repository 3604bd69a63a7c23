//! Requests for new data in bundles, for a congestion control that works with polls (STP): when a third of the window
//! is free, or a third of a round trip has passed. What was lost is asked for at once.
//!
//! A bundle asks for all that the window has room for when it begins. That grant leaves at once, or segment by segment
//! over the time until the next bundle ([`spread_grants`](crate::RcpConfig::spread_grants)).
use super::Pipe;
use prismux_units::{Duration, Instant};

/// The bundle that left last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bundles {
    /// When it began: more may leave at the same instant.
    left_at: Option<Instant>,
    /// Something waits for the next one.
    awaited: bool,
    /// What is left of a grant that is being spread.
    grant: Option<Grant>,
    /// What waits, waits for this part of the grant.
    part_at: Option<Instant>,
}

/// A grant that is being spread.
#[derive(Debug, Clone, Copy)]
struct Grant {
    /// Bytes not yet asked for.
    left: u64,
    /// When the next of them may be.
    next_at: Instant,
    /// The whole grant, and the time that it is spread over.
    bytes: u64,
    span: Duration,
}

impl Grant {
    /// `bytes` more are asked for.
    fn take(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
        self.next_at += self.span * bytes / self.bytes.max(1);
    }
}

impl Pipe {
    /// When the next bundle may leave; `None` where requests need not wait.
    fn next_bundle(&self) -> Option<Instant> {
        let interval = self.engine.poll_interval()?;
        self.bundles.left_at.map(|at| at + interval)
    }

    /// The grant that is being spread, until the next bundle may leave in any case. Its last part has its time too.
    fn grant(&self, now: Instant) -> Option<Grant> {
        let running = self.next_bundle().is_some_and(|at| at > now);
        self.bundles.grant.filter(|grant| running && (grant.left > 0 || grant.next_at > now))
    }

    /// Whether new units may be asked for now. With nothing outstanding nothing is to be waited for.
    pub(super) fn may_ask_anew(&mut self, now: Instant) -> bool {
        let grant = self.grant(now);
        let waits = match grant {
            Some(grant) => grant.next_at > now,
            None => {
                let at_once = self.bundles.left_at == Some(now) && !self.config.spread_grants;
                !at_once
                    && self.free() < self.engine.poll_share_bytes()
                    && self.next_bundle().is_some_and(|at| at > now)
            }
        };
        let waits = waits && !self.engine.is_idle();
        if waits && self.config.spread_grants {
            self.engine.on_room_spread();
        }
        self.bundles.awaited = waits;
        self.bundles.part_at = grant.map(|grant| grant.next_at);
        !waits
    }

    /// Room in the window.
    fn free(&self) -> u64 {
        self.engine.cwnd().saturating_sub(self.engine.pipe())
    }

    /// New units, so many bytes, are being asked for.
    pub(super) fn note_bundle(&mut self, now: Instant, bytes: u64) {
        let running = self.grant(now);
        if !self.config.spread_grants || running.is_none() {
            self.bundles.left_at = Some(now);
        }
        self.bundles.grant = self.engine.poll_interval().filter(|_| self.config.spread_grants).map(|span| {
            let whole = self.free().max(bytes);
            let mut grant = running.unwrap_or(Grant { left: whole, next_at: now, span, bytes: whole });
            grant.take(bytes);
            grant
        });
    }

    /// When to look again, if something waits.
    pub(super) fn bundle_deadline(&self) -> Option<Instant> {
        let next = self.next_bundle().filter(|_| self.bundles.awaited)?;
        Some(self.bundles.part_at.map_or(next, |part| part.min(next)))
    }

    /// The next bundle, or the next part of a grant, is due.
    pub(super) fn release_bundle(&mut self, now: Instant) {
        if self.bundle_deadline().is_some_and(|at| at <= now) {
            self.bundles.awaited = false;
        }
    }
}
