//! A radio that leaves its channel.
use super::Dcf;
use crate::event::Events;
use crate::mac::config::Mac;
use crate::mac::contention::Contention;
use crate::mac::exchange::{Answer, Waiting};
use crate::mac::interference::Interference;
use prismux_units::Instant;

impl<P: Copy> Dcf<P> {
    /// The radio hears another channel from now on: nothing is known of the air there yet. An attempt to send that has
    /// begun goes on, since it ends by itself; whoever is on the old channel gets no answer any more.
    pub fn tune(&mut self, now: Instant, mac: &Mac) {
        let heard_until = self.ear.active_until();
        self.stats.lost_tuning += u64::from(self.ear.tune(now));
        if let Some(duty_cycle) = mac.config.duty_cycle {
            let (before, after) = (heard_until.max(now), self.ear.active_until().max(now));
            let unheard = duty_cycle.asleep_by(before) - duty_cycle.asleep_by(after);
            self.active_asleep = self.active_asleep - unheard;
        }
        self.interference = Interference::default();
        self.nav_until = now;
        self.expecting_until = Instant::ZERO;
        self.following = None;
        if !matches!(self.answer, Some((_, Answer::Data | Answer::Part(_)))) {
            self.answer = None;
        }
    }

    /// The radio is of another kind from now on. The packet that it was trying to send comes back as one that nobody
    /// has answered, since what it has learned of its neighbour does not hold any more; a broadcast on the air is sent.
    pub fn change_kind(&mut self, now: Instant, drawn_aj: u128, mac: &Mac, events: &mut Events<P>) {
        self.note_drawn(now, drawn_aj, mac);
        if self.is_off() {
            return;
        }
        (self.answer, self.contention) = (None, Contention::new(mac));
        self.rates.clear();
        let begun = self.waiting != Waiting::Nothing;
        match self.current.as_ref().map(|current| current.packet.to) {
            Some(Some(to)) if !self.block.is_empty() => {
                self.block.give_up();
                self.end_members(to, mac, events);
                self.finish(now, mac);
            }
            Some(Some(_)) => self.give_up(now, mac, events),
            Some(None) if begun => self.sent(now, mac, events),
            Some(None) => self.draw(now, mac),
            None => {}
        }
    }
}
