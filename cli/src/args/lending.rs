//! The arguments of `discover`, `offer`, `lend` and `borrow`.
use super::LogFormatName;
use super::number::count;
use clap::Args;
use prismux_daemons::logging::LogLevel;
use prismux_linux::netconf::Prefix;
use prismux_sealed::PublicKey;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct DiscoverArguments {
    /// Look on this device's network only; may be given several times [default: every network of this host].
    #[arg(long, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// Seconds to wait for answers.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    #[arg(value_parser = count(1..=60), allow_negative_numbers = true)]
    pub timeout: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OfferArguments {
    /// The name that neighbours see.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The device of the network on which it is offered, and on no other; may be given several times.
    #[arg(long, value_name = "DEVICE", required = true)]
    pub device: Vec<String>,
    /// This host's private key; made if it is not there.
    #[arg(long, value_name = "FILE", default_value = "/etc/prismux/member.key")]
    pub key: PathBuf,
    /// Where `prismux lend` asks.
    #[arg(long, value_name = "PATH", default_value = "/run/prismux/offer.sock")]
    pub socket: PathBuf,
    /// How log lines look.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormatName,
    /// How much is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,
}

#[derive(Debug, Args)]
pub(crate) struct LendArguments {
    /// The code on the asker's screen, as the asker has told it; without one: who asks.
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// Say no.
    #[arg(long, requires = "code")]
    pub refuse: bool,
    /// The member's file to write.
    #[arg(long, value_name = "FILE", default_value = "/etc/prismux/member.toml")]
    pub config: PathBuf,
    /// Socket of `prismux offer`.
    #[arg(long, value_name = "PATH", default_value = "/run/prismux/offer.sock")]
    pub socket: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct BorrowArguments {
    /// The lender's code, as the lender's own screen shows it.
    #[arg(value_name = "CODE")]
    pub code: String,
    /// Your name, as the lender will see it.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Where your proxy is reached.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub proxy: SocketAddr,
    /// Your proxy's public key, as `prismux keygen` prints it there.
    #[arg(long, value_name = "KEY")]
    pub proxy_key: PublicKey,
    /// Addresses whose traffic would pass the uplink, as in the proxy's file; may be given several times.
    #[arg(long, value_name = "RANGE", required = true)]
    pub receiver: Vec<Prefix>,
    /// Look on this device's network only; may be given several times [default: every network of this host].
    #[arg(long, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// Seconds to wait for the owner's word.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    #[arg(value_parser = count(1..=86400), allow_negative_numbers = true)]
    pub timeout: u64,
}
