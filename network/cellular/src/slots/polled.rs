//! The cellular model: one host after the other talks to the base station, the ideal of 802.11's point coordination.
use super::packets::Packet;
use super::{Run, Way};
use crate::routes::Hop;
use alloc::collections::VecDeque;
use core::fmt;

/// The base station's turn-taking among flows.
#[derive(Debug)]
pub(super) struct Polled<P> {
    overhead: f64,
    /// Time that asking has cost and no slot has paid for yet, in slots.
    debt: f64,
    turn: Turn<P>,
}

/// Whose turn it is, and what the base station has to send down of what hosts have sent up.
#[derive(Debug)]
pub(super) struct Turn<P> {
    next: usize,
    down: VecDeque<Packet<P>>,
}

impl<P: Clone> Polled<P> {
    pub fn new(overhead: f64) -> Self {
        Self { overhead: overhead.clamp(0.0, 0.99), debt: 0.0, turn: Turn::new() }
    }
}

impl<P: Clone + fmt::Debug> Way<P> for Polled<P> {
    fn slot(&mut self, run: &mut Run<P>) {
        self.debt += self.overhead;
        if self.debt >= 1.0 {
            self.debt -= 1.0;
            return;
        }
        self.turn.serve(run, |_| true, |run, flow| run.packets.leave(flow));
    }

    fn packets_inside(&self) -> usize {
        self.turn.packets_inside()
    }
}

impl<P: Clone> Turn<P> {
    pub const fn new() -> Self {
        Self { next: 0, down: VecDeque::new() }
    }

    /// One slot of the cellular mode for flows that `may`; `leave` takes a flow's next packet at its source.
    pub fn serve(
        &mut self,
        run: &mut Run<P>,
        may: impl Fn(usize) -> bool,
        mut leave: impl FnMut(&mut Run<P>, usize) -> Option<Packet<P>>,
    ) {
        let base = run.ground.base();
        if let Some(packet) = self.down.pop_front() {
            return send_down(run, packet);
        }
        let flows = run.flows();
        for step in 0..flows {
            let flow = (self.next + step) % flows;
            let source = run.ground.source(flow);
            // What enters at stations and access points is theirs to send.
            if !may(flow) || source > base {
                continue;
            }
            let Some(packet) = leave(run, flow) else { continue };
            self.next = flow + 1;
            if source == base {
                return send_down(run, packet);
            }
            run.direct_hop(&packet, Hop { from: source, to: base });
            match run.ground.destination(flow) {
                Some(_) => self.down.push_back(packet),
                None => run.arrived(packet, base),
            }
            return;
        }
    }

    pub fn packets_inside(&self) -> usize {
        self.down.len()
    }
}

/// The base station sends a packet to its host.
fn send_down<P: Clone>(run: &mut Run<P>, packet: Packet<P>) {
    let base = run.ground.base();
    let place = run.ground.destination(packet.flow).unwrap_or(base);
    run.direct_hop(&packet, Hop { from: base, to: place });
    run.arrived(packet, place);
}
