//! Requests and answers inside a Noise handshake.
//!
//! The pattern is NK: the client knows the server's static key beforehand, the client itself is anonymous. Two
//! messages: the first carries the request, sealed to the static key; the second the answer, which only the holder of
//! that key can have made. Afterwards both have keys that neither static key reveals later (forward secrecy).
//!
//! What the first message carries can be replayed by whoever saw it, as in every handshake of one round trip. That
//! brings out another answer to the same request, sealed for nobody but the first sender.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use super::channel::Channel;
use super::digest::Digest;
use super::key::{PublicKey, ServerKey};
use super::noise::{self, HANDSHAKE_OVERHEAD_BYTES};
use super::wire::{ConnectionId, RESET_TOKEN_BYTES};
use prismux_sealed::Entropy;
use snow::HandshakeState;
use std::fmt;

/// Longest path of an object, in bytes.
pub const MAX_PATH_BYTES: usize = 1000;

/// What an object is: if two have the same, they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Length in bytes.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub digest: Digest,
}

/// Why a server does not serve an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// There is none of this name (or it may not be named).
    NotFound,
    /// The server has too many clients.
    Busy,
    /// The object cannot be read.
    Unreadable,
    /// The request makes no sense.
    Malformed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "it has no such object; compare the path with the folder that is served",
            Self::Busy => "it serves as many clients as it may; try again later",
            Self::Unreadable => "it cannot read the object; its log says why",
            Self::Malformed => "it does not understand the request; compare the versions of prismux",
        })
    }
}

/// What a server says to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Here it is.
    Ready {
        /// The server's id of the connection.
        server: ConnectionId,
        /// What a stateless reset of this connection will carry.
        reset_token: [u8; RESET_TOKEN_BYTES],
        /// What the object is.
        identity: Identity,
    },
    /// Its digest is still being computed: ask again.
    Preparing,
    /// No.
    Refused(Refusal),
}

impl Answer {
    /// Reads an answer.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (0, rest) => {
                let (server, rest) = rest.split_first_chunk()?;
                let (reset_token, rest) = rest.split_first_chunk()?;
                let (size, digest) = rest.split_first_chunk()?;
                let identity =
                    Identity { size: u64::from_be_bytes(*size), digest: Digest(digest.try_into().ok()?) };
                // Positions are counted in 63 bits, the end included.
                let sensible = identity.size < i64::MAX as u64;
                let server = ConnectionId(u64::from_be_bytes(*server));
                sensible.then_some(Self::Ready { server, reset_token: *reset_token, identity })
            }
            (1, []) => Some(Self::Preparing),
            (2, [why]) => Some(Self::Refused(match why {
                0 => Refusal::NotFound,
                1 => Refusal::Busy,
                2 => Refusal::Unreadable,
                _ => Refusal::Malformed,
            })),
            _ => None,
        }
    }

    /// The answer in bytes.
    pub fn emit(&self) -> Vec<u8> {
        match self {
            Self::Ready { server, reset_token, identity } => {
                let mut out = vec![0];
                out.extend_from_slice(&server.0.to_be_bytes());
                out.extend_from_slice(reset_token);
                out.extend_from_slice(&identity.size.to_be_bytes());
                out.extend_from_slice(&identity.digest.0);
                out
            }
            Self::Preparing => vec![1],
            Self::Refused(why) => {
                let why = match why {
                    Refusal::NotFound => 0,
                    Refusal::Busy => 1,
                    Refusal::Unreadable => 2,
                    Refusal::Malformed => 3,
                };
                vec![2, why]
            }
        }
    }
}

/// The client's side between its message and the server's.
pub struct Initiator {
    /// `None` once the connection exists.
    noise: Option<HandshakeState>,
}

impl Initiator {
    /// Begins: returns the first message too, a request for the object `path`.
    pub fn new(server: &PublicKey, path: &str, entropy: &mut Entropy) -> (Self, Vec<u8>) {
        let mut noise = noise::initiator(&server.0, entropy);
        let path = path.as_bytes();
        let path = path.get(..=MAX_PATH_BYTES).unwrap_or(path);
        let mut message = vec![0; path.len() + HANDSHAKE_OVERHEAD_BYTES];
        match noise.write_message(path, &mut message) {
            Ok(length) => message.truncate(length),
            Err(error) => unreachable!("the first message fits by its length: {error}"),
        }
        (Self { noise: Some(noise) }, message)
    }

    /// The server's message. `None` if it was not made by the holder of the key for this request; another may come, so
    /// the state is kept.
    pub fn finish(&mut self, message: &[u8], scratch: &mut Vec<u8>) -> Option<(Answer, Option<Channel>)> {
        scratch.resize(message.len(), 0);
        let length = self.noise.as_mut()?.read_message(message, scratch).ok()?;
        let answer = Answer::parse(scratch.get(..length)?)?;
        let Answer::Ready { server, .. } = answer else { return Some((answer, None)) };
        let noise = self.noise.take()?.into_stateless_transport_mode().ok()?;
        Some((answer, Some(Channel::new(noise, server))))
    }
}

/// The server's side: a request that awaits its answer.
pub struct Responder {
    noise: HandshakeState,
    path: String,
}

impl Responder {
    /// Reads a client's message. `None` if it was not made for this key, or is no request.
    pub fn read(key: &ServerKey, message: &[u8], entropy: &mut Entropy) -> Option<Self> {
        let mut noise = noise::responder(key.private(), entropy)?;
        let mut request = vec![0; message.len()];
        let length = noise.read_message(message, &mut request).ok()?;
        request.truncate(length);
        let path = String::from_utf8(request).ok()?;
        Some(Self { noise, path })
    }

    /// The object asked for.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The server's message with its answer, and the channel to the client that now exists.
    pub fn answer(mut self, answer: &Answer, client: ConnectionId) -> Option<(Vec<u8>, Channel)> {
        let payload = answer.emit();
        let mut message = vec![0; payload.len() + HANDSHAKE_OVERHEAD_BYTES];
        let length = self.noise.write_message(&payload, &mut message).ok()?;
        message.truncate(length);
        let channel = Channel::new(self.noise.into_stateless_transport_mode().ok()?, client);
        Some((message, channel))
    }
}

#[cfg(test)]
mod tests;
