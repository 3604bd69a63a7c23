//! What `prismux check` takes.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Scenario files, or names of shipped scenarios.
    #[arg(value_name = "FILE|NAME", required = true)]
    pub scenarios: Vec<String>,
    /// Check this variant of the file alone.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Change one value of the scenario; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Print the scenario as one file, with --variant and --set in place.
    #[arg(long, conflicts_with_all = ["canonical", "json"])]
    pub merged: bool,
    /// Print what is hashed: every setting with its default. No file reads this form; --merged is one.
    #[arg(long)]
    pub canonical: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
