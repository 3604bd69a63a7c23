//! `prismux mixes`.

use crate::args::MixesArguments;
use crate::failure::Failure;
use crate::jobs;
use crate::output::{distributions, print};
use prismux_endpoint::random::Seed;
use prismux_study::mixes::report::{self, Line};
use prismux_study::mixes::run::{MixesPlan, Outcome, Variant, simulate};
use prismux_study::mixes::{Mix, series};
use prismux_units::Duration;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Results<'a> {
    version: &'static str,
    plan: MixesPlan,
    summaries: Vec<report::VariantSummary>,
    mixes: &'a [Line],
}

pub(crate) fn run(arguments: &MixesArguments) -> Result<(), Failure> {
    let plan = MixesPlan {
        seed: arguments.seed,
        warm_s: arguments.warm,
        steady_s: arguments.steady,
        receive_buffer_bytes: arguments.buffer.saturating_mul(1_000_000),
    };
    let numbers: Vec<u32> = match (&arguments.only[..], arguments.quick) {
        ([], true) => (0..arguments.mixes.min(20)).collect(),
        ([], false) => (0..arguments.mixes).step_by(arguments.stride.max(1)).collect(),
        (only, _) => only.to_vec(),
    };
    let mixes: Vec<Mix> = numbers.into_iter().map(|number| Mix::draw(Seed(plan.seed), number)).collect();
    if let Some(interval) = arguments.series {
        let interval = Duration::from_millis(interval);
        let table = |mix| Ok(print(series::series(mix, Variant::Prism, &plan, interval))?);
        return mixes.iter().try_for_each(table);
    }
    let lines = simulate_all(&mixes, arguments, &plan);
    let variants = report::variants(&lines).into_iter();
    let summaries = variants.filter_map(|variant| report::summarise(&lines, variant)).collect();
    let results = Results { version: env!("CARGO_PKG_VERSION"), plan, summaries, mixes: &lines };
    let json = || serde_json::to_string(&results).map_err(Failure::failed);
    if let Some(file) = &arguments.out {
        let cannot = |error| Failure::failed(format!("cannot write {}: {error}", file.display()));
        std::fs::write(file, json()?).map_err(cannot)?;
    }
    if let Some(file) = &arguments.svg {
        distributions::draw(&lines, file)
            .map_err(|error| Failure::failed(format!("cannot draw {}: {error}", file.display())))?;
    }
    if arguments.json {
        return Ok(print(json()?)?);
    }
    print(format!("{} mixes, steady goodput\n\n{}\n", lines.len(), report::table(&lines)))?;
    [Variant::Prism, Variant::TcpPrism]
        .into_iter()
        .try_for_each(|variant| Ok(print(report::worst(&lines, variant))?))
}

/// The variants behind one name.
fn variants_called(name: &str, links: usize) -> Vec<Variant> {
    match name {
        "single" => (0..links).map(Variant::Single).collect(),
        "prism" => vec![Variant::Prism],
        "tcp-prism" => vec![Variant::TcpPrism],
        "paper" => vec![Variant::Paper],
        _ => vec![Variant::Striping],
    }
}

/// Simulates every variant of every mix; a line for each mix, in their order.
fn simulate_all(mixes: &[Mix], arguments: &MixesArguments, plan: &MixesPlan) -> Vec<Line> {
    let of = |(index, mix): (usize, &Mix)| {
        let variants = arguments.variants.iter().flat_map(|name| variants_called(name, mix.links.len()));
        variants.map(|variant| (index, variant)).collect::<Vec<_>>()
    };
    let work: Vec<(usize, Variant)> = mixes.iter().enumerate().flat_map(of).collect();
    let once = |&(index, variant): &(usize, Variant)| Ok(simulate(&mixes[index], variant, plan));
    let parallel = arguments.jobs.unwrap_or_else(jobs::processors);
    let done: Result<Vec<Outcome>, std::convert::Infallible> = jobs::run(&work, parallel, "mixes", once);
    let Ok(outcomes) = done;
    let mut of_mixes = vec![Vec::new(); mixes.len()];
    for ((index, _), outcome) in work.into_iter().zip(outcomes) {
        of_mixes[index].push(outcome);
    }
    mixes.iter().cloned().zip(of_mixes).map(|(mix, outcomes)| Line::new(mix, outcomes)).collect()
}
