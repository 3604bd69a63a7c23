//! When batteries end.
use super::kinds::Kinds;
use super::setup::HostConfig;
use super::{Air, HostId};
use crate::energy::nanojoules;
use crate::event::AirEvent;
use crate::mac::dcf::{Dcf, battery_due};
use crate::resolution::Load;
use crate::schedule::{Schedule, Target};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use prismux_units::Instant;

/// The radios of hosts with several, which draw on one battery. That of the first is counted for all of them.
#[derive(Debug, Default)]
pub(super) struct SharedBatteries {
    /// By radio: the one with whose battery it works; empty where each has its own.
    keepers: Vec<u32>,
    /// By keeper that is not alone: all radios on its battery.
    radios: BTreeMap<u32, Vec<u32>>,
}

impl SharedBatteries {
    pub fn of(hosts: &[HostConfig]) -> Self {
        let number = |id: HostId| Some(id.0).filter(|id| (*id as usize) < hosts.len());
        let keeper =
            |(index, host): (usize, &HostConfig)| host.rides_with.and_then(number).unwrap_or(index as u32);
        let keepers: Vec<u32> = hosts.iter().enumerate().map(keeper).collect();
        let mut radios: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (radio, keeper) in (0..).zip(&keepers) {
            radios.entry(*keeper).or_default().push(radio);
        }
        radios.retain(|_, radios| radios.len() > 1);
        if radios.is_empty() { Self::default() } else { Self { keepers, radios } }
    }

    /// The radio with whose battery this one works.
    pub fn keeper(&self, radio: u32) -> u32 {
        self.keepers.get(radio as usize).copied().unwrap_or(radio)
    }

    /// All radios that work with the battery of this one.
    fn radios<'a>(&'a self, keeper: &'a u32) -> &'a [u32] {
        self.radios.get(keeper).map_or(core::slice::from_ref(keeper), Vec::as_slice)
    }
}

impl<P: Copy> Air<P> {
    /// Sets when the host's battery is looked at next.
    pub(super) fn watch_battery(&mut self, now: Instant, host: u32) {
        let Self { hosts, sharing, batteries, kinds, schedule, .. } = self;
        watch_battery(now, host, (&hosts[..], &*sharing), batteries, kinds, schedule);
    }

    pub(super) fn battery_due(&mut self, now: Instant, host: u32) {
        let index = host as usize;
        if self.batteries[index] != now {
            return;
        }
        self.batteries[index] = Instant::MAX;
        let Self { hosts, sharing, resolvers, events, kinds, .. } = self;
        let radios = sharing.radios(&host);
        let machines = || radios.iter().map(|radio| (&hosts[*radio as usize], kinds.mac(*radio)));
        if battery_due(now, machines).is_none_or(|due| due > now) {
            return self.watch_battery(now, host);
        }
        for &radio in radios {
            hosts[radio as usize].power_off(now, events);
            for payload in resolvers[radio as usize].stop() {
                events
                    .push_back(AirEvent::PoweredOff { host: HostId(radio), payload: Load::Packet(payload) });
            }
        }
    }

    /// What is left in the battery of a radio; of one that several share, at the first of them alone.
    pub(super) fn battery_nj(&self, now: Instant, radio: u32) -> Option<u64> {
        let battery = self.hosts[radio as usize].battery()?;
        if self.sharing.keeper(radio) != radio {
            return None;
        }
        let radios = self.sharing.radios(&radio).iter();
        let drawn_aj: u128 =
            radios.map(|radio| self.hosts[*radio as usize].drawn_aj(now, self.kinds.mac(*radio))).sum();
        Some(nanojoules(battery.capacity_aj.saturating_sub(drawn_aj)))
    }
}

/// Sets when the battery of a host is looked at next, sooner than it is so far.
pub(super) fn watch_battery<P: Copy>(
    now: Instant,
    host: u32,
    (hosts, sharing): (&[Dcf<P>], &SharedBatteries),
    watched: &mut [Instant],
    kinds: &Kinds,
    schedule: &mut Schedule,
) {
    let keeper = sharing.keeper(host);
    let of_keeper = sharing.radios(&keeper);
    let machines = || of_keeper.iter().map(|radio| (&hosts[*radio as usize], kinds.mac(*radio)));
    let watched = &mut watched[keeper as usize];
    if let Some(due) = battery_due(now, machines)
        && due < *watched
    {
        *watched = due;
        schedule.push(due, Target::Battery(keeper));
    }
}
