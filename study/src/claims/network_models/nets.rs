//! Random cells with a flow from every host: for the slotted cell, and as scenarios for the packet simulator.

use crate::claims::ClaimsError;
use crate::claims::plan::{Job, Scope};
use prismux_cellular::simulation::{Access, Destination, Flow, Outcome, Setup, Traffic, simulate};
use prismux_cellular::{Cell, Placement, Reach};
use prismux_endpoint::random::Seed;
use prismux_scenario::ScenarioFile;
use prismux_units::{Duration, Rate};
use prismux_wireless::{Area, Position, RandomWaypoint, WaypointStart};
use std::fmt::Write as _;

/// Side of the cell, in metres.
pub(super) const SIDE_M: f64 = 1500.0;
/// Range of peers where it is not the least one, in metres.
pub(super) const RANGE_M: f64 = 250.0;
/// Hosts of most experiments.
pub(super) const HOSTS: usize = 100;
/// What polling costs the cellular model.
const POLLED: Access = Access::Polled { overhead: 0.05 };
/// Slots of a scheduling period; the thesis does not say.
const ASSISTED: Access = Access::Assisted { period_slots: 100 };

/// A cell, the range of its hosts, and what their flows are drawn from.
#[derive(Debug, Clone)]
pub(super) struct Net {
    pub cell: Cell,
    pub range_m: f64,
    pub stations: Vec<Position>,
    /// For each host a random peer, and a lot that says from which share on its flow is non-local.
    lots: Vec<(usize, f64)>,
    seed: u64,
}

impl Net {
    /// 100 uniform hosts that 250 m connect.
    pub fn connected(seed: u64) -> Self {
        let mut random = Seed(seed).stream("network-models/connected");
        let cell = Cell::draw_connected(HOSTS, SIDE_M, RANGE_M, &mut random);
        Self::of(cell.expect("many cells of 100 hosts are connected"), RANGE_M, seed)
    }

    /// Hosts with the least range that connects them.
    pub fn least(hosts: usize, placement: Placement, seed: u64) -> Self {
        let mut random = Seed(seed).stream(&format!("network-models/{hosts}/{placement:?}"));
        let cell = Cell::draw(hosts, SIDE_M, placement, &mut random).expect("hosts, and squares that exist");
        // Rounded up, so that a file can hold it.
        let range_m = (cell.least_range_m() * 10.0).ceil() / 10.0;
        Self::of(cell, range_m, seed)
    }

    fn of(cell: Cell, range_m: f64, seed: u64) -> Self {
        let hosts = cell.hosts();
        let mut random = Seed(seed).stream("network-models/flows");
        let lot = |host: usize| {
            let peer = (host + 1 + random.below(hosts as u64 - 1) as usize) % hosts;
            (peer, random.uniform())
        };
        Self { cell, range_m, stations: Vec::new(), lots: (0..hosts).map(lot).collect(), seed }
    }

    /// With as many hybrid stations at random places.
    pub fn with_stations(mut self, stations: usize) -> Self {
        let mut random = Seed(self.seed).stream("network-models/stations");
        let mut place = || (random.uniform() * SIDE_M * 10.0).round() / 10.0;
        self.stations = (0..stations).map(|_| Position { x_m: place(), y_m: place() }).collect();
        self
    }

    /// One flow from each host, of which `non_local` leave the cell.
    fn flows(&self, non_local: f64) -> Vec<Flow> {
        let flow = |(source, &(peer, lot)): (usize, &(usize, f64))| {
            let destination = if lot < non_local { Destination::Outside } else { Destination::Host(peer) };
            Flow { source, destination }
        };
        self.lots.iter().enumerate().map(flow).collect()
    }

    /// For the slotted cell.
    pub fn setup(&self, non_local: f64, traffic: Traffic) -> Setup {
        Setup {
            range_m: self.range_m,
            stations: self.stations.clone(),
            ..Setup::new(self.cell.clone(), self.flows(non_local), traffic)
        }
    }

    /// What comes of a setup.
    pub fn run(&self, setup: &Setup, access: Access) -> Outcome {
        simulate(setup, access, Seed(self.seed)).expect("flows between hosts of the cell")
    }

    pub fn cellular(&self, non_local: f64, traffic: Traffic) -> Outcome {
        self.run(&self.setup(non_local, traffic), POLLED)
    }

    pub fn assisted(&self, non_local: f64, traffic: Traffic) -> Outcome {
        self.run(&self.setup(non_local, traffic), ASSISTED)
    }

    pub fn contention(&self, non_local: f64, traffic: Traffic) -> Outcome {
        self.run(&self.setup(non_local, traffic), Access::Contention)
    }

    /// Where a flow that leaves the cell ends: the base station or the station with the fewest hops.
    fn exit(&self, source: usize) -> String {
        let places: Vec<Position> = self.cell.places.iter().chain(&self.stations).copied().collect();
        let reach = Reach::new(&places, self.range_m);
        let sinks: Vec<usize> = (self.cell.base()..places.len()).collect();
        let routes = prismux_cellular::Routes::to(&reach, &sinks, &mut Seed(self.seed).stream("exit"));
        let last = routes.from(source).and_then(|route| route.hops().last().map(|hop| hop.to));
        match last.unwrap_or(self.cell.base()) - self.cell.base() {
            0 => "base".to_string(),
            station => format!("s-{station}"),
        }
    }

