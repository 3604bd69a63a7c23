//! AODV's messages between typed form and bytes (RFC 3561 section 5).
use super::{AodvHeader, Rerr, Rrep, Rreq};
use core::fmt;
use core::net::Ipv4Addr;
use prismux_units::Duration;
use prismux_wire::SeqNumber;

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREP_ACK: u8 = 4;

const RREQ_BYTES: usize = 24;
const RREP_BYTES: usize = 20;
const RERR_FIXED_BYTES: usize = 4;
const UNREACHABLE_BYTES: usize = 8;
const RREP_ACK_BYTES: usize = 2;

/// The bits of the second byte of an RREQ.
mod rreq {
    pub(super) const MULTICAST: u8 = 0xc0;
    pub(super) const GRATUITOUS: u8 = 0x20;
    pub(super) const DESTINATION_ONLY: u8 = 0x10;
    pub(super) const UNKNOWN_SEQUENCE_NUMBER: u8 = 0x08;
}
/// The bits of the second byte of an RREP and an RERR.
mod bits {
    pub(super) const REPAIR: u8 = 0x80;
    pub(super) const ACK: u8 = 0x40;
    pub(super) const NO_DELETE: u8 = 0x80;
    pub(super) const PREFIX: u8 = 0x1f;
}

/// Why bytes are no message of AODV, or a message cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageError {
    /// The bytes end before the message does.
    Truncated,
    /// There is no message of this type.
    UnknownType(u8),
    /// A route error that names no destination.
    NoDestination,
    /// The buffer is too small, or a route error names more destinations than it can count.
    NoRoom,
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("AODV message cut short"),
            Self::UnknownType(kind) => write!(f, "AODV has no message of type {kind}"),
            Self::NoDestination => f.write_str("AODV route error without a destination"),
            Self::NoRoom => f.write_str("the AODV message does not fit"),
        }
    }
}

impl core::error::Error for MessageError {}

