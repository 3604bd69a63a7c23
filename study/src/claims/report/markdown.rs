//! The same answer as a page of Markdown.

use super::{Answer, Judged, Reported, Series, cell, measured, totals, verdict_name};
use std::fmt::Write;

/// Verdicts first, then the tables behind them.
pub(super) fn page(judged: &[Judged<'_>], answers: &[Answer]) -> String {
    let mut page = String::new();
    for (index, answer) in answers.iter().enumerate() {
        let whose = if answers.len() > 1 { format!("{}: ", answer.backend) } else { String::new() };
        let _ = write!(page, "{whose}{}.\n\n", totals(judged, index));
    }
    page += "| claim | backend | metric | reported | measured | kind | verdict | figures and causes |\n";
    page += "|---|---|---|---|---|---|---|---|\n";
    for (claim, judgements) in judged {
        let reported = match &claim.reported {
            Reported::Number(_) => format!("{} {}", super::reported(claim), claim.unit),
            Reported::Words(words) => words.clone(),
        };
        for (judgement, answer) in judgements.iter().zip(answers) {
            let words = match &judgement.measured {
                Some(Reported::Words(words)) => words.as_str(),
                _ => "",
            };
            let causes: Vec<&str> =
                [words, judgement.cause.as_str()].into_iter().filter(|text| !text.is_empty()).collect();
            let columns = [
                claim.id.clone(),
                answer.backend.to_string(),
                claim.metric.clone(),
                reported.clone(),
                measured(judgement).unwrap_or_else(|| "in figures".to_string()),
                claim.kind.name().to_string(),
                verdict_name(judgement.verdict).to_string(),
                causes.join("; "),
            ];
            row(&mut page, columns.iter().map(String::as_str));
        }
    }
    for (answer, series) in answers.iter().flat_map(|answer| answer.series.iter().map(move |s| (answer, s))) {
        let _ = write!(page, "\n## {} ({})\n\n{}.\n\n", series.experiment, answer.backend, series.quantity);
        table(&mut page, series);
    }
    page
}

fn table(page: &mut String, series: &Series) {
    let heads = std::iter::once(series.x.as_str()).chain(series.columns.iter().map(String::as_str));
    row(page, heads);
    row(page, std::iter::repeat_n("---", series.columns.len() + 1));
    for (label, cells) in &series.rows {
        let cells: Vec<String> = cells.iter().map(cell).collect();
        row(page, std::iter::once(label.as_str()).chain(cells.iter().map(String::as_str)));
    }
}

fn row<'a>(page: &mut String, columns: impl Iterator<Item = &'a str>) {
    for column in columns {
        let _ = write!(page, "| {} ", column.replace('|', "\\|"));
    }
    page.push_str("|\n");
}
