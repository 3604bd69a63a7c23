//! Datagrams: the first word says what follows, a connection id says whose it is.
//!
//! | bytes | field | in |
//! |---|---|---|
//! | 0 | version (upper 4 bits, now 1) and type (lower 4 bits) | all |
//! | 1-3 | zero | all |
//! | 4-11 | connection id, chosen by whom it is sent to (Hello: by the client; StatelessReset: by the server) | all |
//! | 12-35 | cookie, zero at first | Hello, Retry |
//! | 12-19 | nonce | Sealed |
//! | 12-27 | stateless-reset token | StatelessReset |
//! | then | Noise message | Hello, Welcome, Sealed |
//!
//! The first twelve bytes mean the same in every version.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use std::fmt;

/// Bytes of a cookie: when it was given, and the hash.
pub const COOKIE_BYTES: usize = 24;
/// The version this code speaks.
pub const VERSION: u8 = 1;
/// Bytes before the Noise message of a Hello.
pub const HELLO_HEADER_BYTES: usize = COMMON_BYTES + COOKIE_BYTES;
/// Bytes before the Noise message of a Welcome.
pub const WELCOME_HEADER_BYTES: usize = COMMON_BYTES;
/// Bytes before the Noise message of a sealed datagram.
pub const SEALED_HEADER_BYTES: usize = COMMON_BYTES + 8;
/// Bytes of a Retry.
pub const RETRY_BYTES: usize = COMMON_BYTES + COOKIE_BYTES;
/// Bytes of a stateless reset.
pub const STATELESS_RESET_BYTES: usize = COMMON_BYTES + RESET_TOKEN_BYTES;
/// Bytes of a stateless-reset token (RFC 9000 section 10.3).
pub const RESET_TOKEN_BYTES: usize = 16;
/// Bytes of a notice of the version.
pub const NOTICE_BYTES: usize = COMMON_BYTES;

/// Type, version, padding and connection id.
const COMMON_BYTES: usize = 12;
/// A Noise message of a Hello or Welcome has at least an ephemeral key and a tag.
const MIN_HANDSHAKE_BYTES: usize = 32 + 16;
/// A sealed message has at least its kind and a tag.
const MIN_SEALED_BYTES: usize = 1 + 16;

/// Names one end of a connection to the other: random, chosen by whom it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// A datagram, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datagram<'a> {
    /// Client to server: let us talk, about this object.
    Hello {
        /// The client's id.
        client: ConnectionId,
        /// What a Retry brought; zero at first.
        cookie: &'a [u8; COOKIE_BYTES],
        /// The first Noise message.
        noise: &'a [u8],
    },
    /// Server to client: say it again with this cookie.
    Retry {
        /// The client's id.
        client: ConnectionId,
        /// The cookie.
        cookie: &'a [u8; COOKIE_BYTES],
    },
    /// Server to client: what became of the Hello.
    Welcome {
        /// The client's id.
        client: ConnectionId,
        /// The second Noise message.
        noise: &'a [u8],
    },
    /// Everything afterwards.
    Sealed {
        /// The id of whom it is for.
        to: ConnectionId,
        /// Never used twice in one direction.
        nonce: u64,
        /// The sealed message.
        noise: &'a [u8],
    },
    /// Server to client: there is no such connection (any more); a stateless reset (RFC 9000 section 10.3).
    StatelessReset {
        /// The server's id.
        server: ConnectionId,
        /// The token that the sealed Welcome of this connection named.
        token: &'a [u8; RESET_TOKEN_BYTES],
    },
    /// Server to client: the version of the Hello is not understood.
    Notice {
        /// The client's id.
        client: ConnectionId,
        /// The version that would be.
        version: u8,
    },
}

/// Why bytes are no datagram of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatagramError {
    /// They end too early, or go on where nothing may follow.
    Length,
    /// The type is unknown, or bytes that must be zero are not.
    Malformed,
    /// A Hello of another version, for which this client id waits.
    Version(ConnectionId),
}

impl fmt::Display for DatagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("the datagram's length is impossible"),
            Self::Malformed => f.write_str("the datagram is of no known type"),
            Self::Version(_) => write!(f, "only version {VERSION} is understood"),
        }
    }
}

impl std::error::Error for DatagramError {}

