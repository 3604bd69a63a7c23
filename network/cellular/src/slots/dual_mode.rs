//! Dual-mode operation, and with access points the multi-homed relay.
use super::access_points::AccessPoints;
use super::contention::Contention;
use super::packets::Packet;
use super::polled::Turn;
use super::{CellConfig, Judged, Run, Way};
use crate::dual_mode::{DualModeBase, DualModeHost, DualModeSettings, Mode, Request};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};

/// One whose throughput is looked at: a flow, or a host with all its flows.
#[derive(Debug)]
struct Party {
    machine: DualModeHost,
    host: Option<usize>,
    began: Instant,
    /// Bits that had arrived when the last monitoring interval began.
    before: u64,
}

#[derive(Debug)]
pub(super) struct DualMode<P> {
    settings: DualModeSettings,
    reference: Rate,
    judged: Judged,
    parties: Vec<Party>,
    /// By flow.
    party_of: Vec<usize>,
    base: DualModeBase,
    cellular_time: Duration,
    next_update: Instant,
    next_monitor: Instant,
    /// How often the base station has told the division.
    divisions: u64,
    peers: Contention,
    turn: Turn<P>,
    points: AccessPoints<P>,
    route_updates: u64,
}

impl<P: Clone> DualMode<P> {
    pub fn new(config: &CellConfig, settings: DualModeSettings, reference: Rate, seed: Seed) -> Self {
        Self {
            settings,
            reference,
            judged: config.judged,
            parties: Vec::new(),
            party_of: Vec::new(),
            base: DualModeBase::new(0),
            cellular_time: Duration::ZERO,
            next_update: Instant::ZERO,
            next_monitor: Instant::ZERO + settings.monitor,
            divisions: 0,
            peers: Contention::new(config, seed),
            turn: Turn::new(),
            points: AccessPoints::new(config),
            route_updates: 0,
        }
    }

    /// Flows that were opened of late get their parties; whether there were any.
    fn admit(&mut self, run: &Run<P>) -> bool {
        let known = self.party_of.len();
        for flow in known..run.flows() {
            let source = run.ground.source(flow);
            let host = match self.judged {
                Judged::Flows => None,
                Judged::Hosts if source < run.ground.base() => Some(source),
                Judged::Hosts => run.ground.destination(flow),
            };
            let same = |party: &Party| host.is_some() && party.host == host;
            let party = self.parties.iter().position(same).unwrap_or_else(|| {
                let machine = DualModeHost::new(self.settings, self.reference.as_bps() as f64);
                self.parties.push(Party { machine, host, began: run.now(), before: 0 });
                self.parties.len() - 1
            });
            self.party_of.push(party);
        }
        self.base.set_flows(self.parties.len());
        known < self.party_of.len()
    }

    /// What `count` has for the flows of each party, together.
    fn sums(&self, count: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut sums = vec![0; self.parties.len()];
        for (flow, party) in self.party_of.iter().enumerate() {
            sums[*party] += count(flow);
        }
        sums
    }

    fn ask(&mut self, party: usize, request: Option<Request>) {
        if let Some(request) = request {
            self.base.handle_request(party, request);
        }
    }

    /// Routing tells everybody whether there is a way.
    fn look_at_routes(&mut self, run: &Run<P>) {
        let missing = self.sums(|flow| u64::from(!run.ground.has_way(flow)));
        for (party, missing) in missing.into_iter().enumerate() {
            let machine = &mut self.parties[party].machine;
            let request = if missing == 0 {
                machine.route_found()
            } else {
                machine.route_failed(run.now());
                None
            };
            self.ask(party, request);
        }
    }

    fn run_timers(&mut self, run: &Run<P>) {
        let now = run.now();
        for party in 0..self.parties.len() {
            while self.parties[party].machine.poll_timeout().is_some_and(|at| at <= now) {
                let request = self.parties[party].machine.handle_timeout(now);
                self.ask(party, request);
            }
        }
        if now >= self.next_monitor {
            self.next_monitor = now + self.settings.monitor;
            self.monitor(run);
        }
        if now >= self.next_update {
            self.next_update = now + self.settings.update;
            self.divisions += 1;
            self.cellular_time = self.base.cellular_time(self.settings.repetition);
            for (number, party) in self.parties.iter_mut().enumerate() {
                party.machine.division(now, self.base.selected().contains(&number));
            }
        }
    }

    fn monitor(&mut self, run: &Run<P>) {
        let delivered = self.sums(|flow| run.delivered_bits[flow]);
        let waiting = self.sums(|flow| (run.packets.waiting(flow) + self.peers.outstanding(flow)) as u64);
        for party in 0..self.parties.len() {
            let Party { machine, began, before, .. } = &mut self.parties[party];
            let bits = delivered[party];
            let recent = (bits - *before) as f64 / self.settings.monitor.as_secs_f64();
            let overall = bits as f64 / (run.now() - *began).as_secs_f64();
            *before = bits;
            let wants = self.judged == Judged::Flows || waiting[party] > 0;
            let request = machine.monitor(recent, overall);
            self.ask(party, request.filter(|request| *request == Request::Leave || wants));
        }
    }
}

impl<P: Clone + fmt::Debug> Way<P> for DualMode<P> {
    fn slot(&mut self, run: &mut Run<P>) {
        let admitted = self.admit(run);
        if admitted || run.ground.updates != self.route_updates {
            self.route_updates = run.ground.updates;
            self.look_at_routes(run);
        }
        self.run_timers(run);
        let repetition = self.settings.repetition.as_nanos().max(1);
        let phase = Duration::from_nanos(run.now().as_nanos() % repetition);
        let Self { parties, party_of, peers, turn, points, .. } = self;
        let cellular = |flow: usize| parties[party_of[flow]].machine.mode() == Mode::Cellular;
        points.serve(run, Some(peers));
        if phase < self.cellular_time {
            turn.serve(run, cellular, |run, flow| peers.leave(run, flow));
            return;
        }
        let with_points = points.are_there();
        peers.serve(run, cellular, |run, packet, place| {
            let leaves = run.ground.destination(packet.flow).is_none();
            if with_points && leaves && place < run.ground.base() {
                points.accept(run, packet, place);
            } else {
                run.arrived(packet, place);
            }
        });
    }

    fn leave(&mut self, run: &mut Run<P>, flow: usize) -> Option<Packet<P>> {
        self.peers.leave(run, flow)
    }

    fn is_direct(&self, host: usize) -> bool {
        let own = self.parties.iter().find(|party| party.host == Some(host));
        own.is_some_and(|party| party.machine.mode() == Mode::Cellular)
    }

    fn divisions(&self) -> u64 {
        self.divisions
    }

    fn packets_inside(&self) -> usize {
        self.turn.packets_inside() + self.points.packets_inside()
    }
}
