//! The answer: claims with their verdicts, how many have which, and the tables behind them.

mod drawing;
mod markdown;
#[cfg(test)]
mod tests;

pub use drawing::{Drawing, Line, Spot, SpotAxis};

pub use super::Answer;
pub use super::reported::{Claim, Comparison, Kind, Reported};
use super::verdict::{Judgement, Verdict, judge};
use crate::number::digits;
use crate::statistics::Summary;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A table of measurements: rows are points, columns are quantities.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Series {
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
pub type Judged<'a> = (&'a Claim, Vec<Judgement>);

/// What was found about one system.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its name on the command line.
    pub system: &'static str,
    /// Its claims, those that were asked for.
    pub claims: Vec<Claim>,
    /// What each backend says of them.
    pub answers: Vec<Answer>,
}

impl Report {
    /// Experiments that test nothing, as each backend found.
    pub fn errors(&self) -> Vec<String> {
        let mut all = Vec::new();
        for answer in &self.answers {
            let said = |error: &String| format!("{} ({}): {error}", self.system, answer.backend);
            all.extend(answer.errors.iter().map(said));
        }
        all
    }

    /// Every claim with the judgement of each backend, in the order of [`Self::answers`].
    pub fn judged(&self) -> Vec<Judged<'_>> {
        let of = |claim: &Claim, answer: &Answer| {
            judge(claim, answer.findings.iter().find(|finding| finding.claim == claim.id))
        };
        let all = |claim| self.answers.iter().map(|answer| of(claim, answer)).collect();
        self.claims.iter().map(|claim| (claim, all(claim))).collect()
    }
}

/// The reports as Markdown, one page for each system.
pub fn to_markdown(reports: &[Report]) -> Vec<String> {
    let heading =
        |report: &Report| if reports.len() > 1 { format!("# {}\n\n", report.system) } else { String::new() };
    reports
        .iter()
        .map(|report| heading(report) + &markdown::page(&report.judged(), &report.answers))
        .collect()
}

/// A measurement as people read it: mean and half width of the interval, or a dash.
pub fn cell(summary: &Option<Summary>) -> String {
    match summary {
        Some(summary) if summary.ci95.is_some() => {
            format!("{} ± {}", digits(summary.mean), digits(summary.half_width()))
        }
        Some(summary) => digits(summary.mean),
        None => "-".to_string(),
    }
}

/// Mean and half width of the interval; `None` where words say it.
pub fn measured(judgement: &Judgement) -> Option<String> {
    match (&judgement.measured, judgement.ci95) {
        (Some(Reported::Number(mean)), Some([_, high])) => {
            Some(format!("{} ± {}", digits(*mean), digits(high - mean)))
        }
        (Some(Reported::Number(mean)), None) => Some(digits(*mean)),
        (Some(Reported::Words(_)), _) => None,
        (None, _) => Some("-".to_string()),
    }
}

/// Claims by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    counts: [usize; Verdict::ALL.len()],
}

