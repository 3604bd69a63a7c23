//! Options as bytes: their lengths, writing, reading.
mod read;

pub use read::parse;

use super::{AddAddress, Capable, DataSequence, Dss, Join, MptcpOptions, RareOptions};
use core::fmt;
use core::net::IpAddr;
use prismux_wire::fields::{EndsEarly, NoRoom, Writer};
use prismux_wire::{TcpHeader, WireError};

/// The kind of all of MPTCP's options.
const KIND: u8 = 30;
/// The version of the protocol that RFC 8684 describes.
const VERSION: u8 = 1;
const NOP: u8 = 1;
/// The most option bytes of a TCP header.
const MAX_OPTION_BYTES: usize = 40;

/// Subtypes (section 8).
mod subtype {
    pub const CAPABLE: u8 = 0;
    pub const JOIN: u8 = 1;
    pub const DSS: u8 = 2;
    pub const ADD_ADDRESS: u8 = 3;
    pub const REMOVE_ADDRESS: u8 = 4;
    pub const PRIORITY: u8 = 5;
    pub const FAIL: u8 = 6;
    pub const FAST_CLOSE: u8 = 7;
    pub const RESET: u8 = 8;
}

/// Flags of the options, by the letters of the RFC.
mod flag {
    /// MP_CAPABLE: checksums (A), HMAC-SHA256 (H).
    pub const CHECKSUM: u8 = 0x80;
    pub const HMAC_SHA256: u8 = 0x01;
    /// DSS: DATA_ACK present (A), of 8 bytes (a); mapping present (M), of 8 bytes (m); DATA_FIN (F).
    pub const HAS_ACK: u8 = 0x01;
    pub const WIDE_ACK: u8 = 0x02;
    pub const HAS_MAPPING: u8 = 0x04;
    pub const WIDE_MAPPING: u8 = 0x08;
    pub const DATA_FIN: u8 = 0x10;
    /// MP_JOIN and MP_PRIO: backup (B).
    pub const BACKUP: u8 = 0x01;
    /// ADD_ADDR: echo (E).
    pub const ECHO: u8 = 0x01;
}

/// Why options cannot be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionError {
    /// An option is shorter or longer than its flags say.
    Length,
    /// A version other than 1.
    Version(u8),
    /// TCP's own header is not one.
    Tcp(WireError),
    /// The options do not fit a header.
    NoRoom,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("an option of MPTCP has a length that its flags contradict"),
            Self::Version(version) => write!(f, "version {version} of MPTCP is not understood"),
            Self::Tcp(error) => write!(f, "{error}"),
            Self::NoRoom => f.write_str("options of MPTCP do not fit the header"),
        }
    }
}

impl core::error::Error for OptionError {}

impl From<EndsEarly> for OptionError {
    fn from(_: EndsEarly) -> Self {
        Self::Length
    }
}

impl From<NoRoom> for OptionError {
    fn from(_: NoRoom) -> Self {
        Self::NoRoom
    }
}

impl From<WireError> for OptionError {
    fn from(error: WireError) -> Self {
        Self::Tcp(error)
    }
}

/// `bytes` where an optional field is there.
const fn bytes_if(present: bool, bytes: usize) -> usize {
    if present { bytes } else { 0 }
}

impl Capable {
    fn bytes(&self) -> usize {
        4 + bytes_if(self.key.is_some(), 8)
            + bytes_if(self.peer_key.is_some(), 8)
            + bytes_if(self.data_bytes.is_some(), 2)
    }
}

impl Join {
    const fn bytes(&self) -> usize {
        match self {
            Self::Syn { .. } => 12,
            Self::SynAck { .. } => 16,
            Self::Ack { .. } => 24,
        }
    }
}

impl DataSequence {
    const fn bytes(self) -> usize {
        match self {
            Self::Low(_) => 4,
            Self::Full(_) => 8,
        }
    }

    fn put(self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        match self {
            Self::Low(low) => writer.put(&low.to_be_bytes()),
            Self::Full(full) => writer.put(&full.to_be_bytes()),
        }
    }
}

impl Dss {
    fn bytes(&self) -> usize {
        let mapping = self.mapping.map_or(0, |mapping| mapping.data.bytes() + 6);
        4 + self.ack.map_or(0, DataSequence::bytes) + mapping
    }
}

impl AddAddress {
    fn bytes(&self) -> usize {
        let address = if self.address.is_ipv4() { 4 } else { 16 };
        4 + address + bytes_if(self.port.is_some(), 2) + bytes_if(self.proof.is_some(), 8)
    }
}

impl RareOptions {
    fn bytes(&self) -> usize {
        self.add_address.map_or(0, |added| added.bytes())
            + bytes_if(self.remove_address.is_some(), 4)
            + bytes_if(self.backup.is_some(), 3)
            + bytes_if(self.fail.is_some(), 12)
            + bytes_if(self.fast_close.is_some(), 12)
            + bytes_if(self.reset.is_some(), 4)
    }
}

impl MptcpOptions {
    /// Bytes these options take in a header, padded to a multiple of four.
    pub fn wire_bytes(&self) -> usize {
        let bytes = self.capable.map_or(0, |capable| capable.bytes())
            + self.join.map_or(0, |join| join.bytes())
            + self.dss.map_or(0, |dss| dss.bytes())
            + self.rare.as_ref().map_or(0, |rare| rare.bytes());
        bytes.next_multiple_of(4)
    }

