//! A TCP connection from host 0 to host 1 of a mobile ad-hoc network with DSR, over an ns-2 movement file.
//!
//! `cargo run --release -p prismux-simulator --example adhoc -- MOVEMENTS HOSTS SECONDS SEED`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it reads and prints.
use prismux_dsr::DsrConfig;
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, MediumModel, Plan, Radio, Routing, TcpSettings, Transport};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wireless::{MacConfig, RadioConfig, parse_ns2};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, hosts, seconds, seed] = arguments.as_slice() else {
        return Err("arguments: MOVEMENTS HOSTS SECONDS SEED".into());
    };
    let (hosts, seconds, seed): (usize, u64, u64) = (hosts.parse()?, seconds.parse()?, seed.parse()?);
    let mobility = parse_ns2(file, &std::fs::read_to_string(file)?, hosts)?;
    let mut plan = Plan::new("ad-hoc", Duration::from_secs(seconds));
    let nodes: Vec<_> = (0..hosts).map(|host| plan.host(&format!("h{host}"))).collect();
    let radio = Radio {
        radio: RadioConfig::wavelan(),
        mac: MacConfig::ns2(),
        mobility,
        routing: Routing::Dsr(DsrConfig::ns2()),
    };
    plan.medium("air", &nodes, MediumModel::Radio(Box::new(radio)));
    let tcp = TcpSettings {
        mss: Some(1000),
        window: Some(ByteCount::new(32_000)),
        initial_window: Some(2),
        min_rto: Some(Duration::from_millis(200)),
        clock_granularity: Some(Duration::from_millis(10)),
        ..TcpSettings::profile(TcpProfile::Ns2_2002)
    };
    let flow = plan.flow(Flow::new("ftp", nodes[0], nodes[1], Transport::Tcp).tcp(tcp));
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), SimulationOptions::default())?;
    let end = Instant::from_secs(seconds);
    simulation.run_until(end);
    let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).ok_or("no air")?;
    let stats: Vec<_> = nodes.iter().map(|&node| air.stats(end, node)).collect();
    let frames: u64 = stats.iter().map(|host| host.frames_sent()).sum();
    let failed: u64 = stats.iter().map(|host| host.packets_failed).sum();
    let goodput = simulation.delivered_bytes(flow) as f64 * 8.0 / seconds as f64;
    println!(
        "goodput {:.0} kbit/s, {frames} frames, {failed} packets given up by the MAC, faults {:?}",
        goodput / 1e3,
        simulation.faults()
    );
    Ok(())
}
