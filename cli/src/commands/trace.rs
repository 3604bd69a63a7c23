//! `prismux trace`.

use crate::args::{TraceArguments, TraceKind};
use crate::failure::Failure;
use crate::output::print;
use prismux_endpoint::random::Seed;
use prismux_link::lte;
use prismux_units::Duration;

pub(crate) fn run(arguments: &TraceArguments) -> Result<(), Failure> {
    let TraceKind::Lte = arguments.kind;
    let mut random = Seed(arguments.seed).stream("trace/lte");
    let trace = lte::trace(arguments.rate, Duration::from_secs(arguments.seconds), &mut random);
    let trace = trace.ok_or_else(|| {
        Failure::Usage(format!("at {} no packet leaves in {} s", arguments.rate, arguments.seconds))
    })?;
    Ok(print(trace.to_string().trim_end())?)
}