    /// The scenario of the packet simulator: 802.11 with RTS and CTS, ad-hoc routing, TCP.
    fn scenario(&self, air: &OnAir) -> String {
        let mut text = format!("duration = \"{} s\"\n[nodes]\nbase = {{ kind = \"host\" }}\n", air.seconds);
        let _ = writeln!(text, "h = {{ kind = \"host\", count = {} }}", self.cell.hosts());
        for station in 1..=self.stations.len() {
            let _ = writeln!(text, "s-{station} = {{ kind = \"host\" }}");
        }
        let _ = writeln!(text, "[radio]\nmedium_access = \"ns-2\"\nrange_m = {}\n[mobility]", self.range_m);
        let mut places = vec![("base".to_string(), self.cell.places[self.cell.base()])];
        if air.max_speed_m_per_s > 0.0 {
            let (low, high) = (air.max_speed_m_per_s / 100.0, air.max_speed_m_per_s);
            let _ = writeln!(text, "model = \"random-waypoint\"\nspeed_m_per_s = [{low}, {high}]");
            let _ = writeln!(text, "start = \"uniform\"\narea_m = [{SIDE_M}, {SIDE_M}]");
        } else {
            text.push_str("model = \"static\"\n");
            let hosts = self.cell.places.iter().take(self.cell.hosts()).enumerate();
            places.extend(hosts.map(|(host, place)| (format!("h-{}", host + 1), *place)));
            let stations = self.stations.iter().enumerate();
            places.extend(stations.map(|(station, place)| (format!("s-{}", station + 1), *place)));
        }
        let places: Vec<String> =
            places.iter().map(|(name, at)| format!("{name} = [{:.3}, {:.3}]", at.x_m, at.y_m)).collect();
        let _ = writeln!(text, "places = {{ {} }}", places.join(", "));
        let _ = writeln!(text, "[routing]\nprotocol = \"{}\"\n[flows]", air.routing);
        for flow in self.flows(air.non_local) {
            let to = match flow.destination {
                Destination::Host(host) => format!("h-{}", host + 1),
                Destination::Outside => self.exit(flow.source),
            };
            let number = flow.source + 1;
            // TCP of ns-2 with packets of 1000 bytes, writes of one packet each, all flows a little apart.
            let writes = air.kbps.map_or(String::new(), |kbps| {
                let every_us = 8_000_000 / kbps;
                format!("pattern = \"writes\", every = \"{every_us} us\", ")
            });
            let _ = writeln!(
                text,
                "f-{number} = {{ from = \"h-{number}\", to = \"{to}\", {writes}start = \"{} ms\", \
                 profile = \"ns2-2002\", tcp = {{ mss = \"1000 B\", window = \"32 kB\", initial_window = 2, \
                 min_rto = \"200 ms\", clock_granularity = \"10 ms\" }} }}",
                10 * number
            );
        }
        text
    }

    /// A run of the packet simulator.
    ///
    /// # Errors
    /// [`ClaimsError`] for settings that make no scenario.
    pub fn job(&self, key: &str, air: &OnAir) -> Result<Job, ClaimsError> {
        let file = ScenarioFile::from_text("network-models.toml", self.scenario(air));
        Ok(Job { key: key.to_string(), scenario: file.scenario(None, &[])?, seed: self.seed })
    }
}

/// Settings of the packet simulator.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnAir {
    pub routing: &'static str,
    pub non_local: f64,
    /// Rate of each flow; `None` for files without end.
    pub kbps: Option<u64>,
    /// Highest speed; 0 where hosts stay.
    pub max_speed_m_per_s: f64,
    pub seconds: u64,
}

impl OnAir {
    /// DSR, all flows to the base station, hosts that stay; 100 s, or 30 s when quick.
    pub fn new(scope: &Scope, kbps: Option<u64>) -> Self {
        let seconds = if scope.quick { 30 } else { 100 };
        Self { routing: "dsr-ns2", non_local: 1.0, kbps, max_speed_m_per_s: 0.0, seconds }
    }
}

/// Traffic of the slotted cell at the same rate.
pub(super) fn traffic(kbps: Option<u64>) -> Traffic {
    kbps.map_or(Traffic::Backlogged, |kbps| Traffic::Constant(Rate::from_kbps(kbps)))
}

/// Random waypoint movement in the cell without pauses.
pub(super) fn waypoint(max_speed_m_per_s: f64) -> RandomWaypoint {
    RandomWaypoint {
        area: Area { width_m: SIDE_M, height_m: SIDE_M },
        min_speed_m_per_s: max_speed_m_per_s / 100.0,
        max_speed_m_per_s,
        pause: Duration::ZERO,
        start: WaypointStart::Uniform,
    }
}

/// The networks of all seeds.
pub(super) fn nets(seeds: u64, net: impl Fn(u64) -> Net) -> Vec<Net> {
    (1..=seeds).map(net).collect()
}
