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
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use prismux_wire::fields::{EndsEarly, NoRoom, Reader, Writer};
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
        self.list.get(..usize::from(self.count)).unwrap_or_default()
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

impl From<EndsEarly> for HeaderError {
    fn from(_: EndsEarly) -> Self {
        Self::Truncated
    }
}

impl From<NoRoom> for HeaderError {
    fn from(_: NoRoom) -> Self {
        Self::NoRoom
    }
}

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

    fn read(reader: &mut Reader<'_>) -> Result<(Self, bool), HeaderError> {
        let mut fields = Reader::new(reader.slice(Self::WIRE_BYTES)?);
        let [first, pipe] = fields.array()?;
        let (version, flags) = (first >> 4, first & 15);
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        if flags & !FLAG_SET_UP != 0 || pipe >= MAX_PIPES {
            return Err(HeaderError::Malformed);
        }
        let header = Self {
            pipe,
            virtual_bytes: fields.u16()?,
            source: fields.u16()?,
            destination: fields.u16()?,
            seq: SeqNumber(fields.u32()?),
            ack: SeqNumber(fields.u32()?),
        };
        Ok((header, flags & FLAG_SET_UP != 0))
    }

    fn write(&self, set_up: bool, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        writer.put(&[VERSION << 4 | if set_up { FLAG_SET_UP } else { 0 }, self.pipe])?;
        writer.put(&self.virtual_bytes.to_be_bytes())?;
        writer.put(&self.source.to_be_bytes())?;
        writer.put(&self.destination.to_be_bytes())?;
        writer.put(&self.seq.0.to_be_bytes())?;
        writer.put(&self.ack.0.to_be_bytes())
    }
}

impl SetUp {
    /// Length on the wire in bytes.
    pub fn wire_bytes(&self) -> usize {
        let each = |address: &IpAddr| if address.is_ipv4() { 5 } else { 17 };
        SET_UP_BYTES + self.addresses.as_slice().iter().map(each).sum::<usize>()
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, HeaderError> {
        let mut fields = Reader::new(reader.slice(SET_UP_BYTES)?);
        let [transmit_pipes, receive_pipes, window_shift, count] = fields.array()?;
        if count > MAX_PIPES || window_shift > MAX_SHIFT {
            return Err(HeaderError::Malformed);
        }
        let token = fields.u64()?;
        let mut addresses = Addresses::default();
        for _ in 0..count {
            addresses.push(match reader.u8()? {
                4 => IpAddr::V4(Ipv4Addr::from(reader.array::<4>()?)),
                6 => IpAddr::V6(Ipv6Addr::from(reader.array::<16>()?)),
                _ => return Err(HeaderError::Malformed),
            });
        }
        Ok(Self { transmit_pipes, receive_pipes, window_shift, token, addresses })
    }

    fn write(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        let count = self.addresses.as_slice().len() as u8;
        writer.put(&[self.transmit_pipes, self.receive_pipes, self.window_shift, count])?;
        writer.put(&self.token.to_be_bytes())?;
        for address in self.addresses.as_slice() {
            match address {
                IpAddr::V4(address) => {
                    writer.put(&[4])?;
                    writer.put(&address.octets())?;
                }
                IpAddr::V6(address) => {
                    writer.put(&[6])?;
                    writer.put(&address.octets())?;
                }
            }
        }
        Ok(())
    }
}

impl Parsed {
    /// Reads the payload of a UDP datagram.
    ///
    /// # Errors
    /// When it is not a pTCP segment of this version.
    pub fn parse(datagram: &[u8]) -> Result<Self, HeaderError> {
        let mut reader = Reader::new(datagram);
        let (header, has_set_up) = PtcpHeader::read(&mut reader)?;
        let set_up = if has_set_up { Some(SetUp::read(&mut reader)?) } else { None };
        let (tcp, length) = TcpHeader::parse(reader.rest()).map_err(HeaderError::Tcp)?;
        let payload_offset = datagram.len() - reader.rest().len() + length;
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
    let bytes = PtcpHeader::WIRE_BYTES + set_up.map_or(0, SetUp::wire_bytes);
    let (own, rest) = out.split_at_mut_checked(bytes).ok_or(HeaderError::NoRoom)?;
    let mut writer = Writer::new(own);
    header.write(set_up.is_some(), &mut writer)?;
    if let Some(set_up) = set_up {
        set_up.write(&mut writer)?;
    }
    let tcp_bytes = tcp.emit(rest).map_err(HeaderError::Tcp)?;
    Ok(bytes + tcp_bytes)
}

#[cfg(test)]
mod tests;
