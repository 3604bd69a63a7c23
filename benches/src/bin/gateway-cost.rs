//! What a gateway with many members costs: CPU time per packet, memory per flow, and how evenly it shares.
use clap::Parser;
use prismux_benches::cpu::{best, median};
use prismux_benches::gateway::{Cost, Discipline, Gateway, LineConfig};
use prismux_benches::heap::taken_bytes;
use prismux_benches::traffic::{Traffic, roomy_config};
use prismux_prism::{LinkState, ProxyConfig};
use prismux_study::text_table::Table;
use prismux_trace::results::jain;
use prismux_units::{Duration, Rate};
use serde::Serialize;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What its links carry together, whatever their number.
const TOTAL: Rate = Rate::from_mbps(1000);
/// From the proxy to the receivers, over the nearest and the farthest link.
const DELAYS_MS: [u64; 2] = [10, 60];

/// Drives the core of the PRISM proxy with up to 200 members and 20,000 flows.
///
/// First without a network: links without limits, every packet acknowledged, flows in turn; what a data packet and an
/// ACK cost by the number of links and flows. Then downloads without end over links of 1 Gbit/s together, 10 to 60 ms
/// away, begun within 3 s (1000 of them) or 30 s (20,000): what they get of that, Jain's index of what each gets in
/// five seconds, memory, and what packets cost while links are full. Beside them the same senders over one link behind
/// the queue of a router that holds as many packets as the proxy may keep, and senders that heed no window.
#[derive(Debug, Parser)]
#[command(name = "gateway-cost", after_help = "Example: gateway-cost --json")]
struct Arguments {
    /// Fewer packets, and 2000 downloads in the place of 20,000.
    #[arg(long)]
    quick: bool,
    /// Only the downloads over full links.
    #[arg(long)]
    full: bool,
    /// Of those only the ones over this ("proxy", "proxy, receipts").
    #[arg(long, value_name = "NAME", requires = "full")]
    over: Option<String>,
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Time {
    links: u8,
    flows: u32,
    window_packets: u32,
    /// Links that carried something.
    used_links: usize,
    /// Best and median over rounds.
    data_ns: f64,
    data_median_ns: f64,
    ack_ns: f64,
    ack_median_ns: f64,
    /// Heap of the core with a window of each flow in flight, for each flow.
    bytes_per_flow: f64,
}

/// What downloads go over.
#[derive(Debug, Clone, Copy)]
enum Over {
    Proxy,
    /// The same with members that write receipts.
    ProxyWithReceipts,
    /// The same with senders that heed no window.
    ProxyWithoutWindows,
    Queue(Discipline),
}

impl Over {
    const fn name(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::ProxyWithReceipts => "proxy, receipts",
            Self::ProxyWithoutWindows => "proxy, no windows heeded",
            Self::Queue(Discipline::Fifo) => "first in, first out",
            Self::Queue(Discipline::Fair) => "fair queue",
        }
    }
}

#[derive(Debug, Serialize)]
struct Load {
    /// What they go over.
    over: &'static str,
    links: u8,
    flows: u32,
    /// Of what the links carry, headers apart.
    used_share: f64,
    /// Jain's index of what flows got, and the least and the most of the mean that one got.
    jain: f64,
    least_share: f64,
    most_share: f64,
    /// Links that carried something.
    used_links: usize,
    /// Flows that got nothing.
    starved: usize,
    /// Packets that queues had no room for, of those sent, and timeouts of senders.
    overflow_share: f64,
    timeouts: u64,
    bytes_per_flow: f64,
    stated_bytes_per_flow: f64,
    data_ns: f64,
    ack_ns: f64,
    /// CPU time of deadlines, and of receipts, for each data packet.
    timeouts_ns: f64,
    receipts_ns: f64,
}

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    time: Vec<Time>,
    load: Vec<Load>,
}

