//! `prismux agree`: the same scenarios in the lab and in the simulator, and by how much they differ.

use super::run::{once, parallel, prepare, summarise};
use crate::args::{AgreeArguments, BackendName, Common};
use crate::failure::Failure;
use crate::jobs;
use crate::output::print;
use prismux_scenario::registry::Backend;
use prismux_scenario::{Scenario, ScenarioFile};
use prismux_study::number::{or_dash, percent, rate};
use prismux_study::run::{RunOptions, doubt};
use prismux_study::statistics::Summary;
use prismux_study::text_table::{Align, Table};
use prismux_study::{bbr_mixes, mptcp_mixes};
use prismux_trace::results::RunResult;
use serde_json::json;

/// The testbeds of the papers.
const STANDARD: [&str; 3] = ["prism-delay-disparity", "prism-loss-disparity", "prism-heterogeneity"];

/// Means that differ by no more than this agree.
const TOLERANCE: f64 = 0.05;

/// Lab runs at the same time: these links are slow.
const PARALLEL_LAB: usize = 24;

/// One scenario on both backends.
struct Pair {
    scenario: String,
    lab: Vec<RunResult>,
    simulator: Vec<RunResult>,
}

impl Pair {
    fn goodput(results: &[RunResult]) -> Option<Summary> {
        summarise(results, |result| Some(result.total.goodput_bps))
    }

    /// Lab over simulator, less one.
    fn difference(&self) -> Option<f64> {
        Some(Self::goodput(&self.lab)?.mean / Self::goodput(&self.simulator)?.mean - 1.0)
    }

    /// Whether the machine served every run in the lab in time; else the difference says little.
    fn is_in_time(&self) -> bool {
        self.lab.iter().all(|result| doubt(result).is_none())
    }

    fn agrees(&self) -> bool {
        self.difference().is_some_and(|difference| difference.abs() <= TOLERANCE)
    }
}

pub(crate) fn run(arguments: &AgreeArguments) -> Result<(), Failure> {
    let named =
        |names: &[&str]| names.iter().map(|name| ScenarioFile::find(name)).collect::<Result<Vec<_>, _>>();
    let files: Vec<ScenarioFile> = match (arguments.mptcp_mixes, arguments.bbr_mixes) {
        (Some(count), _) => mptcp_mixes(arguments.seed, count),
        (None, Some(count)) => bbr_mixes(arguments.seed, count),
        (None, None) if arguments.scenarios.is_empty() => named(&STANDARD)?,
        (None, None) => named(&arguments.scenarios.iter().map(String::as_str).collect::<Vec<_>>())?,
    };
    let set: Vec<&str> = arguments.set.iter().map(String::as_str).collect();
    let variant = arguments.variant.as_deref();
    let scenarios: Vec<Scenario> =
        files.iter().map(|file| Ok(file.scenario(variant, &set)?)).collect::<Result<_, Failure>>()?;
    prepare(Backend::Lab)?;
    let lab = all(&scenarios, arguments, BackendName::Lab)?;
    let simulator = all(&scenarios, arguments, BackendName::Sim)?;
    let pairs: Vec<Pair> = files
        .iter()
        .zip(lab.into_iter().zip(simulator))
        .map(|(file, (lab, simulator))| Pair { scenario: file.name().to_string(), lab, simulator })
        .collect();
    if arguments.json {
        return Ok(print(json_of(&pairs)?)?);
    }
    Ok(print(table(&pairs, arguments.runs))?)
}

/// Every scenario with every seed on one backend.
fn all(
    scenarios: &[Scenario],
    arguments: &AgreeArguments,
    on: BackendName,
) -> Result<Vec<Vec<RunResult>>, Failure> {
    let jobs = match on {
        BackendName::Lab => Some(arguments.jobs.unwrap_or(PARALLEL_LAB)),
        BackendName::Sim => None,
    };
    let common = Common { on, seed: arguments.seed, set: Vec::new(), json: false, jobs };
    let work: Vec<(&Scenario, u64)> = scenarios
        .iter()
        .flat_map(|scenario| (0..arguments.runs).map(move |run| (scenario, arguments.seed.wrapping_add(run))))
        .collect();
    let what = if on == BackendName::Lab { "in the lab" } else { "simulated" };
    let results = jobs::run(&work, parallel(&common), what, |&(scenario, seed)| {
        once(scenario, &common, &RunOptions { seed, ..RunOptions::default() })
    })?;
    Ok(results.chunks(arguments.runs as usize).map(<[RunResult]>::to_vec).collect())
}

fn table(pairs: &[Pair], runs: u64) -> String {
    let columns = ["scenario", "lab", "", "simulator", "", "difference", "within 5 %", "in time"];
    let mut table = Table::new(&columns).align(6, Align::Left).align(7, Align::Left);
    for pair in pairs {
        let mut row = vec![pair.scenario.clone()];
        for results in [&pair.lab, &pair.simulator] {
            row.push(or_dash(Pair::goodput(results), |summary| super::run::interval(summary, rate)));
            row.push(or_dash(summarise(results, |result| result.total.efficiency), |s| percent(s.mean)));
        }
        row.push(or_dash(pair.difference(), |difference| format!("{:+.1} %", difference * 100.0)));
        for answer in [pair.agrees(), pair.is_in_time()] {
            row.push(if answer { "yes" } else { "no" }.to_string());
        }
        table.row(row);
    }
    format!(
        "Goodput and efficiency in the lab and in the simulator, {runs} seeds each.\n\n{table}{}",
        gaps(pairs)
    )
}

/// How far apart the backends are in the middle and at worst, where there is more than one scenario: over all of them,
/// and over those that the machine served in time.
fn gaps(pairs: &[Pair]) -> String {
    let in_time: Vec<&Pair> = pairs.iter().filter(|pair| pair.is_in_time()).collect();
    let mut text = gap("Gap", &pairs.iter().collect::<Vec<_>>());
    if in_time.len() < pairs.len() {
        let what = format!("Of the {} that this machine served in time", in_time.len());
        text += &gap(&what, &in_time);
    }
    text
}

fn gap(what: &str, pairs: &[&Pair]) -> String {
    let mut gaps: Vec<f64> =
        pairs.iter().filter_map(|pair| pair.difference()).map(|gap| gap.abs() * 100.0).collect();
    gaps.sort_by(f64::total_cmp);
    let (Some(worst), true) = (gaps.last(), gaps.len() > 1) else { return String::new() };
    let upper = gaps[gaps.len() / 2];
    let median = if gaps.len() % 2 == 1 { upper } else { (upper + gaps[gaps.len() / 2 - 1]) / 2.0 };
    format!("\n{what}: median {median:.1} %, at worst {worst:.1} %.\n")
}

fn json_of(pairs: &[Pair]) -> Result<String, Failure> {
    let pair = |pair: &Pair| {
        json!({
            "scenario": pair.scenario,
            "lab_goodput_bps": Pair::goodput(&pair.lab),
            "simulator_goodput_bps": Pair::goodput(&pair.simulator),
            "difference": pair.difference(),
            "agrees": pair.agrees(),
            "in_time": pair.is_in_time(),
            "lab": pair.lab,
            "simulator": pair.simulator,
        })
    };
    serde_json::to_string(&json!({ "scenarios": pairs.iter().map(pair).collect::<Vec<_>>() }))
        .map_err(Failure::failed)
}
