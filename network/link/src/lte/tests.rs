//! A generated trace has the statistics that its page states (`docs/rough-links.md`).
use crate::{DeliveryTrace, lte};
use alloc::vec::Vec;
use alloc::{format, vec};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Rate};

const MINUTES: u64 = 20;

fn times_ms(trace: &DeliveryTrace) -> Vec<u32> {
    format!("{trace}").lines().map(|line| line.parse().unwrap()).collect()
}

fn trace(mbps: u64, seed: u64) -> DeliveryTrace {
    let mut random = Seed(seed).stream("trace/lte");
    lte::trace(Rate::from_mbps(mbps), Duration::from_secs(60 * MINUTES), &mut random).unwrap()
}

/// Packets of each second.
fn per_second(times: &[u32]) -> Vec<f64> {
    let mut seconds = vec![0.0; (60 * MINUTES) as usize];
    times.iter().filter_map(|ms| ms.checked_sub(1)).for_each(|ms| seconds[ms as usize / 1000] += 1.0);
    seconds
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean product of deviations so many places apart, over the variance.
fn correlation(values: &[f64], apart: usize) -> f64 {
    let mean = mean(values);
    let product = |pair: (&f64, &f64)| (pair.0 - mean) * (pair.1 - mean);
    let variance: f64 = values.iter().zip(values).map(product).sum();
    values.iter().zip(&values[apart..]).map(product).sum::<f64>() / variance
}

#[test]
fn the_rate_has_its_mean_its_spread_and_its_memory() {
    for (mbps, seed) in [(2, 1), (10, 2), (50, 3)] {
        let trace = trace(mbps, seed);
        let of_asked = trace.mean_rate().as_bps() as f64 / (mbps as f64 * 1e6);
        assert!((0.85..1.1).contains(&of_asked), "{mbps} Mbit/s: {of_asked}");
        let seconds = per_second(&times_ms(&trace));
        let mean = mean(&seconds);
        let variance = seconds.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / seconds.len() as f64;
        let spread = libm::sqrt(variance) / mean;
        assert!((0.5..0.8).contains(&spread), "{mbps} Mbit/s: {spread}");
        let [one, five, twenty] = [1, 5, 20].map(|apart| correlation(&seconds, apart));
        assert!((0.5..0.85).contains(&one), "{mbps} Mbit/s: {one}");
        assert!((0.05..0.4).contains(&five), "{mbps} Mbit/s: {five}");
        assert!(twenty.abs() < 0.2, "{mbps} Mbit/s: {twenty}");
        assert!(seconds.iter().all(|&second| second <= mbps as f64 * 1e6 / 12e3 * 4.0));
    }
}

#[test]
fn packets_leave_in_clumps_one_to_ten_milliseconds_apart_and_outages_part_them() {
    let times = times_ms(&trace(20, 1));
    let mut turns = times.clone();
    turns.dedup();
    let mut gaps: Vec<u32> = turns.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let quantile = |q: f64| gaps[(q * gaps.len() as f64) as usize];
    assert_eq!((gaps[0], quantile(0.5)), (1, 2));
    assert!((5..=9).contains(&quantile(0.9)), "{}", quantile(0.9));
    assert!(times.len() as f64 / turns.len() as f64 > 3.0, "clumps of several packets");
    let outages: Vec<u32> = gaps.iter().copied().filter(|&gap| gap >= 100).collect();
    let per_minute = outages.len() as f64 / MINUTES as f64;
    assert!((4.0..8.0).contains(&per_minute), "{per_minute}");
    let mean_ms = outages.iter().sum::<u32>() as f64 / outages.len() as f64;
    assert!((250.0..380.0).contains(&mean_ms), "{mean_ms}");
}

#[test]
fn a_trace_repeats_by_its_seed_and_reads_back_as_written() {
    assert_eq!(trace(5, 7), trace(5, 7));
    assert_ne!(trace(5, 7), trace(5, 8));
    let text = format!("{}", trace(5, 7));
    assert_eq!(DeliveryTrace::parse(&text), Ok(trace(5, 7)));
}

#[test]
fn a_link_too_slow_for_a_single_packet_has_no_trace() {
    let mut random = Seed(1).stream("trace/lte");
    assert_eq!(lte::trace(Rate::from_bps(10), Duration::from_secs(1), &mut random), None);
}
