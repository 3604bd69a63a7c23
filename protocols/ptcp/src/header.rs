//! The pTCP header and its set-up block, between typed form and bytes.
//!
//! Over UDP a segment is: pTCP header, set-up block where flagged, TCP header of the pipe (RFC 9293, checksum zero:
//! UDP's covers it), payload. All numbers are big-endian.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------+-------+---------------+-------------------------------+
//! |Version| Flags |     Pipe      |        Virtual length         |
//! +-------+-------+---------------+-------------------------------+
//! |             pSRC              |             pDST              |
//! +-------------------------------+-------------------------------+
//! |                             pSEQ                              |
//! +---------------------------------------------------------------+
//! |                             pACK                              |
//! +---------------------------------------------------------------+
//! ```
//!
//! Set-up block: nTx, nRx, shift of the window field, number of addresses (one byte each), token (8 bytes), then for
//! every address its family (4 or 6) and its 4 or 16 bytes.
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use prismux_wire::{SeqNumber, TcpHeader, WireError};

/// The most pipes of a connection, and the most addresses in a list.
pub const MAX_PIPES: u8 = 8;
/// The version of the wire format.
pub const VERSION: u8 = 1;
const FLAG_SET_UP: u8 = 1;
const SET_UP_BYTES: usize = 12;
/// The largest shift of the window field, as in TCP (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

/// What every segment says about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PtcpHeader {
    /// Number of the pipe, counted by the side that opened the connection.
    pub pipe: u8,
    /// Length of the segment in the pipe's sequence space. It is the payload's length, or more where a retransmission
    /// has nothing left to carry.
    pub virtual_bytes: u16,
    /// pSRC: the sender's name for the connection.
    pub source: u16,
    /// pDST: the receiver's name for it; zero in the very first segment.
    pub destination: u16,
    /// pSEQ: number of the first payload byte in the connection's stream.
    pub seq: SeqNumber,
    /// pACK: everything before this number of the other stream has arrived; valid where the TCP header's ACK bit is
    /// set.
    pub ack: SeqNumber,
}

/// What the first segments of a pipe add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SetUp {
    /// nTx: pipes that the sender of the block wants to send on.
    pub transmit_pipes: u8,
    /// nRx: pipes that the sender of the block is willing to receive on.
    pub receive_pipes: u8,
    /// Shift of the window field in every segment of the block's sender, this one included.
    pub window_shift: u8,
    /// First pipe: the token that further pipes must show. Further pipes: the token shown.
    pub token: u64,
    /// ipTx and ipRx: the addresses of the block's sender.
    pub addresses: Addresses,
}

/// A short list of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Addresses {
    list: [IpAddr; MAX_PIPES as usize],
    count: u8,
}

impl Default for Addresses {
    fn default() -> Self {
        Self { list: [IpAddr::V4(Ipv4Addr::UNSPECIFIED); MAX_PIPES as usize], count: 0 }
    }
}

impl Addresses {
    /// Adds an address if there is room; says whether there was.
    pub fn push(&mut self, address: IpAddr) -> bool {
        let Some(place) = self.list.get_mut(usize::from(self.count)) else { return false };
        *place = address;
        self.count += 1;
        true
    }

    /// The addresses in the order of pipes.
    pub fn as_slice(&self) -> &[IpAddr] {
        &self.list[..usize::from(self.count)]
    }
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl FromIterator<IpAddr> for Addresses {
    fn from_iter<I: IntoIterator<Item = IpAddr>>(iter: I) -> Self {
        let mut list = Self::default();
        for address in iter {
            list.push(address);
        }
        list
    }
}

/// Why bytes are not a pTCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderError {
    /// The bytes end too early.
    Truncated,
    /// A version other than [`VERSION`].
    Version(u8),
    /// Flags or counts that have no meaning.
    Malformed,
    /// The virtual segment is shorter than its payload.
    VirtualLength,
    /// The TCP header is not one.
    Tcp(WireError),
    /// The output buffer is too small.
    NoRoom,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("pTCP segment cut short"),
            Self::Version(version) => write!(f, "pTCP version {version} is not understood"),
            Self::Malformed => f.write_str("pTCP flags or counts that mean nothing"),
            Self::VirtualLength => f.write_str("pTCP virtual length below the payload's"),
            Self::Tcp(error) => write!(f, "pTCP pipe header: {error}"),
            Self::NoRoom => f.write_str("no room for the pTCP segment"),
        }
    }
}

impl core::error::Error for HeaderError {}

/// Headers of one segment and where its payload begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed {
    /// The header of the connection.
    pub header: PtcpHeader,
    /// The set-up block, where one is flagged.
    pub set_up: Option<SetUp>,
    /// The header of the pipe's TCP.
    pub tcp: TcpHeader,
    /// Offset of the payload; it goes to the end.
    pub payload_offset: usize,
}

impl PtcpHeader {
    /// Length on the wire in bytes.
    pub const WIRE_BYTES: usize = 16;

    fn parse(bytes: &[u8]) -> Result<(Self, bool), HeaderError> {
        let fixed: &[u8; Self::WIRE_BYTES] = bytes.first_chunk().ok_or(HeaderError::Truncated)?;
        let (version, flags) = (fixed[0] >> 4, fixed[0] & 15);
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        if flags & !FLAG_SET_UP != 0 || fixed[1] >= MAX_PIPES {
            return Err(HeaderError::Malformed);
        }
        let header = Self {
            pipe: fixed[1],
            virtual_bytes: word16(fixed, 2),
            source: word16(fixed, 4),
            destination: word16(fixed, 6),
            seq: SeqNumber(word32(fixed, 8)),
            ack: SeqNumber(word32(fixed, 12)),
        };
        Ok((header, flags & FLAG_SET_UP != 0))
    }

