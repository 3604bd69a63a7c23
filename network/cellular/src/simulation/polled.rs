//! The cellular model: one host after the other talks to the base station, the ideal of 802.11's point coordination.
use super::packets::Packet;
use super::{Run, Way};
use alloc::collections::VecDeque;

/// The base station's turn-taking among flows.
#[derive(Debug)]
pub(super) struct Polled {
    overhead: f64,
    /// Time that asking has cost and no slot has paid for yet, in slots.
    debt: f64,
    turn: Turn,
}

/// Whose turn it is, and what the base station has to send down.
#[derive(Debug, Default)]
pub(super) struct Turn {
    next: usize,
    down: VecDeque<Packet>,
}

impl Polled {
    pub fn new(overhead: f64) -> Self {
        Self { overhead: overhead.clamp(0.0, 0.99), debt: 0.0, turn: Turn::default() }
    }
}

impl Way for Polled {
    fn slot(&mut self, run: &mut Run) {
        self.debt += self.overhead;
        if self.debt >= 1.0 {
            self.debt -= 1.0;
            return;
        }
        self.turn.serve(run, |_| true, |run, flow| run.packets.leave(flow));
    }
}

impl Turn {
    /// One slot of the cellular mode for flows that `may`; `leave` takes a flow's next packet at its source.
    pub fn serve(
        &mut self,
        run: &mut Run,
        may: impl Fn(usize) -> bool,
        mut leave: impl FnMut(&mut Run, usize) -> Option<Packet>,
    ) {
        if let Some(packet) = self.down.pop_front() {
            run.outcome.direct_hop(false);
            run.outcome.channel_used_at_base(run.slot);
            run.outcome.arrived(packet, run.slot);
            return;
        }
        let flows = run.outcome.delivered.len();
        for step in 0..flows {
            let flow = (self.next + step) % flows;
            if !may(flow) {
                continue;
            }
            let Some(packet) = leave(run, flow) else { continue };
            self.next = flow + 1;
            run.outcome.direct_hop(true);
            run.outcome.channel_used_at_base(run.slot);
            match run.ground.destination(flow) {
                Some(_) => self.down.push_back(packet),
                None => run.outcome.arrived(packet, run.slot),
            }
            return;
        }
    }
}