fn main() {
    let arguments = Arguments::parse();
    let (packets, many) = if arguments.quick { (200_000, 2000) } else { (2_000_000, 20_000) };
    let mut results = Results { version: env!("CARGO_PKG_VERSION"), time: Vec::new(), load: Vec::new() };
    for links in [2, 8, 64, 200].into_iter().filter(|_| !arguments.full) {
        for (flows, window) in [(1, 256), (1000, 16), (many, 4)] {
            results.time.push(time(links, flows, window, packets));
        }
    }
    for (over, links, flows, begin_s) in [
        (Over::Proxy, 2, 1000, 3),
        (Over::Proxy, 200, 1000, 3),
        (Over::Proxy, 200, many, 30),
        (Over::ProxyWithReceipts, 200, 1000, 3),
        (Over::ProxyWithReceipts, 200, many, 30),
        (Over::ProxyWithoutWindows, 200, many, 30),
        (Over::Queue(Discipline::Fifo), 1, many, 30),
        (Over::Queue(Discipline::Fair), 1, many, 30),
    ] {
        if arguments.over.as_ref().is_some_and(|name| over.name() != name) {
            continue;
        }
        results.load.push(load(over, links, flows, Duration::from_secs(begin_s)));
    }
    if arguments.json {
        // Numbers and names always serialise.
        println!("{}", serde_json::to_string(&results).unwrap_or_default());
    } else {
        print(&results);
    }
}

fn time(links: u8, flows: u32, window: u32, packets: u32) -> Time {
    let region = Region::new(HEAP);
    let mut traffic = Traffic::over(roomy_config(), flows, links);
    let driver_flows = taken_bytes(&region);
    traffic.open();
    let wanted = (packets / (flows * window)).max(10);
    for _ in 0..wanted / 10 + 3 {
        traffic.round(window);
    }
    let costs: Vec<(f64, f64)> = (0..wanted).filter_map(|_| traffic.round(window).costs_ns).collect();
    let (data, ack): (Vec<f64>, Vec<f64>) = costs.into_iter().unzip();
    traffic.send(window);
    let bytes = taken_bytes(&region).saturating_sub(driver_flows + traffic.driver_bytes());
    let status = traffic.proxy().link_status();
    Time {
        links,
        flows,
        window_packets: window,
        used_links: status.iter().filter(|link| link.state == LinkState::Active).count(),
        data_ns: best(&data),
        data_median_ns: median(&data),
        ack_ns: best(&ack),
        ack_median_ns: median(&ack),
        bytes_per_flow: bytes as f64 / f64::from(flows),
    }
}

fn gateway(over: Over, links: u8, flows: u32, begin: Duration) -> Gateway {
    let config = ProxyConfig::default();
    let rate = Rate::from_bps(TOTAL.as_bps() / u64::from(links));
    let [near, far] = DELAYS_MS;
    let places = u64::from(links - 1).max(1);
    let delay = |link: u64| Duration::from_millis(near + (far - near) * link / places);
    let lines: Vec<_> = (0..u64::from(links)).map(|link| LineConfig { rate, delay: delay(link) }).collect();
    match over {
        Over::Proxy => Gateway::new(config, flows, &lines, begin),
        Over::ProxyWithReceipts => Gateway::new(config, flows, &lines, begin).with_receipts(),
        Over::ProxyWithoutWindows => {
            let mut gateway = Gateway::new(config, flows, &lines, begin);
            gateway.ignore_windows();
            gateway
        }
        Over::Queue(discipline) => {
            let line = LineConfig { rate, delay: Duration::from_millis((near + far) / 2) };
            Gateway::plain((discipline, config.repair_budget_packets), flows, line, begin)
        }
    }
}

