//! Connections that come and go.
use super::hour::Connections as Count;
use super::network::{Community, Idle};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_plan::{Action, FlowId};
use prismux_simulator::Simulation;
use prismux_tcp::{Connection, State};
use prismux_units::{ByteCount, Duration, Instant};
use std::collections::VecDeque;

/// How many come in each hour of the day, of the mean.
const DAY: [f64; 24] = [
    0.5, 0.3, 0.15, 0.1, 0.1, 0.15, 0.4, 0.8, 1.0, 1.1, 1.1, 1.2, 1.3, 1.2, 1.1, 1.1, 1.2, 1.4, 1.7, 2.0,
    2.2, 1.9, 1.3, 0.7,
];
/// Seconds between two, in the mean of a day.
const EVERY_S: f64 = 3.0;
/// Sizes are Pareto distributed, up to a limit: most are small, a few carry most bytes.
const MEAN_BYTES: f64 = 1.2e6;
const SHAPE: f64 = 1.2;
const LEAST_BYTES: f64 = 200.0;
const DOWNLOAD_AT_MOST: f64 = 60e6;
const UPLOAD_AT_MOST: f64 = 2e6;
/// So many are cut off by one of their ends, if they last until then, and after how many seconds in the mean.
const CUT_OFF: f64 = 0.2;
const CUT_OFF_AFTER_S: f64 = 15.0;
/// A connection without progress for so long has stalled.
pub(super) const STALLED: Duration = Duration::from_secs(60);
/// What a connection that is mostly idle has written must have arrived after so long.
const IDLE_GRACE: Duration = Duration::from_secs(180);
/// A place rests so long after its connection: longer than the proxy remembers one.
const REST: Duration = Duration::from_secs(16 * 60);
/// Places whose connection the proxy has not forgotten are left; so many are tried.
const PLACES_TRIED: usize = 3;

/// One that is open.
#[derive(Debug)]
struct Open {
    flow: FlowId,
    bytes: u64,
    delivered: u64,
    progress_at: Instant,
    cut_off: Option<CutOff>,
    has_stalled: bool,
}

#[derive(Debug, Clone, Copy)]
struct CutOff {
    at: Instant,
    by_receiver: bool,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Connections {
    random: RandomStream,
    next_at: Instant,
    /// Free places, and from when on they may be used.
    places: VecDeque<(Instant, FlowId)>,
    open: Vec<Open>,
    /// Counted since the hour began.
    count: Count,
}

impl Connections {
    pub fn new(seed: Seed, community: &Community) -> Self {
        let mut random = seed.stream("week/connections");
        let next_at = Instant::ZERO + Duration::from_secs_f64(random.exponential(EVERY_S));
        let places = community.slots.iter().map(|&flow| (Instant::ZERO, flow)).collect();
        Self {
            random,
            next_at,
            places,
            open: Vec::with_capacity(community.slots.len()),
            count: Count::default(),
        }
    }

    /// Lets time pass until `until`, with the connections that begin meanwhile.
    pub fn run(&mut self, simulation: &mut Simulation, community: &Community, until: Instant) {
        let most = DAY.iter().copied().fold(0.0, f64::max);
        let mean = DAY.iter().sum::<f64>() / DAY.len() as f64;
        while self.next_at <= until {
            simulation.run_until(self.next_at);
            let hour = self.next_at.as_nanos() / Duration::from_secs(3600).as_nanos();
            // A Poisson process of the busiest hour, thinned.
            if self.random.chance(DAY[hour as usize % DAY.len()] / most) {
                self.begin(simulation, community);
            }
            let pause_s = self.random.exponential(EVERY_S * mean / most);
            self.next_at += Duration::from_secs_f64(pause_s);
        }
        simulation.run_until(until);
        self.look(simulation);
    }

