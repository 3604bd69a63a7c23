//! Bulk flows through a bottleneck with a managed queue, here and in ns-2 or ns-3: what waits, what is used, what is
//! dropped.
//!
//! `cargo run --release -p prismux-simulator --example queues -- [SEEDS [SECONDS [PYTHON]]]`
//!
//! One to twenty `TCP/Sack1` flows over 10 Mbit/s and 38 ms, RED with its standard parameters: in packets, the
//! distances between drops as in the paper and as ns-2 has them (`wait`); in bytes, as packets of 500, the thresholds
//! as they are and as they follow from the rate. Each row is the mean of some seeds, ten runs of 100 s where nothing
//! else is said. Needs ns-2 (`ns`).
//!
//! PYTHON is one that has the package `ns3` (ns-3.44): then a second table has CoDel, FQ-CoDel and PIE beside those of
//! ns-3, on the same links, with its NewReno with SACK.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it reads and prints.
mod references;

use prismux_endpoint::random::Seed;
use prismux_link::{CoDel, FqCoDel, LinkConfig, Management, Pie, QueueLimit, Red};
use prismux_plan::{Flow, FlowId, LinkId, Plan, Transport};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use references::References;
use std::error::Error;

const RATE: Rate = Rate::from_mbps(10);
const DELAY: Duration = Duration::from_millis(15);
/// What may wait, in packets: at RED, and at the others.
const RED_LIMIT_PACKETS: u32 = 100;
const LIMIT_PACKETS: u32 = 1000;
const SEGMENT_BYTES: u16 = 1000;
const PACKET_BYTES: f64 = 1040.0;
/// Slow start and what follows it are left out.
const WARM: Duration = Duration::from_secs(10);
const SAMPLE_EVERY: Duration = Duration::from_millis(1);

/// A row of the table, before it is run.
#[derive(Debug, Clone, Copy)]
struct Case {
    flows: u32,
    management: Management,
}

/// What one run measured, from the end of the warm-up on.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    /// Packets that wait, mean over time.
    waiting_packets: f64,
    /// Part of the rate that is used.
    used: f64,
    drops: f64,
    /// Of all flows.
    timeouts: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let python = arguments.next();
    let span = Duration::from_secs(seconds);
    if seeds == 0 || span <= WARM {
        return Err("arguments: SEEDS (at least 1) SECONDS (more than 10) PYTHON".into());
    }
    let references = References::new()?;
    println!("flows RED        packets waiting    rate used, %       drops         timeouts   (here | ns-2)");
    let paper = Red { ecn: false, ..Red::DEFAULT };
    let bytes = Red { mean_packet_bytes: Some(500), ..paper };
    for flows in [1, 2, 4, 20] {
        for (name, red) in [
            ("packets", paper),
            ("wait", Red { wait: true, ..paper }),
            ("bytes", bytes),
            ("automatic", Red { automatic: true, ..bytes }),
        ] {
            let case = Case { flows, management: Management::Red(red) };
            let here = mean((1..=seeds).map(|seed| ours(case, span, seed)))?;
            let there = mean((1..=seeds).map(|seed| references.ns2(flows, red, span, seed)))?;
            print_row(flows, name, &COLUMNS, &here, &there);
        }
    }
    let Some(python) = python else { return Ok(()) };
    println!("flows discipline packets waiting    rate used, %       drops   (here | ns-3)");
    for (name, management) in [
        ("CoDel", Management::CoDel(CoDel::DEFAULT)),
        ("FqCoDel", Management::FqCoDel(FqCoDel::DEFAULT)),
        ("Pie", Management::Pie(Pie::DEFAULT)),
    ] {
        for flows in [1, 4] {
            let here = mean((1..=seeds).map(|seed| ours(Case { flows, management }, span, seed)))?;
            let there = mean((1..=seeds).map(|seed| references.ns3(&python, flows, name, span, seed)))?;
            print_row(flows, name, &COLUMNS[..3], &here, &there);
        }
    }
    Ok(())
}

fn print_row(flows: u32, name: &str, columns: &[Column], here: &Measured, there: &Measured) {
    print!("{flows:5} {name:9}");
    for (digits, of) in columns {
        print!("{:9.digits$} |{:8.digits$}", of(here), of(there));
    }
    println!();
}

