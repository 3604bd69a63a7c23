//! What two uplinks give, and how long failover takes.
use crate::network::{LINES, Network};
use crate::transfer::{Direction, Transfer, goodput_bps, longest_pause};
use crate::type_until;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Payload of a full segment of the inner packets, and its bytes on a line.
const PAYLOAD_SHARE: f64 = (1432.0 - 52.0) / 1500.0;
const WARM_UP: Duration = Duration::from_secs(3);
/// A gap after a failure is looked for within this time.
const WINDOW: Duration = Duration::from_secs(3);
const RUNS: usize = 3;
const FAILURES: usize = 5;

/// How an uplink fails.
#[derive(Debug, Clone, Copy)]
enum Failure {
    Unplugged,
    Silent,
}

pub fn print() {
    let network = Network::new();
    type_until(&network, "prismux status");
    for direction in [Direction::Down, Direction::Up] {
        let sum: f64 = LINES.iter().map(|line| line[direction as usize].mbps).sum();
        let possible = sum * PAYLOAD_SHARE;
        for _ in 0..RUNS {
            let bytes = (sum * 1e6 / 8.0 * 12.0) as u64;
            let mbps = goodput_bps(&Transfer::start(&network, direction, bytes).finish(), WARM_UP) / 1e6;
            println!("{direction:?}: {mbps:.2} of {possible:.2} Mbit/s = {:.3}", mbps / possible);
        }
    }
    for direction in [Direction::Down, Direction::Up] {
        for failure in [Failure::Unplugged, Failure::Silent] {
            let mut gaps: Vec<Duration> = (0..FAILURES)
                .flat_map(|_| [0, 1])
                .map(|line| gap(&network, direction, failure, line))
                .collect();
            gaps.sort();
            let at = |share: f64| gaps[((gaps.len() - 1) as f64 * share).round() as usize].as_millis();
            println!("{direction:?}, {failure:?}: gap p50 {} ms, p95 {} ms, {gaps:.0?}", at(0.5), at(0.95));
        }
    }
}

/// Fails one uplink in the middle of a transfer: the longest pause that follows.
fn gap(network: &Network, direction: Direction, failure: Failure, line: usize) -> Duration {
    let sum: f64 = LINES.iter().map(|line| line[direction as usize].mbps).sum();
    let transfer = Transfer::start(network, direction, (sum * 1e6 / 8.0 * 7.0) as u64);
    std::thread::sleep(WARM_UP);
    let at = Instant::now();
    match failure {
        Failure::Unplugged => network.unplug(line),
        Failure::Silent => network.lines.is_dead[line].store(true, Ordering::Relaxed),
    }
    std::thread::sleep(WINDOW);
    match failure {
        Failure::Unplugged => network.plug(line),
        Failure::Silent => network.lines.is_dead[line].store(false, Ordering::Relaxed),
    }
    let pause = longest_pause(&transfer.finish(), at, at + WINDOW);
    std::thread::sleep(WARM_UP);
    pause
}
