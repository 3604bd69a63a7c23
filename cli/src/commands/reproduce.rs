//! `prismux reproduce`.

use super::run::prepare;
use crate::args::{ReproduceArguments, ReproduceBackend};
use crate::failure::Failure;
use crate::jobs::progress_bar;
use crate::output::print;
use indicatif::ProgressBar;
use prismux_scenario::registry::Backend;
use prismux_study::claims::report::{
    Answer, Judged, Reported, Series, cell, measured, reported, shortened, to_json, to_markdown, totals,
    verdict_name,
};
use prismux_study::claims::{self, ClaimsRequest, Report, Watcher};
use prismux_study::text_table::{Align, Table};
use std::sync::{Mutex, PoisonError};

pub(crate) fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let backends = match arguments.on {
        ReproduceBackend::Sim => vec![Backend::Sim],
        ReproduceBackend::Lab => vec![Backend::Lab],
        ReproduceBackend::Both => vec![Backend::Sim, Backend::Lab],
    };
    let request = ClaimsRequest {
        name: arguments.name.clone(),
        only: arguments.only.clone(),
        quick: arguments.quick,
        seeds: arguments.seeds,
        raw: arguments.raw.clone(),
        out: arguments.out.clone(),
        curves: arguments.json,
        jobs: arguments.jobs,
        backends,
        interrupt: None,
    };
    claims::check(&request)?;
    if request.backends.contains(&Backend::Lab) {
        prepare(Backend::Lab)?;
    }
    let reports = claims::judge(&request, &Bar::default())?;
    if arguments.json {
        print(to_json(&reports))?;
    } else if arguments.markdown {
        to_markdown(&reports).into_iter().try_for_each(print)?;
    } else {
        print_tables(&reports)?;
    }
    let errors: Vec<String> = reports.iter().flat_map(Report::errors).collect();
    if errors.is_empty() { Ok(()) } else { Err(Failure::Failed(errors.join("\n"))) }
}

/// A bar at the terminal.
#[derive(Default)]
struct Bar(Mutex<Option<ProgressBar>>);

impl Bar {
    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Watcher for Bar {
    fn begins(&self, runs: usize, what: &str) {
        self.with(|bar| *bar = Some(progress_bar(runs, what)));
    }

    fn one_done(&self) {
        self.with(|bar| bar.iter().for_each(|bar| bar.inc(1)));
    }

    fn ends(&self) {
        self.with(|bar| bar.iter().for_each(ProgressBar::finish_and_clear));
    }
}

/// Prints the reports as tables.
fn print_tables(reports: &[Report]) -> Result<(), Failure> {
    for report in reports {
        if reports.len() > 1 {
            print(format!("=== {} ===\n", report.system))?;
        }
        for series in report.answers.iter().flat_map(|answer| &answer.series) {
            let Series { experiment, quantity, x, .. } = series;
            print(format!("{experiment}\n{quantity}, by {x}\n\n{}\n", table(series)))?;
        }
        print(format!("{}\n", as_text(&report.judged(), &report.answers)))?;
    }
    Ok(())
}

fn table(series: &Series) -> Table {
    let mut columns = vec![series.x.split(',').next().unwrap_or("")];
    columns.extend(series.columns.iter().map(String::as_str));
    let mut table = Table::new(&columns);
    for (label, cells) in &series.rows {
        let mut row = vec![label.clone()];
        row.extend(cells.iter().map(cell));
        table.row(row);
    }
    table
}

fn as_text(judged: &[Judged<'_>], answers: &[Answer]) -> String {
    let columns = ["claim", "backend", "reported", "measured", "kind", "verdict", "metric"];
    let mut table =
        [1, 4, 5, 6].into_iter().fold(Table::new(&columns), |table, at| table.align(at, Align::Left));
    let mut causes = Vec::new();
    for (claim, judgements) in judged {
        for (judgement, answer) in judgements.iter().zip(answers) {
            let measured = measured(judgement).unwrap_or_else(|| "see below".to_string());
            table.row(vec![
                claim.id.clone(),
                answer.backend.to_string(),
                reported(claim),
                measured,
                claim.kind.name().to_string(),
                verdict_name(judgement.verdict).to_string(),
                shortened(&claim.metric, 44),
            ]);
            if let Some(Reported::Words(words)) = &judgement.measured {
                causes.push(format!("{} ({}): {words}", claim.id, answer.backend));
            }
            if !judgement.cause.is_empty() {
                causes.push(format!("{} ({}): {}", claim.id, answer.backend, judgement.cause));
            }
        }
    }
    let counts: Vec<String> = answers
        .iter()
        .enumerate()
        .map(|(index, answer)| format!("{}: {}", answer.backend, totals(judged, index)))
        .collect();
    format!("{table}\n\n{}\n\n{}", causes.join("\n"), counts.join("\n"))
}
