//! What `prismux rough` takes.

use super::BackendName;
use super::number::{count, seed};
use clap::Args;
use prismux_study::rough::Way;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RoughArguments {
    /// Who carries the packets.
    #[arg(long, value_name = "BACKEND", default_value = "sim")]
    pub on: BackendName,
    /// Only cells whose names contain one of these.
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// List the cells and run nothing.
    #[arg(long)]
    pub list: bool,
    /// Print the scenario file of the one cell chosen and run nothing.
    #[arg(long)]
    pub scenario: bool,
    /// One seed and runs of 12 s, unless told otherwise.
    #[arg(long)]
    pub quick: bool,
    /// Folder of recorded links (NAME.down and NAME.up in the format of Mahimahi): a cell for every pair.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Ways of using all links; the first is judged [default: prism, in the lab also mptcp-cubic and mptcp-bbr].
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = way)]
    pub ways: Vec<Way>,
    /// Runs of each way, each with a seed of its own [default: 3].
    #[arg(long, value_name = "N", value_parser = count(1..=1000), allow_negative_numbers = true)]
    pub seeds: Option<u64>,
    /// Seed of the first run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Length of a run in seconds [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = count(5..=3600), allow_negative_numbers = true)]
    pub seconds: Option<u64>,
    /// Change one value of every cell's scenario; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Most runs at the same time [default: one for each processor; in the lab one].
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the picture of all cells to this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// A way of using all links, by its name.
fn way(name: &str) -> Result<Way, String> {
    let known = || Way::OVER_ALL.into_iter().map(Way::name).collect::<Vec<_>>().join(", ");
    let found = Way::OVER_ALL.into_iter().find(|way| way.name() == name);
    found.ok_or_else(|| format!("there is no such way; there are {}", known()))
}
