//! Peers without a schedule: in every slot hosts with packets try in a random order, and one sends if neither end hears
//! another exchange, as after RTS and CTS.
//!
//! An ideal of 802.11's distributed access: no collisions, no time lost to back-off. What remains of its faults is that
//! both ends silence their surroundings, that turns go to hosts and not to flows, and that relays drop what their
//! queues cannot hold.
use super::packets::Packet;
use super::{Run, Setup, Way};
use crate::cell::shuffle;
use crate::routes::Hop;
use crate::timeline::{ConflictRule, Timeline};
use alloc::vec;
use alloc::vec::Vec;
use prismux_endpoint::random::{RandomStream, Seed};

/// Packets that an output queue holds.
const QUEUE_PACKETS: usize = 50;
/// Packets of a flow that have left its source's backlog and have not arrived.
const WINDOW_PACKETS: usize = 8;

#[derive(Debug)]
pub(super) struct Contention {
    timeline: Timeline,
    hosts: Vec<usize>,
    /// Packets of each flow in queues.
    outstanding: Vec<usize>,
    random: RandomStream,
}

impl Contention {
    pub fn new(setup: &Setup, seed: Seed) -> Self {
        let hosts = setup.cell.places.len() + setup.stations.len();
        Self {
            timeline: Timeline::new(hosts, ConflictRule::BothEnds),
            hosts: (0..hosts).collect(),
            outstanding: vec![0; setup.flows.len()],
            random: seed.stream("cell/contention"),
        }
    }

    /// One slot of the peer-to-peer mode. Packets of a flow that is `held` do not leave its source; `arrived` sees
    /// packets that have reached the last host of their way.
    pub fn serve(
        &mut self,
        run: &mut Run,
        held: impl Fn(usize) -> bool,
        mut arrived: impl FnMut(&mut Run, Packet, usize),
    ) {
        self.fill(run, &held);
        self.timeline.clear();
        shuffle(&mut self.hosts, &mut self.random);
        for index in 0..self.hosts.len() {
            let host = self.hosts[index];
            let ground = &run.ground;
            let may = |packet: &Packet| !(ground.source(packet.flow) == host && held(packet.flow));
            let Some(position) = run.packets.queue(host).iter().position(may) else { continue };
            let packet = run.packets.queue(host)[position];
            let Some(next) = run.ground.next(packet.flow, host) else {
                self.give_back(run, host, position);
                continue;
            };
            let hop = Hop { from: host, to: next };
            if next == host || self.timeline.is_free(hop, 0) {
                run.packets.queue(host).remove(position);
                if self.transmit(run, packet, hop) {
                    arrived(run, packet, next);
                }
            }
        }
    }

    /// Sources put packets into their queues, as many as their windows allow.
    fn fill(&mut self, run: &mut Run, held: &impl Fn(usize) -> bool) {
        for flow in 0..self.outstanding.len() {
            let source = run.ground.source(flow);
            while !held(flow)
                && self.outstanding[flow] < WINDOW_PACKETS
                && run.packets.queue(source).len() < QUEUE_PACKETS
                && run.ground.next(flow, source).is_some()
            {
                let Some(packet) = run.packets.leave(flow) else { break };
                run.packets.queue(source).push_back(packet);
                self.outstanding[flow] += 1;
            }
        }
    }

    fn give_back(&mut self, run: &mut Run, host: usize, position: usize) {
        if let Some(packet) = run.packets.queue(host).remove(position) {
            self.outstanding[packet.flow] -= 1;
            run.packets.give_back(packet);
        }
    }

    /// True where the packet has reached the last host of its way.
    fn transmit(&mut self, run: &mut Run, packet: Packet, hop: Hop) -> bool {
        if hop.from == hop.to {
            // A host in range of an access point has no peer to go through.
            self.outstanding[packet.flow] -= 1;
            return true;
        }
        self.timeline.take(run.ground.reach(), hop, 0);
        let heard = run.ground.reach().of(hop.from).len();
        run.outcome.peer_hop(hop, heard);
        if run.ground.is_at_base(hop) {
            run.outcome.channel_used_at_base(run.slot);
        }
        if !run.ground.is_near(hop) {
            run.outcome.lost += 1;
            self.outstanding[packet.flow] -= 1;
            run.packets.give_back(packet);
            return false;
        }
        run.outcome.hops += 1;
        if run.ground.next(packet.flow, hop.to) == Some(hop.to) {
            self.outstanding[packet.flow] -= 1;
            return true;
        }
        if run.packets.queue(hop.to).len() >= QUEUE_PACKETS {
            run.outcome.refused += 1;
            self.outstanding[packet.flow] -= 1;
            run.packets.give_back(packet);
        } else {
            run.packets.queue(hop.to).push_back(packet);
        }
        false
    }

    /// A packet of `flow` for the cellular mode, from its source's queue or backlog.
    pub fn leave(&mut self, run: &mut Run, flow: usize) -> Option<Packet> {
        let source = run.ground.source(flow);
        let queued = run.packets.take(source, |packet| packet.flow == flow);
        if queued.is_some() {
            self.outstanding[flow] -= 1;
        }
        queued.or_else(|| run.packets.leave(flow))
    }
}

impl Way for Contention {
    fn slot(&mut self, run: &mut Run) {
        self.serve(run, |_| false, |run, packet, _| run.outcome.arrived(packet, run.slot));
    }
}
