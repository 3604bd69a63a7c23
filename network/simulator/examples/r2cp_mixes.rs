//! R²CP over 200 random mixes of pipes: never below the best pipe alone, and how near the sum.
//!
//! `cargo run --release -p prismux-simulator --example r2cp_mixes [modern|linux-2.4|ns2-2002] [FROM TO]`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it prints.
#[path = "../tests/networks/pipe_mixes/mod.rs"]
mod pipe_mixes;

use pipe_mixes::{MIXES, Pipe, pipes};
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, Plan, Transport};
use prismux_r2cp::R2cpConfig;
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, R2cpFlow, R2cpPath, RcpFlow, Simulation, SimulationOptions};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};
use std::env;

/// Left out of the measurement, and its end.
const WARM_UP: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(80);

fn link(pipe: &Pipe) -> LinkConfig {
    LinkConfig::new(Rate::from_kbps(pipe.kbps), Duration::from_micros(pipe.rtt_ms * 500))
        .with_queue(QueueLimit::Packets(pipe.queue))
}

/// Steady goodput in bit/s over all pipes by R²CP, or over one of them by RCP.
fn goodput(number: u64, pipes: &[Pipe], only: Option<usize>, rcp: &RcpConfig) -> f64 {
    let (mut plan, mut options) = (Plan::new("mix", END), SimulationOptions::checked());
    let client = plan.host("client");
    let mut ways = Vec::new();
    for (index, pipe) in pipes.iter().enumerate() {
        let server = plan.host(&format!("server{index}"));
        let loss = Probability::new(pipe.loss).filter(|_| pipe.loss > 0.0);
        let forward = link(pipe).with_loss(loss.map_or(LossModel::None, LossModel::Bernoulli));
        plan.link(&format!("pipe{index}"), [server, client], forward, link(pipe));
        ways.push(R2cpPath::to(server));
    }
    let from = ways[only.unwrap_or(0)].server;
    let transport: AnyTransport = match only {
        Some(_) => RcpFlow::new(rcp.clone()).into(),
        None => R2cpFlow {
            config: R2cpConfig::new(rcp.clone()),
            sender: rcp.clone(),
            paths: ways,
            name: "r2cp".into(),
        }
        .into(),
    };
    options.carry(&mut plan, Flow::new("download", from, client, Transport::Tcp), transport);
    plan.measure.warm_up = Some(WARM_UP);
    let mut simulation = Simulation::from_plan(&plan, Seed(number), options).expect("it is a network");
    simulation.run_until(Instant::ZERO + END);
    assert_eq!(simulation.faults(), Vec::<String>::new(), "mix {number}");
    simulation.result().flows["download"].steady_goodput_bps.unwrap_or(0.0)
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let profile: TcpProfile =
        arguments.first().map_or(TcpProfile::Modern, |name| name.parse().expect("a TCP profile"));
    let number = |index: usize, standard: u64| {
        arguments.get(index).map_or(standard, |text| text.parse().expect("a number of a mix"))
    };
    let (from, to) = (number(1, 1), number(2, MIXES));
    let tcp = TcpConfig { receive_buffer: ByteCount::new(8_000_000), ..profile.config() };
    let rcp = RcpConfig::from_tcp(&tcp);
    let (mut shares, mut gains, mut below) = (Vec::new(), Vec::new(), Vec::new());
    for mix in from..=to {
        let pipes = pipes(mix);
        let together = goodput(mix, &pipes, None, &rcp);
        let alone: Vec<f64> = (0..pipes.len()).map(|pipe| goodput(mix, &pipes, Some(pipe), &rcp)).collect();
        let (best, sum) = (alone.iter().copied().fold(0.0, f64::max), alone.iter().sum::<f64>());
        println!(
            "{mix:4}  best {:6.2}  sum {:6.2}  R2CP {:6.2} Mbit/s  = {:.3} of the best, {:.3} of the sum",
            best / 1e6,
            sum / 1e6,
            together / 1e6,
            together / best,
            together / sum
        );
        shares.push(together / sum);
        gains.push(together / best);
        if together < best {
            below.push(mix);
        }
    }
    for list in [&mut shares, &mut gains] {
        list.sort_by(f64::total_cmp);
    }
    let at = |list: &[f64], percent: usize| list[(list.len() - 1) * percent / 100];
    println!("{profile}: {} mixes, below the best pipe: {below:?}", shares.len());
    println!("percentile       0     5    25    50    75    95   100");
    for (name, list) in [("of the sum ", &shares), ("of the best", &gains)] {
        let cells: Vec<String> =
            [0, 5, 25, 50, 75, 95, 100].iter().map(|&percent| format!("{:.3}", at(list, percent))).collect();
        println!("{name}  {}", cells.join(" "));
    }
    assert!(below.is_empty(), "R2CP must never be slower than its best pipe");
}
