//! Headers between typed form and bytes.
use super::{RcpFlags, RcpHeader, RcpOptions, RequestBlock, RequestBlocks};
use core::fmt;
use prismux_wire::fields::{EndsEarly, NoRoom, Reader, Writer};
use prismux_wire::{SeqNumber, Timestamps};

/// The version this code speaks.
const VERSION: u8 = 1;
/// Bytes before the lower half of the token.
const SHORT_BYTES: usize = 12;
/// Bytes before the options of a packet with REQ.
const LONG_BYTES: usize = 16;
/// The most bytes a header can have: 15 words.
const MAX_BYTES: usize = 60;

mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const PADDING: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const BLOCKS: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
    pub(super) const TOKEN: u8 = 9;
    pub(super) const START: u8 = 10;
}

/// Why bytes are not an RCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderError {
    /// They end before the header does.
    Truncated,
    /// The version is not understood.
    Version(u8),
    /// The length field contradicts the header's own minimum.
    Length,
    /// These flags do not go together.
    Flags(u8),
    /// An option of this kind has an impossible length.
    MalformedOption(u8),
    /// The buffer for writing is too small.
    NoRoom,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("RCP packet cut short"),
            Self::Version(version) => write!(f, "RCP version {version} is not understood"),
            Self::Length => f.write_str("RCP length field contradicts its header"),
            Self::Flags(flags) => write!(f, "RCP flags {flags:#04x} do not go together"),
            Self::MalformedOption(kind) => write!(f, "RCP option {kind} has an impossible length"),
            Self::NoRoom => f.write_str("the RCP header does not fit the buffer"),
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

/// A request says nothing but what it asks; a pull is a request; nothing opens and ends at once.
fn go_together(flags: RcpFlags) -> bool {
    let unknown = flags.0 & 1 << 7 != 0;
    let lone_pull = flags.contains(RcpFlags::PUL) && !flags.contains(RcpFlags::REQ);
    let contradiction =
        flags.contains(RcpFlags::SYN) && flags.intersects(RcpFlags::FIN | RcpFlags::RST | RcpFlags::PUL);
    let ending_pull = flags.contains(RcpFlags::PUL) && flags.intersects(RcpFlags::FIN | RcpFlags::RST);
    !(unknown || lone_pull || contradiction || ending_pull)
}

impl RcpHeader {
    /// Bytes of this header on the wire, UDP's not counted.
    pub fn wire_bytes(&self) -> usize {
        let fixed = if self.flags.contains(RcpFlags::REQ) { LONG_BYTES } else { SHORT_BYTES };
        (fixed + self.options.wire_bytes()).next_multiple_of(4)
    }

    /// Reads a header from the payload of a datagram; with it comes its length, where the data begins.
    ///
    /// # Errors
    /// When the bytes are no header of this version.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), HeaderError> {
        if bytes.len() < SHORT_BYTES {
            return Err(HeaderError::Truncated);
        }
        let mut reader = Reader::new(bytes);
        let [first, flags] = reader.array()?;
        let (version, length) = (first >> 4, usize::from(first & 15) * 4);
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        let flags = RcpFlags(flags);
        if !go_together(flags) {
            return Err(HeaderError::Flags(flags.0));
        }
        let is_long = flags.contains(RcpFlags::REQ);
        if length < if is_long { LONG_BYTES } else { SHORT_BYTES } {
            return Err(HeaderError::Length);
        }
        // The first two bytes have been read.
        let mut fields = Reader::new(reader.slice(length - 2)?);
        let (window, number) = (fields.u16()?, SeqNumber(fields.u32()?));
        let proof = if is_long { fields.u64()? } else { u64::from(fields.u32()?) << 32 };
        let options = RcpOptions::parse(fields.rest())?;
        Ok((Self { flags, window, number, proof, options }, length))
    }

    /// Writes the header to the front of `out` and returns its length.
    ///
    /// # Errors
    /// [`HeaderError::NoRoom`] when `out` is shorter than [`RcpHeader::wire_bytes`], or all options are set at once.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, HeaderError> {
        let length = self.wire_bytes();
        let out = out.get_mut(..length).filter(|_| length <= MAX_BYTES).ok_or(HeaderError::NoRoom)?;
        out.fill(kind::END);
        let mut writer = Writer::new(out);
        writer.put(&[VERSION << 4 | (length / 4) as u8, self.flags.0])?;
        writer.put(&self.window.to_be_bytes())?;
        writer.put(&self.number.0.to_be_bytes())?;
        writer.put(&((self.proof >> 32) as u32).to_be_bytes())?;
        if self.flags.contains(RcpFlags::REQ) {
            writer.put(&(self.proof as u32).to_be_bytes())?;
        }
        self.options.write(&mut writer)?;
        Ok(length)
    }
}

