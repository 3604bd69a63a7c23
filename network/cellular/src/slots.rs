//! A cell in slots: packets go in at their sources, and come out where they arrive.
//!
//! * [`CellConfig`]: what a cell is made of. [`Access`]: who sends in a slot. [`CellEndpoint`]: the cell itself, called
//!   with the time and then drained. [`Counts`]: what it has done.
//! * [`CellNetwork`]: the same between nodes of a network.
//! * `config`: the types that say what a cell is. `sendings`: what is sent when, for those who watch.
//! * `ground`: places and ways at a time. `packets`: what waits where.
//! * `polled`, `assisted`, `contention`, `dual_mode`, `access_points`: the ways to share the channel.
//!
//! A slot carries one packet, whatever its length up to that of the slot. What is lost goes back to its source's
//! backlog: nothing is dropped.

mod access_points;
mod assisted;
mod config;
mod contention;
mod counts;
mod dual_mode;
mod ground;
mod network;
mod packets;
mod polled;
mod sendings;

pub use config::{Access, CellConfig, Destination, Flow, Judged, Range};
pub use counts::{Counts, HostCounts};
pub use network::{CellEvent, CellNetwork};
pub use sendings::Sending;

use crate::assisted::AssistedScheduler;
use crate::routes::Hop;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;
use ground::Ground;
use packets::{Packet, Packets};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use prismux_wireless::{Movement, Position};
use sendings::Sendings;

/// A packet that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival<P> {
    /// Its flow.
    pub flow: usize,
    /// The slot in which it was written.
    pub born: u64,
    /// The slot at whose end it has arrived.
    pub slot: u64,
    /// Where: at a host, or where it has left the cell.
    pub place: usize,
    /// What it carries.
    pub payload: P,
}

/// From now on a host is reached over another place: the base station, a hybrid station or an access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The host.
    pub host: usize,
    /// Over which it was reached.
    pub from: usize,
    /// Over which it is reached.
    pub to: usize,
}

/// A cell in virtual time. Its user calls [`CellEndpoint::handle_timeout`] when [`CellEndpoint::poll_timeout`] says,
/// and then drains it.
#[derive(Debug)]
pub struct CellEndpoint<P> {
    run: Run<P>,
    way: Box<dyn Way<P> + Send>,
    /// Over which place each host is reached.
    entrances: Vec<usize>,
    changes: VecDeque<Change>,
    /// Looks at routes, and divisions of the time, that entrances follow from.
    seen: (u64, u64),
}

impl<P: Clone + fmt::Debug + Send + 'static> CellEndpoint<P> {
    /// A cell without flows. `movements` has one for each place of `config`, in order.
    pub fn new(config: &CellConfig, access: Access, movements: Vec<Movement>, seed: Seed) -> Self {
        let way: Box<dyn Way<P> + Send> = match access {
            Access::Polled { overhead } => Box::new(polled::Polled::new(overhead)),
            Access::Assisted { period_slots } => {
                let scheduler = AssistedScheduler::new(0, period_slots).with_rule(config.rule);
                Box::new(assisted::Obeyed::new(scheduler))
            }
            Access::Contention => Box::new(contention::Contention::new(config, seed)),
            Access::DualMode { settings, reference } => {
                Box::new(dual_mode::DualMode::new(config, settings, reference, seed))
            }
            Access::Interworking => Box::new(access_points::Interworking::new(config)),
        };
        let run = Run {
            ground: Ground::new(config, access, movements, seed),
            packets: Packets::new(config.places()),
            counts: Counts::new(config),
            delivered_bits: Vec::new(),
            arrivals: VecDeque::new(),
            sendings: Sendings::new(),
            slot: 0,
            length: config.slot(),
        };
        let entrances = alloc::vec![config.hosts; config.hosts];
        Self { run, way, entrances, changes: VecDeque::new(), seen: (0, 0) }
    }

    /// Adds a flow; its number. A source or destination that does not exist is one that nothing reaches.
    pub fn open(&mut self, flow: Flow) -> usize {
        self.run.packets.open();
        self.run.delivered_bits.push(0);
        self.run.ground.open(flow)
    }

    /// A flow's source writes a packet.
    pub fn send(&mut self, flow: usize, bytes: u32, payload: P) {
        self.run.packets.write(Packet { flow, born: self.run.slot, bytes, payload });
    }

    /// Packets of a flow in its source's backlog.
    pub fn waiting(&self, flow: usize) -> usize {
        self.run.packets.waiting(flow)
    }

    /// Packets that wait to be sent at each place.
    pub fn waiting_by_place(&self) -> Vec<usize> {
        self.run.packets.by_place(&self.run.ground)
    }

    /// When the next slot begins.
    pub fn poll_timeout(&self) -> Instant {
        self.run.now()
    }

    /// The next slot passes, if it begins by `now`: what it carries arrives at its end.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.run.now() > now {
            return;
        }
        self.run.ground.update(self.run.now());
        self.run.counts.range_m = self.run.ground.range_m();
        self.way.slot(&mut self.run);
        self.run.slot += 1;
        let seen = (self.run.ground.updates, self.way.divisions());
        if core::mem::replace(&mut self.seen, seen) != seen {
            self.look_at_entrances();
        }
    }

    /// The next packet that has arrived by `now`.
    pub fn poll_arrival(&mut self, now: Instant) -> Option<Arrival<P>> {
        let first = self.run.arrivals.front()?;
        (self.run.start_of(first.slot + 1) <= now).then(|| self.run.arrivals.pop_front())?
    }

    /// From now on the cell tells of all that is sent.
    pub fn tell_sendings(&mut self) {
        self.run.sendings.want();
    }

    /// The next packet that is sent in the slot that has begun last.
    pub fn poll_sending(&mut self) -> Option<Sending<P>> {
        self.run.sendings.poll()
    }

    /// The next host that is reached over another place than before.
    pub fn poll_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// Takes back the next packet of a flow that has not left its source.
    pub fn withdraw(&mut self, flow: usize) -> Option<P> {
        self.way.leave(&mut self.run, flow).map(|packet| packet.payload)
    }

    /// Packets inside: written, and neither arrived nor taken back.
    pub fn packets_inside(&self) -> usize {
        self.run.packets.count() + self.way.packets_inside() + self.run.arrivals.len()
    }

    /// What the cell has done.
    pub fn counts(&self) -> &Counts {
        &self.run.counts
    }

    /// Where everybody is.
    pub fn positions(&mut self, now: Instant) -> &[Position] {
        self.run.ground.positions(now)
    }

    /// Slots that have passed.
    pub fn slots(&self) -> u64 {
        self.run.slot
    }

    /// Over which place each host is reached from now on.
    fn look_at_entrances(&mut self) {
        for host in 0..self.entrances.len() {
            let base = self.run.ground.base();
            let to = if self.way.is_direct(host) { base } else { self.run.ground.entrance(host) };
            let from = core::mem::replace(&mut self.entrances[host], to);
            if from != to {
                self.changes.push_back(Change { host, from, to });
            }
        }
    }
}