impl Tally {
    /// Of the claims of `kinds`, by the judgement of the backend at `answer`.
    pub fn of(judged: &[Judged<'_>], answer: usize, kinds: &[Kind]) -> Self {
        let wanted = |claim: &Claim| kinds.contains(&claim.kind);
        let all = judged.iter().filter(|(claim, _)| wanted(claim)).filter_map(|(_, all)| all.get(answer));
        let mut tally = Self::default();
        for judgement in all {
            for (count, verdict) in tally.counts.iter_mut().zip(Verdict::ALL) {
                *count += usize::from(verdict == judgement.verdict);
            }
        }
        tally
    }

    /// Claims of any verdict.
    pub fn claims(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Claims of this one.
    pub fn with(&self, verdict: Verdict) -> usize {
        Verdict::ALL.into_iter().zip(self.counts).filter(|(each, _)| *each == verdict).map(|(_, n)| n).sum()
    }

    /// "45 of 62 measured hold, 17 differ"; `what` is "measured".
    fn in_words(&self, what: &str) -> String {
        let mut text = format!("{} of {} {what} hold", self.with(Verdict::Holds), self.claims());
        let others = [Verdict::Differs, Verdict::NotTestable, Verdict::NotYet];
        for verdict in others.into_iter().filter(|verdict| self.with(*verdict) > 0) {
            let name = if verdict == Verdict::Differs { "differ" } else { verdict_name(verdict) };
            text += &format!(", {} {name}", self.with(verdict));
        }
        text
    }

    fn to_json(self) -> Value {
        let names = Verdict::ALL.map(verdict_name).into_iter().zip(self.counts);
        let counts = names.map(|(name, count)| (name.to_string(), count.into()));
        let claims = ("claims".to_string(), self.claims().into());
        Value::Object(std::iter::once(claims).chain(counts).collect())
    }
}

/// How many claims have which verdict, by the judgement of the backend at `answer`: "45 of 62 measured hold, 17
/// differ; 7 of 7 by arithmetic or read back hold".
pub fn totals(judged: &[Judged<'_>], answer: usize) -> String {
    let measured = Tally::of(judged, answer, &[Kind::Measured]);
    let others = Tally::of(judged, answer, &[Kind::Arithmetic, Kind::ReadBack]);
    let parts = [(measured, "measured"), (others, "by arithmetic or read back")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(tally, _)| tally.claims() > 0)
        .map(|(tally, what)| tally.in_words(what))
        .collect();
    parts.join("; ")
}

/// The same for programs: counts by verdict, for each kind.
fn totals_json(judged: &[Judged<'_>], answer: usize) -> Map<String, Value> {
    let of = |kind: Kind| (kind.name().to_string(), Tally::of(judged, answer, &[kind]).to_json());
    Kind::ALL.map(of).into_iter().collect()
}

/// The reported value with its sign; words are shortened.
pub fn reported(claim: &Claim) -> String {
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

/// `text` cut after `width` characters.
pub fn shortened(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.to_string(),
    }
}

/// A verdict in one word.
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Differs => "differs",
        Verdict::NotTestable => "not-testable",
        Verdict::NotYet => "not-yet",
    }
}

/// One object. `claims`: with the first backend's judgement at the top level and every backend's under `backends`.
/// `totals`: how many claims of each kind have which verdict. `series`: the tables. `figures`: the curves. Each entry
/// names its `system`. `errors`: experiments that test nothing.
pub fn to_json(reports: &[Report]) -> String {
    let (mut claims, mut counts, mut series, mut figures) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for report in reports {
        let Report { system, answers, .. } = report;
        let judged = report.judged();
        for (claim, judgements) in &judged {
            claims.push(claim_json(system, claim, judgements, answers));
        }
        for (index, answer) in answers.iter().enumerate() {
            let backend = answer.backend;
            let kinds = totals_json(&judged, index);
            counts.push(json!({ "system": system, "backend": backend, "kinds": kinds }));
            let table = |table: &Series| json!({ "system": system, "backend": backend, "table": table });
            series.extend(answer.series.iter().map(table));
            let figure = |figure: &Drawing| json!({ "system": system, "backend": backend, "figure": figure });
            figures.extend(answer.drawings.iter().map(figure));
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let errors: Vec<String> = reports.iter().flat_map(Report::errors).collect();
    let value = json!({
        "version": version, "claims": claims, "totals": counts, "series": series, "figures": figures,
        "errors": errors,
    });
    value.to_string()
}

fn claim_json(system: &str, claim: &Claim, judgements: &[Judgement], answers: &[Answer]) -> Value {
    let mut line = json!(claim);
    let Value::Object(fields) = &mut line else { return line };
    fields.insert("system".to_string(), system.into());
    if let Some(Value::Object(own)) = judgements.first().map(|first| json!(first)) {
        fields.extend(own);
    }
    let by_backend =
        |(judgement, answer): (&Judgement, &Answer)| (answer.backend.to_string(), json!(judgement));
    let all: Map<_, _> = judgements.iter().zip(answers).map(by_backend).collect();
    fields.insert("backends".to_string(), Value::Object(all));
    line
}