    fn begin(&mut self, simulation: &mut Simulation, community: &Community) {
        let now = simulation.now();
        let size = self.random.pareto(MEAN_BYTES, SHAPE);
        let is_cut_off = self.random.chance(CUT_OFF);
        let (after_s, by_receiver) = (self.random.exponential(CUT_OFF_AFTER_S), self.random.chance(0.5));
        for _ in 0..PLACES_TRIED {
            let Some((_, flow)) = self.places.front().copied().filter(|&(at, _)| at <= now) else { break };
            self.places.pop_front();
            let most = if community.is_upload(flow) { UPLOAD_AT_MOST } else { DOWNLOAD_AT_MOST };
            let bytes = size.clamp(LEAST_BYTES, most) as u64;
            if !simulation.renew_flow(flow, ByteCount::new(bytes)) {
                self.count.not_forgotten += 1;
                self.places.push_back((now + REST, flow));
                continue;
            }
            simulation.act(Action::StartFlow(flow));
            self.count.begun += 1;
            let cut_off = CutOff { at: now + Duration::from_secs_f64(after_s), by_receiver };
            let cut_off = is_cut_off.then_some(cut_off);
            self.open.push(Open { flow, bytes, delivered: 0, progress_at: now, cut_off, has_stalled: false });
            return;
        }
        self.count.turned_away += 1;
    }

    /// Looks at all that are open: some are done, some are cut off, some stall.
    fn look(&mut self, simulation: &mut Simulation) {
        let now = simulation.now();
        let (open, count) = (&mut self.open, &mut self.count);
        let places = &mut self.places;
        open.retain_mut(|one| {
            let stays = one.look(simulation, count);
            if !stays {
                places.push_back((now + REST, one.flow));
            }
            stays
        });
    }

    /// What was counted since the last call.
    pub fn take(&mut self) -> Count {
        let open = self.open.len() as u64;
        Count { open, ..std::mem::take(&mut self.count) }
    }
}

impl Open {
    /// False when it has ended.
    fn look(&mut self, simulation: &mut Simulation, count: &mut Count) -> bool {
        let now = simulation.now();
        let delivered = simulation.delivered_bytes(self.flow);
        count.delivered_bytes += delivered - self.delivered;
        let stood_s = (now - self.progress_at).as_secs_f64();
        count.longest_stall_s = count.longest_stall_s.max(stood_s);
        if delivered > self.delivered {
            (self.delivered, self.progress_at) = (delivered, now);
        } else if now - self.progress_at >= STALLED && !std::mem::replace(&mut self.has_stalled, true) {
            count.stalled += 1;
        }
        if delivered >= self.bytes {
            count.completed += 1;
            count.wrong += u64::from(delivered != self.bytes);
            return false;
        }
        let Some(cut_off) = self.cut_off.filter(|cut_off| cut_off.at <= now) else {
            return self.goes_on(simulation, count);
        };
        count.cut_off += 1;
        if cut_off.by_receiver {
            simulation.reset_flow(self.flow);
        }
        simulation.act(Action::StopFlow(self.flow));
        false
    }

    /// False, and counted, when the sender has given up.
    fn goes_on(&self, simulation: &mut Simulation, count: &mut Count) -> bool {
        let is_closed = |connection: &Connection| connection.state() == State::Closed;
        if !simulation.sender(self.flow).is_some_and(is_closed) {
            return true;
        }
        count.wrong += 1;
        simulation.act(Action::StopFlow(self.flow));
        false
    }
}

/// Connections that are mostly idle and lack what was written into them long ago.
pub(super) fn mute(simulation: &Simulation, idle: &[Idle]) -> u64 {
    let lacks = |idle: &&Idle| {
        let until = simulation.now().saturating_since(Instant::ZERO + IDLE_GRACE);
        let writes = until.as_nanos() / idle.every.as_nanos();
        simulation.delivered_bytes(idle.flow) < writes * idle.bytes
    };
    idle.iter().filter(lacks).count() as u64
}
