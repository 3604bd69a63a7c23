//! All mixes that are asked for, each in every variant that is asked for.
use super::Mix;
use super::report::{self, Line};
use super::run::{MixesPlan, Outcome, simulate};
use super::variant::Variant;
use crate::jobs;
use prismux_endpoint::random::Seed;
use serde::Serialize;

/// Names of the variants, for [`variants_called`].
pub const VARIANTS: [&str; 7] =
    ["single", "prism", "prism-receipts", "prism-fec", "tcp-prism", "paper", "striping"];

/// What came of all mixes, with what made it.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluation {
    /// The version of prismux.
    pub version: &'static str,
    /// Seed and lengths.
    pub plan: MixesPlan,
    /// One for each variant over all links.
    pub summaries: Vec<report::VariantSummary>,
    /// One for each mix.
    pub mixes: Vec<Line>,
}

/// The mixes with these numbers.
pub fn draw(seed: u64, numbers: impl IntoIterator<Item = u32>) -> Vec<Mix> {
    numbers.into_iter().map(|number| Mix::draw(Seed(seed), number)).collect()
}

/// The variants behind one of the names in [`VARIANTS`], for a mix of so many links; none for another name.
pub fn variants_called(name: &str, links: usize) -> Vec<Variant> {
    match name {
        "single" => (0..links).map(Variant::Single).collect(),
        "prism" => vec![Variant::Prism],
        "prism-receipts" => vec![Variant::PrismReceipts],
        "prism-fec" => vec![Variant::PrismFec],
        "tcp-prism" => vec![Variant::TcpPrism],
        "paper" => vec![Variant::Paper],
        "striping" => vec![Variant::Striping],
        _ => Vec::new(),
    }
}

/// How many runs [`evaluate`] does.
pub fn run_count(mixes: &[Mix], variants: &[String]) -> usize {
    mixes
        .iter()
        .flat_map(|mix| variants.iter().map(|name| variants_called(name, mix.links.len()).len()))
        .sum()
}

/// Simulates every variant of every mix, `parallel` at a time. `go_on` is asked before each run and ends the evaluation
/// with its error; `done` is called after each.
///
/// # Errors
/// What `go_on` returns.
pub fn evaluate<E: Send>(
    mixes: &[Mix],
    variants: &[String],
    plan: &MixesPlan,
    parallel: usize,
    go_on: impl Fn() -> Result<(), E> + Sync,
    done: impl Fn() + Sync,
) -> Result<Evaluation, E> {
    let of = |(index, mix): (usize, &Mix)| {
        let variants = variants.iter().flat_map(|name| variants_called(name, mix.links.len()));
        variants.map(|variant| (index, variant)).collect::<Vec<_>>()
    };
    let work: Vec<(usize, Variant)> = mixes.iter().enumerate().flat_map(of).collect();
    let once = |&(index, variant): &(usize, Variant)| {
        go_on()?;
        Ok(simulate(&mixes[index], variant, plan))
    };
    let outcomes: Vec<Outcome> = jobs::run(&work, parallel, once, done)?;
    let mut of_mixes = vec![Vec::new(); mixes.len()];
    for ((index, _), outcome) in work.into_iter().zip(outcomes) {
        of_mixes[index].push(outcome);
    }
    let lines: Vec<Line> =
        mixes.iter().cloned().zip(of_mixes).map(|(mix, outcomes)| Line::new(mix, outcomes)).collect();
    let all = report::variants(&lines).into_iter();
    let summaries = all.filter_map(|variant| report::summarise(&lines, variant)).collect();
    Ok(Evaluation { version: env!("CARGO_PKG_VERSION"), plan: *plan, summaries, mixes: lines })
}
