//! Frames on the air per CPU second, in the two shipped ad-hoc scenarios and in networks that grow at constant density.
//!
//! `cargo run --release -p prismux-benches --bin radio-speed`
use prismux_benches::cpu::Stopwatch;
use prismux_endpoint::random::Seed;
use prismux_plan::Plan;
use prismux_scenario::ScenarioFile;
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_units::{Duration, Instant};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for name in ["adhoc-tcp", "adhoc-cell"] {
        let (mut frames, mut seconds) = (0, 0.0);
        for seed in 1..=3 {
            let plan = ScenarioFile::find(name)?.scenario(None, &[])?.plan;
            let (sent, took) = run(&plan, seed)?;
            (frames, seconds) = (frames + sent, seconds + took);
        }
        println!(
            "{name}: {frames} frames in {seconds:.2} CPU s, {:.0} k frames/s",
            frames as f64 / seconds / 1e3
        );
    }
    for hosts in [100, 1000, 10_000] {
        let (frames, seconds) = run(&neighbours(hosts)?, 1)?;
        println!("{hosts} hosts: {frames} frames, {:.2} us each", seconds / frames as f64 * 1e6);
    }
    Ok(())
}

/// Runs a plan to its end: frames on the air, and CPU seconds.
fn run(plan: &Plan, seed: u64) -> Result<(u64, f64), Box<dyn Error>> {
    let options = SimulationOptions { checks: Some(false), ..SimulationOptions::default() };
    let mut simulation = Simulation::from_plan(plan, Seed(seed), options)?;
    let end = Instant::ZERO + plan.duration;
    let watch = Stopwatch::start();
    simulation.run_until(end);
    let seconds = watch.seconds();
    let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).ok_or("no air")?;
    Ok((plan.node_ids().map(|node| air.stats(end, node).frames_sent()).sum(), seconds))
}

/// Pairs of hosts 100 m apart that talk without routing, 100 hosts in a square of 1500 m.
fn neighbours(hosts: u32) -> Result<Plan, Box<dyn Error>> {
    let side = (f64::from(hosts) / 100.0).sqrt() * 1500.0;
    let columns = f64::from(hosts / 2).sqrt().ceil();
    let (mut places, mut flows) = (Vec::new(), String::new());
    for pair in 0..hosts / 2 {
        let (x, y) = (f64::from(pair) % columns, (f64::from(pair) / columns).floor());
        let (x, y) = (x * side / columns, y * side / columns);
        let (one, other) = (2 * pair + 1, 2 * pair + 2);
        places.push(format!("h-{one} = [{x}, {y}], h-{other} = [{}, {y}]", x + 100.0));
        let traffic = "transport = \"udp\", rate = \"200 kbit/s\"";
        flows += &format!("f-{one} = {{ from = \"h-{one}\", to = \"h-{other}\", {traffic} }}\n");
    }
    let text = format!(
        "duration = \"2 s\"\n[nodes]\nh = {{ kind = \"host\", count = {hosts} }}\n[radio]\n\
         [mobility]\nmodel = \"static\"\n\
         places = {{ {} }}\n[routing]\nprotocol = \"direct\"\n[flows]\n{flows}",
        places.join(", ")
    );
    let mut plan = ScenarioFile::from_text("neighbours", text).scenario(None, &[])?.plan;
    plan.duration = Duration::from_secs(2);
    Ok(plan)
}
