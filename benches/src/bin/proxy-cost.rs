//! What the proxy's core costs: CPU time per data packet and per ACK, memory per flow.
use clap::Parser;
use prismux_benches::cpu::{best, median};
use prismux_benches::heap::taken_bytes;
use prismux_benches::traffic::{Traffic, roomy_config};
use prismux_prism::ProxyConfig;
use prismux_study::text_table::Table;
use serde::Serialize;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The published promise: 3 KB per flow and 60 MB for 20,000 of them.
const FLOW_BYTES_LIMIT: f64 = 3000.0;
const ALL_FLOWS: u32 = 20_000;
const ALL_BYTES_LIMIT: u64 = 60_000_000;

/// Drives the core of the PRISM proxy (three links of unequal delay, every packet acknowledged, nothing lost) and
/// measures CPU time per data packet and per ACK, heap allocations per packet, and the heap that a flow takes.
#[derive(Debug, Parser)]
#[command(name = "proxy-cost", after_help = "Example: proxy-cost --json")]
struct Arguments {
    /// Fewer packets.
    #[arg(long)]
    quick: bool,
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Time {
    config: &'static str,
    flows: u32,
    window_packets: u32,
    rounds: usize,
    /// Best and median over rounds.
    data_ns: f64,
    data_median_ns: f64,
    ack_ns: f64,
    ack_median_ns: f64,
    /// Heap allocations per data packet, its ACK included, in steady state.
    allocations_per_packet: f64,
}

#[derive(Debug, Serialize)]
struct Memory {
    config: &'static str,
    flows: u32,
    /// Packets in flight per flow; 0 after a flow has been idle for a round.
    in_flight_packets: u32,
    heap_bytes: u64,
    bytes_per_flow: f64,
    /// What the core itself states.
    stated_bytes: usize,
    within_limit: bool,
}

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    time: Vec<Time>,
    memory: Vec<Memory>,
}

fn main() {
    let arguments = Arguments::parse();
    let packets: u32 = if arguments.quick { 200_000 } else { 2_000_000 };
    let configs = [("paper", ProxyConfig::paper()), ("default", roomy_config())];
    let mut results = Results { version: env!("CARGO_PKG_VERSION"), time: Vec::new(), memory: Vec::new() };
    for (name, config) in &configs {
        for (flows, window) in [(1, 256), (1000, 16), (ALL_FLOWS, 4)] {
            results.time.push(time(name, config, flows, window, packets));
        }
        for (flows, window) in [(1000, 16), (1000, 4), (ALL_FLOWS, 4), (ALL_FLOWS, 1)] {
            results.memory.extend(memory(name, config, flows, window));
        }
    }
    if arguments.json {
        // Numbers and names always serialise.
        println!("{}", serde_json::to_string(&results).unwrap_or_default());
    } else {
        print(&results);
    }
}

fn time(name: &'static str, config: &ProxyConfig, flows: u32, window: u32, packets: u32) -> Time {
    let mut traffic = Traffic::new(config.clone(), flows);
    traffic.open();
    let wanted = (packets / (flows * window)).max(10);
    for _ in 0..wanted / 10 + 3 {
        traffic.round(window);
    }
    let region = Region::new(HEAP);
    let (mut sent, mut data, mut ack) = (0, Vec::new(), Vec::new());
    for _ in 0..wanted {
        let round = traffic.round(window);
        sent += round.sent_packets;
        data.extend(round.costs_ns.map(|costs| costs.0));
        ack.extend(round.costs_ns.map(|costs| costs.1));
    }
    // The driver's own: two per reading of the clock and a few per round.
    let change = region.change();
    let driver = wanted as usize * 16;
    let allocations = (change.allocations + change.reallocations).saturating_sub(driver);
    Time {
        config: name,
        flows,
        window_packets: window,
        rounds: data.len(),
        data_ns: best(&data),
        data_median_ns: median(&data),
        ack_ns: best(&ack),
        ack_median_ns: median(&ack),
        allocations_per_packet: allocations as f64 / sent.max(1) as f64,
    }
}

/// Heap of a proxy with packets in flight, and of the same proxy when every flow has fallen silent.
fn memory(name: &'static str, config: &ProxyConfig, flows: u32, window: u32) -> [Memory; 2] {
    // What the driver takes for itself is reckoned apart.
    let region = Region::new(HEAP);
    let mut traffic = Traffic::new(config.clone(), flows);
    let driver_flows = taken_bytes(&region);
    traffic.open();
    for _ in 0..5 {
        traffic.send(window);
        traffic.receive();
        traffic.acknowledge();
    }
    traffic.send(window);
    let line = |traffic: &Traffic, in_flight_packets: u32, heap_bytes: u64| {
        let bytes_per_flow = heap_bytes as f64 / f64::from(flows);
        Memory {
            config: name,
            flows,
            in_flight_packets,
            heap_bytes,
            bytes_per_flow,
            stated_bytes: traffic.proxy().flow_memory_bytes(),
            within_limit: bytes_per_flow <= FLOW_BYTES_LIMIT
                && (flows < ALL_FLOWS || heap_bytes <= ALL_BYTES_LIMIT),
        }
    };
    let own = driver_flows + traffic.driver_bytes();
    let in_flight = (traffic.outstanding() / u64::from(flows)) as u32;
    let active = line(&traffic, in_flight, taken_bytes(&region).saturating_sub(own));
    traffic.receive();
    for _ in 0..5 {
        traffic.acknowledge();
    }
    let own = driver_flows + traffic.driver_bytes();
    let idle = line(&traffic, 0, taken_bytes(&region).saturating_sub(own));
    [active, idle]
}

fn print(results: &Results) {
    let mut table = Table::new(&[
        "proxy core, 3 links",
        "flows",
        "window",
        "ns per data packet",
        "median",
        "ns per ACK",
        "median",
        "allocations per packet",
    ]);
    for time in &results.time {
        table.row([
            time.config.into(),
            time.flows.to_string(),
            time.window_packets.to_string(),
            format!("{:.0}", time.data_ns),
            format!("{:.0}", time.data_median_ns),
            format!("{:.0}", time.ack_ns),
            format!("{:.0}", time.ack_median_ns),
            format!("{:.4}", time.allocations_per_packet),
        ]);
    }
    println!("{table}\n");
    let mut table = Table::new(&[
        "memory of the core",
        "flows",
        "in flight per flow",
        "heap MB",
        "bytes per flow",
        "stated MB",
        "within 3 KB, 60 MB",
    ]);
    for memory in &results.memory {
        table.row([
            memory.config.into(),
            memory.flows.to_string(),
            memory.in_flight_packets.to_string(),
            format!("{:.2}", memory.heap_bytes as f64 / 1e6),
            format!("{:.0}", memory.bytes_per_flow),
            format!("{:.2}", memory.stated_bytes as f64 / 1e6),
            if memory.within_limit { "yes" } else { "NO" }.into(),
        ]);
    }
    println!("{table}");
}