    fn emit(&self, set_up: bool, out: &mut [u8]) -> Result<(), HeaderError> {
        let fixed: &mut [u8; Self::WIRE_BYTES] = out.first_chunk_mut().ok_or(HeaderError::NoRoom)?;
        fixed[0] = VERSION << 4 | if set_up { FLAG_SET_UP } else { 0 };
        fixed[1] = self.pipe;
        fixed[2..4].copy_from_slice(&self.virtual_bytes.to_be_bytes());
        fixed[4..6].copy_from_slice(&self.source.to_be_bytes());
        fixed[6..8].copy_from_slice(&self.destination.to_be_bytes());
        fixed[8..12].copy_from_slice(&self.seq.0.to_be_bytes());
        fixed[12..16].copy_from_slice(&self.ack.0.to_be_bytes());
        Ok(())
    }
}

impl SetUp {
    /// Length on the wire in bytes.
    pub fn wire_bytes(&self) -> usize {
        let each = |address: &IpAddr| if address.is_ipv4() { 5 } else { 17 };
        SET_UP_BYTES + self.addresses.as_slice().iter().map(each).sum::<usize>()
    }

    fn parse(bytes: &[u8]) -> Result<(Self, usize), HeaderError> {
        let fixed: &[u8; SET_UP_BYTES] = bytes.first_chunk().ok_or(HeaderError::Truncated)?;
        let [transmit_pipes, receive_pipes, window_shift, count, ..] = *fixed;
        if count > MAX_PIPES || window_shift > MAX_SHIFT {
            return Err(HeaderError::Malformed);
        }
        let token = u64::from(word32(fixed, 4)) << 32 | u64::from(word32(fixed, 8));
        let mut addresses = Addresses::default();
        let mut at = SET_UP_BYTES;
        for _ in 0..count {
            let rest = bytes.get(at..).ok_or(HeaderError::Truncated)?;
            let (address, length) = match *rest {
                [4, a, b, c, d, ..] => (IpAddr::V4(Ipv4Addr::new(a, b, c, d)), 5),
                [6, ref rest @ ..] => {
                    let octets: &[u8; 16] = rest.first_chunk().ok_or(HeaderError::Truncated)?;
                    (IpAddr::V6(Ipv6Addr::from(*octets)), 17)
                }
                [] | [4, ..] => return Err(HeaderError::Truncated),
                _ => return Err(HeaderError::Malformed),
            };
            addresses.push(address);
            at += length;
        }
        Ok((Self { transmit_pipes, receive_pipes, window_shift, token, addresses }, at))
    }

    fn emit(&self, out: &mut [u8]) -> Result<usize, HeaderError> {
        let length = self.wire_bytes();
        let out = out.get_mut(..length).ok_or(HeaderError::NoRoom)?;
        let count = self.addresses.as_slice().len() as u8;
        out[..4].copy_from_slice(&[self.transmit_pipes, self.receive_pipes, self.window_shift, count]);
        out[4..12].copy_from_slice(&self.token.to_be_bytes());
        let mut at = SET_UP_BYTES;
        for address in self.addresses.as_slice() {
            match address {
                IpAddr::V4(address) => {
                    out[at] = 4;
                    out[at + 1..at + 5].copy_from_slice(&address.octets());
                    at += 5;
                }
                IpAddr::V6(address) => {
                    out[at] = 6;
                    out[at + 1..at + 17].copy_from_slice(&address.octets());
                    at += 17;
                }
            }
        }
        Ok(length)
    }
}

impl Parsed {
    /// Reads the payload of a UDP datagram.
    ///
    /// # Errors
    /// When it is not a pTCP segment of this version.
    pub fn parse(datagram: &[u8]) -> Result<Self, HeaderError> {
        let (header, has_set_up) = PtcpHeader::parse(datagram)?;
        let mut at = PtcpHeader::WIRE_BYTES;
        let mut set_up = None;
        if has_set_up {
            let (block, length) = SetUp::parse(&datagram[at..])?;
            set_up = Some(block);
            at += length;
        }
        let (tcp, length) = TcpHeader::parse(&datagram[at..]).map_err(HeaderError::Tcp)?;
        let payload_offset = at + length;
        if datagram.len() - payload_offset > usize::from(header.virtual_bytes) {
            return Err(HeaderError::VirtualLength);
        }
        Ok(Self { header, set_up, tcp, payload_offset })
    }
}

/// Writes all headers of a segment to the start of `out`; the payload follows at the offset returned.
///
/// # Errors
/// When `out` is too small or the TCP options do not fit.
pub fn emit(
    header: &PtcpHeader,
    set_up: Option<&SetUp>,
    tcp: &TcpHeader,
    out: &mut [u8],
) -> Result<usize, HeaderError> {
    header.emit(set_up.is_some(), out)?;
    let mut at = PtcpHeader::WIRE_BYTES;
    if let Some(set_up) = set_up {
        at += set_up.emit(&mut out[at..])?;
    }
    let tcp_bytes = tcp.emit(&mut out[at..]).map_err(HeaderError::Tcp)?;
    Ok(at + tcp_bytes)
}

fn word16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests;
