//! Hosts that obey the base station's schedule.
use super::{Run, Way};
use crate::assisted::{AssistedScheduler, Period, Transmission};
use alloc::vec::Vec;

/// The schedule in force.
#[derive(Debug)]
pub(super) struct Obeyed {
    scheduler: AssistedScheduler,
    period: Period,
    position: usize,
}

impl Obeyed {
    pub fn new(scheduler: AssistedScheduler) -> Self {
        Self { position: scheduler.period_slots(), scheduler, period: Period::default() }
    }

    /// Hosts have told their neighbours and backlogs; the base station tells the next period.
    fn draw<P: Clone>(&mut self, run: &mut Run<P>) {
        let flows = run.flows();
        let routes: Vec<_> = (0..flows).map(|flow| run.ground.route(flow)).collect();
        let backlog: Vec<u64> = (0..flows).map(|flow| run.packets.waiting(flow) as u64).collect();
        self.period = self.scheduler.draw(run.ground.reach(), &routes, &backlog);
        self.position = 0;
        for flow in core::mem::take(&mut self.period.broken) {
            // The packet waits at one of the hosts it has reached, or still at its source.
            let hosts = run.ground.reach().hosts();
            let found = (0..hosts)
                .find_map(|host| Some((run.packets.take(host, |packet| packet.flow == flow)?, host)));
            match found {
                Some((packet, host)) => run.lost(packet, host),
                None => run.counts.lost(run.ground.source(flow)),
            }
        }
    }
}

impl<P: Clone> Way<P> for Obeyed {
    fn slot(&mut self, run: &mut Run<P>) {
        if self.position >= self.scheduler.period_slots() {
            self.draw(run);
        }
        let transmissions = self.period.slots.get_mut(self.position).map(core::mem::take).unwrap_or_default();
        self.position += 1;
        for transmission in transmissions {
            transmit(run, transmission);
        }
    }
}

fn transmit<P: Clone>(run: &mut Run<P>, Transmission { flow, hop, .. }: Transmission) {
    let packet = if hop.from == run.ground.source(flow) {
        run.packets.leave(flow)
    } else {
        run.packets.take(hop.from, |packet| packet.flow == flow)
    };
    let Some(packet) = packet else {
        run.counts.wasted += 1;
        return;
    };
    if !run.hop(&packet, hop) {
        return run.lost(packet, hop.from);
    }
    let arrived = match run.ground.destination(flow) {
        Some(destination) => hop.to == destination,
        None => hop.to >= run.ground.base(),
    };
    if arrived {
        run.arrived(packet, hop.to);
    } else {
        run.packets.queue(hop.to).push_back(packet);
    }
}