type Column = (usize, fn(&Measured) -> f64);
const COLUMNS: [Column; 4] = [
    (2, |one| one.waiting_packets),
    (1, |one| one.used * 100.0),
    (1, |one| one.drops),
    (1, |one| one.timeouts),
];

fn mean(runs: impl Iterator<Item = Result<Measured, Box<dyn Error>>>) -> Result<Measured, Box<dyn Error>> {
    let runs: Vec<Measured> = runs.collect::<Result<_, _>>()?;
    let of = |value: fn(&Measured) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    Ok(Measured {
        waiting_packets: of(|one| one.waiting_packets),
        used: of(|one| one.used),
        drops: of(|one| one.drops),
        timeouts: of(|one| one.timeouts),
    })
}

fn network(case: Case, span: Duration) -> (Plan, SimulationOptions, LinkId, Vec<FlowId>) {
    let mut plan = Plan::new("queues", span);
    let mut options = SimulationOptions { checks: Some(false), ..SimulationOptions::default() };
    let (left, right) = (plan.router("left"), plan.router("right"));
    let limit = if matches!(case.management, Management::Red(_)) { RED_LIMIT_PACKETS } else { LIMIT_PACKETS };
    let link =
        LinkConfig::new(RATE, DELAY).with_queue(QueueLimit::Packets(limit)).with_management(case.management);
    let back = LinkConfig::new(RATE, DELAY).with_queue(QueueLimit::Unlimited);
    let bottleneck = plan.link("bottleneck", [left, right], link, back);
    let tcp = TcpConfig {
        mss: SEGMENT_BYTES,
        receive_buffer: ByteCount::new(100_000_000),
        ..TcpProfile::Ns2_2002.config()
    };
    let access = LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(2));
    let mut flows = Vec::new();
    for index in 0..case.flows {
        let (source, sink) = (plan.host(&format!("source{index}")), plan.host(&format!("sink{index}")));
        plan.symmetric_link(&format!("up{index}"), [source, left], access.clone());
        plan.symmetric_link(&format!("down{index}"), [right, sink], access.clone());
        let start = Duration::from_secs_f64(f64::from(index) / f64::from(case.flows));
        let flow = Flow::new(&format!("flow{index}"), source, sink, Transport::Tcp).start_at(start);
        flows.push(options.carry(&mut plan, flow, TcpFlow::new(tcp.clone())));
    }
    plan.measure.interval = Some(SAMPLE_EVERY);
    (plan, options, bottleneck, flows)
}

fn ours(case: Case, span: Duration, seed: u64) -> Result<Measured, Box<dyn Error>> {
    let (plan, options, bottleneck, flows) = network(case, span);
    let mut simulation = Simulation::from_plan(&plan, Seed(seed), options)?;
    let totals = |simulation: &Simulation| {
        let stats = simulation.forward_stats(bottleneck);
        let senders = flows.iter().filter_map(|&flow| simulation.sender(flow));
        let timeouts: u64 = senders.map(|sender| sender.engine().metrics().counters.timeouts).sum();
        [stats.delivered_bytes, stats.dropped_packets(), timeouts].map(|count| count as f64)
    };
    simulation.run_until(Instant::ZERO + WARM);
    let before = totals(&simulation);
    simulation.run_until(Instant::ZERO + span);
    let after = totals(&simulation);
    let [bytes, drops, timeouts] = [0, 1, 2].map(|index| after[index] - before[index]);
    let series = simulation.result().series.ok_or("nothing was sampled")?;
    let queue = &series.links["bottleneck"].queue_bytes;
    let warm = (WARM.as_secs_f64() / SAMPLE_EVERY.as_secs_f64()) as usize;
    let late = &queue[warm.min(queue.len())..];
    let waiting = late.iter().sum::<u64>() as f64 / late.len() as f64 / PACKET_BYTES;
    let seconds = (span - WARM).as_secs_f64();
    let used = bytes * 8.0 / seconds / RATE.as_bps() as f64;
    Ok(Measured { waiting_packets: waiting, used, drops, timeouts })
}
