//! Random mixes of two to five links: PRISM against the best single link and against capacity, simulated.
use clap::Parser;
use prismux_benches::mixes::report::{self, Line};
use prismux_benches::mixes::run::{Outcome, Plan, Way, simulate};
use prismux_benches::mixes::{Mix, picture, series};
use prismux_endpoint::random::Seed;
use prismux_units::Duration;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Draws random mixes of links and simulates one download over each: over every link alone, over all through PRISM with an
/// unmodified sender, over all through PRISM with a TCP-PRISM sender. Also on request: PRISM as published, and weighted striping
/// without ACK control.
#[derive(Debug, Parser)]
#[command(name = "random-mixes", after_help = "Example: random-mixes --quick --svg mixes.svg")]
struct Arguments {
    /// How many mixes.
    #[arg(long, default_value_t = 200)]
    mixes: u32,
    /// Only the first 20.
    #[arg(long)]
    quick: bool,
    /// Only these mixes (by number, comma separated).
    #[arg(long, value_delimiter = ',')]
    only: Vec<u32>,
    /// Only every so many.
    #[arg(long, default_value_t = 1)]
    stride: usize,
    /// Seed of the mixes and of the runs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds before the steady state.
    #[arg(long, default_value_t = 20)]
    warm: u64,
    /// Seconds of steady state.
    #[arg(long, default_value_t = 60)]
    steady: u64,
    /// Receive buffer of both ends, in MB: large enough not to be the limit.
    #[arg(long, default_value_t = 64)]
    buffer: u64,
    /// Ways of using the links; without `single` nothing is compared to the best single link.
    #[arg(long, value_delimiter = ',', default_value = "single,prism,tcp-prism", value_parser = WAYS)]
    ways: Vec<String>,
    /// Only PRISM with an unmodified sender, as a table over time with a line every so many milliseconds.
    #[arg(long, value_name = "MS")]
    series: Option<u64>,
    /// Threads (all cores when 0).
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Writes the JSON to a file.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Writes the picture of both distributions.
    #[arg(long)]
    svg: Option<PathBuf>,
}

/// What [`Arguments::ways`] may hold.
const WAYS: [&str; 5] = ["single", "prism", "tcp-prism", "paper", "striping"];

/// The ways behind one name.
fn ways_called(name: &str, links: usize) -> Vec<Way> {
    match name {
        "single" => (0..links).map(Way::Single).collect(),
        "prism" => vec![Way::Prism],
        "tcp-prism" => vec![Way::TcpPrism],
        "paper" => vec![Way::Paper],
        _ => vec![Way::Striping],
    }
}

#[derive(Debug, Serialize)]
struct Results<'a> {
    version: &'static str,
    plan: Plan,
    summaries: Vec<report::WaySummary>,
    mixes: &'a [Line],
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("random-mixes: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan {
        seed: arguments.seed,
        warm_s: arguments.warm,
        steady_s: arguments.steady,
        receive_buffer_bytes: arguments.buffer * 1_000_000,
    };
    let numbers: Vec<u32> = match (&arguments.only[..], arguments.quick) {
        ([], true) => (0..arguments.mixes.min(20)).collect(),
        ([], false) => (0..arguments.mixes).step_by(arguments.stride.max(1)).collect(),
        (only, _) => only.to_vec(),
    };
    let mixes: Vec<Mix> = numbers.into_iter().map(|number| Mix::draw(Seed(plan.seed), number)).collect();
    if let Some(interval) = arguments.series {
        for mix in &mixes {
            println!("{}", series::series(mix, Way::Prism, &plan, Duration::from_millis(interval.max(1))));
        }
        return Ok(());
    }
    let lines = simulate_all(&mixes, arguments, &plan);
    let summaries = report::ways(&lines).into_iter().filter_map(|way| report::summarise(&lines, way));
    let results =
        Results { version: env!("CARGO_PKG_VERSION"), plan, summaries: summaries.collect(), mixes: &lines };
    if let Some(file) = &arguments.out {
        std::fs::write(file, serde_json::to_string(&results)?)?;
    }
    if let Some(file) = &arguments.svg {
        picture::draw(&lines, file)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string(&results)?);
    } else {
        println!("{} mixes, steady goodput\n\n{}\n", lines.len(), report::table(&lines));
        for way in [Way::Prism, Way::TcpPrism] {
            println!("{}", report::worst(&lines, way));
        }
    }
    Ok(())
}

/// Simulates every way of every mix on all cores; the lines come back in the order of the mixes.
fn simulate_all(mixes: &[Mix], arguments: &Arguments, plan: &Plan) -> Vec<Line> {
    let mut jobs: Vec<(usize, Way)> = Vec::new();
    for (index, mix) in mixes.iter().enumerate() {
        let ways = arguments.ways.iter().flat_map(|name| ways_called(name, mix.links.len()));
        jobs.extend(ways.map(|way| (index, way)));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if arguments.threads == 0 { cores } else { arguments.threads };
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let outcomes: Mutex<Vec<Vec<Outcome>>> = Mutex::new(vec![Vec::new(); mixes.len()]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&(index, way)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = simulate(&mixes[index], way, plan);
                    outcomes.lock().expect("no thread panics while it holds the lock")[index].push(outcome);
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if std::io::stderr().is_terminal() {
                        eprint!("\r{done} of {} runs", jobs.len());
                    }
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("every thread has ended");
    mixes.iter().cloned().zip(outcomes).map(|(mix, outcomes)| Line::new(mix, outcomes)).collect()
}
