//! Peers without a schedule: in every slot hosts with packets try in a random order, and one sends if neither end hears
//! another exchange, as after RTS and CTS.
//!
//! An ideal of 802.11's distributed access: no collisions, no time lost to back-off. What remains of its faults is that
//! both ends silence their surroundings, that turns go to hosts and not to flows, and that relays drop what their
//! queues cannot hold.
use super::packets::Packet;
use super::{CellConfig, Run, Way};
use crate::cell::shuffle;
use crate::routes::Hop;
use crate::timeline::{ConflictRule, Timeline};
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
    pub fn new(config: &CellConfig, seed: Seed) -> Self {
        let hosts = config.hosts + 1 + config.stations;
        Self {
            timeline: Timeline::new(hosts, ConflictRule::BothEnds),
            hosts: (0..hosts).collect(),
            outstanding: Vec::new(),
            random: seed.stream("cell/contention"),
        }
    }

    /// One slot of the peer-to-peer mode. Packets of a flow that is `held` do not leave its source; `arrived` sees
    /// packets that have reached the last host of their way.
    pub fn serve<P: Clone>(
        &mut self,
        run: &mut Run<P>,
        held: impl Fn(usize) -> bool,
        mut arrived: impl FnMut(&mut Run<P>, Packet<P>, usize),
    ) {
        self.fill(run, &held);
        self.timeline.clear();
        shuffle(&mut self.hosts, &mut self.random);
        for index in 0..self.hosts.len() {
            let host = self.hosts[index];
            let ground = &run.ground;
            let may = |packet: &Packet<P>| !(ground.source(packet.flow) == host && held(packet.flow));
            let Some(position) = run.packets.queue(host).iter().position(may) else { continue };
            let flow = run.packets.queue(host)[position].flow;
            let Some(next) = run.ground.next(flow, host) else {
                self.give_back(run, host, position);
                continue;
            };
            let hop = Hop { from: host, to: next };
            if (next == host || self.timeline.is_free(hop, 0))
                && let Some(packet) = run.packets.queue(host).remove(position)
                && let Some(packet) = self.transmit(run, packet, hop)
            {
                arrived(run, packet, next);
            }
        }
    }

    /// Sources put packets into their queues, as many as their windows allow.
    fn fill<P: Clone>(&mut self, run: &mut Run<P>, held: &impl Fn(usize) -> bool) {
        self.outstanding.resize(run.flows(), 0);
        for flow in 0..self.outstanding.len() {
            let source = run.ground.source(flow);
            while !held(flow) && self.has_room(run, flow, source) && run.ground.next(flow, source).is_some() {
                let Some(packet) = run.packets.leave(flow) else { break };
                self.enter(run, packet, source);
            }
        }
    }

    /// Whether a host may take a packet of a flow into its queue that enters the network of peers there.
    pub fn has_room<P: Clone>(&self, run: &mut Run<P>, flow: usize, host: usize) -> bool {
        self.outstanding.get(flow).is_none_or(|outstanding| *outstanding < WINDOW_PACKETS)
            && run.packets.queue(host).len() < QUEUE_PACKETS
    }

    /// A packet enters the network of peers at a host.
    pub fn enter<P: Clone>(&mut self, run: &mut Run<P>, packet: Packet<P>, host: usize) {
        self.outstanding.resize(run.flows(), 0);
        self.outstanding[packet.flow] += 1;
        run.packets.queue(host).push_back(packet);
    }

    /// Packets of a flow among peers.
    pub fn outstanding(&self, flow: usize) -> usize {
        self.outstanding.get(flow).copied().unwrap_or(0)
    }

    fn give_back<P: Clone>(&mut self, run: &mut Run<P>, host: usize, position: usize) {
        if let Some(packet) = run.packets.queue(host).remove(position) {
            self.outstanding[packet.flow] -= 1;
            run.packets.give_back(packet);
        }
    }

    /// The packet, where it has reached the last host of its way.
    fn transmit<P: Clone>(&mut self, run: &mut Run<P>, packet: Packet<P>, hop: Hop) -> Option<Packet<P>> {
        let flow = packet.flow;
        if hop.from == hop.to {
            // A host in range of an access point has no peer to go through.
            self.outstanding[flow] -= 1;
            return Some(packet);
        }
        self.timeline.take(run.ground.reach(), hop, 0);
        if !run.hop(&packet, hop) {
            self.outstanding[flow] -= 1;
            run.lost(packet, hop.from);
            return None;
        }
        if run.ground.next(flow, hop.to) == Some(hop.to) {
            self.outstanding[flow] -= 1;
            return Some(packet);
        }
        if run.packets.queue(hop.to).len() >= QUEUE_PACKETS {
            self.outstanding[flow] -= 1;
            run.counts.refused(hop.to);
            run.packets.give_back(packet);
        } else {
            run.packets.queue(hop.to).push_back(packet);
        }
        None
    }

    /// The next packet of `flow` at its source, from the queue or the backlog.
    pub fn leave<P: Clone>(&mut self, run: &mut Run<P>, flow: usize) -> Option<Packet<P>> {
        let source = run.ground.source(flow);
        let queued = run.packets.take(source, |packet| packet.flow == flow);
        if queued.is_some() {
            self.outstanding[flow] -= 1;
        }
        queued.or_else(|| run.packets.leave(flow))
    }
}

impl<P: Clone> Way<P> for Contention {
    fn slot(&mut self, run: &mut Run<P>) {
        self.serve(run, |_| false, |run, packet, place| run.arrived(packet, place));
    }

    fn leave(&mut self, run: &mut Run<P>, flow: usize) -> Option<Packet<P>> {
        Contention::leave(self, run, flow)
    }
}
