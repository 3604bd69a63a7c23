//! The arguments of `up`, `down`, `invite`, `join` and `revoke`.
use super::LogFormatName;
use clap::Args;
use prismux_daemons::config::parse_workers as workers;
use prismux_daemons::logging::LogLevel;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct UpArguments {
    /// The file that says what this host is: `role = "home"` or `role = "gateway"` [default: /etc/prismux/home.toml or
    /// /etc/prismux/gateway.toml, whichever is there].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Go on in the background once it runs.
    #[arg(long)]
    pub detach: bool,
    /// Take the place of the daemon that runs, with the file as it is now. Connections stay.
    #[arg(long)]
    pub restart: bool,
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

#[derive(Debug, Args)]
pub(crate) struct DownArguments {
    /// Status socket of the daemon to end [default: those of the gateway and the home on this host].
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InviteArguments {
    /// The home's name.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The gateway's file; made if it is not there.
    #[arg(long, value_name = "FILE", default_value = "/etc/prismux/gateway.toml")]
    pub config: PathBuf,
    /// Where the gateway is reached from outside; needed for the first invitation.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub endpoint: Option<SocketAddr>,
    /// An address of the home inside the tunnels; may be given twice, for IPv4 and IPv6 [default: the first of
    /// 10.77.0.2 to 10.77.0.254 that no other home has].
    #[arg(long, value_name = "ADDRESS")]
    pub address: Vec<IpAddr>,
    /// Show the invitation as a QR code too.
    #[arg(long)]
    pub qr: bool,
}

#[derive(Debug, Args)]
pub(crate) struct JoinArguments {
    /// What `prismux invite` has printed at the gateway.
    #[arg(value_name = "INVITATION")]
    pub invitation: String,
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = "/etc/prismux/home.toml")]
    pub config: PathBuf,
    /// A device to use, or DEVICE,ROUTER where the device has no default route of its own; may be given several times
    /// [default: every device with a default route].
    #[arg(long, value_name = "DEVICE")]
    pub uplink: Vec<String>,
}

/// At a gateway or proxy: take the rights of a home or member away, at once and for good. At a member: those of its
/// proxy. Sessions end, and the keys open nothing any more, also after a restart.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  prismux revoke house\n  prismux revoke house --undo\n  prismux revoke proxy"
)]
pub(crate) struct RevokeArguments {
    /// The home, or the member of a proxy; at a member: "proxy".
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Give its rights back.
    #[arg(long)]
    pub undo: bool,
    /// Status socket of the daemon [default: that of the gateway, proxy or member on this host].
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}
