//! One cell under every way to share its channel: throughput, fairness, delay, power.
//!
//! `cargo run --release -p prismux-cellular --example cell -- HOSTS PERCENT_NON_LOCAL KBIT_PER_S SPEED STATIONS SEED`
//!
//! A rate of 0 stands for sources that always have a packet, a speed of 0 m/s for hosts that stay.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it reads and prints.
use prismux_cellular::simulation::{Access, Destination, Flow, Outcome, Setup, Traffic, simulate};
use prismux_cellular::{Cell, DualModeSettings, PowerModel};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_units::{Duration, Rate};
use prismux_wireless::{Area, Position, RandomWaypoint, WaypointStart};

const SIDE_M: f64 = 1500.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [hosts, percent, kbps, speed, stations, seed] = arguments.as_slice() else {
        return Err("arguments: HOSTS PERCENT_NON_LOCAL KBIT_PER_S SPEED STATIONS SEED".into());
    };
    let (hosts, percent, stations): (usize, f64, usize) =
        (hosts.parse()?, percent.parse()?, stations.parse()?);
    let (kbps, speed, seed): (u64, f64, u64) = (kbps.parse()?, speed.parse()?, seed.parse()?);
    let mut random = Seed(seed).stream("example");
    let cell = Cell::draw_connected(hosts, SIDE_M, 250.0, &mut random)?;
    let base_range_m = cell.base_range_m();
    let flows = (0..hosts).map(|host| flow(host, hosts, percent / 100.0, &mut random)).collect();
    let traffic = if kbps == 0 { Traffic::Backlogged } else { Traffic::Constant(Rate::from_kbps(kbps)) };
    let mut setup = Setup::new(cell, flows, traffic);
    let mut place = || Position { x_m: random.uniform() * SIDE_M, y_m: random.uniform() * SIDE_M };
    setup.stations = (0..stations).map(|_| place()).collect();
    setup.movement = (speed > 0.0).then_some(RandomWaypoint {
        area: Area { width_m: SIDE_M, height_m: SIDE_M },
        min_speed_m_per_s: speed / 100.0,
        max_speed_m_per_s: speed,
        pause: Duration::from_nanos(0),
        start: WaypointStart::Uniform,
    });
    let fair = Rate::from_bps(setup.rate.as_bps() / hosts as u64);
    let reference = if kbps == 0 { fair } else { fair.min(Rate::from_kbps(kbps)) };
    let settings = DualModeSettings::default();
    println!("{:<24} {:>12} {:>6} {:>9} {:>8}", "", "kbit/s", "CoV", "delay, s", "W/host");
    for (name, access) in [
        ("cellular, polled", Access::Polled { overhead: 0.05 }),
        ("peers, contention", Access::Contention),
        ("peers, assisted", Access::Assisted { period_slots: 100 }),
        ("dual mode", Access::DualMode { settings, reference }),
    ] {
        let outcome: Outcome = simulate(&setup, access, Seed(seed))?;
        println!(
            "{name:<24} {:>12.1} {:>6.3} {:>9.2} {:>8.3}",
            outcome.total_bps() / 1e3,
            outcome.variation(),
            outcome.mean_delay_s(),
            outcome.power_w(&PowerModel::NS2, setup.range_m, base_range_m)
        );
    }
    Ok(())
}

fn flow(host: usize, hosts: usize, non_local: f64, random: &mut RandomStream) -> Flow {
    let peer = (host + 1 + random.below(hosts as u64 - 1) as usize) % hosts;
    let destination = if random.chance(non_local) { Destination::Outside } else { Destination::Host(peer) };
    Flow { source: host, destination }
}
