//! Several modes at once: dual-mode operation, and access points of another network.
use super::contention::Contention;
use super::packets::Packet;
use super::polled::Turn;
use super::{ACCESS_POINT_RATE, Run, Setup, Way};
use crate::dual_mode::{DualModeBase, DualModeHost, DualModeSettings, Mode, Request};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};

/// Packets that wait for access points, each served at the rate of its network.
#[derive(Debug)]
struct AccessPoints {
    queues: Vec<VecDeque<Packet>>,
    credits: Vec<f64>,
    packets_per_slot: f64,
}

/// Packets that wait for an access point at most, in all its hosts together.
const ACCESS_POINT_QUEUE_PACKETS: usize = 500;

impl AccessPoints {
    fn new(setup: &Setup) -> Self {
        let points = setup.access_points.len();
        let time = ACCESS_POINT_RATE.transmission_time(setup.packet).as_secs_f64();
        Self {
            queues: vec![VecDeque::new(); points],
            credits: vec![0.0; points],
            packets_per_slot: setup.slot().as_secs_f64() / time,
        }
    }

    fn accept(&mut self, run: &mut Run, packet: Packet, host: usize) {
        // A host that has just left the range keeps to the first access point.
        let point = run.ground.access_point_of(host).unwrap_or(0);
        match self.queues.get_mut(point) {
            Some(queue) if queue.len() < ACCESS_POINT_QUEUE_PACKETS => queue.push_back(packet),
            _ => {
                run.outcome.refused += 1;
                run.packets.give_back(packet);
            }
        }
    }

    fn serve(&mut self, run: &mut Run) {
        for (queue, credit) in self.queues.iter_mut().zip(&mut self.credits) {
            *credit += self.packets_per_slot;
            while *credit >= 1.0 {
                let Some(packet) = queue.pop_front() else {
                    *credit = 0.0;
                    break;
                };
                *credit -= 1.0;
                run.outcome.arrived(packet, run.slot);
            }
        }
    }
}

/// The cellular model for hosts out of range of all access points.
#[derive(Debug)]
pub(super) struct Interworking {
    points: AccessPoints,
    turn: Turn,
}

impl Interworking {
    pub fn new(setup: &Setup) -> Self {
        Self { points: AccessPoints::new(setup), turn: Turn::default() }
    }
}

impl Way for Interworking {
    fn slot(&mut self, run: &mut Run) {
        let flows = run.outcome.delivered.len();
        let in_range: Vec<bool> =
            (0..flows).map(|flow| run.ground.access_point_of(run.ground.source(flow)).is_some()).collect();
        for flow in (0..flows).filter(|&flow| in_range[flow]) {
            let point = run.ground.access_point_of(run.ground.source(flow)).unwrap_or(0);
            while self.points.queues[point].len() < ACCESS_POINT_QUEUE_PACKETS {
                let Some(packet) = run.packets.leave(flow) else { break };
                self.points.accept(run, packet, run.ground.source(flow));
            }
        }
        self.points.serve(run);
        self.turn.serve(run, |flow| !in_range[flow], |run, flow| run.packets.leave(flow));
    }
}

/// Dual-mode operation, and with access points the multi-homed relay.
#[derive(Debug)]
pub(super) struct DualMode {
    settings: DualModeSettings,
    hosts: Vec<DualModeHost>,
    base: DualModeBase,
    /// Flows in cellular mode, as the base station has told last.
    told: Vec<bool>,
    cellular_time: Duration,
    next_update: Instant,
    next_monitor: Instant,
    /// Arrivals of each flow when the last monitoring interval began.
    before: Vec<u64>,
    peers: Contention,
    turn: Turn,
    points: AccessPoints,
    route_updates: u64,
    packet_bits: u64,
}

impl DualMode {
    pub fn new(setup: &Setup, settings: DualModeSettings, reference: Rate, seed: Seed) -> Self {
        let flows = setup.flows.len();
        Self {
            settings,
            hosts: vec![DualModeHost::new(settings, reference.as_bps() as f64); flows],
            base: DualModeBase::new(flows),
            told: vec![false; flows],
            cellular_time: Duration::from_nanos(0),
            next_update: Instant::ZERO,
            next_monitor: Instant::ZERO + settings.monitor,
            before: vec![0; flows],
            peers: Contention::new(setup, seed),
            turn: Turn::default(),
            points: AccessPoints::new(setup),
            route_updates: 0,
            packet_bits: setup.packet.bits(),
        }
    }

    fn ask(&mut self, flow: usize, request: Option<Request>) {
        if let Some(request) = request {
            self.base.handle_request(flow, request);
        }
    }

    /// Routing tells every host whether it has a way.
    fn look_at_routes(&mut self, run: &Run) {
        for flow in 0..self.hosts.len() {
            let request = if run.ground.route(flow).is_some() {
                self.hosts[flow].route_found()
            } else {
                self.hosts[flow].route_failed(run.now());
                None
            };
            self.ask(flow, request);
        }
    }

    fn run_timers(&mut self, run: &Run) {
        let now = run.now();
        for flow in 0..self.hosts.len() {
            while self.hosts[flow].poll_timeout().is_some_and(|at| at <= now) {
                let request = self.hosts[flow].handle_timeout(now);
                self.ask(flow, request);
            }
        }
        if now >= self.next_monitor {
            self.next_monitor = now + self.settings.monitor;
            for flow in 0..self.hosts.len() {
                let delivered = run.outcome.delivered[flow];
                let bps = |packets: u64, time: f64| (packets * self.packet_bits) as f64 / time;
                let recent = bps(delivered - self.before[flow], self.settings.monitor.as_secs_f64());
                let overall = bps(delivered, now.as_secs_f64());
                self.before[flow] = delivered;
                let request = self.hosts[flow].monitor(recent, overall);
                self.ask(flow, request);
            }
        }
        if now >= self.next_update {
            self.next_update = now + self.settings.update;
            self.cellular_time = self.base.cellular_time(self.settings.repetition);
            for flow in 0..self.hosts.len() {
                self.told[flow] = self.base.selected().contains(&flow);
                self.hosts[flow].division(now, self.told[flow]);
            }
        }
    }
}

impl Way for DualMode {
    fn slot(&mut self, run: &mut Run) {
        if run.ground.updates != self.route_updates {
            self.route_updates = run.ground.updates;
            self.look_at_routes(run);
        }
        self.run_timers(run);
        let repetition = self.settings.repetition.as_nanos().max(1);
        let phase = Duration::from_nanos(run.now().as_nanos() % repetition);
        let Self { hosts, peers, turn, points, .. } = self;
        let cellular = |flow: usize| hosts[flow].mode() == Mode::Cellular;
        points.serve(run);
        if phase < self.cellular_time {
            turn.serve(run, cellular, |run, flow| peers.leave(run, flow));
            return;
        }
        let with_points = !points.queues.is_empty();
        peers.serve(run, cellular, |run, packet, host| {
            if with_points && host < run.ground.base() {
                points.accept(run, packet, host);
            } else {
                run.outcome.arrived(packet, run.slot);
            }
        });
    }
}
