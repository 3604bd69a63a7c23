//! The short form of `soak-week`: hours of a gateway's life, held to all but growth, which takes days.
use prismux_benches::week::hour::Hour;
use prismux_benches::week::life::Life;
use prismux_benches::week::verdict::{findings, passed};
use prismux_endpoint::random::Seed;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn live_bytes() -> u64 {
    let stats = HEAP.stats();
    (stats.bytes_allocated - stats.bytes_deallocated) as u64
}

fn hours(count: u64, seed: u64) -> (Vec<Hour>, Vec<String>) {
    let mut life = Life::new(count, Seed(seed)).unwrap();
    let hours = (0..count).map(|_| life.run_hour(live_bytes)).collect();
    (hours, life.faults())
}

/// Connections come and go, are cut off, links fall silent and return: nothing is lost, stands still or stays unused.
#[test]
fn hours_of_a_gateway_hold() {
    let (hours, faults) = hours(3, 2);
    let findings = findings(&hours, &faults);
    assert!(passed(&findings), "{findings:#?}");
    let sum = |of: fn(&Hour) -> u64| hours.iter().map(of).sum::<u64>();
    assert!(sum(|hour| hour.connections.completed) > 500, "people were there: {hours:?}");
    assert!(sum(|hour| hour.connections.cut_off) > 0, "some cut connections off: {hours:?}");
    let [first, .., last] = &hours[..] else { panic!("three hours") };
    assert!(last.heap_bytes > 1_000_000 && last.heap_bytes < 2 * first.heap_bytes, "{first:?} {last:?}");
    assert!(hours.iter().all(|hour| hour.links.iter().all(|link| link.carried_bytes > 0)), "{hours:?}");
}

/// The same seed is the same life, CPU time apart.
#[test]
fn a_seed_is_a_life() {
    let life = |seed| {
        let (hours, _) = hours(1, seed);
        hours.into_iter().map(|hour| Hour { cpu_s: 0.0, heap_bytes: 0, ..hour }).collect::<Vec<Hour>>()
    };
    assert_eq!(life(5), life(5));
    assert_ne!(life(5), life(6));
}
