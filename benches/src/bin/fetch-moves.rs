//! Handoff, migration, aggregation, policy and blackout: R²CP with real processes in the lab beside the simulator.
use clap::Parser;
use prismux_fetch::SEGMENT_BYTES;
use prismux_lab as lab;
use prismux_scenario::registry::Backend;
use prismux_scenario::{Scenario, ScenarioFile};
use prismux_study::measures;
use prismux_study::run::{self, RunOptions};
use prismux_study::text_table::Table;
use prismux_trace::results::RunResult;
use serde::Serialize;
use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

/// Runs the shipped scenarios of R²CP, shortened to tens of seconds, in network namespaces (processes of `prismux
/// serve` and `prismux fetch`) and in the simulator, and prints what moving costs in both, side by side: gaps in
/// round trips and timeouts, bytes that came twice, who carried what. All moves of a round run at the same time.
#[derive(Debug, Parser)]
#[command(name = "fetch-moves", after_help = "Example: nice -n -15 fetch-moves --runs 5")]
struct Arguments {
    /// Rounds in the lab, each with a seed of its own.
    #[arg(long, default_value_t = 3)]
    runs: u64,
    /// The prismux program [default: the one beside this program].
    #[arg(long)]
    prismux: Option<PathBuf>,
    /// Only moves whose name has this in it.
    #[arg(long, default_value = "")]
    only: String,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
}

type Failed = Box<dyn Error + Send + Sync>;

/// A scenario, shortened, and what of it counts.
struct Move {
    name: &'static str,
    scenario: &'static str,
    variant: Option<&'static str>,
    set: &'static [&'static str],
    figures: &'static [Figure],
}

/// A figure and how it is read off a result.
struct Figure {
    name: &'static str,
    of: fn(&RunResult) -> Option<f64>,
}

/// Seconds around the move in which gaps count; it happens at 10 s in all of them.
const WINDOW_S: (f64, f64) = (10.0, 16.0);

/// Of the file in a packet of `prismux fetch`, timestamps deducted, and in a simulated one.
const LAB_SEGMENT_BYTES: u64 = SEGMENT_BYTES as u64 - 12;
const SIMULATED_SEGMENT_BYTES: u64 = 1448;

const MOVES: [Move; 6] = [
    Move {
        name: "blackout of one of two pipes",
        scenario: "r2cp-blackout",
        variant: None,
        set: &["duration=24 s", "events.0.at=10 s", "events.1.at=16 s", "measure.warm_up=6 s"],
        figures: &[
            Figure { name: "longest gap, ms", of: gap_ms },
            Figure {
                name: "in timeouts of that pipe",
                of: |run| Some(gap_ms(run)? / timeout_ms(run, "second")?),
            },
            Figure { name: "bytes that came twice", of: twice },
        ],
    },
    Move {
        name: "handoff, two seconds of overlap",
        scenario: "r2cp-handoff",
        variant: Some("overlap"),
        set: &HANDOFF,
        figures: &[
            Figure { name: "longest gap, ms", of: gap_ms },
            Figure { name: "in round trips", of: |run| Some(gap_ms(run)? / round_trip_ms(run)?) },
            Figure { name: "bytes that came twice", of: twice },
        ],
    },
    Move {
        name: "handoff, the old interface gone at once",
        scenario: "r2cp-handoff",
        variant: Some("at-once"),
        set: &AT_ONCE,
        figures: &[
            Figure { name: "longest gap, ms", of: gap_ms },
            Figure {
                name: "in timeouts of the old pipe",
                of: |run| Some(gap_ms(run)? / timeout_ms(run, "old")?),
            },
            Figure { name: "bytes that came twice", of: twice },
        ],
    },
    Move {
        name: "migration to a nearer server",
        scenario: "r2cp-migration",
        variant: Some("migrate"),
        set: &[
            "duration=60 s",
            "flows.download.bytes=10 MB",
            "flows.download.pipes.new.opens=10 s",
            "flows.download.pipes.old.closes=12 s",
            "flows.download.profile=modern",
            "measure.interval=10 ms",
            "measure.warm_up=2 s",
        ],
        figures: &[
            Figure { name: "longest gap, ms", of: gap_ms },
            Figure { name: "in round trips", of: |run| Some(gap_ms(run)? / round_trip_ms(run)?) },
            Figure { name: "bytes that came twice", of: twice },
            Figure { name: "bytes asked for beyond object and losses", of: asked_beyond },
            Figure { name: "complete, s", of: |run| run.flows.get("download")?.completion_s },
        ],
    },
    Move {
        name: "two servers over two interfaces",
        scenario: "r2cp-aggregation",
        variant: Some("both"),
        set: &["duration=30 s", "flows.download.profile=modern", "measure.warm_up=10 s"],
        figures: &[
            Figure { name: "Mbit/s in steady state", of: |run| Some(run.total.steady_goodput_bps? / 1e6) },
            Figure { name: "of what the links can carry", of: |run| run.total.steady_efficiency },
        ],
    },
    Move {
        name: "720 kbit/s wanted, the cheap path busy",
        scenario: "r2cp-policy",
        variant: None,
        set: &["duration=40 s", "flows.download.profile=modern", "measure.warm_up=5 s"],
        figures: &[
            Figure { name: "kbit/s in steady state", of: |run| Some(steady_bps(run, "download")? / 1e3) },
            Figure { name: "share of the cheap pipe", of: cheap_share },
            Figure { name: "correlation of the pipes, bins of 1 s", of: correlation },
        ],
    },
];

