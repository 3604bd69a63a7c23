//! Why a daemon could not start, or had to end.
use crate::footprint::FootprintError;
use crate::status::StatusError;
use crate::tunnel::socket::TunnelError;
use prismux_linux::frame_socket::InterfaceError;
use prismux_linux::netconf::{NetconfError, Prefix};
use prismux_linux::tun::TunError;
use std::fmt;
use std::io;

/// Why a daemon could not start, or had to end.
#[derive(Debug)]
pub enum DaemonError {
    /// The configuration makes no sense after all.
    Config(String),
    /// A receiver's addresses are somebody else's on this host.
    ReceiverTaken {
        /// The receivers in question.
        receiver: Prefix,
        /// What has them, as `ip` prints it.
        by: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The TUN device could not be made.
    Tun(TunError),
    /// Addresses, routes or rules could not be set.
    Netconf(NetconfError),
    /// The interface of a radio cannot be used.
    Interface(InterfaceError),
    /// A tunnel socket could not be opened.
    Tunnel(TunnelError),
    /// A setting or NAT could not be set.
    Footprint(FootprintError),
    /// The status socket could not be opened.
    Status(StatusError),
    /// The system failed in another way.
    Io(io::Error),
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(message) => f.write_str(message),
            Self::ReceiverTaken { receiver, by, remedy } => {
                write!(f, "receivers: {receiver} is taken on this host: {by}. Remedy: {remedy}")
            }
            Self::Tun(error) => error.fmt(f),
            Self::Netconf(error) => error.fmt(f),
            Self::Interface(error) => error.fmt(f),
            Self::Tunnel(error) => error.fmt(f),
            Self::Footprint(error) => error.fmt(f),
            Self::Status(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the system refused: {error}"),
        }
    }
}

impl std::error::Error for DaemonError {}

macro_rules! from {
    ($($source:ty => $variant:ident),*) => {
        $(impl From<$source> for DaemonError {
            fn from(error: $source) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

from!(
    TunError => Tun,
    NetconfError => Netconf,
    InterfaceError => Interface,
    TunnelError => Tunnel,
    FootprintError => Footprint,
    StatusError => Status,
    io::Error => Io
);
