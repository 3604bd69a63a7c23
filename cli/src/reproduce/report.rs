//! The answer: claims with their verdicts, and the tables behind them.

mod drawing;
mod markdown;

pub(crate) use drawing::{Drawing, Line, Spot, SpotAxis};

use super::Answer;
use super::claims::{Claim, Comparison, Reported};
use super::verdict::{Judgement, Verdict, judge};
use crate::failure::Failure;
use crate::output;
use crate::output::number::digits;
use crate::output::table::{Align, Table};
use crate::statistics::Summary;
use serde::Serialize;
use serde_json::{Value, json};

/// A table of measurements: rows are points, columns are quantities.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Series {
    /// The experiment, filled in by the framework.
    pub experiment: String,
    /// What a row stands for ("difference of delay, ms").
    pub x: String,
    /// What the columns hold, with the unit ("goodput over capacity, steady state").
    pub quantity: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows: label and one summary for each column, if measured.
    pub rows: Vec<(String, Vec<Option<Summary>>)>,
}

impl Series {
    /// An empty table.
    pub fn new(x: &str, quantity: &str, columns: &[&str]) -> Self {
        Self {
            experiment: String::new(),
            x: x.to_string(),
            quantity: quantity.to_string(),
            columns: columns.iter().map(|column| (*column).to_string()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, label: impl ToString, cells: Vec<Option<Summary>>) {
        self.rows.push((label.to_string(), cells));
    }
}

/// A claim and what each backend says of it.
type Judged<'a> = (&'a Claim, Vec<Judgement>);

fn judge_all<'a>(claims: &'a [Claim], answers: &[Answer]) -> Vec<Judged<'a>> {
    let of = |claim: &Claim, answer: &Answer| {
        judge(claim, answer.findings.iter().find(|finding| finding.claim == claim.id))
    };
    claims.iter().map(|claim| (claim, answers.iter().map(|answer| of(claim, answer)).collect())).collect()
}

/// What was found about one system.
pub(super) struct Report {
    /// Its name on the command line.
    pub system: &'static str,
    /// Its claims, those that were asked for.
    pub claims: Vec<Claim>,
    /// What each backend says of them.
    pub answers: Vec<Answer>,
}

/// Prints the reports as Markdown.
pub(super) fn print_markdown(reports: &[Report]) -> Result<(), Failure> {
    for report in reports {
        if reports.len() > 1 {
            output::print(format!("# {}\n", report.system))?;
        }
        let judged = judge_all(&report.claims, &report.answers);
        output::print(markdown::page(&judged, &report.answers))?;
    }
    Ok(())
}

/// Prints the reports as tables.
pub(super) fn print(reports: &[Report]) -> Result<(), Failure> {
    for report in reports {
        if reports.len() > 1 {
            output::print(format!("=== {} ===\n", report.system))?;
        }
        for series in report.answers.iter().flat_map(|answer| &answer.series) {
            let Series { experiment, quantity, x, .. } = series;
            output::print(format!("{experiment}\n{quantity}, by {x}\n\n{}\n", table(series)))?;
        }
        let judged = judge_all(&report.claims, &report.answers);
        output::print(format!("{}\n", as_text(&judged, &report.answers)))?;
    }
    Ok(())
}