const HANDOFF: [&str; 5] = [
    "duration=20 s",
    "flows.download.pipes.new.opens=10 s",
    "flows.download.pipes.old.closes=12 s",
    "flows.download.profile=modern",
    "measure.warm_up=6 s",
];

const AT_ONCE: [&str; 5] = [
    "duration=20 s",
    "flows.download.pipes.new.opens=10 s",
    "flows.download.pipes.old.drops=10 s",
    "flows.download.profile=modern",
    "measure.warm_up=6 s",
];

/// The longest time without a byte for the application around the move.
fn gap_ms(run: &RunResult) -> Option<f64> {
    Some(measures::longest_gap_s(run, "download", WINDOW_S.0, WINDOW_S.1)? * 1e3)
}

/// A pipe's timeout when the longest pause began, where that is known (the lab), else at the end.
fn timeout_ms(run: &RunResult, pipe: &str) -> Option<f64> {
    let at_the_end = || Some(run.flows.get("download")?.pipes.get(pipe)?.rto_s? * 1e3);
    then(run, "timeout_then_us").or_else(at_the_end)
}

/// The largest round trip when the longest pause began, or at the end.
fn round_trip_ms(run: &RunResult) -> Option<f64> {
    let at_the_end = || Some(measures::longest_round_trip_s(run, "download")? * 1e3);
    then(run, "round_trip_then_us").or_else(at_the_end)
}

/// What the client knew when its longest pause began, if that was around the move.
fn then(run: &RunResult, counter: &str) -> Option<f64> {
    let counters = run.nodes.get("laptop")?;
    let began_s = *counters.get("longest_pause_began_us")? as f64 / 1e6;
    (WINDOW_S.0..WINDOW_S.1).contains(&began_s).then_some(())?;
    Some(*counters.get(counter)? as f64 / 1e3)
}

fn twice(run: &RunResult) -> Option<f64> {
    Some(*run.nodes.get("laptop")?.get("duplicate_bytes")? as f64)
}

/// Bytes asked for over all pipes, less the object and what was asked for again because it was lost.
fn asked_beyond(run: &RunResult) -> Option<f64> {
    let flow = run.flows.get("download")?;
    let asked: u64 = flow.pipes.values().map(|pipe| pipe.sent_bytes).sum();
    let segment = if run.nodes.contains_key("lab") { LAB_SEGMENT_BYTES } else { SIMULATED_SEGMENT_BYTES };
    Some(asked as f64 - flow.bytes as f64 - (flow.retransmitted_segments * segment) as f64)
}

fn steady_bps(run: &RunResult, flow: &str) -> Option<f64> {
    run.flows.get(flow)?.steady_goodput_bps
}

