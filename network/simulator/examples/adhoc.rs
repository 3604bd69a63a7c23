//! Ad-hoc networks over ns-2 movement files: one TCP connection from host 0 to host 1 (`manet`), or a write of 1000
//! bytes every half second from every host to host 0 (`cell`, host k from k/100 seconds on).
//!
//! `cargo run --release -p prismux-simulator --example adhoc -- manet|cell ROUTING MOVEMENTS SECONDS SEED`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it reads and prints.
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, MediumModel, Plan, Radio, Routing, TcpSettings, Traffic, Transport, registry};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wireless::{MacConfig, QueueRule, RadioConfig, parse_ns2};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, routing, file, seconds, seed] = arguments.as_slice() else {
        return Err("arguments: manet|cell ROUTING MOVEMENTS SECONDS SEED".into());
    };
    let (seconds, seed): (u64, u64) = (seconds.parse()?, seed.parse()?);
    let plan = plan(mode == "cell", routing, file, seconds)?;
    let options = SimulationOptions { checks: Some(false), ..SimulationOptions::default() };
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options)?;
    let end = Instant::from_secs(seconds);
    simulation.run_until(end);
    let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).ok_or("no air")?;
    let stats: Vec<_> = plan.node_ids().map(|node| air.stats(end, node)).collect();
    let frames: u64 = stats.iter().map(|host| host.frames_sent()).sum();
    let failed: u64 = stats.iter().map(|host| host.packets_failed).sum();
    let broadcasts: u64 = stats.iter().map(|host| host.broadcasts_sent).sum();
    // As ns-2 counts: what the sender knows to have arrived.
    let acknowledged = |flow| simulation.sender(flow).map_or(0, |sender| sender.stream_acked());
    let rates: Vec<f64> =
        plan.flow_ids().map(|flow| acknowledged(flow) as f64 * 8.0 / seconds as f64 / 1e3).collect();
    let (sum, squares) =
        rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    let fairness = sum * sum / squares / rates.len() as f64;
    let timeouts: u64 = simulation.result().flows.values().map(|flow| flow.timeouts).sum();
    println!(
        "goodput {sum:.0} kbit/s, Jain {fairness:.3}, {timeouts} timeouts, {frames} frames, {broadcasts} of them \
         broadcasts, {failed} packets given up by \
         the MAC, faults {:?}",
        simulation.faults()
    );
    Ok(())
}

fn plan(cell: bool, routing: &str, file: &str, seconds: u64) -> Result<Plan, Box<dyn std::error::Error>> {
    let hosts = if cell { 101 } else { 20 };
    let mobility = parse_ns2(file, &std::fs::read_to_string(file)?, hosts)?;
    let routing = registry::ROUTING.iter().find(|name| name.name == routing).ok_or("no such routing")?.value;
    let mut plan = Plan::new("ad-hoc", Duration::from_secs(seconds));
    let nodes: Vec<_> = (0..hosts).map(|host| plan.host(&format!("h{host}"))).collect();
    // ns-2's DSR demands an interface queue of its own.
    let queue = if matches!(routing, Routing::Dsr(_)) { QueueRule::ByKind } else { QueueRule::Shared };
    let mac = MacConfig { queue, ..MacConfig::ns2() };
    let radio =
        Radio { radio: RadioConfig::wavelan(), mac, mobility, routing, compares_hops: false, power: None };
    plan.medium("air", &nodes, MediumModel::Radio(Box::new(radio)));
    let tcp = TcpSettings {
        mss: Some(1000),
        window: Some(ByteCount::new(32_000)),
        initial_window: Some(2),
        min_rto: Some(Duration::from_millis(200)),
        clock_granularity: Some(Duration::from_millis(10)),
        ..TcpSettings::profile(TcpProfile::Ns2_2002)
    };
    if !cell {
        plan.flow(Flow::new("ftp", nodes[0], nodes[1], Transport::Tcp).tcp(tcp));
        return Ok(plan);
    }
    for (number, &node) in nodes.iter().enumerate().skip(1) {
        let writes = Traffic::Writes { size: ByteCount::new(1000), every: Duration::from_millis(500) };
        let flow = Flow::new(&format!("cbr-{number}"), node, nodes[0], Transport::Tcp).traffic(writes);
        plan.flow(flow.tcp(tcp.clone()).start_at(Duration::from_millis(10) * number as u64));
    }
    Ok(plan)
}
