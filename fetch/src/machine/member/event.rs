//! What a member is told, does, and tells its caller.
use super::peers::AnnouncementCounters;
use crate::client::DownloadError;
use crate::digest::Digest;
use crate::handshake::Identity;
use crate::pieces::ListError;
use prismux_community::contents::{PlanCounters, Reason};
use prismux_units::Duration;
use prismux_wire::Ecn;
use std::fmt;
use std::net::SocketAddr;

/// A datagram that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received<'a> {
    /// The caller's number of the interface it came over.
    pub link: usize,
    /// Who sent it.
    pub from: SocketAddr,
    /// The address of this host that it was sent to.
    pub local: SocketAddr,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// Something the caller should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberEvent {
    /// What the file is. The caller says next where its pieces lie
    /// ([`Member::begin`](super::Member::begin)).
    Identified(Identity),
    /// A piece has come and is right: to be kept before the next mutation, since neighbours may ask for it then.
    Piece {
        /// Where in the file it belongs.
        offset: u64,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A neighbour is there.
    Joined(SocketAddr),
    /// A neighbour is used no more, and why.
    Left(SocketAddr, Reason),
    /// Every byte is here. The member goes on giving until it is dropped.
    Complete,
    /// It will not be complete, and why.
    Failed(MemberError),
}

/// Why a member does not get the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberError {
    /// The origin does not give it.
    Origin(DownloadError),
    /// The origin does not give the list of its pieces.
    NoList(DownloadError),
    /// What the origin gives as the list of pieces is none.
    List(ListError),
    /// The file has not the digest that was wanted.
    Digest {
        /// The file's.
        found: Digest,
        /// The one wanted.
        wanted: Digest,
    },
    /// The file is longer than what is accepted.
    TooLarge {
        /// Bytes of the file.
        found: u64,
        /// Most bytes that are accepted.
        limit: u64,
    },
    /// Nothing has come for too long, neither from the origin nor from neighbours.
    Silence(Duration),
}

impl fmt::Display for MemberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin(why) => why.fmt(f),
            Self::NoList(why) => write!(
                f,
                "no list of the file's pieces: {why}\n  remedy: where the file is there, its server is of a version \
                 without --share, or the file is longer than 128 GiB: fetch it without --share"
            ),
            Self::List(why) => write!(
                f,
                "the server's list of pieces cannot be used: {why}\n  remedy: bring both ends to the same version, or \
                 fetch without --share"
            ),
            Self::Digest { found, wanted } => write!(
                f,
                "the server's file has digest {found}, wanted was {wanted}\n  remedy: compare --sha256 with who has \
                 told it, or name a server that has that file"
            ),
            Self::TooLarge { found, limit } => write!(
                f,
                "the file has {found} bytes, of which at most {limit} are accepted\n  remedy: give a larger --max-size"
            ),
            Self::Silence(after) => write!(
                f,
                "nothing has come for {after}, neither from the server nor from neighbours\n  remedy: look after the \
                 uplink, then give the same command again: it goes on where it stopped"
            ),
        }
    }
}

impl std::error::Error for MemberError {}

/// What a member has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberCounters {
    /// Pieces by where they came from, and what went wrong.
    pub plan: PlanCounters,
    /// Bytes of right pieces that came from the origin.
    pub origin_bytes: u64,
    /// Bytes of right pieces that came from neighbours.
    pub neighbour_bytes: u64,
    /// Bytes that came and were thrown away: of wrong pieces, and of those that were withdrawn.
    pub wasted_bytes: u64,
    /// Bytes given to neighbours, those sent again included.
    pub given_bytes: u64,
    /// Requests of neighbours and strangers that were refused.
    pub refused: u64,
    /// Announcements that were not used.
    pub announcements: AnnouncementCounters,
    /// Datagrams that belong to nothing here.
    pub unmatched: u64,
}