/// Bytes of a message; zero for data.
pub(super) fn message_bytes(message: &AodvHeader) -> usize {
    match message {
        AodvHeader::Data => 0,
        AodvHeader::Rreq(_) => RREQ_BYTES,
        AodvHeader::Rrep(_) => RREP_BYTES,
        AodvHeader::Rerr(error) => RERR_FIXED_BYTES + UNREACHABLE_BYTES * error.unreachable.len(),
        AodvHeader::RrepAck => RREP_ACK_BYTES,
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn host(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(word(bytes, at))
}

fn sequence(bytes: &[u8], at: usize) -> SeqNumber {
    SeqNumber(word(bytes, at))
}

impl AodvHeader {
    /// Reads a message from the payload of a UDP packet. Extensions behind it (section 9) are passed over.
    ///
    /// # Errors
    /// When the bytes are no message of AODV.
    pub fn parse(bytes: &[u8]) -> Result<Self, MessageError> {
        let &kind = bytes.first().ok_or(MessageError::Truncated)?;
        let take = |length: usize| bytes.get(..length).ok_or(MessageError::Truncated);
        match kind {
            RREQ => Ok(Self::Rreq(parse_rreq(take(RREQ_BYTES)?))),
            RREP => Ok(Self::Rrep(parse_rrep(take(RREP_BYTES)?))),
            RERR => {
                let fixed = take(RERR_FIXED_BYTES)?;
                let count = usize::from(fixed[3]);
                if count == 0 {
                    return Err(MessageError::NoDestination);
                }
                let whole = take(RERR_FIXED_BYTES + UNREACHABLE_BYTES * count)?;
                let entries = whole[RERR_FIXED_BYTES..].chunks_exact(UNREACHABLE_BYTES);
                Ok(Self::Rerr(Rerr {
                    no_delete: fixed[1] & bits::NO_DELETE != 0,
                    unreachable: entries.map(|entry| (host(entry, 0), sequence(entry, 4))).collect(),
                }))
            }
            RREP_ACK => take(RREP_ACK_BYTES).map(|_| Self::RrepAck),
            _ => Err(MessageError::UnknownType(kind)),
        }
    }

    /// Writes the message to the front of `out`, UDP's payload, and returns its length; nothing for data.
    ///
    /// # Errors
    /// [`MessageError::NoRoom`] when `out` is too short, or an RERR names more than 255 destinations;
    /// [`MessageError::NoDestination`] when it names none.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, MessageError> {
        let length = message_bytes(self);
        let out = out.get_mut(..length).ok_or(MessageError::NoRoom)?;
        out.fill(0);
        match self {
            Self::Data => {}
            Self::Rreq(request) => emit_rreq(request, out),
            Self::Rrep(reply) => emit_rrep(reply, out),
            Self::Rerr(error) => {
                let count = u8::try_from(error.unreachable.len()).map_err(|_| MessageError::NoRoom)?;
                if count == 0 {
                    return Err(MessageError::NoDestination);
                }
                out[0] = RERR;
                out[1] = if error.no_delete { bits::NO_DELETE } else { 0 };
                out[3] = count;
                let places = out[RERR_FIXED_BYTES..].chunks_exact_mut(UNREACHABLE_BYTES);
                for (place, (destination, number)) in places.zip(&error.unreachable) {
                    place[..4].copy_from_slice(&destination.octets());
                    place[4..].copy_from_slice(&number.0.to_be_bytes());
                }
            }
            Self::RrepAck => out[0] = RREP_ACK,
        }
        Ok(length)
    }
}

fn parse_rreq(bytes: &[u8]) -> Rreq {
    let flags = bytes[1];
    let is_known = flags & rreq::UNKNOWN_SEQUENCE_NUMBER == 0;
    Rreq {
        multicast_bits: flags & rreq::MULTICAST,
        gratuitous: flags & rreq::GRATUITOUS != 0,
        destination_only: flags & rreq::DESTINATION_ONLY != 0,
        hop_count: bytes[3],
        id: word(bytes, 4),
        destination: host(bytes, 8),
        destination_seq: is_known.then(|| sequence(bytes, 12)),
        originator: host(bytes, 16),
        originator_seq: sequence(bytes, 20),
    }
}

fn emit_rreq(request: &Rreq, out: &mut [u8]) {
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    out[0] = RREQ;
    out[1] = request.multicast_bits & rreq::MULTICAST
        | flag(request.gratuitous, rreq::GRATUITOUS)
        | flag(request.destination_only, rreq::DESTINATION_ONLY)
        | flag(request.destination_seq.is_none(), rreq::UNKNOWN_SEQUENCE_NUMBER);
    out[3] = request.hop_count;
    out[4..8].copy_from_slice(&request.id.to_be_bytes());
    out[8..12].copy_from_slice(&request.destination.octets());
    let number = request.destination_seq.unwrap_or(SeqNumber(0));
    out[12..16].copy_from_slice(&number.0.to_be_bytes());
    out[16..20].copy_from_slice(&request.originator.octets());
    out[20..24].copy_from_slice(&request.originator_seq.0.to_be_bytes());
}

fn parse_rrep(bytes: &[u8]) -> Rrep {
    Rrep {
        repair: bytes[1] & bits::REPAIR != 0,
        ack_required: bytes[1] & bits::ACK != 0,
        prefix_size: bytes[2] & bits::PREFIX,
        hop_count: bytes[3],
        destination: host(bytes, 4),
        destination_seq: sequence(bytes, 8),
        originator: host(bytes, 12),
        lifetime: Duration::from_millis(u64::from(word(bytes, 16))),
    }
}

fn emit_rrep(reply: &Rrep, out: &mut [u8]) {
    out[0] = RREP;
    out[1] = if reply.repair { bits::REPAIR } else { 0 } | if reply.ack_required { bits::ACK } else { 0 };
    out[2] = reply.prefix_size & bits::PREFIX;
    out[3] = reply.hop_count;
    out[4..8].copy_from_slice(&reply.destination.octets());
    out[8..12].copy_from_slice(&reply.destination_seq.0.to_be_bytes());
    out[12..16].copy_from_slice(&reply.originator.octets());
    let lifetime = u32::try_from(reply.lifetime.as_millis()).unwrap_or(u32::MAX);
    out[16..20].copy_from_slice(&lifetime.to_be_bytes());
}
