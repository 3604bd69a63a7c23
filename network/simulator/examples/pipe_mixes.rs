//! pTCP over 200 random mixes of pipes: never below the best pipe alone, and how near the sum.
//!
//! `cargo run --release -p prismux-simulator --example pipe_mixes [modern|linux-2.4|ns2-2002] [FROM TO]`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it prints.
#[path = "../tests/networks/pipe_mixes/mod.rs"]
mod pipe_mixes;

use pipe_mixes::{MIXES, Outcome, run};
use prismux_tcp::TcpProfile;
use std::env;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let profile: TcpProfile =
        arguments.first().map_or(TcpProfile::Modern, |name| name.parse().expect("a TCP profile"));
    let number = |index: usize, standard: u64| {
        arguments.get(index).map_or(standard, |text| text.parse().expect("a number of a mix"))
    };
    let (from, to) = (number(1, 1), number(2, MIXES));
    let outcomes: Vec<(u64, Outcome)> = (from..=to)
        .map(|mix| {
            let outcome = run(mix, &profile.config());
            println!(
                "{mix:4}  best {:6.2}  sum {:6.2}  pTCP {:6.2} Mbit/s  = {:.3} of the best, {:.3} of the sum",
                outcome.best() / 1e6,
                outcome.sum() / 1e6,
                outcome.ptcp / 1e6,
                outcome.ptcp / outcome.best(),
                outcome.ptcp / outcome.sum()
            );
            (mix, outcome)
        })
        .collect();
    let mut shares: Vec<f64> = outcomes.iter().map(|(_, outcome)| outcome.ptcp / outcome.sum()).collect();
    shares.sort_by(f64::total_cmp);
    let below: Vec<u64> =
        outcomes.iter().filter(|(_, outcome)| outcome.ptcp < outcome.best()).map(|(mix, _)| *mix).collect();
    println!(
        "{profile}: {} mixes, below the best pipe: {below:?}; of the sum: least {:.3}, median {:.3}",
        outcomes.len(),
        shares[0],
        shares[shares.len() / 2]
    );
    assert!(below.is_empty(), "pTCP must never be slower than its best pipe");
}