fn block(fields: &mut Reader<'_>) -> Result<RequestBlock, EndsEarly> {
    Ok(RequestBlock { start: SeqNumber(fields.u32()?), end: SeqNumber(fields.u32()?) })
}

impl RcpOptions {
    fn wire_bytes(&self) -> usize {
        let blocks = self.blocks.as_slice().len();
        let sizes = [
            if self.mss.is_some() { 4 } else { 0 },
            if self.window_scale.is_some() { 3 } else { 0 },
            if self.timestamps.is_some() { 10 } else { 0 },
            if self.token.is_some() { 10 } else { 0 },
            if self.start > 0 { 10 } else { 0 },
            if blocks > 0 { 2 + 8 * blocks } else { 0 },
        ];
        sizes.iter().sum()
    }

    fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let (mut options, mut reader) = (Self::default(), Reader::new(bytes));
        while let Ok(kind) = reader.u8() {
            match kind {
                kind::END => break,
                kind::PADDING => {}
                _ if options.read(kind, &mut reader) == Ok(true) => {}
                _ => return Err(HeaderError::MalformedOption(kind)),
            }
        }
        Ok(options)
    }

    /// Reads one option from its length on; false, or an error, when that is impossible.
    fn read(&mut self, kind: u8, reader: &mut Reader<'_>) -> Result<bool, EndsEarly> {
        let Some(bytes) = usize::from(reader.u8()?).checked_sub(2) else { return Ok(false) };
        let mut value = Reader::new(reader.slice(bytes)?);
        match kind {
            kind::MSS => self.mss = Some(value.u16()?),
            kind::WINDOW_SCALE => self.window_scale = Some(value.u8()?),
            kind::TIMESTAMPS => {
                self.timestamps = Some(Timestamps { value: value.u32()?, echo: value.u32()? });
            }
            kind::TOKEN => self.token = Some(value.u64()?),
            kind::START => self.start = value.u64()?,
            kind::BLOCKS => {
                // At least one, and no more than fit: bytes of a fourth one are left over.
                self.blocks = RequestBlocks::default();
                self.blocks.push(block(&mut value)?);
                while self.blocks.as_slice().len() < RequestBlocks::MAX && !value.rest().is_empty() {
                    self.blocks.push(block(&mut value)?);
                }
            }
            _ => return Ok(true),
        }
        Ok(value.rest().is_empty())
    }

    fn write(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        if let Some(mss) = self.mss {
            writer.put(&[kind::MSS, 4])?;
            writer.put(&mss.to_be_bytes())?;
        }
        if let Some(shift) = self.window_scale {
            writer.put(&[kind::WINDOW_SCALE, 3, shift])?;
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            writer.put(&[kind::TIMESTAMPS, 10])?;
            writer.put(&value.to_be_bytes())?;
            writer.put(&echo.to_be_bytes())?;
        }
        if let Some(token) = self.token {
            writer.put(&[kind::TOKEN, 10])?;
            writer.put(&token.to_be_bytes())?;
        }
        if self.start > 0 {
            writer.put(&[kind::START, 10])?;
            writer.put(&self.start.to_be_bytes())?;
        }
        let blocks = self.blocks.as_slice();
        if !blocks.is_empty() {
            writer.put(&[kind::BLOCKS, (2 + 8 * blocks.len()) as u8])?;
            for block in blocks {
                writer.put(&block.start.0.to_be_bytes())?;
                writer.put(&block.end.0.to_be_bytes())?;
            }
        }
        Ok(())
    }
}
