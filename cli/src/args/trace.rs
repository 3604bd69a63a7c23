//! What `prismux trace` takes.

use super::number::{count, seed};
use clap::{Args, ValueEnum};
use prismux_units::Rate;

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// What the link is like.
    #[arg(value_name = "KIND")]
    pub kind: TraceKind,
    /// Mean rate, outages left out.
    #[arg(long, value_name = "RATE", default_value = "16 Mbit/s")]
    pub rate: Rate,
    /// Length in seconds; the trace repeats after it.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    #[arg(value_parser = count(1..=86_400), allow_negative_numbers = true)]
    pub seconds: u64,
    /// The same seed, rate and length give the same trace.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceKind {
    /// An LTE link in motion: fading on the scale of seconds, packets in clumps of 1 to 10 ms, outages.
    Lte,
}
