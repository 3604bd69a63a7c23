//! What a download tells its caller, and why paths and downloads end.
use crate::digest::Digest;
use crate::handshake::{Identity, Refusal};
use crate::wire::VERSION;
use prismux_units::Duration;
use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;

/// Something the caller should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadEvent {
    /// What the object is; before its first byte.
    Identified(Identity),
    /// Bytes of the object have come: [`Download::part`](super::Download::part) lends them until the next mutation.
    Received {
        /// Where in the object they belong.
        offset: u64,
        /// Where they lie in what came.
        part: Range<usize>,
    },
    /// A path is open.
    Opened(usize),
    /// A path was lost and is opened again.
    Lost(usize, PathLoss),
    /// A path's server is refused, or refuses, for good.
    Refused(usize, Rejection),
    /// A path was closed by the caller's wish, and nothing is on its way any more.
    Closed(usize),
    /// Every byte is here.
    Complete,
    /// It will not be completed, and why.
    Failed(DownloadError),
}

/// Why a path's session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathLoss {
    /// Its interface is gone.
    InterfaceGone,
    /// A stateless reset: its server does not know the session any more.
    StatelessReset,
    /// Its server has said nothing for long.
    Silent,
    /// Its server has ended the session.
    Ended,
    /// Its server is silent or has ended the session.
    SilentOrEnded,
}

impl fmt::Display for PathLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InterfaceGone => "its interface is gone",
            Self::StatelessReset => "its server does not know the session any more",
            Self::Silent => "its server is silent",
            Self::Ended => "its server has ended the session",
            Self::SilentOrEnded => "its server is silent or has ended the session",
        })
    }
}

/// Why a path's server is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    /// It speaks another version of the protocol.
    Version(u8),
    /// It refuses.
    Server(Refusal),
    /// Its object is not what the other servers have.
    OtherServers {
        /// Its object.
        found: Identity,
        /// Theirs.
        known: Identity,
    },
    /// Its object is not the one that an earlier attempt received a part of.
    PartialFile {
        /// Its object.
        found: Identity,
        /// That of the earlier attempt.
        known: Identity,
    },
    /// Its object has not the digest that was wanted.
    Digest {
        /// Its object's.
        found: Digest,
        /// The one wanted.
        wanted: Digest,
    },
    /// Its object is longer than what is accepted.
    TooLarge {
        /// Bytes of its object.
        found: u64,
        /// Most bytes that are accepted.
        limit: u64,
    },
    /// Its object ends elsewhere than it said.
    OtherEnd,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differs = |f: &mut fmt::Formatter<'_>, found: &Identity, known: &Identity, whose| {
            write!(
                f,
                "its object has {} bytes and digest {}, that {whose} {} bytes and digest {}",
                found.size, found.digest, known.size, known.digest
            )
        };
        match self {
            Self::Version(version) => {
                write!(f, "it speaks version {version}, this is version {VERSION}; bring both to the same")
            }
            Self::Server(refusal) => refusal.fmt(f),
            Self::OtherServers { found, known } => differs(f, found, known, "of the others"),
            Self::PartialFile { found, known } => differs(f, found, known, "of the partial file"),
            Self::Digest { found, wanted } => write!(f, "its object has digest {found}, wanted was {wanted}"),
            Self::TooLarge { found, limit } => {
                write!(f, "its object has {found} bytes, of which at most {limit} are accepted")
            }
            Self::OtherEnd => f.write_str("its object ends elsewhere than it said"),
        }
    }
}

/// How far a path has come when a download fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEnd {
    /// Its server is not used.
    Refused(Rejection),
    /// Its server does not answer.
    NoAnswer,
    /// Its server answers that it cannot serve now, and says why.
    Busy(Refusal),
    /// In a word.
    Other(&'static str),
}

impl fmt::Display for PathEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => why.fmt(f),
            Self::NoAnswer => f.write_str("does not answer"),
            Self::Busy(why) => why.fmt(f),
            Self::Other(state) => f.write_str(state),
        }
    }
}

/// Why a download fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadError {
    /// Nothing has come for too long.
    Silence {
        /// This long.
        after: Duration,
        /// The servers and how far their paths have come.
        paths: Vec<(SocketAddr, PathEnd)>,
    },
    /// No server can be used.
    NoServer {
        /// The servers and why.
        paths: Vec<(SocketAddr, PathEnd)>,
    },
    /// Two servers have different objects, and nobody has said which is right.
    Contradiction {
        /// The one that answered later.
        server: SocketAddr,
        /// Its object.
        found: Identity,
        /// What the one before has.
        known: Identity,
    },
}

impl DownloadError {
    /// Whether a server was refused because of what an earlier attempt received.
    pub fn is_of_partial_file(&self) -> bool {
        let (Self::Silence { paths, .. } | Self::NoServer { paths }) = self else { return false };
        paths.iter().any(|(_, end)| matches!(end, PathEnd::Refused(Rejection::PartialFile { .. })))
    }
}

impl fmt::Display for DownloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |paths: &[(SocketAddr, PathEnd)]| {
            let paths: Vec<_> = paths.iter().map(|(address, end)| format!("{address}: {end}")).collect();
            paths.join("; ")
        };
        match self {
            Self::Silence { after, paths } => write!(
                f,
                "nothing has come for {after}: {}\n  remedy: compare addresses and ports with what the servers \
                    print, let UDP \
                 pass, then give the same command again: it goes on where it stopped",
                list(paths)
            ),
            Self::NoServer { paths } => write!(f, "no server can be used: {}", list(paths)),
            Self::Contradiction { server, found, known } => write!(
                f,
                "the servers contradict each other: the object of {server} has {} bytes and digest {}, that of the one \
                 before {} bytes and digest {}\n  remedy: say which is right, --sha256 DIGEST --restart, or leave the \
                 other out",
                found.size, found.digest, known.size, known.digest
            ),
        }?;
        if self.is_of_partial_file() {
            f.write_str(
                "\n  remedy: the object has changed since the last attempt; give --restart to fetch it from the start",
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for DownloadError {}
