//! `prismux mixes`.

use crate::args::MixesArguments;
use crate::failure::Failure;
use crate::jobs;
use crate::output::{distributions, print};
use prismux_plan::registry::{HYSTART, value_of};
use prismux_study::mixes::run::MixesPlan;
use prismux_study::mixes::variant::Variant;
use prismux_study::mixes::{evaluation, report, series};
use prismux_units::Duration;
use std::convert::Infallible;

pub(crate) fn run(arguments: &MixesArguments) -> Result<(), Failure> {
    let plan = MixesPlan {
        seed: arguments.seed,
        warm_s: arguments.warm,
        steady_s: arguments.steady,
        receive_buffer_bytes: arguments.buffer.saturating_mul(1_000_000),
        hystart: value_of(HYSTART, &arguments.hystart).flatten(),
    };
    let numbers: Vec<u32> = match (&arguments.only[..], arguments.quick) {
        ([], true) => (0..arguments.mixes.min(20)).collect(),
        ([], false) => (0..arguments.mixes).step_by(arguments.stride.max(1)).collect(),
        (only, _) => only.to_vec(),
    };
    let mixes = evaluation::draw(plan.seed, numbers);
    if let Some(interval) = arguments.series {
        let interval = Duration::from_millis(interval);
        let all_links = |name: &String| evaluation::variants_called(name, 0).first().copied();
        let variant = arguments.variants.iter().find_map(all_links).unwrap_or(Variant::Prism);
        let table = |mix| Ok(print(series::series(mix, variant, &plan, interval))?);
        return mixes.iter().try_for_each(table);
    }
    let bar = jobs::progress_bar(evaluation::run_count(&mixes, &arguments.variants), "mixes");
    let parallel = arguments.jobs.unwrap_or_else(jobs::processors);
    let go_on = || Ok::<(), Infallible>(());
    let Ok(results) =
        evaluation::evaluate(&mixes, &arguments.variants, &plan, parallel, go_on, || bar.inc(1));
    bar.finish_and_clear();
    let lines = &results.mixes;
    let json = || serde_json::to_string(&results).map_err(Failure::failed);
    if let Some(file) = &arguments.out {
        let cannot = |error| Failure::failed(format!("cannot write {}: {error}", file.display()));
        std::fs::write(file, json()?).map_err(cannot)?;
    }
    if let Some(file) = &arguments.svg {
        distributions::draw(lines, file)
            .map_err(|error| Failure::failed(format!("cannot draw {}: {error}", file.display())))?;
    }
    if arguments.json {
        return Ok(print(json()?)?);
    }
    print(format!("{} mixes, steady goodput\n\n{}\n", lines.len(), report::table(lines)))?;
    // What is only there to compare with needs no explanation.
    let is_rival = |variant: &Variant| matches!(variant, Variant::Paper | Variant::Striping);
    report::variants(lines)
        .into_iter()
        .filter(|variant| !is_rival(variant))
        .try_for_each(|variant| Ok(print(report::worst(lines, variant))?))
}
