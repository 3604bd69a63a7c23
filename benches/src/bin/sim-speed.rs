//! The simulator against ns-2: delivered packets per CPU second, and how the cost grows with the number of flows.
use clap::Parser;
use prismux_benches::cpu::{best, median};
use prismux_benches::dumbbell::{Cost, Dumbbell, Ns2, parse};
use prismux_study::text_table::Table;
use serde::Serialize;
use std::io;
use std::process::{Command, ExitCode};

/// Runs bulk TCP flows through one bottleneck here and in ns-2, in turn, each run in a process of its own, and compares
/// the CPU time per packet delivered (the run alone, set-up apart). Without ns-2 only this simulator is measured.
#[derive(Debug, Parser)]
#[command(name = "sim-speed", after_help = "Example: sim-speed --repeats 5")]
struct Arguments {
    /// Runs of each simulator on each network; the best counts, because other work on the machine only adds.
    #[arg(long, default_value_t = 3)]
    repeats: u32,
    /// A tenth of the simulated time.
    #[arg(long)]
    quick: bool,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// One run of this network by this simulator, as JSON: what the children do.
    #[arg(long, hide = true)]
    one: Option<String>,
    /// Seconds to simulate with `--one`.
    #[arg(long, hide = true)]
    seconds: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Comparison {
    network: Dumbbell,
    prismux: Vec<Cost>,
    ns2: Vec<Cost>,
    /// ns-2's CPU time per delivered packet over ours, best of the repeats.
    ratio: Option<f64>,
    /// The same of the medians.
    ratio_of_medians: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    networks: Vec<Comparison>,
    /// CPU time per packet with 2000 flows over that with 20, best of the repeats.
    growth_prismux: Option<f64>,
    growth_ns2: Option<f64>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.one {
        Some(name) => one(name, arguments.seconds),
        None => compare(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("sim-speed: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn one(name: &str, seconds: Option<u64>) -> io::Result<()> {
    let mut network = Dumbbell::by_name(name)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("no network called {name}")))?;
    network.seconds = seconds.unwrap_or(network.seconds);
    println!("{}", serde_json::to_string(&network.run())?);
    Ok(())
}

fn compare(arguments: &Arguments) -> io::Result<()> {
    let ns2 = Ns2::find();
    if let Err(problem) = &ns2 {
        eprintln!("sim-speed: {problem}");
    }
    let mut networks = Vec::new();
    for mut network in Dumbbell::ALL {
        network.seconds = if arguments.quick { (network.seconds / 10).max(3) } else { network.seconds };
        networks.push(measure(network, ns2.as_ref().ok(), arguments.repeats)?);
    }
    let growth = |costs: &dyn Fn(&Comparison) -> &[Cost]| {
        let of = |flows| networks.iter().find(|c| c.network.flows == flows && c.network.name != "S2");
        let (small, large) = (of(20)?, of(2000)?);
        let both_ran = !costs(small).is_empty() && !costs(large).is_empty();
        both_ran.then(|| best(&micros(costs(large))) / best(&micros(costs(small))))
    };
    let (growth_prismux, growth_ns2) = (growth(&|c| &c.prismux), growth(&|c| &c.ns2));
    let results = Results { version: env!("CARGO_PKG_VERSION"), networks, growth_prismux, growth_ns2 };
    if arguments.json {
        println!("{}", serde_json::to_string(&results)?);
    } else {
        print(&results);
    }
    Ok(())
}

/// Both simulators in turn, so that changes of the machine's load hit both.
fn measure(network: Dumbbell, ns2: Option<&Ns2>, repeats: u32) -> io::Result<Comparison> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        ours.push(in_child(&network)?);
        if let Some(ns2) = ns2 {
            theirs.push(ns2.run(&network)?);
        }
    }
    let ratio = |middle: fn(&[f64]) -> f64| {
        (!theirs.is_empty()).then(|| middle(&micros(&theirs)) / middle(&micros(&ours)))
    };
    Ok(Comparison {
        ratio: ratio(best),
        ratio_of_medians: ratio(median),
        network,
        prismux: ours,
        ns2: theirs,
    })
}

/// A fresh process, like ns-2's: no run warms or fragments the memory of the next.
fn in_child(network: &Dumbbell) -> io::Result<Cost> {
    let seconds = network.seconds.to_string();
    let arguments = ["--one", network.name, "--seconds", &seconds];
    parse(&Command::new(std::env::current_exe()?).args(arguments).output()?)
}

fn micros(costs: &[Cost]) -> Vec<f64> {
    costs.iter().map(Cost::micros_per_packet).collect()
}

fn print(results: &Results) {
    let mut table = Table::new(&[
        "CPU per delivered packet",
        "flows",
        "prismux us",
        "ns-2 us",
        "prismux packets/CPU s",
        "ratio",
        "of medians",
        "delivered, prismux/ns-2",
    ]);
    let number = |value: Option<f64>, digits: usize| value.map_or("-".into(), |v| format!("{v:.digits$}"));
    for comparison in &results.networks {
        let ours = best(&micros(&comparison.prismux));
        let theirs = comparison.ns2.first().map(|_| best(&micros(&comparison.ns2)));
        let delivered = comparison
            .ns2
            .first()
            .zip(comparison.prismux.first())
            .map(|(theirs, ours)| ours.delivered_packets as f64 / theirs.delivered_packets as f64);
        table.row([
            format!("{}: {} s", comparison.network.name, comparison.network.seconds),
            comparison.network.flows.to_string(),
            format!("{ours:.3}"),
            number(theirs, 3),
            format!("{:.0}", 1e6 / ours),
            number(comparison.ratio, 2),
            number(comparison.ratio_of_medians, 2),
            number(delivered, 3),
        ]);
    }
    println!("{table}");
    let growth = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            println!("{name}: a packet costs {value:.2} times as much with 2000 flows as with 20");
        }
    };
    growth("prismux", results.growth_prismux);
    growth("ns-2", results.growth_ns2);
}
