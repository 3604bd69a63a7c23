//! When batteries end.
use super::{Air, HostId};
use crate::event::AirEvent;
use crate::mac::config::Mac;
use crate::mac::dcf::Dcf;
use crate::resolution::Load;
use crate::schedule::{Schedule, Target};
use prismux_units::Instant;

impl<P: Copy> Air<P> {
    /// Sets when the host's battery is looked at next.
    pub(super) fn watch_battery(&mut self, now: Instant, host: u32) {
        let index = host as usize;
        let (machine, watched) = (&self.hosts[index], &mut self.batteries[index]);
        watch_battery(now, (host, machine), watched, &self.mac, &mut self.schedule);
    }

    pub(super) fn battery_due(&mut self, now: Instant, host: u32) {
        let index = host as usize;
        if self.batteries[index] != now {
            return;
        }
        self.batteries[index] = Instant::MAX;
        if self.hosts[index].battery_due(now, &self.mac).is_some_and(|due| due <= now) {
            self.hosts[index].power_off(now, &mut self.events);
            for payload in self.resolvers[index].stop() {
                self.events
                    .push_back(AirEvent::PoweredOff { host: HostId(host), payload: Load::Packet(payload) });
            }
        } else {
            self.watch_battery(now, host);
        }
    }
}

/// Sets when the battery of a host is looked at next, sooner than it is `watched` so far.
pub(super) fn watch_battery<P: Copy>(
    now: Instant,
    (host, machine): (u32, &Dcf<P>),
    watched: &mut Instant,
    mac: &Mac,
    schedule: &mut Schedule,
) {
    if let Some(due) = machine.battery_due(now, mac)
        && due < *watched
    {
        *watched = due;
        schedule.push(due, Target::Battery(host));
    }
}
