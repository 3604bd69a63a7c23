//! `prismux rough`: links as users have them; is a download over all of them ever slower than over the best one alone?

use super::run::{once, parallel, prepare};
use crate::args::{BackendName, Common, RoughArguments};
use crate::failure::Failure;
use crate::jobs;
use crate::output::{print, rough as picture};
use prismux_scenario::Scenario;
use prismux_scenario::registry::Backend;
use prismux_study::rough::evaluation::{RoughError, RoughPlan, evaluate, run_count};
use prismux_study::rough::report::{Line, WaySummary, geometric_mean, summarise, table};
use prismux_study::rough::{Cell, Way, cells, recorded};
use prismux_study::run::RunOptions;
use prismux_study::text_table::{Align, Table};
use prismux_units::Duration;
use serde_json::json;

/// Seeds and seconds of a run, at length and quick.
const WHOLE: (u64, u64) = (3, 30);
const QUICK: (u64, u64) = (1, 12);

pub(crate) fn run(arguments: &RoughArguments) -> Result<(), Failure> {
    let cells = chosen(arguments)?;
    if arguments.list {
        return Ok(print(list(&cells))?);
    }
    let plan = plan(arguments)?;
    if arguments.scenario {
        return Ok(print(scenario_text(&cells, &plan)?)?);
    }
    prepare(arguments.on.into())?;
    let bar = jobs::progress_bar(run_count(&cells, &plan), "rough links");
    let in_lab = arguments.on == BackendName::Lab;
    let common = Common {
        on: arguments.on,
        seed: arguments.seed,
        set: Vec::new(),
        json: false,
        jobs: arguments.jobs.or(in_lab.then_some(1)),
    };
    let once =
        |scenario: &Scenario, seed| once(scenario, &common, &RunOptions { seed, ..RunOptions::default() });
    let outcomes = evaluate(&cells, &plan, parallel(&common), once, || bar.inc(1));
    bar.finish_and_clear();
    let lines: Vec<Line> = outcomes?.into_iter().filter_map(Line::new).collect();
    if lines.is_empty() {
        return Err(Failure::Failed("no link alone could be measured".to_string()));
    }
    let json = json_of(arguments, &plan, &lines)?;
    for (file, text) in [(&arguments.out, &json), (&arguments.svg, &picture::draw(&lines, &plan.ways))] {
        if let Some(file) = file {
            let cannot = |error| Failure::failed(format!("cannot write {}: {error}", file.display()));
            std::fs::write(file, text).map_err(cannot)?;
        }
    }
    match arguments.json {
        true => Ok(print(json)?),
        false => Ok(print(report(&lines, &plan))?),
    }
}

/// The cells asked for.
fn chosen(arguments: &RoughArguments) -> Result<Vec<Cell>, Failure> {
    let mut all = cells::shipped(arguments.on == BackendName::Lab);
    if let Some(folder) = &arguments.traces {
        let recordings = recorded::read(folder).map_err(|error| Failure::Usage(error.to_string()))?;
        all.extend(recorded::pairs(&recordings));
    }
    let chosen = cells::chosen(all, &arguments.only);
    match chosen.is_empty() {
        true => Err(Failure::Usage(format!(
            "no cell's name contains {}; `prismux rough --list` names them",
            arguments.only.join(" or ")
        ))),
        false => Ok(chosen),
    }
}

fn plan(arguments: &RoughArguments) -> Result<RoughPlan, Failure> {
    let backend: Backend = arguments.on.into();
    let ways = match (arguments.ways.is_empty(), backend) {
        (false, _) => arguments.ways.clone(),
        (true, Backend::Sim) => vec![Way::Prism],
        (true, Backend::Lab) => vec![Way::Prism, Way::MptcpCubic, Way::MptcpBbr],
    };
    if let (Some(way), Backend::Sim) = (ways.iter().find(|way| way.needs_lab()), backend) {
        return Err(Failure::Usage(format!("{} is the kernel's; add --on lab", way.name())));
    }
    let (seeds, seconds) = if arguments.quick { QUICK } else { WHOLE };
    Ok(RoughPlan {
        first_seed: arguments.seed,
        seeds: arguments.seeds.unwrap_or(seeds),
        duration: Duration::from_secs(arguments.seconds.unwrap_or(seconds)),
        ways,
        set: arguments.set.clone(),
    })
}

