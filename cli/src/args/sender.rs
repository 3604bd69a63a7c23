//! The arguments of `sender`.
use super::JsonArguments;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SenderArguments {
    #[command(subcommand)]
    pub what: SenderCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SenderCommand {
    /// Have connections that begin from now on heed loss reports. Until one comes they are as they were.
    #[command(after_help = "Examples:\n  prismux sender enable\n  \
            prismux sender enable --cgroup /sys/fs/cgroup/system.slice/nginx.service")]
    Enable(EnableArguments),
    /// Take that back: nothing stays in the kernel once the connections that heeded reports have ended.
    #[command(after_help = "Example: prismux sender disable")]
    Disable,
    /// Say whether it is enabled, what reports came and what followed from them.
    #[command(after_help = "Example: prismux sender status --json")]
    Status(JsonArguments),
}

#[derive(Debug, Args)]
pub(crate) struct EnableArguments {
    /// Only sockets of the processes in this cgroup, given by its folder [default: all sockets of this host].
    #[arg(long, value_name = "FOLDER")]
    pub cgroup: Option<PathBuf>,
}
