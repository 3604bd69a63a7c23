//! `prismux rivals`: PRISM against every other way of using the same links, each with either congestion control of
//! today's kernels, side by side in the lab; one line for each set of links.

use super::compare::{Outcome, run_all};
use super::run::{prepare, summarise};
use crate::args::{BackendName, Common, RivalsArguments};
use crate::failure::Failure;
use crate::output::print;
use prismux_scenario::ScenarioFile;
use prismux_scenario::registry::Backend;
use prismux_study::number::{digits, or_dash, rate};
use prismux_study::text_table::{Align, Table};
use prismux_study::variant::{Variant, variants};
use serde_json::{Value, json};

/// The ways, each tried with both congestion controls.
const WAYS: [&str; 4] = ["single", "striping", "mptcp", "prism"];
const CONTROLS: [&str; 2] = ["cubic", "bbr"];

/// One set of links.
struct Setting {
    scenario: &'static str,
    /// What to change: the published testbeds get hosts and a proxy of today.
    overrides: &'static [&'static str],
    /// Few such runs fit this machine at a time.
    is_fast: bool,
}

const OF_TODAY: &[&str] = &[
    "nodes.proxy.profile=modern",
    "flows.download.profile=modern",
    "flows.download.tcp.window=8 MB",
    "duration=100 s",
];
const FOR_HALF_A_MINUTE: &[&str] = &["duration=30 s"];

const SETTINGS: [Setting; 8] = [
    Setting { scenario: "demo-2005", overrides: &["duration=100 s"], is_fast: false },
    Setting { scenario: "prism-delay-disparity", overrides: OF_TODAY, is_fast: false },
    Setting { scenario: "prism-loss-disparity", overrides: OF_TODAY, is_fast: false },
    Setting { scenario: "prism-heterogeneity", overrides: OF_TODAY, is_fast: false },
    Setting { scenario: "demo-today", overrides: FOR_HALF_A_MINUTE, is_fast: true },
    Setting { scenario: "mix-50-10", overrides: FOR_HALF_A_MINUTE, is_fast: true },
    Setting { scenario: "mix-20-20", overrides: FOR_HALF_A_MINUTE, is_fast: true },
    Setting { scenario: "mix-100-30-10", overrides: FOR_HALF_A_MINUTE, is_fast: true },
];

/// Runs at the same time on slow links and on fast ones.
const PARALLEL_SLOW: usize = 24;
const PARALLEL_FAST: usize = 2;

/// The better congestion control of one way on one set of links.
struct Best {
    control: &'static str,
    goodput_bps: f64,
}

/// One set of links with what every way achieved, in the order of [`WAYS`] and [`CONTROLS`].
struct Line {
    scenario: &'static str,
    outcomes: Vec<Outcome>,
}

pub(crate) fn run(arguments: &RivalsArguments) -> Result<(), Failure> {
    let known = |name: &String| SETTINGS.iter().any(|setting| setting.scenario == name);
    if let Some(unknown) = arguments.scenarios.iter().find(|name| !known(name)) {
        let names: Vec<&str> = SETTINGS.iter().map(|setting| setting.scenario).collect();
        return Err(Failure::Usage(format!(
            "there is no setting \"{unknown}\"; there are {}",
            names.join(", ")
        )));
    }
    prepare(Backend::Lab)?;
    let mut lines = Vec::new();
    for is_fast in [false, true] {
        lines.extend(phase(arguments, is_fast)?);
    }
    if arguments.json {
        return Ok(print(serde_json::to_string(&json_of(&lines)).map_err(Failure::failed)?)?);
    }
    Ok(print(table(&lines, arguments.runs))?)
}

