//! The classical comparison of ad-hoc routing protocols (J. Broch et al., MobiCom 1998): 50 hosts in 1500 m by 300 m,
//! random waypoint up to 20 m/s, sources of 4 packets of 64 bytes a second; what arrives, what routing costs, and how
//! many hops packets take above the fewest possible.
//!
//! `cargo run --release -p prismux-simulator --example adhoc_routing -- SECONDS SEEDS SOURCES,... PAUSE_S,...`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it reads and prints.
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, MediumModel, Plan, Radio, Routing, Traffic, Transport, registry};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{Area, MacConfig, Mobility, QueueRule, RadioConfig, RandomWaypoint, WaypointStart};
use std::error::Error;
use std::str::FromStr;

const PROTOCOLS: [&str; 3] = ["dsr-ns2", "aodv-ns2", "dsdv-sq"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seconds, seeds, sources, pauses] = arguments.as_slice() else {
        return Err("arguments: SECONDS SEEDS SOURCES,... PAUSE_S,...".into());
    };
    let (seconds, seeds): (u64, u64) = (seconds.parse()?, seeds.parse()?);
    println!("protocol   sources  pause s  delivered %  routing packets  hops  fewest hops  at fewest %");
    for sources in list::<u32>(sources)? {
        for pause in list::<u64>(pauses)? {
            for protocol in PROTOCOLS {
                let mut sum = Outcome::default();
                for seed in 1..=seeds {
                    sum.add(&run(protocol, sources, pause, seconds, seed)?);
                }
                println!("{protocol:<10} {sources:7} {pause:8} {}", sum.row(seeds));
            }
        }
    }
    Ok(())
}

fn list<T: FromStr>(text: &str) -> Result<Vec<T>, T::Err> {
    text.split(',').map(str::parse).collect()
}

/// What the hosts have counted.
#[derive(Debug, Default)]
struct Outcome {
    sent: f64,
    arrived: f64,
    routing: f64,
    hops: f64,
    fewest: f64,
    at_fewest: f64,
}

impl Outcome {
    fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.arrived += other.arrived;
        self.routing += other.routing;
        self.hops += other.hops;
        self.fewest += other.fewest;
        self.at_fewest += other.at_fewest;
    }

    fn row(&self, seeds: u64) -> String {
        let per_packet = |sum: f64| sum / self.arrived;
        format!(
            "{:12.1} {:16.0} {:5.2} {:12.2} {:12.1}",
            100.0 * self.arrived / self.sent,
            self.routing / seeds as f64,
            per_packet(self.hops),
            per_packet(self.fewest),
            100.0 * per_packet(self.at_fewest)
        )
    }
}

fn run(
    protocol: &str,
    sources: u32,
    pause_s: u64,
    seconds: u64,
    seed: u64,
) -> Result<Outcome, Box<dyn Error>> {
    let routing = registry::ROUTING.iter().find(|name| name.name == protocol).ok_or("no such routing")?.value;
    let (plan, expected) = plan(routing, sources, pause_s, seconds);
    let options = SimulationOptions { checks: Some(false), ..SimulationOptions::default() };
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options)?;
    simulation.run_until(Instant::from_secs(seconds));
    let result = simulation.result();
    let sum = |name: &str| -> f64 {
        result.nodes.values().filter_map(|node| node.get(name)).map(|&count| count as f64).sum()
    };
    Ok(Outcome {
        sent: expected,
        arrived: sum("routing_delivered_packets"),
        routing: sum("routing_control_packets"),
        hops: sum("routing_hops_made"),
        fewest: sum("routing_fewest_hops"),
        at_fewest: sum("routing_packets_at_fewest_hops"),
    })
}

/// The network, and how many packets its sources send.
fn plan(routing: Routing, sources: u32, pause_s: u64, seconds: u64) -> (Plan, f64) {
    let mut plan = Plan::new("ad-hoc routing", Duration::from_secs(seconds));
    let hosts: Vec<_> = (0..50).map(|host| plan.host(&format!("h{host}"))).collect();
    let waypoint = RandomWaypoint {
        area: Area { width_m: 1500.0, height_m: 300.0 },
        min_speed_m_per_s: 0.1,
        max_speed_m_per_s: 20.0,
        pause: Duration::from_secs(pause_s),
        start: WaypointStart::Uniform,
    };
    let queue = if matches!(routing, Routing::Dsr(_)) { QueueRule::ByKind } else { QueueRule::Shared };
    let radio = Radio {
        compares_hops: true,
        ..Radio::new(
            RadioConfig::wavelan(),
            MacConfig { queue, ..MacConfig::ns2() },
            vec![Mobility::RandomWaypoint(waypoint); hosts.len()],
            routing,
        )
    };
    plan.medium("air", &hosts, MediumModel::Radio(Box::new(radio)));
    let mut packets = 0.0;
    for source in 0..sources {
        // Sources begin within the first fifth, as the paper's do within the first 180 of 900 seconds.
        let start = Duration::from_secs(seconds) * u64::from(source) / (5 * u64::from(sources));
        let (from, to) = (hosts[source as usize % 50], hosts[(source as usize * 7 + 25) % 50]);
        let traffic = Traffic::Cbr { rate: Rate::from_bps(4 * 64 * 8), packet: ByteCount::new(64) };
        let flow = Flow::new(&format!("cbr{source}"), from, to, Transport::Udp).traffic(traffic);
        plan.flow(flow.start_at(start));
        packets += (Duration::from_secs(seconds) - start).as_secs_f64() * 4.0;
    }
    (plan, packets)
}
