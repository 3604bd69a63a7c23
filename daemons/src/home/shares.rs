//! What the owner of each uplink allows: its accounts, and when it rests.
//!
//! An uplink that rests has taken leave of the gateway, over itself: nothing more is sent to it, what was under way
//! arrives, and nothing calls until its rest ends.
use super::Home;
use super::uplink::Uplink;
use crate::accounts;
use prismux_sharing::Tier;
use prismux_trace::event::LinkState;
use prismux_units::Instant;

impl Home {
    /// Books what uplinks have carried and asks what each may go on with: each second, and at once where one has used
    /// up what it had.
    pub(super) fn expire_shares(&mut self, now: Instant) {
        let is_used_up = self.outlet.uplinks.iter().any(Uplink::is_used_up);
        if !is_used_up && !self.accounts.is_due(now) {
            return;
        }
        let time = accounts::time_now();
        let counters = self.outlet.uplinks.iter().map(|uplink| (uplink.account.clone(), uplink.carried));
        self.accounts.book(now, time, counters);
        for index in self.numbers() {
            let ledger = self.accounts.ledger();
            let Some(uplink) = self.outlet.uplinks.get_mut(index) else { continue };
            if uplink.config.tier == Tier::Never || !uplink.share.judge(time, ledger, uplink.account.link()) {
                continue;
            }
            match uplink.share.rest() {
                Some(rest) => self.rest(now, index, rest.to_string()),
                None => self.resume(now, index),
            }
        }
    }

    fn rest(&mut self, now: Instant, index: usize, why: String) {
        self.accounts.save(now);
        let Some(uplink) = self.uplink(index) else { return };
        uplink.rest(now);
        let device = uplink.config.device.clone();
        self.drain_registration(now, index);
        self.rank(now);
        self.leave(now, index);
        self.lead_traffic();
        self.tell_link(now, device, LinkState::Standby, Some(why));
    }

    fn resume(&mut self, now: Instant, index: usize) {
        let Some(uplink) = self.uplink(index) else { return };
        uplink.registration.resume(now);
        let device = uplink.config.device.clone();
        self.lead_traffic();
        self.tell_link(now, device, LinkState::Active, Some("its rest is over".to_owned()));
    }

    /// Something came over an uplink that rests: it was under way, or the gateway has not heard that it does. False for
    /// one that does not.
    pub(super) fn came_at_rest(&mut self, now: Instant, index: usize) -> bool {
        let Some(uplink) = self.uplink(index).filter(|uplink| uplink.registration.is_resting()) else {
            return false;
        };
        if uplink.takes_leave_again(now) {
            self.drain_registration(now, index);
        }
        true
    }

    /// Traffic goes into the tunnels while the gateway answers over any uplink; and while all of them rest, because the
    /// box's own default route would lead it over one of these.
    pub(super) fn lead_traffic(&mut self) {
        let answers = self.outlet.uplinks.iter().any(Uplink::is_registered);
        let all_rest = self.outlet.uplinks.iter().all(|uplink| uplink.registration.is_resting());
        self.routes.set((answers || all_rest) && !self.stopped);
    }
}