/// Prints the reports as one JSON object.
pub(super) fn print_json(reports: &[Report]) -> Result<(), Failure> {
    Ok(output::print(as_json(reports)?)?)
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

fn cell(summary: &Option<Summary>) -> String {
    match summary {
        Some(summary) if summary.ci95.is_some() => {
            format!("{} ± {}", digits(summary.mean), digits(summary.half_width()))
        }
        Some(summary) => digits(summary.mean),
        None => "-".to_string(),
    }
}

fn as_text(judged: &[(&Claim, Vec<Judgement>)], answers: &[Answer]) -> String {
    let mut table = Table::new(&["claim", "backend", "reported", "measured", "verdict", "metric"])
        .align(1, Align::Left)
        .align(4, Align::Left)
        .align(5, Align::Left);
    let mut causes = Vec::new();
    for (claim, judgements) in judged {
        for (judgement, answer) in judgements.iter().zip(answers) {
            let measured = measured(judgement).unwrap_or_else(|| "see below".to_string());
            table.row(vec![
                claim.id.clone(),
                answer.backend.to_string(),
                reported(claim),
                measured,
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
    format!("{table}\n\n{}\n\n{}", causes.join("\n"), totals(judged))
}

/// Mean and half width of the interval; `None` where words say it.
fn measured(judgement: &Judgement) -> Option<String> {
    match (&judgement.measured, judgement.ci95) {
        (Some(Reported::Number(mean)), Some([_, high])) => {
            Some(format!("{} ± {}", digits(*mean), digits(high - mean)))
        }
        (Some(Reported::Number(mean)), None) => Some(digits(*mean)),
        (Some(Reported::Words(_)), _) => None,
        (None, _) => Some("-".to_string()),
    }
}

/// How many claims have which verdict.
fn totals(judged: &[Judged<'_>]) -> String {
    let count = |verdict| {
        judged.iter().flat_map(|(_, all)| all).filter(|judgement| judgement.verdict == verdict).count()
    };
    let all = [Verdict::Holds, Verdict::Differs, Verdict::NotTestable, Verdict::NotYet];
    let parts: Vec<String> = all.iter().map(|&v| format!("{} {}", count(v), verdict_name(v))).collect();
    parts.join(", ")
}

fn reported(claim: &Claim) -> String {
    let sign = match claim.comparison {
        Comparison::About => "~ ",
        Comparison::AtMost => "<= ",
        Comparison::AtLeast => ">= ",
        Comparison::Shape => return "shape".to_string(),
    };
    match &claim.reported {
        Reported::Number(number) => format!("{sign}{number}"),
        Reported::Words(words) => format!("{sign}{}", shortened(words, 12)),
    }
}

fn shortened(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.to_string(),
    }
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Differs => "differs",
        Verdict::NotTestable => "not-testable",
        Verdict::NotYet => "not-yet",
    }
}

/// One object. `claims`: with the first backend's judgement at the top level and every backend's under `backends`.
/// `series`: the tables. `figures`: the curves. Each entry names its `system`.
fn as_json(reports: &[Report]) -> Result<String, Failure> {
    let (mut claims, mut series, mut figures) = (Vec::new(), Vec::new(), Vec::new());
    for Report { system, claims: own, answers } in reports {
        for (claim, judgements) in judge_all(own, answers) {
            claims.push(claim_json(system, claim, &judgements, answers)?);
        }
        for answer in answers {
            let backend = answer.backend;
            let table = |table: &Series| json!({ "system": system, "backend": backend, "table": table });
            series.extend(answer.series.iter().map(table));
            let figure = |figure: &Drawing| json!({ "system": system, "backend": backend, "figure": figure });
            figures.extend(answer.drawings.iter().map(figure));
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let value = json!({ "version": version, "claims": claims, "series": series, "figures": figures });
    serde_json::to_string(&value).map_err(Failure::failed)
}

fn claim_json(
    system: &str,
    claim: &Claim,
    judgements: &[Judgement],
    answers: &[Answer],
) -> Result<Value, Failure> {
    let mut line = serde_json::to_value(claim).map_err(Failure::failed)?;
    let Value::Object(fields) = &mut line else { return Ok(line) };
    fields.insert("system".to_string(), system.into());
    if let Some(first) = judgements.first()
        && let Value::Object(own) = serde_json::to_value(first).map_err(Failure::failed)?
    {
        fields.extend(own);
    }
    let by_backend = |(judgement, answer): (&Judgement, &Answer)| {
        Ok((answer.backend.to_string(), serde_json::to_value(judgement).map_err(Failure::failed)?))
    };
    let all: Result<serde_json::Map<_, _>, Failure> =
        judgements.iter().zip(answers).map(by_backend).collect();
    fields.insert("backends".to_string(), Value::Object(all?));
    Ok(line)
}