/// Runs the chosen settings of one kind, as many at a time as this machine carries.
fn phase(arguments: &RivalsArguments, is_fast: bool) -> Result<Vec<Line>, Failure> {
    let chosen = |setting: &&Setting| {
        let named = arguments.scenarios.iter().any(|name| name == setting.scenario);
        setting.is_fast == is_fast && (named || arguments.scenarios.is_empty())
    };
    let names: Vec<String> =
        WAYS.iter().flat_map(|way| CONTROLS.iter().map(move |control| format!("{way}-{control}"))).collect();
    let (mut settings, mut list) = (Vec::new(), Vec::<Variant>::new());
    for setting in SETTINGS.iter().filter(chosen) {
        let file = ScenarioFile::find(setting.scenario)?;
        list.extend(variants(&file, &names, setting.overrides, Backend::Lab)?);
        settings.push(setting.scenario);
    }
    let default = if is_fast { PARALLEL_FAST } else { PARALLEL_SLOW };
    let common = Common {
        on: BackendName::Lab,
        seed: arguments.seed,
        set: Vec::new(),
        json: false,
        jobs: Some(arguments.jobs.map_or(default, |jobs| if is_fast { default.min(jobs) } else { jobs })),
    };
    let mut outcomes = run_all(&list, &common, arguments.runs)?.into_iter();
    let lines = settings
        .into_iter()
        .map(|scenario| Line { scenario, outcomes: outcomes.by_ref().take(names.len()).collect() });
    Ok(lines.collect())
}

fn goodput(outcome: &Outcome) -> Option<f64> {
    summarise(&outcome.results, |result| Some(result.total.goodput_bps)).map(|summary| summary.mean)
}

impl Line {
    /// The better control of way number `way`; `None` when neither could run.
    fn best(&self, way: usize) -> Option<Best> {
        let of = |control: usize| {
            let goodput_bps = goodput(&self.outcomes[way * CONTROLS.len() + control])?;
            Some(Best { control: CONTROLS[control], goodput_bps })
        };
        let all = (0..CONTROLS.len()).filter_map(of);
        all.max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps))
    }

    /// What PRISM achieves for each byte of MPTCP's.
    fn ratio(&self) -> Option<f64> {
        Some(self.best(3)?.goodput_bps / self.best(2)?.goodput_bps)
    }

    fn possible_bps(&self) -> f64 {
        let results = self.outcomes.iter().flat_map(|outcome| &outcome.results);
        results.map(|result| result.total.capacity_bps).fold(0.0, f64::max)
    }
}

fn table(lines: &[Line], runs: u64) -> String {
    let head = format!(
        "Goodput in the lab by way of using the links and kernel congestion control (cubic | bbr), {runs} \
            run(s) each.\n"
    );
    let columns =
        ["links", "possible", "best single", "striping", "MPTCP", "PRISM", "PRISM : MPTCP", "at least equal"];
    let mut table = Table::new(&columns).align(7, Align::Left);
    for line in lines {
        let way = |way: usize| {
            let cell = |control: usize| {
                or_dash(goodput(&line.outcomes[way * CONTROLS.len() + control]), |bps| digits(bps / 1e6))
            };
            format!("{} | {}", cell(0), cell(1))
        };
        let mut row = vec![line.scenario.to_string(), rate(line.possible_bps())];
        row.extend((0..WAYS.len()).map(way));
        row.push(or_dash(line.ratio(), |ratio| format!("{ratio:.3}")));
        row.push(or_dash(line.ratio(), |ratio| if ratio >= 1.0 { "yes" } else { "no" }.to_string()));
        table.row(row);
    }
    let failures = lines.iter().flat_map(|line| {
        let failed = line.outcomes.iter().filter_map(|outcome| Some((outcome, outcome.failure.as_ref()?)));
        failed.map(|(outcome, reason)| format!("\n{} on {}: {reason}", outcome.name, line.scenario))
    });
    format!(
        "{head}\n{table}\nMbit/s, of a whole download or of the time given to it.{}",
        failures.collect::<String>()
    )
}

fn json_of(lines: &[Line]) -> Value {
    let line = |line: &Line| {
        let ways = line.outcomes.iter().map(|outcome| {
            json!({ "name": outcome.name, "goodput_bps": goodput(outcome), "failed": outcome.failure,
                    "runs": outcome.results })
        });
        let best = |way: usize| {
            line.best(way).map(|best| json!({ "goodput_bps": best.goodput_bps, "congestion": best.control }))
        };
        json!({
            "scenario": line.scenario,
            "possible_bps": line.possible_bps(),
            "mptcp": best(2),
            "prism": best(3),
            "prism_to_mptcp": line.ratio(),
            "ways": ways.collect::<Vec<_>>(),
        })
    };
    json!({ "settings": lines.iter().map(line).collect::<Vec<_>>() })
}
