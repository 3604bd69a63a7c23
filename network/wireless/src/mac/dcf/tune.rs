//! A radio that leaves its channel.
use super::Dcf;
use crate::mac::config::Mac;
use crate::mac::exchange::Answer;
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
}
