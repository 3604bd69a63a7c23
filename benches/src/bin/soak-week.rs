//! A gateway's week in an hour: does it grow, slow down, or get stuck?
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use prismux_benches::week::hour::Hour;
use prismux_benches::week::life::Life;
use prismux_benches::week::picture;
use prismux_benches::week::verdict::{Finding, findings, passed};
use prismux_endpoint::random::Seed;
use serde::Serialize;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::error::Error;
use std::fs;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Lets a community's gateway live for days in virtual time and judges what it took.
///
/// A PRISM proxy with receipts and six members, whose uplinks carry 9.5 Mbit/s together, lose and reorder packets, and
/// are silent, away or slower now and then; downloads and uploads that come and go with the hours of the day, some cut
/// off, some mostly idle; datagrams. Each hour: live heap, tables of the proxy, pending events, CPU time, connections,
/// links. From the second day on nothing may grow; every connection must end with every byte once, none may stand
/// still, no link stay unused, no learned rate stay too high. The exit code is 1 where something of that fails.
#[derive(Debug, Parser)]
#[command(
    name = "soak-week",
    after_help = "Example: soak-week --days 7 --seed 1 --json week.json --svg week.svg"
)]
struct Arguments {
    /// How many days.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=365))]
    days: u64,
    /// So many hours in the place of days.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=8760))]
    hours: Option<u64>,
    /// What everything is drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes hours and findings here.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draws heap, tables and goodput here.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Week {
    version: &'static str,
    seed: u64,
    hours: Vec<Hour>,
    faults: Vec<String>,
    findings: Vec<Finding>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak-week: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything holds.
fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let count = arguments.hours.unwrap_or(24 * arguments.days);
    let bar = progress_bar(count);
    // Room for all hours from the start: what is recorded is on the same heap.
    let hours: Vec<Hour> = Vec::with_capacity(count as usize);
    let mut week = Week {
        version: env!("CARGO_PKG_VERSION"),
        seed: arguments.seed,
        hours,
        faults: Vec::new(),
        findings: Vec::new(),
    };
    let mut life = Life::new(count, Seed(arguments.seed))?;
    for number in 1..=count {
        week.hours.push(life.run_hour(live_bytes));
        bar.inc(1);
        if number == count || number.is_multiple_of(24) {
            week.faults = life.faults();
            week.findings = findings(&week.hours, &week.faults);
            write(arguments, &week)?;
        }
    }
    bar.finish_and_clear();
    print(&week);
    Ok(passed(&week.findings))
}

/// Files have the days so far, should the run be interrupted.
fn write(arguments: &Arguments, week: &Week) -> Result<(), Box<dyn Error>> {
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_string_pretty(week)?)?;
    }
    if let Some(file) = &arguments.svg {
        let title = format!("A gateway for {} hours, seed {}", week.hours.len(), week.seed);
        fs::write(file, picture::draw(&title, &week.hours))?;
    }
    Ok(())
}

fn live_bytes() -> u64 {
    let stats = HEAP.stats();
    (stats.bytes_allocated - stats.bytes_deallocated) as u64
}

/// Hidden where nobody watches.
fn progress_bar(hours: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("[{bar:40}] hour {pos} of {len} ({eta} left)");
    ProgressBar::new(hours).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print(week: &Week) {
    let sum = |of: fn(&Hour) -> u64| week.hours.iter().map(of).sum::<u64>();
    println!(
        "{} hours, seed {}: {} connections, {:.1} GB, {:.1} million data packets, {} resent by the proxy; \
         CPU time {:.0} s",
        week.hours.len(),
        week.seed,
        sum(|hour| hour.connections.begun),
        sum(|hour| hour.connections.delivered_bytes) as f64 / 1e9,
        sum(|hour| hour.data_packets) as f64 / 1e6,
        sum(|hour| hour.local_repairs),
        week.hours.iter().map(|hour| hour.cpu_s).sum::<f64>(),
    );
    for finding in &week.findings {
        println!("{finding}");
    }
}
