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
    fn draw(&mut self, run: &mut Run) {
        let flows = run.outcome.delivered.len();
        let routes: Vec<_> = (0..flows).map(|flow| run.ground.route(flow)).collect();
        let backlog: Vec<u64> = (0..flows).map(|flow| run.packets.waiting(flow) as u64).collect();
        self.period = self.scheduler.draw(run.ground.reach(), &routes, &backlog);
        self.position = 0;
        for flow in core::mem::take(&mut self.period.broken) {
            run.outcome.lost += 1;
            // The packet waits at one of the hosts it has reached.
            let hosts = run.ground.reach().hosts();
            if let Some(packet) = (0..hosts).find_map(|host| run.packets.take(host, |p| p.flow == flow)) {
                run.packets.give_back(packet);
            }
        }
    }
}

impl Way for Obeyed {
    fn slot(&mut self, run: &mut Run) {
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

fn transmit(run: &mut Run, Transmission { flow, hop, .. }: Transmission) {
    let packet = if hop.from == run.ground.source(flow) {
        run.packets.leave(flow)
    } else {
        run.packets.take(hop.from, |packet| packet.flow == flow)
    };
    let Some(packet) = packet else {
        run.outcome.wasted += 1;
        return;
    };
    let heard = run.ground.reach().of(hop.from).len();
    run.outcome.peer_hop(hop, heard);
    if run.ground.is_at_base(hop) {
        run.outcome.channel_used_at_base(run.slot);
    }
    if !run.ground.is_near(hop) {
        run.outcome.lost += 1;
        run.packets.give_back(packet);
        return;
    }
    run.outcome.hops += 1;
    let arrived = match run.ground.destination(flow) {
        Some(destination) => hop.to == destination,
        None => hop.to >= run.ground.base(),
    };
    if arrived {
        run.outcome.arrived(packet, run.slot);
    } else {
        run.packets.queue(hop.to).push_back(packet);
    }
}
