//! What the owner of this member's link lends: its accounts, and when it rests.
use super::Member;
use crate::accounts;
use crate::tunnel::socket::Frame;
use prismux_linux::packet::PacketBuf;
use prismux_sharing::{Carried, Shaper};
use prismux_trace::event::{DropReason, LinkState};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, GreHeader};

/// A proxy that still sends this long after it should have heard that a member rests is told again.
const LEAVE_INTERVAL: Duration = Duration::from_millis(250);

impl Member {
    /// When [`Member::expire_shares`] has something to do.
    pub(super) fn shares_deadline(&self) -> Instant {
        let shaped = self.shaper.as_ref().and_then(Shaper::deadline);
        let booked = if self.share.is_used_up() { Instant::ZERO } else { self.accounts.deadline() };
        shaped.map_or(booked, |shaped| shaped.min(booked))
    }

    /// Books what was carried and asks what may be carried on: each second, and at once when all is used up.
    pub(super) fn expire_shares(&mut self, now: Instant) {
        self.serve(now);
        if self.departure.is_some() || (!self.share.is_used_up() && !self.accounts.is_due(now)) {
            return;
        }
        let time = accounts::time_now();
        self.accounts.book(now, time, std::iter::once((self.account.clone(), self.carried)));
        self.settle(now, time.day);
        if let Some((battery, supplies)) = &mut self.battery {
            self.share.set_battery(battery.judge(supplies.power(now)));
        }
        if !self.share.judge(time, self.accounts.ledger(), self.account.link()) || self.is_revoked() {
            return;
        }
        self.accounts.save(now);
        let (state, cause) = match self.share.rest() {
            Some(rest) => {
                self.settle_at_once(now);
                self.registration.rest();
                self.leave_at = now + self.leave_interval();
                self.return_rules.set(&self.config, false);
                (LinkState::Standby, rest.to_string())
            }
            None => {
                self.registration.resume(now);
                (LinkState::Active, "its rest is over".to_owned())
            }
        };
        self.drain(now);
        self.tell_state(now, state, &cause);
    }

    /// A frame came from the proxy. To a member that rests it was under way, or the proxy has not heard that it does.
    pub(super) fn came(&mut self, now: Instant, frame: &Frame<'_>) {
        self.carry(Carried { forward_bytes: frame.line_bytes(), return_bytes: 0 });
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.way.heard(now);
        }
        if self.registration.is_resting() && self.registration.is_known() && self.leave_at <= now {
            self.leave_at = now + self.leave_interval();
            self.registration.bye();
            self.drain(now);
        }
    }

    /// A packet for the proxy, at the link's rate limit if it has one.
    pub(super) fn pass(&mut self, now: Instant, header: GreHeader, ecn: Ecn, packet: PacketBuf) {
        let bytes = self.config.tunnel.proxy.line_bytes(packet.len(), false, false);
        let Some(shaper) = &mut self.shaper else { return self.push(&header, ecn, packet) };
        match shaper.push(bytes, (header, ecn, packet)) {
            Ok(()) => self.serve(now),
            Err(_) => self.drops.count(DropReason::RateLimited),
        }
    }

    /// Sends what the rate limit lets go.
    fn serve(&mut self, now: Instant) {
        while let Some((header, ecn, packet)) = self.shaper.as_mut().and_then(|shaper| shaper.poll(now)) {
            self.push(&header, ecn, packet);
        }
    }

    /// Bytes have passed on its line.
    pub(super) fn carry(&mut self, carried: Carried) {
        self.carried = self.carried.plus(carried);
        self.share.carry(carried.total_bytes());
    }

    fn leave_interval(&self) -> Duration {
        self.registration.rtt().unwrap_or_default() + LEAVE_INTERVAL
    }
}
