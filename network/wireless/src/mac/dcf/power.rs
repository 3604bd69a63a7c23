//! What a host's radio has drawn, and the end of its battery.
use super::Dcf;
use crate::energy::{self, Battery, Outlook, StateTimes, nanojoules};
use crate::event::{AirEvent, Events};
use crate::mac::config::Mac;
use crate::mac::exchange::Waiting;
use crate::stats::HostStats;
use alloc::boxed::Box;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// A battery that lasts this long whatever happens is looked at no sooner.
const NEAR_THE_END: Duration = Duration::from_millis(50);

/// What a host has drawn with a radio of another kind, and for how long that was in each state.
#[derive(Debug)]
pub(crate) struct DrawnBefore {
    drawn_aj: u128,
    times: StateTimes,
}

impl<P: Copy> Dcf<P> {
    /// The host runs on a battery from now on.
    pub fn run_on(&mut self, battery: Battery) {
        self.battery = Some(battery);
    }

    /// The battery, if it runs on one: its own, or one that several radios share.
    pub const fn battery(&self) -> Option<Battery> {
        self.battery
    }

    /// Whether the battery is empty.
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    /// The host sends or hears something until `until`: it does not sleep.
    #[inline]
    pub(super) fn stay_awake(&mut self, now: Instant, until: Instant, mac: &Mac) {
        if let Some(duty_cycle) = mac.config.duty_cycle {
            let from = self.ear.active_until().max(now);
            self.active_asleep += duty_cycle.asleep_by(until.max(from)) - duty_cycle.asleep_by(from);
        }
    }

    fn state_times(&self, now: Instant, mac: &Mac) -> StateTimes {
        let (sending, receiving) = self.ear.active_times(now);
        let mut asleep = Duration::ZERO;
        if let Some(duty_cycle) = mac.config.duty_cycle {
            let ahead = duty_cycle.asleep_by(self.ear.active_until().max(now)) - duty_cycle.asleep_by(now);
            asleep = duty_cycle.asleep_by(now) - (self.active_asleep - ahead);
        }
        let idle = (now - Instant::ZERO) - sending - receiving - asleep;
        StateTimes { sending, receiving, asleep, idle }
    }

    /// What the host has done by `now`, its battery aside; nothing is added when that is empty.
    pub fn stats(&self, now: Instant, mac: &Mac) -> HostStats {
        let times = self.state_times(self.lives_until(now), mac);
        HostStats {
            sending: times.sending,
            receiving: times.receiving,
            asleep: times.asleep,
            drawn_nj: nanojoules(self.drawn_aj(now, mac)),
            ..self.stats
        }
    }

    /// What the radio has drawn by `now`, in attojoules.
    pub fn drawn_aj(&self, now: Instant, mac: &Mac) -> u128 {
        let Some(powers) = mac.powers else { return 0 };
        let times = self.state_times(self.lives_until(now), mac);
        match &self.drawn_before {
            None => powers.drawn_aj(&times),
            Some(before) => before.drawn_aj + powers.drawn_aj(&times.since(&before.times)),
        }
    }

    /// What follows is drawn by a radio of another kind.
    pub(super) fn note_drawn(&mut self, now: Instant, drawn_aj: u128, mac: &Mac) {
        let times = self.state_times(self.lives_until(now), mac);
        self.drawn_before = Some(Box::new(DrawnBefore { drawn_aj, times }));
    }

    fn lives_until(&self, now: Instant) -> Instant {
        self.battery.and_then(|battery| battery.empty_since).map_or(now, |empty| empty.min(now))
    }

    fn outlook(&self, mac: &Mac) -> Outlook {
        Outlook {
            sends_until: self.ear.sending_until,
            hears_until: self.ear.energy_until,
            duty_cycle: mac.config.duty_cycle,
        }
    }

    /// The battery is empty: the host hears nothing any more and gives its packets back. A frame that it was sending
    /// has gone out.
    pub fn power_off(&mut self, now: Instant, events: &mut Events<P>) {
        let Some(battery) = &mut self.battery else { return };
        battery.empty_since = Some(now);
        self.is_off = true;
        self.stats.lost_without_power += u64::from(self.ear.power_off(now));
        (self.waiting, self.answer) = (Waiting::Nothing, None);
        self.contention.stop();
        events.forget(self.host);
        let current = self.current.take().map(|current| current.packet);
        let unsent = match current.and_then(|packet| packet.to).filter(|_| !self.block.is_empty()) {
            Some(to) => self.break_off_block(to, events),
            None => current.iter().map(|packet| packet.payload).collect(),
        };
        let point = self.point.take().and_then(|point| point.coordinator);
        let pending = point.map_or_else(Vec::new, |mut coordinator| coordinator.take_all());
        let unsent = unsent.into_iter().chain(pending.into_iter().map(|pending| pending.packet.payload));
        let waiting = core::iter::from_fn(|| self.queue.pop()).map(|packet| packet.payload);
        for payload in unsent.chain(waiting) {
            self.stats.packets_without_power += 1;
            events.push_back(AirEvent::PoweredOff { host: self.host, payload });
        }
    }
}

/// When the battery that these radios share must be looked at again; now if it is empty. `None` for those without one.
pub(crate) fn battery_due<'a, P: Copy + 'a, M: Iterator<Item = (&'a Dcf<P>, &'a Mac)>>(
    now: Instant,
    radios: impl Fn() -> M,
) -> Option<Instant> {
    let battery = radios().next()?.0.battery.filter(|battery| battery.empty_since.is_none())?;
    let (mut drawn_aj, mut most_nw) = (0, 0);
    for (radio, mac) in radios() {
        drawn_aj += radio.drawn_aj(now, mac);
        most_nw += mac.powers?.most_nw();
    }
    let left_aj = battery.capacity_aj.saturating_sub(drawn_aj);
    let at_least = energy::lasts_at_least_until(now, left_aj, most_nw);
    if left_aj == 0 || at_least > now + NEAR_THE_END {
        return Some(at_least);
    }
    let outlooks = || radios().filter_map(|(radio, mac)| Some((mac.powers?, radio.outlook(mac))));
    Some(energy::lasts_until(now, left_aj, outlooks))
}
