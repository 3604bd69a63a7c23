//! What the machine tells and hands out.
use crate::peer::PeerId;
use alloc::vec::Vec;
use core::fmt;
use core::net::SocketAddr;

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// Where it goes.
    pub to: SocketAddr,
    /// UDP payload.
    pub bytes: Vec<u8>,
}

/// What became of a datagram that was authentic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// A peer's payload has been opened. An empty one says only that the peer lives.
    Payload {
        /// Whose.
        peer: PeerId,
    },
    /// Part of a handshake.
    Handshake {
        /// Whose.
        peer: PeerId,
    },
}

/// Why a datagram is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// No message of this protocol.
    Malformed,
    /// From nobody whose key is known, or under keys that are gone.
    Stranger,
    /// Sealed by somebody else, or changed on the way.
    Forged,
    /// It came before, or is too old to tell.
    Replayed,
    /// Its keys are too old.
    Expired,
    /// Too many handshakes: the sender must first show that it is at its address, or wait.
    Overloaded,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "no message of a sealed tunnel",
            Self::Stranger => "from nobody whose key is known",
            Self::Forged => "sealed by somebody else or changed on the way",
            Self::Replayed => "played back",
            Self::Expired => "sealed under keys that are too old",
            Self::Overloaded => "too many handshakes",
        })
    }
}

impl core::error::Error for Refusal {}

/// Why nothing can be sealed for a peer at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoSession {
    /// There is no such peer.
    UnknownPeer,
    /// Nobody knows where it is: it must call first.
    NoAddress,
    /// There are no keys yet; a handshake is under way.
    Handshaking,
}

impl fmt::Display for NoSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownPeer => "there is no such peer",
            Self::NoAddress => "the peer has not called yet",
            Self::Handshaking => "a handshake with the peer is under way",
        })
    }
}

impl core::error::Error for NoSession {}

/// What a driver should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEvent {
    /// Packets can be sealed for a peer, under new keys.
    Established {
        /// The peer.
        peer: PeerId,
    },
    /// A peer has shown that it is at this address: packets go there from now on.
    Moved {
        /// The peer.
        peer: PeerId,
        /// Where it was before, if anybody knew.
        from: Option<SocketAddr>,
        /// Where it is.
        to: SocketAddr,
    },
}

impl SessionEvent {
    /// Whom it is about.
    pub const fn peer(&self) -> PeerId {
        match self {
            Self::Established { peer } | Self::Moved { peer, .. } => *peer,
        }
    }
}
