//! Arguments of `prismux fleet`.
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Gateways that share a registry: which live, which serves which home, and homes' rights at all of them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  prismux fleet status\n  prismux fleet revoke house")]
pub(crate) struct FleetArguments {
    #[command(subcommand)]
    pub command: FleetCommand,
    /// The file of one of the fleet's gateways, with [registry].
    #[arg(long, global = true, value_name = "FILE", default_value = "/etc/prismux/gateway.toml")]
    pub config: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Gateways that live, and the homes with the gateway that serves each.
    Status {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Take a home's rights away, at all gateways at once.
    Revoke(HomeArguments),
    /// Give them back.
    Restore(HomeArguments),
    /// Take a home off the list: its address may be given to another.
    Remove(HomeArguments),
}

#[derive(Debug, Args)]
pub(crate) struct HomeArguments {
    /// The home's name.
    #[arg(value_name = "NAME")]
    pub name: String,
}
