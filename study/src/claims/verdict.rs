//! How a claim is judged.

#[cfg(test)]
mod tests;

use super::reported::{Claim, Comparison, Reported};
use crate::statistics::Summary;
use serde::Serialize;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measurement agrees.
    Holds,
    /// It does not; the cause says why.
    Differs,
    /// No measurement could tell; the cause says why.
    NotTestable,
    /// It could be tested, but nothing here does so yet.
    NotYet,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Holds, Self::Differs, Self::NotTestable, Self::NotYet];
}

/// What an experiment says about one claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The claim.
    pub claim: &'static str,
    /// What was measured.
    pub evidence: Evidence,
    /// Why the claim does not hold or could not be tested; a remark otherwise. May be empty.
    pub cause: String,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// One value for each independent seed, to be compared with the reported number.
    Values(Vec<f64>),
    /// A trend or an ordering, found or not, in figures.
    Shape {
        /// Whether the measurement shows it.
        found: bool,
        /// The figures.
        figures: String,
    },
    /// No measurement can tell.
    NotTestable,
}

impl Finding {
    /// From values, one for each seed.
    pub fn values(claim: &'static str, values: Vec<f64>) -> Self {
        Self { claim, evidence: Evidence::Values(values), cause: String::new() }
    }

    /// From an ordering or trend.
    pub fn shape(claim: &'static str, found: bool, figures: impl Into<String>) -> Self {
        let evidence = Evidence::Shape { found, figures: figures.into() };
        Self { claim, evidence, cause: String::new() }
    }

    /// Nothing could test it, for this reason.
    pub fn not_testable(claim: &'static str, cause: &str) -> Self {
        Self { claim, evidence: Evidence::NotTestable, cause: cause.to_string() }
    }

    /// Adds a remark to what is said already.
    pub fn add_remark(&mut self, remark: &str) {
        add_remark(&mut self.cause, remark);
    }

    /// The experiment tests nothing, for this reason, so that its figures are no evidence.
    pub fn cannot_tell(&mut self, reason: &str) {
        (self.evidence, self.cause) = (Evidence::NotTestable, reason.to_string());
    }

    /// With a remark; it is the cause where the claim differs.
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.cause = cause.into();
        self
    }
}

fn add_remark(text: &mut String, remark: &str) {
    if !text.is_empty() {
        text.push_str("; ");
    }
    text.push_str(remark);
}

/// A claim's line in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// What became of it.
    pub verdict: Verdict,
    /// Mean over seeds, or the figures of a shape.
    pub measured: Option<Reported>,
    /// 95 % interval of the mean; `None` where all repetitions gave one value.
    pub ci95: Option<[f64; 2]>,
    /// Standard deviation over seeds.
    pub sd: Option<f64>,
    /// Seeds.
    pub n: usize,
    /// Cause or remark.
    pub cause: String,
}

/// Judges `claim` by what was found; without a finding it is untested.
///
/// A claim marked `~` holds when the reported value lies in the 95 % interval widened at both ends by 10 % of the
/// reported value; `<=` and `>=` compare the mean; a shape holds when it was found.
pub fn judge(claim: &Claim, finding: Option<&Finding>) -> Judgement {
    let mut judgement = Judgement {
        verdict: Verdict::NotYet,
        measured: None,
        ci95: None,
        sd: None,
        n: 0,
        cause: finding.map(|finding| finding.cause.clone()).unwrap_or_default(),
    };
    match finding.map(|finding| &finding.evidence) {
        None => judgement.cause = "no experiment here covers it yet".to_string(),
        Some(Evidence::NotTestable) => judgement.verdict = Verdict::NotTestable,
        Some(Evidence::Shape { found, figures }) => {
            judgement.verdict = if *found { Verdict::Holds } else { Verdict::Differs };
            judgement.measured = Some(Reported::Words(figures.clone()));
        }
        Some(Evidence::Values(values)) => match Summary::of(values) {
            None => judgement.cause = "no run gave a value".to_string(),
            Some(summary) => {
                judgement.measured = Some(Reported::Number(summary.mean));
                (judgement.ci95, judgement.n) = (summary.ci95, summary.n);
                judgement.sd = Some(summary.sd);
                judgement.verdict = compare(claim, &summary);
                if summary.all_equal {
                    let remark = format!("the same value in all {} repetitions: it counts as one", summary.n);
                    add_remark(&mut judgement.cause, &remark);
                }
            }
        },
    }
    judgement
}

fn compare(claim: &Claim, summary: &Summary) -> Verdict {
    let Reported::Number(reported) = claim.reported else { return Verdict::NotYet };
    let [low, high] = summary.ci95.unwrap_or([summary.mean, summary.mean]);
    let margin = 0.1 * reported.abs();
    let holds = match claim.comparison {
        Comparison::About => (low - margin..=high + margin).contains(&reported),
        Comparison::AtMost => summary.mean <= reported,
        Comparison::AtLeast => summary.mean >= reported,
        Comparison::Shape => return Verdict::NotYet,
    };
    if holds { Verdict::Holds } else { Verdict::Differs }
}