mod kind {
    pub(super) const HELLO: u8 = 1;
    pub(super) const RETRY: u8 = 2;
    pub(super) const WELCOME: u8 = 3;
    pub(super) const SEALED: u8 = 4;
    pub(super) const STATELESS_RESET: u8 = 5;
    pub(super) const NOTICE: u8 = 6;
}

/// What all datagrams begin with: first byte, three that are zero, connection id; and the rest.
fn split_common(bytes: &[u8]) -> Option<(u8, [u8; 3], ConnectionId, &[u8])> {
    let ([first, zeros @ ..], rest) = bytes.split_first_chunk::<4>()?;
    let (id, rest) = rest.split_first_chunk()?;
    Some((*first, *zeros, ConnectionId(u64::from_be_bytes(*id)), rest))
}

impl<'a> Datagram<'a> {
    /// Takes a datagram apart. Nothing in it can be believed yet.
    ///
    /// # Errors
    /// When it is none of this version.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DatagramError> {
        let (first, zeros, id, rest) = split_common(bytes).ok_or(DatagramError::Length)?;
        let (version, kind) = (first >> 4, first & 15);
        if kind == kind::NOTICE && bytes.len() == NOTICE_BYTES {
            return Ok(Self::Notice { client: id, version });
        }
        if version != VERSION {
            return Err(if kind == kind::HELLO {
                DatagramError::Version(id)
            } else {
                DatagramError::Malformed
            });
        }
        if zeros != [0; 3] {
            return Err(DatagramError::Malformed);
        }
        match kind {
            kind::HELLO => {
                let (cookie, noise) = rest.split_first_chunk().ok_or(DatagramError::Length)?;
                at_least(noise, MIN_HANDSHAKE_BYTES)?;
                Ok(Self::Hello { client: id, cookie, noise })
            }
            kind::RETRY => {
                let cookie = rest.try_into().map_err(|_| DatagramError::Length)?;
                Ok(Self::Retry { client: id, cookie })
            }
            kind::WELCOME => {
                at_least(rest, MIN_HANDSHAKE_BYTES)?;
                Ok(Self::Welcome { client: id, noise: rest })
            }
            kind::SEALED => {
                let (nonce, noise) = rest.split_first_chunk().ok_or(DatagramError::Length)?;
                at_least(noise, MIN_SEALED_BYTES)?;
                Ok(Self::Sealed { to: id, nonce: u64::from_be_bytes(*nonce), noise })
            }
            kind::STATELESS_RESET => {
                let token = rest.try_into().map_err(|_| DatagramError::Length)?;
                Ok(Self::StatelessReset { server: id, token })
            }
            _ => Err(DatagramError::Malformed),
        }
    }

    /// Appends the datagram to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Hello { client, cookie, noise } => {
                common(out, kind::HELLO, client);
                out.extend_from_slice(cookie);
                out.extend_from_slice(noise);
            }
            Self::Retry { client, cookie } => {
                common(out, kind::RETRY, client);
                out.extend_from_slice(cookie);
            }
            Self::Welcome { client, noise } => {
                common(out, kind::WELCOME, client);
                out.extend_from_slice(noise);
            }
            Self::Sealed { to, nonce, noise } => {
                sealed_header(out, to, nonce);
                out.extend_from_slice(noise);
            }
            Self::StatelessReset { server, token } => {
                common(out, kind::STATELESS_RESET, server);
                out.extend_from_slice(token);
            }
            Self::Notice { client, version } => {
                common_of(out, version, kind::NOTICE, client);
            }
        }
    }
}

/// Appends what precedes a sealed message.
pub(crate) fn sealed_header(out: &mut Vec<u8>, to: ConnectionId, nonce: u64) {
    common(out, kind::SEALED, to);
    out.extend_from_slice(&nonce.to_be_bytes());
}

fn common(out: &mut Vec<u8>, kind: u8, id: ConnectionId) {
    common_of(out, VERSION, kind, id);
}

fn common_of(out: &mut Vec<u8>, version: u8, kind: u8, id: ConnectionId) {
    out.extend_from_slice(&[version << 4 | kind, 0, 0, 0]);
    out.extend_from_slice(&id.0.to_be_bytes());
}

fn at_least(bytes: &[u8], least: usize) -> Result<(), DatagramError> {
    if bytes.len() < least { Err(DatagramError::Length) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
