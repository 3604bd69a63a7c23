//! The arguments of `route`.
use super::LogFormatName;
use clap::Args;
use prismux_daemons::logging::LogLevel;
use prismux_daemons::route::config::{DEVICE, MeshAddress, ProtocolName, RadioName, STATUS_SOCKET};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RouteArguments {
    /// The routing protocol: dsr, aodv, dsdv, or another name that `[routing]` of scenario files has.
    #[arg(long, value_name = "NAME")]
    pub protocol: ProtocolName,
    /// The address of this host in the ad-hoc network, and the length of the network's, such as 10.9.0.3/16.
    #[arg(long, value_name = "ADDRESS")]
    pub address: MeshAddress,
    /// The interface that reaches neighbours, an Ethernet or a wireless LAN; fd:0 for the socket of a lab's air.
    #[arg(long, value_name = "INTERFACE")]
    pub radio: RadioName,
    /// The name of the device by which this host reaches the network; one that is there is taken as it is.
    #[arg(long, value_name = "NAME", default_value = DEVICE)]
    pub device: String,
    /// Bytes of the longest packet that this host sends [default: what the radio takes, less headers of the protocol].
    #[arg(long, value_name = "BYTES")]
    pub mtu: Option<usize>,
    /// AODV: watch neighbours by hello messages too.
    #[arg(long)]
    pub hello: bool,
    /// Where it answers `prismux status`.
    #[arg(long, value_name = "PATH", default_value = STATUS_SOCKET)]
    pub status_socket: PathBuf,
    /// How log lines look.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormatName,
    /// How much is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,
}
