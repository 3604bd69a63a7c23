//! Which links share a bottleneck, and what is said of them: a table over networks of two uplinks and seeds.
//!
//! `cargo run --release -p prismux-simulator --example shared_bottleneck -- SEEDS SECONDS [NAME]`
//!
//! Counted are the runs in which `shared` was said at any time, and what was said at the end; when it was first said
//! (median); and the runs in which the summary statistics of RFC 8382 alone said it at any time, and at the end.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it reads and prints.
mod cells;

use cells::{COMES_AND_GOES, Cell, cells};
use prismux_shared_bottleneck::{Finding, Verdict};
use prismux_units::Instant;
use std::error::Error;

/// What was said of two links in a run, second by second.
struct Said(Vec<(Verdict, bool)>);

impl Said {
    fn of(cell: &Cell, seed: u64, seconds: u64) -> Self {
        let (mut simulation, proxy) = cell.build(seed);
        let said = (1..=seconds).map(|second| {
            simulation.run_until(Instant::from_secs(second));
            let finding: Option<Finding> = simulation.shared_bottlenecks(proxy).first().copied();
            finding.map_or((Verdict::Unknown, false), |finding| (finding.verdict, finding.is_alike))
        });
        Self(said.collect())
    }

    /// The first second from `from` on when it was said.
    fn first(&self, verdict: Verdict, from: u64) -> Option<u64> {
        let later = self.0.iter().skip(from as usize);
        later.zip(1..).find(|((said, _), _)| *said == verdict).map(|(_, second)| second)
    }

    fn ever_alike(&self) -> bool {
        self.0.iter().any(|(_, alike)| *alike)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seeds, seconds, name @ ..] = arguments.as_slice() else {
        return Err("arguments: SEEDS SECONDS [NAME]".into());
    };
    let (seeds, seconds): (u64, u64) = (seeds.parse()?, seconds.parse()?);
    println!(
        "| network | runs | shared | separate | unknown | said after s (median) | RFC 8382 alone, ever | at the end |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let named = |cell: &Cell| name.first().is_none_or(|name| cell.name.contains(name.as_str()));
    for cell in cells().iter().filter(|cell| named(cell)) {
        match cell.shares {
            Some(is_shared) => still(cell, is_shared, seeds, seconds),
            None => changing(cell, seeds),
        }
    }
    Ok(())
}

/// A network that stays as it is: what was said last, or wrongly at any time.
fn still(cell: &Cell, is_shared: bool, seeds: u64, seconds: u64) {
    let runs: Vec<Said> = (1..=seeds).map(|seed| Said::of(cell, seed, seconds)).collect();
    let ends =
        |verdict| runs.iter().filter(|said| said.0.last().is_some_and(|(last, _)| *last == verdict)).count();
    let ever = runs.iter().filter(|said| said.first(Verdict::Shared, 0).is_some()).count();
    let right = if is_shared { Verdict::Shared } else { Verdict::Separate };
    let mut times: Vec<u64> = runs.iter().filter_map(|said| said.first(right, 0)).collect();
    times.sort_unstable();
    let median = times.get(times.len() / 2).map_or("-".to_owned(), u64::to_string);
    println!(
        "| {} | {seeds} | {ever} | {} | {} | {median} | {} | {} |",
        cell.name,
        ends(Verdict::Separate),
        ends(Verdict::Unknown),
        runs.iter().filter(|said| said.ever_alike()).count(),
        runs.iter().filter(|said| said.0.last().is_some_and(|(_, alike)| *alike)).count(),
    );
}

/// A network that is shared for some time.
fn changing(cell: &Cell, seeds: u64) {
    let [comes, goes] = COMES_AND_GOES;
    let (mut early, mut found, mut left) = (0, Vec::new(), Vec::new());
    for seed in 1..=seeds {
        let said = Said::of(cell, seed, goes + 90);
        early += usize::from(said.first(Verdict::Shared, 0).is_some_and(|second| second <= comes));
        found.extend(said.first(Verdict::Shared, comes));
        left.extend(said.first(Verdict::Separate, goes));
    }
    found.sort_unstable();
    left.sort_unstable();
    println!(
        "{}: shared before it is {early}; found in {} of {seeds} after {found:?} s, left in {} after {left:?} s",
        cell.name,
        found.len(),
        left.len()
    );
}
