//! What the TCP core costs: CPU time per data segment of a bulk transfer between two connections.
use clap::Parser;
use prismux_benches::cpu::{Stopwatch, best, median};
use prismux_endpoint::Endpoint;
use prismux_study::text_table::Table;
use prismux_tcp::engine::Engine;
use prismux_tcp::{Connection, TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::SeqNumber;
use serde::Serialize;
use std::collections::VecDeque;

const ONE_WAY: Duration = Duration::from_millis(10);
/// Between arrivals at the receiver: 1000-byte packets at 100 Mbit/s.
const SPACING: Duration = Duration::from_micros(80);
/// Keeps about 280 segments in flight, more than the pipe holds.
const WINDOW_BYTES: u64 = 400_000;

/// Two TCP connections exchange a bulk transfer over a pipe of constant delay, without loss and with one in a hundred
/// data segments lost: CPU time per data segment, that is, for its making, its delivery, and its share of the ACKs,
/// at both ends.
#[derive(Debug, Parser)]
#[command(name = "tcp-cost", after_help = "Example: tcp-cost --repeats 9")]
struct Arguments {
    /// Runs; the best counts, because other work on the machine only adds.
    #[arg(long, default_value_t = 5)]
    repeats: u32,
    /// A tenth of the segments.
    #[arg(long)]
    quick: bool,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    profile: String,
    /// One data segment in so many is lost once; 0 for none.
    lose_every: u64,
    segments: u64,
    acks: u64,
    /// Best and median of the repeats.
    ns_per_segment: f64,
    median_ns: f64,
}

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    connection_bytes: usize,
    engine_bytes: usize,
    lines: Vec<Line>,
}

fn main() {
    let arguments = Arguments::parse();
    let segments = if arguments.quick { 100_000 } else { 1_000_000 };
    let mut lines = Vec::new();
    for profile in TcpProfile::ALL {
        for lose_every in [0, 100] {
            lines.push(measure(profile, lose_every, segments, arguments.repeats.max(1)));
        }
    }
    let results = Results {
        version: env!("CARGO_PKG_VERSION"),
        connection_bytes: size_of::<Connection>(),
        engine_bytes: size_of::<Engine>(),
        lines,
    };
    if arguments.json {
        // Numbers and names always serialise.
        return println!("{}", serde_json::to_string(&results).unwrap_or_default());
    }
    let mut table =
        Table::new(&["TCP core, both ends", "lost", "ns per data segment", "median", "segments", "ACKs"]);
    for line in &results.lines {
        table.row([
            line.profile.clone(),
            if line.lose_every == 0 { "none".into() } else { format!("1 in {}", line.lose_every) },
            format!("{:.0}", line.ns_per_segment),
            format!("{:.0}", line.median_ns),
            line.segments.to_string(),
            line.acks.to_string(),
        ]);
    }
    println!("{table}");
    println!(
        "a connection takes {} bytes, {} of them its engine",
        results.connection_bytes, results.engine_bytes
    );
}

fn measure(profile: TcpProfile, lose_every: u64, segments: u64, repeats: u32) -> Line {
    let config = TcpConfig {
        receive_buffer: ByteCount::new(WINDOW_BYTES),
        consume_on_arrival: true,
        ..profile.config()
    };
    let (mut costs, mut counts) = (Vec::new(), (0, 0));
    for _ in 0..repeats {
        let clock = Stopwatch::start();
        counts = transfer(config.clone(), segments, lose_every);
        costs.push(clock.seconds() * 1e9 / counts.0 as f64);
    }
    Line {
        profile: profile.to_string(),
        lose_every,
        segments: counts.0,
        acks: counts.1,
        ns_per_segment: best(&costs),
        median_ns: median(&costs),
    }
}

/// Data segments and ACKs that carrying `segments` full segments took.
fn transfer(config: TcpConfig, segments: u64, lose_every: u64) -> (u64, u64) {
    let mut now = Instant::ZERO;
    let mut sender = Connection::connect(config.clone(), 1, 2, SeqNumber(7), now);
    let syn = sender.poll_transmit(now).expect("a connection begins with its SYN");
    let mut receiver = Connection::accept(config, &syn.header, SeqNumber(9), now);
    let bytes = segments * u64::from(sender.segment_bytes());
    sender.write(bytes);
    let (mut forward, mut backward) = (VecDeque::new(), VecDeque::new());
    let (mut data, mut acks, mut free_at) = (0, 0, Instant::ZERO);
    loop {
        while let Some(segment) = sender.poll_transmit(now) {
            free_at = free_at.max(now) + SPACING;
            data += u64::from(segment.payload_bytes > 0);
            if lose_every == 0 || data % lose_every != lose_every / 2 {
                forward.push_back((free_at + ONE_WAY, segment.into()));
            }
        }
        while sender.poll_event().is_some() {}
        while let Some(segment) = receiver.poll_transmit(now) {
            backward.push_back((now + ONE_WAY, segment.into()));
            acks += 1;
        }
        while receiver.poll_event().is_some() {}
        if sender.stream_acked() == bytes {
            return (data, acks);
        }
        let arrivals = [forward.front().map(|x| x.0), backward.front().map(|x| x.0)];
        let timers = [sender.poll_timeout(), receiver.poll_timeout()].map(|timer| timer.map(|d| d.at));
        let next = arrivals.into_iter().chain(timers).flatten().min();
        now = next.expect("a timer runs while data is out");
        if arrivals[0] == Some(now) {
            receiver.handle_input(now, forward.pop_front().expect("it has a first").1);
        } else if arrivals[1] == Some(now) {
            sender.handle_input(now, backward.pop_front().expect("it has a first").1);
        } else {
            sender.handle_timeout(now);
            receiver.handle_timeout(now);
        }
    }
}