    /// Whether they fit beside `tcp`'s own options.
    pub fn fit(&self, tcp: &TcpHeader) -> bool {
        tcp.options.wire_bytes() + self.wire_bytes() <= MAX_OPTION_BYTES
    }
}

/// Writes the TCP header with all options to the start of `out`; returns its length. The checksum is left at zero.
///
/// # Errors
/// When the options pass 40 bytes, or `out` is too small.
pub fn emit(tcp: &TcpHeader, options: &MptcpOptions, out: &mut [u8]) -> Result<usize, OptionError> {
    if !options.fit(tcp) {
        return Err(OptionError::NoRoom);
    }
    let own = tcp.emit(out)?;
    let length = own + options.wire_bytes();
    let place = out.get_mut(own..length).ok_or(OptionError::NoRoom)?;
    place.fill(NOP);
    write_all(options, &mut Writer::new(place))?;
    // The data offset, in words.
    let offset = out.get_mut(12).ok_or(OptionError::NoRoom)?;
    *offset = ((length / 4) as u8) << 4 | *offset & 15;
    Ok(length)
}

fn write_all(options: &MptcpOptions, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
    if let Some(capable) = &options.capable {
        write_capable(capable, writer)?;
    }
    if let Some(join) = &options.join {
        write_join(join, writer)?;
    }
    if let Some(dss) = &options.dss {
        write_dss(dss, writer)?;
    }
    options.rare.as_ref().map_or(Ok(()), |rare| write_rare(rare, writer))
}

fn write_capable(capable: &Capable, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
    let flags = flag::HMAC_SHA256 | if capable.checksum_required { flag::CHECKSUM } else { 0 };
    writer.put(&[KIND, capable.bytes() as u8, subtype::CAPABLE << 4 | VERSION, flags])?;
    for key in [capable.key, capable.peer_key].into_iter().flatten() {
        writer.put(&key.to_be_bytes())?;
    }
    capable.data_bytes.map_or(Ok(()), |bytes| writer.put(&bytes.to_be_bytes()))
}

fn write_join(join: &Join, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
    let first = |backup: bool| subtype::JOIN << 4 | if backup { flag::BACKUP } else { 0 };
    let bytes = join.bytes() as u8;
    match *join {
        Join::Syn { backup, address_id, token, nonce } => {
            writer.put(&[KIND, bytes, first(backup), address_id])?;
            writer.put(&token.to_be_bytes())?;
            writer.put(&nonce.to_be_bytes())
        }
        Join::SynAck { backup, address_id, proof, nonce } => {
            writer.put(&[KIND, bytes, first(backup), address_id])?;
            writer.put(&proof.to_be_bytes())?;
            writer.put(&nonce.to_be_bytes())
        }
        Join::Ack { proof } => {
            writer.put(&[KIND, bytes, first(false), 0])?;
            writer.put(&proof)
        }
    }
}

fn write_dss(dss: &Dss, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
    let flags = if dss.fin { flag::DATA_FIN } else { 0 }
        | match dss.ack {
            Some(DataSequence::Low(_)) => flag::HAS_ACK,
            Some(DataSequence::Full(_)) => flag::HAS_ACK | flag::WIDE_ACK,
            None => 0,
        }
        | match dss.mapping.map(|mapping| mapping.data) {
            Some(DataSequence::Low(_)) => flag::HAS_MAPPING,
            Some(DataSequence::Full(_)) => flag::HAS_MAPPING | flag::WIDE_MAPPING,
            None => 0,
        };
    writer.put(&[KIND, dss.bytes() as u8, subtype::DSS << 4, flags])?;
    if let Some(ack) = dss.ack {
        ack.put(writer)?;
    }
    if let Some(mapping) = dss.mapping {
        mapping.data.put(writer)?;
        writer.put(&mapping.subflow.to_be_bytes())?;
        writer.put(&mapping.bytes.to_be_bytes())?;
    }
    Ok(())
}

fn write_rare(rare: &RareOptions, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
    if let Some(added) = rare.add_address {
        let echo = if added.proof.is_none() { flag::ECHO } else { 0 };
        writer.put(&[KIND, added.bytes() as u8, subtype::ADD_ADDRESS << 4 | echo, added.id])?;
        match added.address {
            IpAddr::V4(address) => writer.put(&address.octets())?,
            IpAddr::V6(address) => writer.put(&address.octets())?,
        }
        if let Some(port) = added.port {
            writer.put(&port.to_be_bytes())?;
        }
        if let Some(proof) = added.proof {
            writer.put(&proof.to_be_bytes())?;
        }
    }
    if let Some(id) = rare.remove_address {
        writer.put(&[KIND, 4, subtype::REMOVE_ADDRESS << 4, id])?;
    }
    if let Some(backup) = rare.backup {
        writer.put(&[KIND, 3, subtype::PRIORITY << 4 | u8::from(backup)])?;
    }
    for (subtype, number) in [(subtype::FAIL, rare.fail), (subtype::FAST_CLOSE, rare.fast_close)] {
        if let Some(number) = number {
            writer.put(&[KIND, 12, subtype << 4, 0])?;
            writer.put(&number.to_be_bytes())?;
        }
    }
    rare.reset.map_or(Ok(()), |reason| writer.put(&[KIND, 4, subtype::RESET << 4, reason]))
}
