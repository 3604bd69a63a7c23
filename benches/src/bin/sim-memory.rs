//! What a large network costs the simulator: 10,000 nodes and 10,000 flows of TCP, set up and run, in memory and in
//! processor time.
//!
//! `cargo run --release -p prismux-benches --bin sim-memory`
use prismux_benches::cpu::Stopwatch;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, NodeId, Plan, TcpSettings, Transport};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use std::error::Error;
use std::fs;

const ROUTERS: usize = 100;
const HOSTS_OF_A_ROUTER: usize = 99;
const FLOWS: usize = 10_000;
const SIMULATED: Duration = Duration::from_secs(5);
/// What the whole process may take.
const LIMIT_BYTES: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let before = peak_bytes()?;
    let setup = Stopwatch::start();
    let plan = network();
    let options = SimulationOptions { checks: Some(false), ..SimulationOptions::default() };
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options)?;
    let (setup_s, set_up) = (setup.seconds(), peak_bytes()?);
    let run = Stopwatch::start();
    simulation.run_until(Instant::ZERO + SIMULATED);
    let (run_s, peak) = (run.seconds(), peak_bytes()?);
    let result = simulation.result();
    let carried: u64 = result.flows.values().map(|flow| flow.bytes).sum();
    let silent = result.flows.values().filter(|flow| flow.bytes == 0).count();
    println!("{} nodes, {} links, {} flows of TCP", plan.nodes.len(), plan.links.len(), plan.flows.len());
    println!(
        "{} of simulated time, {} MB carried, {silent} flows carried nothing",
        SIMULATED,
        carried / 1_000_000
    );
    println!("processor time: {setup_s:.1} s to set up, {run_s:.1} s to run");
    println!("memory: {} MB at the start, {} MB set up, {} MB at most", mb(before), mb(set_up), mb(peak));
    if peak > LIMIT_BYTES {
        return Err(format!("more than {} MB", mb(LIMIT_BYTES)).into());
    }
    Ok(())
}

/// A core, routers around it, hosts around these; flows from every host to another anywhere.
fn network() -> Plan {
    let mut plan = Plan::new("large", SIMULATED);
    let link = |mbps, millis, packets| {
        LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(millis))
            .with_queue(QueueLimit::Packets(packets))
    };
    let core = plan.router("core");
    let mut hosts: Vec<NodeId> = Vec::new();
    for number in 0..ROUTERS {
        let router = plan.router(&format!("router{number}"));
        plan.symmetric_link(&format!("trunk{number}"), [core, router], link(100, 5, 500));
        for _ in 0..HOSTS_OF_A_ROUTER {
            let host = plan.host(&format!("host{}", hosts.len()));
            plan.symmetric_link(&format!("access{}", hosts.len()), [router, host], link(10, 1, 50));
            hosts.push(host);
        }
    }
    let mut random: RandomStream = Seed(1).stream("who sends to whom");
    let window =
        TcpSettings { window: Some(ByteCount::new(64_000)), ..TcpSettings::profile(TcpProfile::Modern) };
    for number in 0..FLOWS {
        let from = hosts[number % hosts.len()];
        let others: Vec<NodeId> = hosts.iter().copied().filter(|&host| host != from).collect();
        let to = others[random.below(others.len() as u64) as usize];
        let start = Duration::from_micros(random.below(1_000_000));
        let flow = Flow::new(&format!("flow{number}"), from, to, Transport::Tcp).start_at(start);
        plan.flow(flow.tcp(window.clone()));
    }
    plan
}

/// The most memory that this process has had resident (`VmHWM`).
fn peak_bytes() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes * 1024)
}

fn mb(bytes: u64) -> u64 {
    bytes / 1_000_000
}