/// The scenario file of the only cell, with the first seed.
fn scenario_text(cells: &[Cell], plan: &RoughPlan) -> Result<String, Failure> {
    let [cell] = cells else {
        let few = cells.iter().take(3).map(|cell| cell.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!(
            "--scenario prints one cell, and {} are chosen ({few} ...); narrow it with --only",
            cells.len()
        )));
    };
    cell.scenario_text(plan.first_seed, plan.duration).ok_or_else(|| {
        Failure::Usage(format!("the links of {} follow traces, which no scenario file holds", cell.name))
    })
}

fn list(cells: &[Cell]) -> String {
    let mut table =
        Table::new(&["cell", "links", "what is rough"]).align(1, Align::Left).align(2, Align::Left);
    for cell in cells {
        let links = cell
            .links
            .iter()
            .map(|link| format!("{:.0} Mbit/s {} ms", link.rate_bps as f64 / 1e6, link.delay_ms));
        table.row([cell.name.clone(), links.collect::<Vec<_>>().join(" + "), cell.summary.clone()]);
    }
    table.to_string()
}

fn report(lines: &[Line], plan: &RoughPlan) -> String {
    let mut text = format!(
        "Goodput of one download in Mbit/s, {} seed(s) of {} each.\n\n{}\n",
        plan.seeds,
        plan.duration,
        table(lines, &plan.ways)
    );
    for &way in &plan.ways {
        if let Some(summary) = summarise(lines, way) {
            text += &format!("\n{}", sentence(&summary));
        }
    }
    let to_mptcp: Vec<f64> = lines.iter().filter_map(Line::to_mptcp).collect();
    if !to_mptcp.is_empty() {
        let least = to_mptcp.iter().copied().fold(f64::INFINITY, f64::min);
        text += &format!(
            "\nprism over the better of mptcp-cubic and mptcp-bbr: geometric mean {:.3}, least {least:.3}",
            geometric_mean(to_mptcp.iter().copied())
        );
    }
    let doubtful = lines.iter().filter(|line| line.doubtful_runs() > 0).count();
    if doubtful > 0 {
        text += &format!(
            "\n(busy): {doubtful} of {} cells have runs during which this machine was too busy to trust the figure",
            lines.len()
        );
    }
    for line in lines {
        for (way, why) in &line.failures {
            text += &format!("\n{} on {}: {why}", way.name(), line.name);
        }
    }
    text
}

fn sentence(summary: &WaySummary) -> String {
    let (least, cell) = &summary.worst;
    format!(
        "{}: {} of {} cells hold; geometric mean {:.3} of the best single link and {:.3} of all links alone in sum; \
         least {least:.3} of the best single link ({cell})",
        summary.way.name(),
        summary.cells - summary.broken.len(),
        summary.cells,
        summary.of_best_single,
        summary.of_singles_sum,
    )
}

fn json_of(arguments: &RoughArguments, plan: &RoughPlan, lines: &[Line]) -> Result<String, Failure> {
    let backend = if arguments.on == BackendName::Lab { "lab" } else { "sim" };
    let value = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "backend": backend,
        "first_seed": plan.first_seed,
        "seeds": plan.seeds,
        "duration_s": plan.duration.as_secs_f64(),
        "set": plan.set,
        "summaries": plan.ways.iter().filter_map(|&way| summarise(lines, way)).collect::<Vec<_>>(),
        "cells": lines,
    });
    serde_json::to_string(&value).map_err(Failure::failed)
}

impl From<RoughError> for Failure {
    fn from(error: RoughError) -> Self {
        match error {
            RoughError::Scenario(error) => error.into(),
            RoughError::Run(error) => error.into(),
        }
    }
}
