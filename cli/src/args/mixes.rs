//! What `prismux mixes` takes.

use super::number::{count, seed};
use clap::Args;
use clap::builder::PossibleValuesParser;
use prismux_plan::registry::HYSTART;
use prismux_study::mixes::evaluation::VARIANTS;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct MixesArguments {
    /// How many mixes.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub mixes: u32,
    /// Only the first 20.
    #[arg(long)]
    pub quick: bool,
    /// Only the mixes with these numbers.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub only: Vec<u32>,
    /// Only every so many.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub stride: usize,
    /// Seed of the mixes and of the runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Seconds before the steady state.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub warm: u64,
    /// Seconds of steady state.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    #[arg(value_parser = count(1..=u64::MAX), allow_negative_numbers = true)]
    pub steady: u64,
    /// Receive buffer of both ends, in MB: large enough not to be the limit.
    #[arg(long, value_name = "MB", default_value_t = 64)]
    pub buffer: u64,
    /// What ends the sender's slow start before a loss does: RFC 9406's HyStart++, Linux's HyStart, or nothing.
    #[arg(long, value_name = "KIND", default_value = "rfc9406", value_parser = PossibleValuesParser::new(names()))]
    pub hystart: String,
    /// Variants to simulate; without `single` nothing is compared with the best single link.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "single,prism,prism-receipts,tcp-prism"
    )]
    #[arg(value_parser = VARIANTS)]
    pub variants: Vec<String>,
    /// Only the first variant over all links, as a table over time with a line every so many milliseconds.
    #[arg(long, value_name = "MS", value_parser = count(1..=u64::MAX), allow_negative_numbers = true)]
    pub series: Option<u64>,
    /// Most runs at the same time [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the picture of both distributions to this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// What `--hystart` takes.
fn names() -> Vec<&'static str> {
    HYSTART.iter().map(|entry| entry.name).collect()
}
