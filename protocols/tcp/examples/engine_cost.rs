//! What the engine costs per acknowledged segment, by hand: `cargo run --release -p prismux-tcp --example engine_cost`.
//!
//! Three loads: a steady window (one ACK, one new segment), the same at a window of 2,400 segments, and a window of
//! 2,400 segments with every tenth lost, so that each ACK carries SACK blocks over hundreds of holes.
// A benchmark run by hand measures real time and prints.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, clippy::disallowed_macros)]

use prismux_tcp::engine::{Ack, Engine, EngineConfig, SackRanges, SendLimits};
use prismux_units::{Duration, Instant};
use std::collections::VecDeque;

const MSS: u64 = 1448;

fn limits() -> SendLimits {
    SendLimits {
        stream_end: u64::MAX / 2,
        window_end: u64::MAX / 2,
        max_segment_bytes: MSS as u32,
        nagle: false,
    }
}

/// One ACK per segment and per microsecond; `window` segments outstanding, held by the peer's window.
fn steady(config: &EngineConfig, window: u64, acks: u64) -> f64 {
    let mut engine = Engine::new(config, MSS as u32);
    let mut limits = limits();
    let step = Duration::from_micros(10);
    let mut now = Instant::from_millis(1);
    let (mut acked, mut sent) = (0, VecDeque::new());
    let mut run = |count: u64| {
        for _ in 0..count {
            limits.window_end = acked + window * MSS;
            while let Some(send) = engine.poll_send(now, &limits) {
                engine.on_sent(now, &send);
                sent.push_back(send.range.end);
            }
            now += step;
            acked = sent.pop_front().unwrap_or(acked);
            let ack = Ack {
                cumulative: acked,
                rtt_from_timestamp: Some(step * window),
                is_pure: true,
                ..Ack::default()
            };
            std::hint::black_box(engine.on_ack(now, &ack));
            std::hint::black_box(engine.deadline());
        }
    };
    run(20 * window + 1000);
    // The best of several: other work on the machine only ever adds.
    (0..20)
        .map(|_| {
            let begun = std::time::Instant::now();
            run(acks);
            begun.elapsed().as_nanos() as f64 / acks as f64
        })
        .fold(f64::INFINITY, f64::min)
}

/// Windows of `window` segments of which every tenth is lost once; the ACKs come with three SACK blocks.
fn holes(config: &EngineConfig, window: u64, rounds: u64) -> f64 {
    let config = EngineConfig { initial_window_segments: window as u32, ..config.clone() };
    let (mut total, mut acks) = (0, 0);
    for _ in 0..rounds {
        let mut engine = Engine::new(&config, MSS as u32);
        let mut now = Instant::from_millis(1);
        let limits = SendLimits { stream_end: window * MSS, ..limits() };
        let mut wire = VecDeque::new();
        while let Some(send) = engine.poll_send(now, &limits) {
            engine.on_sent(now, &send);
            wire.push_back((send.range.start / MSS, true));
        }
        let mut arrived = vec![false; window as usize + 1];
        let (mut cumulative, mut blocks) = (0u64, VecDeque::<(u64, u64)>::new());
        now += Duration::from_millis(50);
        while let Some((segment, first)) = wire.pop_front() {
            now += Duration::from_micros(10);
            if first && segment % 10 == 0 {
                continue;
            }
            arrived[segment as usize] = true;
            while arrived[cumulative as usize] {
                cumulative += 1;
            }
            match blocks.front_mut() {
                Some(block) if block.1 == segment => block.1 += 1,
                _ => blocks.push_front((segment, segment + 1)),
            }
            blocks.truncate(3);
            let sack: SackRanges = blocks
                .iter()
                .filter(|b| b.1 > cumulative)
                .map(|b| b.0.max(cumulative) * MSS..b.1 * MSS)
                .collect();
            let ack = Ack { cumulative: cumulative * MSS, sack, is_pure: true, ..Ack::default() };
            let begun = std::time::Instant::now();
            std::hint::black_box(engine.on_ack(now, &ack));
            while let Some(send) = engine.poll_send(now, &limits) {
                engine.on_sent(now, &send);
                wire.push_back((send.range.start / MSS, false));
            }
            total += begun.elapsed().as_nanos();
            acks += 1;
        }
        assert_eq!(engine.acked(), window * MSS, "everything repaired");
    }
    total as f64 / acks as f64
}

fn main() {
    println!("engine state: {} bytes", std::mem::size_of::<Engine>());
    let profiles = [
        ("modern", EngineConfig::modern()),
        ("linux-2.4", EngineConfig::linux24()),
        ("ns-2 sack1", EngineConfig::ns2_sack1()),
    ];
    let clock = std::time::Instant::now();
    for _ in 0..1_000_000 {
        std::hint::black_box(std::time::Instant::now());
    }
    println!(
        "(reading the clock costs {:.0} ns, part of the third column)",
        clock.elapsed().as_nanos() as f64 / 1e6
    );
    println!("{:<12} {:>16} {:>16} {:>22}", "ns per ACK", "window 20", "window 2400", "2400, 10 % lost");
    for (name, config) in profiles {
        println!(
            "{name:<12} {:>16.1} {:>16.1} {:>22.1}",
            steady(&config, 20, 200_000),
            steady(&config, 2400, 200_000),
            holes(&config, 2400, 200),
        );
    }
}
