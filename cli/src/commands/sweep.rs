//! `prismux sweep` and `prismux merge`.

use super::in_python::InPython;
use super::run::interval;
use crate::args::{MergeArguments, SweepArguments};
use crate::failure::Failure;
use crate::jobs;
use crate::output::print;
use prismux_scenario::ScenarioFile;
use prismux_study::number::{digits, or_dash, percent, rate, seconds};
use prismux_study::policies::Policies;
use prismux_study::repetition::one_run;
use prismux_study::statistics::Summary;
use prismux_study::sweep::local::{self, SweepError};
use prismux_study::sweep::merge;
use prismux_study::sweep::parquet::{self, FileError};
use prismux_study::sweep::rows::column;
use prismux_study::sweep::{
    Axis, AxisError, Effects, Others, PlanError, Store, StoreError, SweepRequest, Task, plan,
};
use prismux_study::text_table::Table;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Points that the table of the summary shows at most.
const SHOWN_POINTS: usize = 40;

pub(crate) fn run(arguments: &SweepArguments) -> Result<(), Failure> {
    if arguments.cluster.is_some() || !arguments.policies.given().is_empty() {
        return in_python(arguments);
    }
    let request = request(arguments)?;
    let tasks = plan(&request)?;
    let scenario = &tasks[0].point.scenario.plan.name;
    let target = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{scenario}-sweep.parquet")));
    let others = others(arguments);
    let store = Store::open(&target, &request.axes, scenario, &tasks, others)?;
    let before = tasks.iter().filter(|task| store.has(&task.id)).count();
    let parallel = arguments.jobs.unwrap_or_else(jobs::processors).max(1);
    let store = Mutex::new(store);
    let bar = jobs::progress_bar(tasks.len() - before, "sweep");
    let start = Instant::now();
    let result =
        local::run(&tasks, &Policies::default(), &store, parallel, &Default::default(), || bar.inc(1));
    let elapsed = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    let busy = result.map_err(|error| {
        let saved = tasks.iter().filter(|task| store.has(&task.id)).count();
        failed(&error, saved, tasks.len())
    })?;
    let table = store.finish()?;
    let effects = Effects::of(&table, &request.axes);
    let points = points(&tasks, &table, &effects);
    let inert = effects.axes_without_effect(&tasks, &request.axes);
    let ran = tasks.len() - before;
    let share = busy.as_secs_f64() / (elapsed * parallel as f64);
    if arguments.json {
        let value = json!({
            "out": target, "runs": tasks.len(), "ran": ran, "already_there": before,
            "elapsed_s": elapsed, "runs_per_s": ran as f64 / elapsed, "share_in_runs": share,
            "points": points.iter().map(Point::json).collect::<Vec<_>>(), "without_effect": inert,
        });
        print(serde_json::to_string(&value).map_err(Failure::failed)?)?;
        return all_have_effect(&inert);
    }
    print(summary(&request, &points))?;
    let speed = match ran {
        0 => "all runs were there".to_string(),
        _ => format!(
            "{ran} runs in {} ({} a second, {} of the threads' time in the runs), {before} were there",
            seconds(elapsed),
            digits(ran as f64 / elapsed),
            percent(share)
        ),
    };
    print(format!("\n{speed}\nresults: {} ({} rows)", target.display(), table.num_rows()))?;
    all_have_effect(&inert)
}

/// Fails for axes that change nothing: whoever varies them expects something else. The results are stored.
fn all_have_effect(inert: &[&str]) -> Result<(), Failure> {
    if inert.is_empty() {
        return Ok(());
    }
    let paths = inert.join(", ");
    Err(Failure::Failed(format!(
        "{paths} changes nothing: every run is the same whatever its value (results are stored)"
    )))
}

fn others(arguments: &SweepArguments) -> Others {
    match (arguments.prune, arguments.keep) {
        (true, _) => Others::Prune,
        (_, true) => Others::Keep,
        _ => Others::Refuse,
    }
}

/// `prismux merge`.
pub(crate) fn merge(arguments: &MergeArguments) -> Result<(), Failure> {
    let tables: Result<Vec<_>, FileError> = arguments.files.iter().map(|path| parquet::read(path)).collect();
    let tables = tables.map_err(usage)?;
    let given: usize = tables.iter().map(|table| table.num_rows()).sum();
    let merged = merge::merge(&tables, &[]).map_err(Failure::Usage)?;
    parquet::write(&arguments.out, &merged).map_err(Failure::failed)?;
    let twice = given - merged.num_rows();
    let (rows, out) = (merged.num_rows(), arguments.out.display());
    Ok(print(format!("{rows} rows ({twice} were there twice): {out}"))?)
}

fn request(arguments: &SweepArguments) -> Result<SweepRequest, Failure> {
    let axes: Result<Vec<Axis>, AxisError> = arguments.over.iter().map(|text| Axis::parse(text)).collect();
    Ok(SweepRequest {
        file: ScenarioFile::find(&arguments.scenario)?,
        set: arguments.set.clone(),
        variants: arguments.variants.clone(),
        axes: axes.map_err(usage)?,
        first_seed: arguments.seed,
        seeds: arguments.seeds,
        policies: Vec::new(),
    })
}