fn load(over: Over, links: u8, flows: u32, begin: Duration) -> Load {
    const SECONDS: u64 = 5;
    let region = Region::new(HEAP);
    let mut gateway = gateway(over, links, flows, begin);
    let driver_flows = taken_bytes(&region);
    gateway.run(begin + Duration::from_secs(7));
    gateway.take_delivered();
    gateway.take_carried();
    gateway.take_costs();
    let (overflows, timeouts) = (gateway.overflows(), gateway.timeouts());
    gateway.run(Duration::from_secs(SECONDS));
    let bytes = taken_bytes(&region).saturating_sub(driver_flows + gateway.driver_bytes());
    let shares: Vec<f64> = gateway.take_delivered().into_iter().map(|bytes| bytes as f64).collect();
    let carried = gateway.take_carried();
    let costs = gateway.take_costs();
    let sum: f64 = shares.iter().sum();
    let mean = sum / f64::from(flows);
    let of_mean = |share: f64| share / mean;
    // 52 bytes of headers for 1400 of data.
    let possible = TOTAL.as_bps() as f64 / 8.0 * SECONDS as f64 * 1400.0 / 1452.0;
    let overflows = gateway.overflows() - overflows;
    Load {
        over: over.name(),
        links,
        flows,
        used_share: sum / possible,
        jain: jain(&shares).unwrap_or_default(),
        least_share: of_mean(shares.iter().copied().fold(f64::INFINITY, f64::min)),
        most_share: of_mean(shares.iter().copied().fold(0.0, f64::max)),
        used_links: carried.iter().filter(|&&packets| packets > 0).count(),
        starved: shares.iter().filter(|&&bytes| bytes == 0.0).count(),
        overflow_share: overflows as f64 / (overflows + carried.iter().sum::<u64>()).max(1) as f64,
        timeouts: gateway.timeouts() - timeouts,
        bytes_per_flow: bytes as f64 / f64::from(flows),
        stated_bytes_per_flow: gateway.proxy().flow_memory_bytes() as f64 / f64::from(flows),
        data_ns: costs.data.mean_ns(),
        ack_ns: costs.acks.mean_ns(),
        timeouts_ns: all_ns(&costs.timeouts) / costs.data.calls.max(1) as f64,
        receipts_ns: all_ns(&costs.receipts) / costs.data.calls.max(1) as f64,
    }
}

fn all_ns(cost: &Cost) -> f64 {
    cost.mean_ns() * cost.calls as f64
}

fn print(results: &Results) {
    let mut table = Table::new(&[
        "core without a network",
        "flows",
        "window",
        "links used",
        "ns per data packet",
        "median",
        "ns per ACK",
        "median",
        "bytes per flow",
    ]);
    for time in &results.time {
        table.row([
            format!("{} links", time.links),
            time.flows.to_string(),
            time.window_packets.to_string(),
            time.used_links.to_string(),
            format!("{:.0}", time.data_ns),
            format!("{:.0}", time.data_median_ns),
            format!("{:.0}", time.ack_ns),
            format!("{:.0}", time.ack_median_ns),
            format!("{:.0}", time.bytes_per_flow),
        ]);
    }
    println!("{table}\n");
    let mut table = Table::new(&[
        "1 Gbit/s, full",
        "over",
        "flows",
        "used",
        "links used",
        "Jain",
        "least, most of the mean",
        "got nothing",
        "overflows",
        "timeouts",
        "bytes per flow",
        "ns per data packet",
        "ns per ACK",
        "ns of deadlines",
        "ns of receipts",
    ]);
    for load in &results.load {
        table.row([
            if load.links == 1 { "1 link".into() } else { format!("{} links", load.links) },
            load.over.to_string(),
            load.flows.to_string(),
            format!("{:.3}", load.used_share),
            load.used_links.to_string(),
            format!("{:.4}", load.jain),
            format!("{:.2}, {:.2}", load.least_share, load.most_share),
            load.starved.to_string(),
            format!("{:.2} %", load.overflow_share * 100.0),
            load.timeouts.to_string(),
            format!("{:.0}", load.bytes_per_flow),
            format!("{:.0}", load.data_ns),
            format!("{:.0}", load.ack_ns),
            format!("{:.0}", load.timeouts_ns),
            format!("{:.0}", load.receipts_ns),
        ]);
    }
    println!("{table}");
}
