//! Every fuzz target over deterministic mutations of its seeds, on stable Rust.
//!
//! `PRISMUX_FUZZ_ROUNDS` says how many (default 20,000 for the cheapest target); `PRISMUX_FUZZ_SEED` which. A failure
//! prints the input in hexadecimal, ready to become a test.
use prismux_endpoint::random::Seed;
use prismux_tests::fuzzing::{TARGETS, Target, target};
use std::env;
use std::panic::{self, AssertUnwindSafe};

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable)
        .ok()
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

fn fuzz(target: &Target, seed: u64, rounds: u64) {
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    let mut random = Seed(seed).stream(&format!("fuzz/{}", target.name));
    for input in &seeds {
        run(target, seed, input);
    }
    for _ in 0..rounds {
        let pick = |random: &mut prismux_endpoint::random::RandomStream| {
            &seeds[random.below(seeds.len() as u64) as usize]
        };
        let (first, other) = (pick(&mut random), pick(&mut random));
        let input = target.mutator.mutate(first, other, &mut random);
        run(target, seed, &input);
    }
}

fn run(target: &Target, seed: u64, input: &[u8]) {
    if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input))) {
        let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("fuzz target {} failed (PRISMUX_FUZZ_SEED={seed}) on input {hex}", target.name);
        panic::resume_unwind(panic);
    }
}

/// One test per target, so that they run side by side and each has its own verdict.
macro_rules! survives_mutations_of_its_seeds {
    ($($name:ident)*) => {
        mod survives_mutations_of_its_seeds {
            $(#[test]
            fn $name() {
                super::short_run(stringify!($name));
            })*
        }
        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

survives_mutations_of_its_seeds! {
    ip tcp options udp gre gre_in_udp rewrite proxy connection rcp_header rcp_ends handoff door
    ptcp_header ptcp_connection striping_record
    fetch_datagram fetch_server fetch_client fetch_pipes fetch_pipes_client
    dsr_header aodv_message dsdv_update dsr_host aodv_host dsdv_host route_radio
    scenario proxy_config member_config delivery_trace control receipt sealed slp mdns lending contents
    settlement link_meter repair event_log capture
}

fn short_run(name: &str) {
    let (seed, rounds) = (number("PRISMUX_FUZZ_SEED", 1), number("PRISMUX_FUZZ_ROUNDS", 20_000));
    let target = target(name);
    fuzz(target, seed, (rounds as f64 * target.weight) as u64);
}

#[test]
fn every_target_is_tested() {
    assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), TESTED);
}

#[test]
fn the_mutations_repeat_by_seed() {
    let target = &TARGETS[0];
    let seeds = (target.seeds)();
    let mutate = |seed| {
        let mut random = Seed(seed).stream("repeat");
        (0..100).map(|_| target.mutator.mutate(&seeds[0], &seeds[1], &mut random)).collect::<Vec<_>>()
    };
    assert_eq!(mutate(1), mutate(1));
    assert_ne!(mutate(1), mutate(2));
}

#[test]
fn every_target_has_a_binary_for_the_coverage_guided_fuzzer() {
    use prismux_house::workspace::read;
    let manifest = read("fuzz/Cargo.toml".as_ref());
    for target in TARGETS {
        assert!(
            manifest.contains(&format!("name = \"{}\"", target.name)),
            "fuzz/Cargo.toml lacks {}",
            target.name
        );
        let body = read(format!("fuzz/fuzz_targets/{}.rs", target.name).as_ref());
        assert!(
            body.contains(&format!("target(\"{}\")", target.name)),
            "fuzz_targets/{}.rs runs another",
            target.name
        );
    }
}
