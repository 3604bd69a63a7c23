//! The arguments of `proxy`, `member`, `keygen`, `status`, `top`, `explain` and `accounts`.
use clap::{Args, ValueEnum};
use prismux_daemons::config::parse_workers as workers;
use prismux_daemons::logging::{LogFormat, LogLevel};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ProxyArguments {
    #[command(flatten)]
    pub daemon: DaemonArguments,
    /// Record what the protocol is told and decides to this file (pcapng), headers only.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct KeygenArguments {
    /// Where the private key lies; made if it is not there.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DaemonArguments {
    /// The configuration file.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Threads that seal, send and open beside the one that decides [default: the file's `workers`, or 0].
    #[arg(long, value_name = "NUMBER", value_parser = workers)]
    pub workers: Option<usize>,
    /// How log lines look.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormatName,
    /// How much is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormatName {
    /// For people.
    Text,
    /// One JSON object on a line.
    Json,
    /// JSON as OpenTelemetry's collector reads it (OTLP), one record on a line.
    Otlp,
}

impl From<LogFormatName> for LogFormat {
    fn from(name: LogFormatName) -> Self {
        match name {
            LogFormatName::Text => Self::Text,
            LogFormatName::Json => Self::Json,
            LogFormatName::Otlp => Self::Otlp,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// One link only.
    #[arg(value_name = "LINK")]
    pub link: Option<String>,
    /// Socket of the daemon [default: those of the daemons on this host].
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

/// What accounts are summed up over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Period {
    /// A day, by the calendar of this host.
    Day,
    /// A billing month.
    Month,
}

#[derive(Debug, Args)]
pub(crate) struct AccountsArguments {
    /// A daemon's file [default: those of the daemons on this host].
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Sum up what was carried in this time.
    #[arg(long, value_name = "PERIOD", default_value = "month")]
    pub by: Period,
    /// The day of the month on which a billing month begins; in shorter months it is the last.
    #[arg(long, value_name = "DAY", default_value_t = 1)]
    pub reset_day: u8,
    /// List the statements that member and proxy have signed, instead of what was carried.
    #[arg(long, conflicts_with_all = ["by", "csv", "reset_day"])]
    pub signed: bool,
    /// What was lent to each neighbour less what came back, by statements of both.
    #[arg(long, conflicts_with_all = ["by", "csv", "reset_day", "signed"])]
    pub credit: bool,
    /// Verify the signatures of all statements in a file: what --signed --json prints, or what a daemon keeps.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["by", "csv", "reset_day", "file", "signed", "credit"])]
    pub verify: Option<PathBuf>,
    /// With --verify: a key for signatures that its owner has told you; statements signed with others fail.
    #[arg(long, value_name = "KEY", requires = "verify")]
    pub trust: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print comma-separated values (RFC 4180).
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TopArguments {
    /// Socket of the daemon [default: those of the daemons on this host].
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Print what there is to see once, and end.
    #[arg(long)]
    pub once: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Socket of the daemon [default: those of the daemons on this host].
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print metrics as Prometheus reads them.
    #[arg(long, conflicts_with = "json")]
    pub metrics: bool,
}
