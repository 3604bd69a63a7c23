//! What a sweep costs beside its runs: CPU time in the simulator's loop of events over that of the whole sweep, and
//! how much sooner two threads are done than one.
use clap::Parser;
use prismux_benches::cpu::{Stopwatch, process_seconds};
use prismux_endpoint::random::Seed;
use prismux_scenario::ScenarioFile;
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_study::policies::Policies;
use prismux_study::sweep::{Axis, Others, Store, SweepRequest, Task, local, plan};
use prismux_study::text_table::Table;
use prismux_units::Instant as Moment;
use serde::Serialize;
use std::error::Error;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A sweep of a shipped scenario over the delay of one link, ten points: first all runs alone, without anything
/// around them; then the sweep as the command does it, with one thread and with two. What is compared with the wall
/// clock needs a quiet machine.
#[derive(Debug, Parser)]
#[command(name = "sweep-cost", after_help = "Example: sweep-cost --runs 1000")]
struct Arguments {
    /// Runs of the sweep.
    #[arg(long, default_value_t = 1000)]
    runs: u64,
    /// The scenario.
    #[arg(long, default_value = "two-members")]
    scenario: String,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    scenario: String,
    runs: usize,
    /// CPU time of the simulator's loop of events, all runs.
    core_cpu_s: f64,
    /// CPU time of making the networks and reading the results off them.
    around_cpu_s: f64,
    one: Measured,
    two: Measured,
    core_share: f64,
    speed_up: f64,
}

/// A whole sweep: planning, runs, rows, journal, Parquet.
#[derive(Debug, Serialize)]
struct Measured {
    cpu_s: f64,
    elapsed_s: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let request = SweepRequest {
        file: ScenarioFile::find(&arguments.scenario)?,
        set: Vec::new(),
        variants: Vec::new(),
        axes: vec![Axis::parse("links.wwan2.delay=500ms..950ms/50ms")?],
        first_seed: 1,
        seeds: (arguments.runs / 10).max(1),
        policies: Vec::new(),
    };
    let tasks = plan(&request)?;
    let (core_cpu_s, around_cpu_s) = runs_alone(&tasks)?;
    let one = sweep(&request, 1)?;
    let two = sweep(&request, 2)?;
    let results = Results {
        version: env!("CARGO_PKG_VERSION"),
        scenario: arguments.scenario,
        runs: tasks.len(),
        core_cpu_s,
        around_cpu_s,
        core_share: core_cpu_s / one.cpu_s,
        speed_up: one.elapsed_s / two.elapsed_s,
        one,
        two,
    };
    if arguments.json {
        println!("{}", serde_json::to_string(&results)?);
        return Ok(());
    }
    let mut table = Table::new(&["sweep", "CPU, s", "elapsed, s"]);
    let row = |name: &str, cpu_s: f64, elapsed: String| [name.to_string(), format!("{cpu_s:.2}"), elapsed];
    table.row(row("runs alone: loop of events", core_cpu_s, String::new()));
    table.row(row("runs alone: the rest", around_cpu_s, String::new()));
    for (name, whole) in
        [("whole sweep, one thread", &results.one), ("whole sweep, two threads", &results.two)]
    {
        table.row(row(name, whole.cpu_s, format!("{:.2}", whole.elapsed_s)));
    }
    println!("{table}\n");
    println!(
        "{} runs of {}: {:.1} % of the CPU time in the simulator's loop of events; two threads {:.2} times as \
            fast as one",
        results.runs,
        results.scenario,
        results.core_share * 100.0,
        results.speed_up
    );
    Ok(())
}

/// CPU time of all runs: in the loop of events, and before and after it.
fn runs_alone(tasks: &[Task]) -> Result<(f64, f64), Box<dyn Error>> {
    let (mut core_s, mut whole_s) = (0.0, 0.0);
    for task in tasks {
        let plan = &task.point.scenario.plan;
        let whole = Stopwatch::start();
        let mut simulation = Simulation::from_plan(plan, Seed(task.seed), SimulationOptions::default())?;
        let core = Stopwatch::start();
        let end = Moment::ZERO + plan.duration;
        if plan.ends_by_itself() {
            simulation.run_to_completion(end);
        } else {
            simulation.run_until(end);
        }
        core_s += core.seconds();
        std::hint::black_box(simulation.result());
        whole_s += whole.seconds();
    }
    Ok((core_s, whole_s - core_s))
}

/// The whole sweep into a file that is removed.
fn sweep(request: &SweepRequest, threads: usize) -> Result<Measured, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("prismux-sweep-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let target: PathBuf = folder.join("sweep.parquet");
    let (cpu_s, begun) = (process_seconds().unwrap_or(f64::NAN), Instant::now());
    let tasks = plan(request)?;
    let scenario = &tasks[0].point.scenario.plan.name;
    let store = Mutex::new(Store::open(&target, &request.axes, scenario, &tasks, Others::Refuse)?);
    local::run(&tasks, &Policies::default(), &store, threads, &Default::default(), || {})?;
    store.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
    let measured = Measured {
        cpu_s: process_seconds().unwrap_or(f64::NAN) - cpu_s,
        elapsed_s: begun.elapsed().as_secs_f64(),
    };
    std::fs::remove_dir_all(&folder)?;
    Ok(measured)
}
