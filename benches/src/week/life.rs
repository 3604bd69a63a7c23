//! A gateway's days, second by second.
use super::connections::{Connections, mute};
use super::faults::Faults;
use super::hour::Hour;
use super::lines::Lines;
use super::network::Community;
use crate::cpu::Stopwatch;
use prismux_endpoint::random::Seed;
use prismux_prism::ProxyCounters;
use prismux_simulator::{Simulation, SimulationError, SimulationOptions};
use prismux_units::{Duration, Instant};

/// Seconds of an hour.
const HOUR_S: u64 = 3600;

/// A gateway at work.
#[derive(Debug)]
pub struct Life {
    community: Community,
    simulation: Simulation,
    connections: Connections,
    faults: Faults,
    lines: Lines,
    /// The proxy's counters as the hour began.
    before: ProxyCounters,
    hours: u64,
}

impl Life {
    /// A gateway that can run for so many hours.
    ///
    /// # Errors
    /// When the simulator refuses the network.
    pub fn new(hours: u64, seed: Seed) -> Result<Self, SimulationError> {
        let community = Community::new(Duration::from_secs(hours * HOUR_S));
        let options = SimulationOptions { checks: Some(true), ..SimulationOptions::default() };
        let simulation = Simulation::from_plan(&community.plan, seed, options)?;
        let connections = Connections::new(seed, &community);
        let (faults, lines, before) = (Faults::new(seed), Lines::default(), ProxyCounters::default());
        Ok(Self { community, simulation, connections, faults, lines, before, hours: 0 })
    }

    /// Lets an hour pass; `heap_bytes` says how many bytes are live on the heap.
    pub fn run_hour(&mut self, heap_bytes: impl Fn() -> u64) -> Hour {
        let watch = Stopwatch::start();
        for second in self.hours * HOUR_S + 1..=(self.hours + 1) * HOUR_S {
            let until = Instant::ZERO + Duration::from_secs(second);
            self.connections.run(&mut self.simulation, &self.community, until);
            self.faults.pass(&mut self.simulation, &self.community, second);
            self.lines.look(&self.simulation, &self.community, &self.faults, second);
        }
        let hour = self.record(watch.seconds(), heap_bytes());
        self.hours += 1;
        hour
    }

    fn record(&mut self, cpu_s: f64, heap_bytes: u64) -> Hour {
        let proxy = self.community.proxy;
        let (proxy_flows, proxy_flow_bytes) = self.simulation.proxy_tables(proxy);
        let counters = self.simulation.proxy_counters(proxy).copied().unwrap_or_default();
        let before = std::mem::replace(&mut self.before, counters);
        let links = self.simulation.proxy_links(proxy);
        Hour {
            hour: self.hours,
            heap_bytes,
            proxy_flows: proxy_flows as u64,
            proxy_flow_bytes: proxy_flow_bytes as u64,
            in_flight_bytes: links.iter().map(|link| link.in_flight_bytes).sum(),
            packets_under_way: self.simulation.packets_under_way() as u64,
            pending_events: self.simulation.pending_events() as u64,
            data_packets: counters.data_packets - before.data_packets,
            local_repairs: counters.local_repairs - before.local_repairs,
            cpu_s,
            connections: self.connections.take(),
            mute: mute(&self.simulation, &self.community.idle),
            links: self.lines.take(),
        }
    }

    /// What the simulator's checkers found wrong: bytes that came twice, not at all or from elsewhere, packets that
    /// nobody accounts for.
    pub fn faults(&self) -> Vec<String> {
        self.simulation.faults()
    }
}
