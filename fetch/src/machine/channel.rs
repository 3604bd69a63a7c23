//! Sealing and opening after the handshake.
//!
//! Every message is sealed under a number of its own (ChaCha20-Poly1305 as Noise prescribes), so that messages may be
//! lost and reordered; a window over these numbers keeps out what arrives twice. The connection id in front is not
//! covered by the seal and need not be: it selects the key, and under another key nothing opens.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use crate::wire::{ConnectionId, sealed_header};
use prismux_sealed::ReplayWindow;
use snow::StatelessTransportState;

/// Bytes that sealing adds.
pub const TAG_BYTES: usize = 16;
/// Bytes that say what a message is.
pub const KIND_BYTES: usize = 1;

/// What a sealed message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// An RCP packet: header and payload.
    Rcp(&'a [u8]),
    /// Answer this from where it arrived.
    Challenge([u8; 8]),
    /// The answer.
    Response([u8; 8]),
    /// A pTCP segment: headers and payload.
    Ptcp(&'a [u8]),
    /// The pTCP segment that opens a connection.
    PtcpOpening {
        /// The connection's stream is the object from this byte on.
        offset: u64,
        /// Headers and payload.
        segment: &'a [u8],
    },
}

impl Message<'_> {
    /// Reads an opened message.
    pub fn parse(bytes: &[u8]) -> Option<Message<'_>> {
        let (&kind, rest) = bytes.split_first()?;
        match kind {
            0 => Some(Message::Rcp(rest)),
            1 => Some(Message::Challenge(rest.try_into().ok()?)),
            2 => Some(Message::Response(rest.try_into().ok()?)),
            3 => Some(Message::Ptcp(rest)),
            4 => {
                let (offset, segment) = rest.split_first_chunk()?;
                Some(Message::PtcpOpening { offset: u64::from_be_bytes(*offset), segment })
            }
            _ => None,
        }
    }

    /// Appends the message to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Rcp(packet) => {
                out.push(0);
                out.extend_from_slice(packet);
            }
            Self::Challenge(value) => {
                out.push(1);
                out.extend_from_slice(value);
            }
            Self::Response(value) => {
                out.push(2);
                out.extend_from_slice(value);
            }
            Self::Ptcp(segment) => {
                out.push(3);
                out.extend_from_slice(segment);
            }
            Self::PtcpOpening { offset, segment } => {
                out.push(4);
                out.extend_from_slice(&offset.to_be_bytes());
                out.extend_from_slice(segment);
            }
        }
    }
}

/// Why a sealed datagram is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenError {
    /// Its number has been seen, or is too old to tell.
    Replayed,
    /// It was not sealed by the other end of this connection, or was changed on the way.
    Forged,
}

/// One end of an established connection.
pub struct Channel {
    noise: StatelessTransportState,
    peer: ConnectionId,
    next_nonce: u64,
    window: ReplayWindow,
}

impl Channel {
    pub(crate) fn new(noise: StatelessTransportState, peer: ConnectionId) -> Self {
        Self { noise, peer, next_nonce: 0, window: ReplayWindow::new() }
    }

    /// The id by which the peer knows this connection.
    pub const fn peer(&self) -> ConnectionId {
        self.peer
    }

    /// Makes `out` the datagram that carries `message` (as [`Message::emit`] wrote it) to the peer.
    pub fn seal(&mut self, message: &[u8], out: &mut Vec<u8>) {
        out.clear();
        sealed_header(out, self.peer, self.next_nonce);
        let start = out.len();
        out.resize(start + message.len() + TAG_BYTES, 0);
        let room = out.get_mut(start..).unwrap_or_default();
        // Fails only for messages longer than any datagram, or at the end of 2^64 numbers.
        let written = self.noise.write_message(self.next_nonce, message, room);
        out.truncate(written.map_or(0, |length| start + length));
        self.next_nonce += 1;
    }

    /// Opens what arrived under `nonce` into `out`.
    ///
    /// # Errors
    /// When it was not made by the peer for us, or came before.
    pub fn open(&mut self, nonce: u64, sealed: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
        if !self.window.may_accept(nonce) {
            return Err(OpenError::Replayed);
        }
        out.resize(sealed.len(), 0);
        let length = self.noise.read_message(nonce, sealed, out).map_err(|_| OpenError::Forged)?;
        out.truncate(length);
        // Noted only now: a forged number must not shut out the true one.
        if self.window.accept(nonce) { Ok(()) } else { Err(OpenError::Replayed) }
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Channel(to {:?}, {} sent)", self.peer, self.next_nonce)
    }
}
