//! What can go wrong with a download.
use crate::client::DownloadError;
use crate::member::MemberError;
use crate::partial::PartialError;
use crate::socket::Via;
use prismux_ptcp::MAX_PIPES;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a file was not fetched.
#[derive(Debug)]
pub enum FetchError {
    /// The request makes no sense on this machine.
    Usage(UsageError),
    /// The partial file cannot be used.
    Partial(PartialError),
    /// The servers did not give it.
    Download(DownloadError),
    /// A member of a community does not get it.
    Member(MemberError),
    /// What an earlier attempt has received is of another file than the server has now.
    Changed,
    /// Neighbours cannot be listened to at this address.
    Listen(SocketAddr, io::Error),
    /// The operating system refuses.
    System(io::Error),
    /// The user wanted it to end. What was received is kept.
    Interrupted {
        /// Bytes that are here.
        received_bytes: u64,
        /// Of how many, if that is known.
        size: Option<u64>,
    },
}

impl FetchError {
    /// Whether another request would help, rather than another try.
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Usage(_)
                | Self::Listen(..)
                | Self::Partial(PartialError::Exists(_) | PartialError::Sidecar(..))
        )
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(why) => why.fmt(f),
            Self::Partial(why) => why.fmt(f),
            Self::Download(why) => why.fmt(f),
            Self::Member(why) => why.fmt(f),
            Self::Changed => f.write_str(
                "the file has changed since the last attempt\n  remedy: give --restart to fetch it from the start",
            ),
            Self::Listen(address, error) => write!(
                f,
                "cannot listen for neighbours at {address}: {error}\n  remedy: name another address or port of this \
                 host with --share-at ADDRESS:PORT"
            ),
            Self::System(why) => why.fmt(f),
            Self::Interrupted { received_bytes, size: Some(size) } => write!(
                f,
                "interrupted with {received_bytes} of {size} bytes; the same command goes on from there"
            ),
            Self::Interrupted { .. } => f.write_str("interrupted before any server answered"),
        }
    }
}

impl std::error::Error for FetchError {}

impl From<UsageError> for FetchError {
    fn from(error: UsageError) -> Self {
        Self::Usage(error)
    }
}

impl From<PartialError> for FetchError {
    fn from(error: PartialError) -> Self {
        Self::Partial(error)
    }
}

impl From<io::Error> for FetchError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Why a request makes no sense on this machine.
#[derive(Debug)]
pub enum UsageError {
    /// A cost is given for what is not used.
    UnusedCost(Via),
    /// The host of a URL has no address.
    UnknownHost {
        /// The host.
        host: String,
        /// What the resolver says.
        error: io::Error,
    },
    /// An interface or source address leads to no address of a host.
    Unreachable {
        /// The interface or source address.
        via: Via,
        /// The host.
        host: String,
        /// What the operating system says.
        error: io::Error,
    },
    /// No orders can be read.
    Orders {
        /// From where.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// pTCP leaves it to the server how fast it sends.
    RateByPtcp,
    /// pTCP leaves it to the server which interface carries what.
    CostByPtcp,
    /// pTCP has not so many pipes.
    InterfacesByPtcp(usize),
    /// pTCP joins one server.
    ServersByPtcp,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnusedCost(via) => {
                write!(f, "a cost is given for {via}, which is not used\n  remedy: name it in --via too")
            }
            Self::UnknownHost { host, error } => {
                write!(f, "{host}: {error}\n  remedy: check the host in the URL")
            }
            Self::Unreachable { via, host, error } => write!(
                f,
                "{via} cannot be used towards {host}: {error}\n  remedy: compare --via with: ip address; an \
                    interface needs an \
                 address of the server's family"
            ),
            Self::Orders { path, error } => write!(
                f,
                "orders from {}: {error}\n  remedy: name a file or a named pipe (mkfifo), or - for the input",
                path.display()
            ),
            Self::RateByPtcp => f.write_str("with pTCP the server decides how fast it sends"),
            Self::CostByPtcp => f.write_str("with pTCP the server decides which interface carries what"),
            Self::InterfacesByPtcp(count) => {
                write!(f, "pTCP has at most {MAX_PIPES} pipes, {count} interfaces were given")
            }
            Self::ServersByPtcp => f.write_str("pTCP joins one server, and URLs of several were given"),
        }?;
        match self {
            Self::RateByPtcp | Self::CostByPtcp | Self::InterfacesByPtcp(_) | Self::ServersByPtcp => f.write_str(
                "\n  remedy: --transport r2cp takes several servers, any number of interfaces, --rate and costs",
            ),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for UsageError {}