/// A way to share the channel.
trait Way<P>: fmt::Debug {
    /// One slot passes.
    fn slot(&mut self, run: &mut Run<P>);

    /// Takes the next packet of a flow away that has not left its source.
    fn leave(&mut self, run: &mut Run<P>, flow: usize) -> Option<Packet<P>> {
        run.packets.leave(flow)
    }

    /// Whether the base station serves a host directly, among peers.
    fn is_direct(&self, host: usize) -> bool {
        let _ = host;
        false
    }

    /// How often it was told who is served directly.
    fn divisions(&self) -> u64 {
        0
    }

    /// Packets that are neither in backlogs nor in hosts' queues.
    fn packets_inside(&self) -> usize {
        0
    }
}

/// What every way to share the channel works on.
#[derive(Debug)]
struct Run<P> {
    ground: Ground,
    packets: Packets<P>,
    counts: Counts,
    /// Of each flow.
    delivered_bits: Vec<u64>,
    arrivals: VecDeque<Arrival<P>>,
    sendings: Sendings<P>,
    slot: u64,
    length: Duration,
}

impl<P: Clone> Run<P> {
    fn now(&self) -> Instant {
        self.start_of(self.slot)
    }

    fn start_of(&self, slot: u64) -> Instant {
        Instant::ZERO + self.length * slot
    }

    fn flows(&self) -> usize {
        self.delivered_bits.len()
    }

    /// A packet is where it was going.
    fn arrived(&mut self, packet: Packet<P>, place: usize) {
        let Packet { flow, born, bytes, payload } = packet;
        self.delivered_bits[flow] += 8 * u64::from(bytes);
        self.arrivals.push_back(Arrival { flow, born, slot: self.slot, place, payload });
    }

    /// A packet has been sent to one that has moved away, or has lost its way.
    fn lost(&mut self, packet: Packet<P>, at: usize) {
        self.counts.lost(at);
        self.packets.give_back(packet);
    }

    /// A packet is sent to a peer. Whether it is still where it hears that.
    fn hop(&mut self, packet: &Packet<P>, hop: Hop) -> bool {
        let is_own = hop.from == self.ground.source(packet.flow);
        self.counts.peer_hop(hop, self.ground.reach().of(hop.from), is_own);
        if self.ground.is_at_base(hop) {
            self.counts.channel_used_at_base(self.slot);
        }
        let is_near = self.ground.is_near(hop);
        self.counts.hops += u64::from(is_near);
        self.sendings.tell(hop.from, hop.to, &packet.payload, is_near, false);
        is_near
    }

    /// A packet is sent to or by the base station directly.
    fn direct_hop(&mut self, packet: &Packet<P>, hop: Hop) {
        self.counts.direct_hop(hop.from);
        self.sendings.tell(hop.from, hop.to, &packet.payload, true, false);
        self.counts.channel_used_at_base(self.slot);
    }
}
