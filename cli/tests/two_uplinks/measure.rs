//! What two uplinks give, and how long failover takes.
use crate::caps::network_with_backup;
use crate::datagrams::{
    DUPLICATED, Flow, LINE_BYTES, PINNED, RESEQUENCED, network_with_classes, out_of_order,
};
use crate::failover::{self, Failure};
use crate::network::{LINES, Network};
use crate::outages;
use crate::published;
use crate::transfer::{Direction, Transfer, goodput_bps, longest_pause};
use std::time::{Duration, Instant};

/// Payload of a full segment of the inner packets, and its bytes on a line.
const PAYLOAD_SHARE: f64 = (1432.0 - 52.0) / 1500.0;
const WARM_UP: Duration = Duration::from_secs(3);
/// A gap after a failure is looked for within this time.
const WINDOW: Duration = Duration::from_secs(3);
const RUNS: usize = 3;
const FAILURES: usize = 5;

type Measure = (&'static str, fn(&Network));

/// What can be measured, by name.
const MEASURES: [Measure; 7] = [
    ("table", failover::table),
    ("throughput", throughput),
    ("failover of downloads", |network| failover(network, Direction::Down)),
    ("failover of uploads", |network| failover(network, Direction::Up)),
    ("datagrams pinned", |network| datagrams(network, "pin", PINNED)),
    ("datagrams duplicated", |network| datagrams(network, "duplicate", DUPLICATED)),
    ("datagrams resequenced", |network| datagrams(network, "resequence", RESEQUENCED)),
];

/// How long nothing arrives until a backup takes over.
const BACKUP: &str = "backup";
/// What becomes of all when a line becomes slow.
const COLLAPSE: &str = "collapse";

/// Measures what has `part` in its name.
pub fn print(part: &str) {
    if BACKUP.contains(part) {
        let network = network_with_backup();
        for direction in [Direction::Down, Direction::Up] {
            for failure in [Failure::Unplugged, Failure::Silent] {
                let gaps = (0..2 * FAILURES).map(|_| gap(&network, direction, failure, 0));
                tell(&format!("backup, {direction:?}, {failure:?}"), gaps.collect());
            }
        }
    }
    if COLLAPSE.contains(part) {
        failover::collapses();
    }
    outages::print(part);
    published::print(part);
    let chosen: Vec<_> = MEASURES.iter().filter(|(name, _)| name.contains(part)).collect();
    if !chosen.is_empty() {
        let network = network_with_classes();
        chosen.iter().for_each(|(_, measure)| measure(&network));
    }
}

fn throughput(network: &Network) {
    for direction in [Direction::Down, Direction::Up] {
        let sum: f64 = LINES.iter().map(|line| line[direction as usize].mbps).sum();
        let possible = sum * PAYLOAD_SHARE;
        for _ in 0..RUNS {
            let bytes = (sum * 1e6 / 8.0 * 12.0) as u64;
            let mbps = goodput_bps(&Transfer::start(network, direction, bytes).finish(), WARM_UP) / 1e6;
            println!("{direction:?}: {mbps:.2} of {possible:.2} Mbit/s = {:.3}", mbps / possible);
        }
    }
}

fn failover(network: &Network, direction: Direction) {
    for failure in [Failure::Unplugged, Failure::Silent] {
        let gaps = (0..FAILURES).flat_map(|_| [0, 1]).map(|line| gap(network, direction, failure, line));
        tell(&format!("{direction:?}, {failure:?}"), gaps.collect());
    }
}

pub fn tell(what: &str, mut gaps: Vec<Duration>) {
    if gaps.is_empty() {
        return println!("{what}");
    }
    gaps.sort();
    let at = |share: f64| gaps[((gaps.len() - 1) as f64 * share).round() as usize].as_millis();
    println!("{what}: gap p50 {} ms, p95 {} ms, {gaps:.0?}", at(0.5), at(0.95));
}

/// Fails one uplink in the middle of a transfer: the longest pause that follows.
fn gap(network: &Network, direction: Direction, failure: Failure, line: usize) -> Duration {
    let sum: f64 = LINES.iter().map(|line| line[direction as usize].mbps).sum();
    let transfer = Transfer::start(network, direction, (sum * 1e6 / 8.0 * 7.0) as u64);
    std::thread::sleep(WARM_UP);
    let at = fail_for_a_while(network, failure, line);
    let pause = longest_pause(&transfer.finish(), at, at + WINDOW);
    std::thread::sleep(WARM_UP);
    pause
}

/// Fails an uplink, and mends it after [`WINDOW`]; returns when it failed.
fn fail_for_a_while(network: &Network, failure: Failure, line: usize) -> Instant {
    let at = failure.begin(network, line);
    std::thread::sleep(WINDOW);
    failure.end(network, line);
    at
}

/// One flow of nine tenths of the sum (of the lesser line by the class that sends all twice), then small ones whose
/// uplink fails, then the first again.
fn datagrams(network: &Network, class: &str, port: u16) {
    quick_flows(network, class, port);
    for failure in [Failure::Unplugged, Failure::Silent] {
        let gaps = (0..FAILURES).flat_map(|_| [0, 1]).map(|line| {
            let flow = Flow::start(network, port, 100.0);
            std::thread::sleep(WARM_UP);
            let at = fail_for_a_while(network, failure, line);
            let (_, arrivals) = flow.finish();
            std::thread::sleep(WARM_UP);
            let times: Vec<_> = arrivals.iter().map(|&(at, number)| (at, u64::from(number))).collect();
            longest_pause(&times, at, at + WINDOW)
        });
        tell(&format!("{class}, {failure:?}"), gaps.collect());
    }
    quick_flows(network, class, port);
}

fn quick_flows(network: &Network, class: &str, port: u16) {
    let mbps = if port == DUPLICATED { 9.0 } else { 27.0 };
    for _ in 0..RUNS {
        let flow = Flow::start(network, port, mbps * 1e6 / 8.0 / LINE_BYTES);
        std::thread::sleep(WARM_UP * 4);
        let (_, arrivals) = flow.finish();
        let warm: Vec<_> = arrivals.iter().copied().filter(|(at, _)| *at > arrivals[0].0 + WARM_UP).collect();
        let numbers = warm.iter().map(|&(_, number)| number);
        let sent = numbers.clone().max().unwrap() - numbers.min().unwrap() + 1;
        let (came, late) = (warm.len() as f64, out_of_order(&warm) as f64);
        println!(
            "{class}, {mbps} Mbit/s: {:.3} % lost, {:.4} % out of order",
            100.0 - 100.0 * came / f64::from(sent),
            100.0 * late / came
        );
    }
}
