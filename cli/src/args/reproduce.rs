//! What `prismux reproduce` takes.

use super::number::count;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// What to reproduce: prism, tcp-door, tcp-ho, rcp, r2cp, ptcp, striping, queueing, network-models or all.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print Markdown.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Fewer seeds and shorter runs: minutes instead of an hour.
    #[arg(long)]
    pub quick: bool,
    /// Number of seeds [default: 10, with --quick 3].
    #[arg(long, value_name = "N", value_parser = count(1..=10_000), allow_negative_numbers = true)]
    pub seeds: Option<u64>,
    /// Where to run the claims that both can test.
    #[arg(long, value_name = "BACKEND", default_value = "sim")]
    pub on: ReproduceBackend,
    /// Only these claims, experiments and figures.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Write the result of every single run to this file, one JSON object on a line.
    #[arg(long, value_name = "FILE")]
    pub raw: Option<PathBuf>,
    /// Write the curves of the figures to this folder, as CSV and JSON (queueing).
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Most runs at the same time [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReproduceBackend {
    /// The simulator.
    Sim,
    /// The lab.
    Lab,
    /// Both, side by side.
    Both,
}