fn cheap_share(run: &RunResult) -> Option<f64> {
    let pipes = &run.flows.get("download")?.pipes;
    let cheap = pipes.get("cheap")?.received_bytes as f64;
    Some(cheap / (cheap + pipes.get("dear")?.received_bytes as f64))
}

/// Pearson's, of what the two last links carried; the flow is their only traffic.
fn correlation(run: &RunResult) -> Option<f64> {
    let series = run.series.as_ref()?;
    let [a, b] = ["wlan1", "wlan2"].map(|link| series.links.get(link)?.throughput_bps.get(5..));
    measures::correlation(a?, b?)
}

/// One figure of one move.
#[derive(Debug, Serialize)]
struct Line {
    r#move: &'static str,
    figure: &'static str,
    lab: Vec<f64>,
    simulator: Option<f64>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match measure(&arguments) {
        Ok(lines) if arguments.json => {
            // Numbers and names always serialise.
            println!("{}", serde_json::to_string(&lines).unwrap_or_default());
            ExitCode::SUCCESS
        }
        Ok(lines) => {
            print(&lines);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("fetch-moves: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failed> {
    lab::ensure_privileges()?;
    let beside = || Ok::<_, Failed>(env::current_exe()?.with_file_name("prismux"));
    let program = arguments.prismux.clone().map_or_else(beside, Ok)?;
    if !program.exists() {
        let program = program.display();
        return Err(format!(
            "there is no {program}\n  remedy: cargo build --release -p prismux, or give --prismux"
        )
        .into());
    }
    let moves: Vec<&Move> = MOVES.iter().filter(|one| one.name.contains(&arguments.only)).collect();
    let mut lines = Vec::new();
    for one in &moves {
        let simulated = run::run(&scenario(one)?, Backend::Sim, &options(1, &program))?;
        for figure in one.figures {
            let simulator = (figure.of)(&simulated);
            lines.push(Line { r#move: one.name, figure: figure.name, lab: Vec::new(), simulator });
        }
    }
    for seed in 1..=arguments.runs.max(1) {
        let results = round(&moves, &options(seed, &program))?;
        let mut line = lines.iter_mut();
        for (one, result) in moves.iter().zip(results) {
            for (figure, line) in one.figures.iter().zip(&mut line) {
                line.lab.extend((figure.of)(&result));
            }
        }
        eprintln!("round {seed} of {} is done", arguments.runs.max(1));
    }
    Ok(lines)
}

/// All moves once in the lab, at the same time.
fn round(moves: &[&Move], options: &RunOptions) -> Result<Vec<RunResult>, Failed> {
    let scenarios = moves.iter().map(|one| scenario(one)).collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        let run = |scenario| scope.spawn(move || run::run(scenario, Backend::Lab, options));
        let handles: Vec<_> = scenarios.iter().map(run).collect();
        handles.into_iter().map(|handle| Ok(handle.join().map_err(|_| "a run failed")??)).collect()
    })
}

fn options(seed: u64, program: &std::path::Path) -> RunOptions {
    RunOptions { seed, program: Some(program.to_path_buf()), ..RunOptions::default() }
}

fn scenario(one: &Move) -> Result<Scenario, Failed> {
    Ok(ScenarioFile::find(one.scenario)?.scenario(one.variant, one.set)?)
}

fn print(lines: &[Line]) {
    let mut table = Table::new(&["move", "figure", "lab, median", "least", "most", "simulator"]);
    let mut last = "";
    for line in lines {
        let mut values = line.lab.clone();
        values.sort_by(f64::total_cmp);
        let cell = |value: Option<f64>| value.map_or("-".to_string(), number);
        let name = if line.r#move == last { "" } else { line.r#move };
        last = line.r#move;
        let median = (!values.is_empty()).then(|| prismux_benches::cpu::median(&values));
        let (least, most) = (values.first().copied(), values.last().copied());
        let cells = [median, least, most, line.simulator].map(cell);
        table.row([name.to_string(), line.figure.to_string()].into_iter().chain(cells));
    }
    println!("{table}");
}

/// Whole where it is large, with two decimals where it is small.
fn number(value: f64) -> String {
    if value.abs() >= 100.0 || value == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
