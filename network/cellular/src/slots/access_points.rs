//! Access points of another network, on their own or beside the cellular model.
use super::contention::Contention;
use super::packets::Packet;
use super::polled::Turn;
use super::{CellConfig, Run, Way};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

/// Packets that wait for an access point at most, in all its hosts together.
const QUEUE_PACKETS: usize = 500;

/// The access points, each of which serves packets at the rate of its network.
#[derive(Debug)]
pub(super) struct AccessPoints<P> {
    points: Vec<AccessPoint<P>>,
    /// The place of the first one.
    first: usize,
    packets_per_slot: f64,
}

#[derive(Debug)]
struct AccessPoint<P> {
    /// What waits at its hosts, and at which.
    up: VecDeque<(Packet<P>, usize)>,
    credit: f64,
    /// The next packet is one for a host, if there is any.
    downwards: bool,
    /// Whose turn among flows it is.
    next: usize,
}

impl<P: Clone> AccessPoints<P> {
    pub fn new(config: &CellConfig) -> Self {
        let point = |_| AccessPoint { up: VecDeque::new(), credit: 0.0, downwards: false, next: 0 };
        let time = config.access_point_time().as_secs_f64();
        Self {
            points: (0..config.access_points).map(point).collect(),
            first: config.places() - config.access_points,
            packets_per_slot: config.slot().as_secs_f64() / time,
        }
    }

    pub fn are_there(&self) -> bool {
        !self.points.is_empty()
    }

    pub fn packets_inside(&self) -> usize {
        self.points.iter().map(|point| point.up.len()).sum()
    }

    /// Whether the one at `place` has room for a packet more from its hosts.
    fn has_room(&self, place: usize) -> bool {
        self.points.get(place - self.first).is_some_and(|point| point.up.len() < QUEUE_PACKETS)
    }

    /// A packet is at a host in the range of one.
    pub fn accept(&mut self, run: &mut Run<P>, packet: Packet<P>, host: usize) {
        // A host that has just left the range keeps to the first access point.
        let place = run.ground.access_point_of(host).unwrap_or(self.first);
        if self.has_room(place) {
            self.points[place - self.first].up.push_back((packet, host));
        } else {
            run.counts.refused(host);
            run.packets.give_back(packet);
        }
    }

    /// One slot of all of them. What they have for hosts behind others goes over `peers`.
    pub fn serve(&mut self, run: &mut Run<P>, mut peers: Option<&mut Contention>) {
        for (point, place) in self.points.iter_mut().zip(self.first..) {
            point.credit += self.packets_per_slot;
            while point.credit >= 1.0 {
                let served = point.serve(run, place, peers.as_deref_mut());
                if !served {
                    point.credit = 0.0;
                    break;
                }
                point.credit -= 1.0;
            }
        }
    }
}

impl<P: Clone> AccessPoint<P> {
    /// Packets from hosts and for hosts take turns. False where there are none.
    fn serve(&mut self, run: &mut Run<P>, place: usize, mut peers: Option<&mut Contention>) -> bool {
        let down_first = self.downwards;
        (down_first && self.serve_down(run, place, peers.as_deref_mut()))
            || self.serve_up(run, place)
            || (!down_first && self.serve_down(run, place, peers))
    }

    fn serve_up(&mut self, run: &mut Run<P>, place: usize) -> bool {
        let Some((packet, host)) = self.up.pop_front() else { return false };
        self.downwards = true;
        run.sendings.tell(host, place, &packet.payload, true, true);
        run.arrived(packet, place);
        true
    }

    /// A packet goes to its host, or to the one in range behind which that is.
    fn serve_down(&mut self, run: &mut Run<P>, place: usize, peers: Option<&mut Contention>) -> bool {
        let flows = run.flows();
        let ready = |run: &mut Run<P>, peers: Option<&Contention>, flow: usize| {
            if run.ground.source(flow) != place || run.packets.waiting(flow) == 0 {
                return None;
            }
            let host = run.ground.destination(flow)?;
            let gateway =
                run.ground.gateway(host).filter(|gateway| run.ground.is_covered(*gateway, place))?;
            let has_room = gateway == host || peers.is_some_and(|peers| peers.has_room(run, flow, gateway));
            has_room.then_some((flow, host, gateway))
        };
        let mut order = (0..flows).map(|step| (self.next + step) % flows);
        let Some((flow, host, gateway)) = order.find_map(|flow| ready(run, peers.as_deref(), flow)) else {
            return false;
        };
        let Some(packet) = run.packets.leave(flow) else { return false };
        (self.next, self.downwards) = (flow + 1, false);
        run.sendings.tell(place, gateway, &packet.payload, true, true);
        match peers {
            Some(peers) if gateway != host => peers.enter(run, packet, gateway),
            _ => run.arrived(packet, host),
        }
        true
    }
}

/// The cellular model for hosts out of range of all access points.
#[derive(Debug)]
pub(super) struct Interworking<P> {
    points: AccessPoints<P>,
    turn: Turn<P>,
}

impl<P: Clone> Interworking<P> {
    pub fn new(config: &CellConfig) -> Self {
        Self { points: AccessPoints::new(config), turn: Turn::new() }
    }
}

impl<P: Clone + fmt::Debug> Way<P> for Interworking<P> {
    fn slot(&mut self, run: &mut Run<P>) {
        let point_of = |run: &Run<P>, flow: usize| {
            let host = Some(run.ground.source(flow)).filter(|source| *source < run.ground.base())?;
            run.ground.access_point_of(host)
        };
        let points: Vec<Option<usize>> = (0..run.flows()).map(|flow| point_of(run, flow)).collect();
        for (flow, point) in points.iter().enumerate() {
            let Some(point) = *point else { continue };
            while self.points.has_room(point) {
                let Some(packet) = run.packets.leave(flow) else { break };
                self.points.accept(run, packet, run.ground.source(flow));
            }
        }
        self.points.serve(run, None);
        self.turn.serve(run, |flow| points[flow].is_none(), |run, flow| run.packets.leave(flow));
    }

    fn packets_inside(&self) -> usize {
        self.points.packets_inside() + self.turn.packets_inside()
    }
}
