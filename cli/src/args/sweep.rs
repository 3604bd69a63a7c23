//! What `prismux sweep` and `prismux merge` take.

use super::number::{count, seed};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// A scenario file, or the name of a shipped scenario.
    #[arg(value_name = "FILE|NAME")]
    pub scenario: String,
    /// What varies: PATH=A,B,C or PATH=FIRST..LAST/STEP or PATH=FIRST..LAST*FACTOR; several make a grid.
    #[arg(long, value_name = "PATH=VALUES")]
    pub over: Vec<String>,
    /// Number of seeds at each point.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = count(1..=1_000_000), allow_negative_numbers = true)]
    pub seeds: u64,
    /// First seed.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Change one value of every run; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Variants of the file, each at every point.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Where the results go [default: NAME-sweep.parquet].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Remove rows of other experiments from the file: of another scenario, or of this one before a change.
    #[arg(long, conflicts_with = "keep")]
    pub prune: bool,
    /// Keep rows of other experiments in the file, beside the new ones.
    #[arg(long)]
    pub keep: bool,
    /// Most runs at the same time [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Run on this Dask cluster (needs the Python package).
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub policies: PolicyArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Policies written in Python, by import path; they need the Python package.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies written in Python")]
pub(crate) struct PolicyArguments {
    /// Picks the link of every packet at a proxy.
    #[arg(long, value_name = "MODULE:NAME")]
    pub scheduler: Option<String>,
    /// Congestion control of all senders of TCP, or of one flow; may be given for several flows.
    #[arg(long, value_name = "[FLOW=]MODULE:NAME")]
    pub congestion: Vec<String>,
    /// Picks the subflow of every segment of MPTCP.
    #[arg(long, value_name = "MODULE:NAME")]
    pub subflow_scheduler: Option<String>,
    /// Picks the pipe of every segment of pTCP.
    #[arg(long, value_name = "MODULE:NAME")]
    pub pipe_scheduler: Option<String>,
    /// Picks the segment that a pipe of R²CP asks for.
    #[arg(long, value_name = "MODULE:NAME")]
    pub request_scheduler: Option<String>,
}

impl PolicyArguments {
    /// Options and values, as they were given.
    pub(crate) fn given(&self) -> Vec<(&'static str, &str)> {
        let single = [
            ("--scheduler", &self.scheduler),
            ("--subflow-scheduler", &self.subflow_scheduler),
            ("--pipe-scheduler", &self.pipe_scheduler),
            ("--request-scheduler", &self.request_scheduler),
        ];
        let single = single.into_iter().filter_map(|(option, value)| Some((option, value.as_deref()?)));
        single.chain(self.congestion.iter().map(|value| ("--congestion", value.as_str()))).collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Results of sweeps.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Where all of them go.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}