/// Leaves the work to the Python package, which knows Dask clusters and policies written in Python.
fn in_python(arguments: &SweepArguments) -> Result<(), Failure> {
    // What is wrong with the sweep shows without a cluster.
    let request = request(arguments)?;
    let tasks = plan(&request)?;
    let scenario = &tasks[0].point.scenario.plan.name;
    let target = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{scenario}-sweep.parquet")));
    let mut python = InPython::new(
        "prismux.sweep_command",
        &arguments.scenario,
        &arguments.set,
        &arguments.variants,
        &arguments.policies,
    );
    let command = &mut python.command;
    command.args(arguments.over.iter().map(|axis| format!("--over={axis}")));
    command.args(arguments.cluster.iter().map(|address| format!("--cluster={address}")));
    command.args(arguments.jobs.map(|jobs| format!("--jobs={jobs}")));
    command.args(["--seed", &arguments.seed.to_string(), "--seeds", &arguments.seeds.to_string()]);
    command.arg("--out").arg(target);
    for (wanted, option) in
        [(arguments.prune, "--prune"), (arguments.keep, "--keep"), (arguments.json, "--json")]
    {
        if wanted {
            command.arg(option);
        }
    }
    let status = command.status().map_err(|error| python.cannot_start(&error))?;
    python.check("the sweep", status)
}

fn usage(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}

fn failed(error: &SweepError, saved: usize, all: usize) -> Failure {
    Failure::Failed(format!(
        "{error}\n  {saved} of {all} runs are saved; the same command goes on from there"
    ))
}

/// What was measured at one point.
struct Point<'a> {
    task: &'a Task,
    goodput_bps: Option<Summary>,
    efficiency: Option<Summary>,
    completion_s: Option<Summary>,
    /// So many seeds that make no difference.
    one_run: Option<usize>,
}

fn points<'a>(tasks: &'a [Task], table: &prismux_study::Rows, effects: &Effects<'_>) -> Vec<Point<'a>> {
    let ids = merge::tasks(table);
    let rows: HashMap<&str, usize> = ids.iter().enumerate().map(|(row, id)| (*id, row)).collect();
    let (goodput, efficiency) = (column(table, "total.goodput_bps"), column(table, "total.efficiency"));
    let completion = column(table, "total.completion_s");
    let same_point = |a: &Task, b: &Task| std::sync::Arc::ptr_eq(&a.point, &b.point);
    tasks
        .chunk_by(same_point)
        .map(|seeds| {
            let of = |values: &[Option<f64>]| {
                let own: Option<Vec<f64>> =
                    seeds.iter().map(|task| *values.get(*rows.get(task.id.as_str())?)?).collect();
                Summary::of(&own?)
            };
            Point {
                task: &seeds[0],
                goodput_bps: of(&goodput),
                efficiency: of(&efficiency),
                completion_s: of(&completion),
                one_run: effects.is_one_run(seeds).then_some(seeds.len()),
            }
        })
        .collect()
}

impl Point<'_> {
    fn json(&self) -> Value {
        let values: serde_json::Map<String, Value> =
            self.task.point.values.iter().map(|(path, value)| (path.clone(), value.clone().into())).collect();
        json!({
            "values": values, "variant": self.task.point.variant,
            "goodput_bps": self.goodput_bps, "efficiency": self.efficiency, "completion_s": self.completion_s,
            "one_run": self.one_run.is_some(),
        })
    }

    /// Where it is, in the order of the axes.
    fn labels(&self) -> Vec<String> {
        let point = &self.task.point;
        let values = point.values.iter().map(|(_, value)| value.clone());
        point.variant.iter().cloned().chain(values).collect()
    }
}

fn summary(request: &SweepRequest, points: &[Point<'_>]) -> String {
    let mut columns: Vec<&str> = if request.variants.is_empty() { vec![] } else { vec!["variant"] };
    columns.extend(request.axes.iter().map(|axis| axis.path.as_str()));
    if columns.is_empty() {
        columns.push("");
    }
    columns.extend(["goodput", "efficiency", "complete"]);
    let mut table = Table::new(&columns);
    for point in points.iter().take(SHOWN_POINTS) {
        let mut row = point.labels();
        row.resize(columns.len() - 3, String::new());
        row.extend([
            or_dash(point.goodput_bps, |s| interval(s, rate)),
            or_dash(point.efficiency, |s| interval(s, percent)),
            or_dash(point.completion_s, |s| interval(s, seconds)),
        ]);
        table.row(row);
    }
    let hidden = points.len().saturating_sub(SHOWN_POINTS);
    let more = if hidden > 0 { format!("\n... and {hidden} points more") } else { String::new() };
    let equal: Vec<usize> = points.iter().filter_map(|point| point.one_run).collect();
    let note = match (equal.first(), equal.len() == points.len()) {
        (None, _) => String::new(),
        (Some(&seeds), true) => format!("\neach point: {}", one_run(seeds)),
        (Some(&seeds), false) => format!("\n{} of {} points: {}", equal.len(), points.len(), one_run(seeds)),
    };
    format!("{table}{more}{note}")
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        usage(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::failed(error)
    }
}
