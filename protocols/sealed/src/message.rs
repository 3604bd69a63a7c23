//! What travels: WireGuard's four messages (paper, section 5.4), all integers little-endian.
use crate::events::Refusal;
use alloc::vec::Vec;

/// Bytes of the message that begins a handshake.
pub const INITIATION_BYTES: usize = 148;
/// Bytes of the message that answers it.
pub const RESPONSE_BYTES: usize = 92;
/// Bytes that sealing adds to a payload: header and authentication tag.
pub const OVERHEAD_BYTES: usize = HEADER_BYTES + TAG_BYTES;

/// Type, receiver's index and counter.
pub(crate) const HEADER_BYTES: usize = 16;
/// Poly1305's tag.
pub(crate) const TAG_BYTES: usize = 16;
/// Bytes of each of the two codes at the end of a handshake message.
pub(crate) const MAC_BYTES: usize = 16;
/// Nonce of a cookie reply.
pub(crate) const COOKIE_NONCE_BYTES: usize = 24;

const COOKIE_REPLY_BYTES: usize = 8 + COOKIE_NONCE_BYTES + MAC_BYTES + TAG_BYTES;
const INITIATION: [u8; 4] = [1, 0, 0, 0];
const RESPONSE: [u8; 4] = [2, 0, 0, 0];
const COOKIE_REPLY: [u8; 4] = [3, 0, 0, 0];
const DATA: [u8; 4] = [4, 0, 0, 0];

/// A handshake message without its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handshake<'a> {
    /// What Noise made.
    pub noise: &'a [u8],
    /// Everything but the two codes.
    pub signed: &'a [u8],
    /// Shows that the sender knows the receiver's public key.
    pub mac1: &'a [u8; MAC_BYTES],
    /// Shows that the sender is where its messages come from.
    pub mac2: &'a [u8; MAC_BYTES],
}

/// A message as it came.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Message<'a> {
    /// Begins a handshake.
    Initiation { sender: u32, handshake: Handshake<'a> },
    /// Answers it.
    Response { sender: u32, receiver: u32, handshake: Handshake<'a> },
    /// Under load: come again with this.
    CookieReply { receiver: u32, nonce: &'a [u8; COOKIE_NONCE_BYTES], sealed: &'a [u8] },
    /// A payload.
    Data { receiver: u32, counter: u64, sealed: &'a [u8] },
}

impl<'a> Message<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`Refusal::Malformed`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Refusal> {
        Self::read(bytes).ok_or(Refusal::Malformed)
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first_chunk::<4>()?;
        match (*kind, bytes.len()) {
            (INITIATION, INITIATION_BYTES) => {
                let (sender, rest) = index(rest)?;
                Some(Self::Initiation { sender, handshake: handshake(bytes, rest)? })
            }
            (RESPONSE, RESPONSE_BYTES) => {
                let (sender, rest) = index(rest)?;
                let (receiver, rest) = index(rest)?;
                Some(Self::Response { sender, receiver, handshake: handshake(bytes, rest)? })
            }
            (COOKIE_REPLY, COOKIE_REPLY_BYTES) => {
                let (receiver, rest) = index(rest)?;
                let (nonce, sealed) = rest.split_first_chunk()?;
                Some(Self::CookieReply { receiver, nonce, sealed })
            }
            (DATA, OVERHEAD_BYTES..) => {
                let (receiver, rest) = index(rest)?;
                let (counter, sealed) = rest.split_first_chunk()?;
                Some(Self::Data { receiver, counter: u64::from_le_bytes(*counter), sealed })
            }
            _ => None,
        }
    }
}

fn index(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (index, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*index), rest))
}

fn handshake<'a>(message: &'a [u8], rest: &'a [u8]) -> Option<Handshake<'a>> {
    let (noise, _) = rest.split_at_checked(rest.len().checked_sub(2 * MAC_BYTES)?)?;
    let (without_mac2, mac2) = message.split_last_chunk()?;
    let (signed, mac1) = without_mac2.split_last_chunk()?;
    Some(Handshake { noise, signed, mac1, mac2 })
}

/// The beginning of an initiation.
pub(crate) fn initiation_header(sender: u32) -> Vec<u8> {
    header(INITIATION, &[sender], INITIATION_BYTES)
}

/// The beginning of a response.
pub(crate) fn response_header(sender: u32, receiver: u32) -> Vec<u8> {
    header(RESPONSE, &[sender, receiver], RESPONSE_BYTES)
}

/// The beginning of a cookie reply.
pub(crate) fn cookie_reply_header(receiver: u32) -> Vec<u8> {
    header(COOKIE_REPLY, &[receiver], COOKIE_REPLY_BYTES)
}

/// The header of a data message.
pub(crate) fn data_header(receiver: u32, counter: u64) -> [u8; HEADER_BYTES] {
    let [a, b, c, d] = DATA;
    let [e, f, g, h] = receiver.to_le_bytes();
    let [i, j, k, l, m, n, o, p] = counter.to_le_bytes();
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

fn header(kind: [u8; 4], indices: &[u32], room_bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(room_bytes);
    out.extend_from_slice(&kind);
    for index in indices {
        out.extend_from_slice(&index.to_le_bytes());
    }
    out
}
