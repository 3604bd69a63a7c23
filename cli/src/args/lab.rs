//! The arguments of `agree` and `rivals`.
use super::number::{count, seed};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AgreeArguments {
    /// Scenario files, or names of shipped scenarios [default: the testbeds of the PRISM papers].
    #[arg(value_name = "FILE|NAME")]
    pub scenarios: Vec<String>,
    /// So many random mixes of two or three links instead, over which MPTCP runs.
    #[arg(long, value_name = "N", conflicts_with_all = ["scenarios", "bbr_mixes"])]
    pub mptcp_mixes: Option<usize>,
    /// So many random links instead, over each of which one TCP with BBR runs.
    #[arg(long, value_name = "N", conflicts_with = "scenarios")]
    pub bbr_mixes: Option<usize>,
    /// Run a variant of each.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Change one value of each scenario; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Number of runs on each backend, each with a seed of its own.
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = count(1..=10_000), allow_negative_numbers = true)]
    pub runs: u64,
    /// Seed of the first run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Most lab runs at the same time [default: 24].
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct RivalsArguments {
    /// Names of the sets of links [default: all eight, about a quarter of an hour].
    #[arg(value_name = "NAME")]
    pub scenarios: Vec<String>,
    /// Number of runs of each way, each with a seed of its own.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = count(1..=1000), allow_negative_numbers = true)]
    pub runs: u64,
    /// Seed of the first run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Most runs at the same time on slow links [default: 24]; on fast links two at most.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}
