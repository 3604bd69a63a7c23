//! Headers between typed form and bytes.
use super::{RcpFlags, RcpHeader, RcpOptions, RequestBlock, RequestBlocks};
use core::fmt;
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

fn word16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn word64(bytes: &[u8], at: usize) -> u64 {
    u64::from(word32(bytes, at)) << 32 | u64::from(word32(bytes, at + 4))
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
        let (version, length) = (bytes[0] >> 4, usize::from(bytes[0] & 15) * 4);
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        let flags = RcpFlags(bytes[1]);
        if !go_together(flags) {
            return Err(HeaderError::Flags(flags.0));
        }
        let fixed = if flags.contains(RcpFlags::REQ) { LONG_BYTES } else { SHORT_BYTES };
        if length < fixed {
            return Err(HeaderError::Length);
        }
        if bytes.len() < length {
            return Err(HeaderError::Truncated);
        }
        let proof = match fixed {
            LONG_BYTES => word64(bytes, 8),
            _ => u64::from(word32(bytes, 8)) << 32,
        };
        let header = Self {
            flags,
            window: word16(bytes, 2),
            number: SeqNumber(word32(bytes, 4)),
            proof,
            options: RcpOptions::parse(&bytes[fixed..length])?,
        };
        Ok((header, length))
    }

    /// Writes the header to the front of `out` and returns its length.
    ///
    /// # Errors
    /// [`HeaderError::NoRoom`] when `out` is shorter than [`RcpHeader::wire_bytes`], or all options are set at once.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, HeaderError> {
        let length = self.wire_bytes();
        let out = out.get_mut(..length).filter(|_| length <= MAX_BYTES).ok_or(HeaderError::NoRoom)?;
        out.fill(kind::END);
        out[0] = VERSION << 4 | (length / 4) as u8;
        out[1] = self.flags.0;
        out[2..4].copy_from_slice(&self.window.to_be_bytes());
        out[4..8].copy_from_slice(&self.number.0.to_be_bytes());
        out[8..12].copy_from_slice(&((self.proof >> 32) as u32).to_be_bytes());
        let mut at = SHORT_BYTES;
        if self.flags.contains(RcpFlags::REQ) {
            out[12..16].copy_from_slice(&(self.proof as u32).to_be_bytes());
            at = LONG_BYTES;
        }
        self.options.emit(&mut out[at..]);
        Ok(length)
    }
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
        let mut options = Self::default();
        let mut at = 0;
        while let Some(&kind) = bytes.get(at) {
            match kind {
                kind::END => break,
                kind::PADDING => at += 1,
                _ => {
                    let malformed = HeaderError::MalformedOption(kind);
                    let length = usize::from(*bytes.get(at + 1).ok_or(malformed)?);
                    let option = bytes.get(at..at + length).filter(|_| length >= 2).ok_or(malformed)?;
                    options.take(kind, option).ok_or(malformed)?;
                    at += length;
                }
            }
        }
        Ok(options)
    }

    /// Takes one option, kind and length included; `None` when its length is wrong.
    fn take(&mut self, kind: u8, option: &[u8]) -> Option<()> {
        match (kind, option.len()) {
            (kind::MSS, 4) => self.mss = Some(word16(option, 2)),
            (kind::WINDOW_SCALE, 3) => self.window_scale = Some(option[2]),
            (kind::TIMESTAMPS, 10) => {
                self.timestamps = Some(Timestamps { value: word32(option, 2), echo: word32(option, 6) });
            }
            (kind::TOKEN, 10) => self.token = Some(word64(option, 2)),
            (kind::START, 10) => self.start = word64(option, 2),
            (kind::BLOCKS, 10 | 18 | 26) => {
                self.blocks = RequestBlocks::default();
                for at in (2..option.len()).step_by(8) {
                    let (start, end) = (SeqNumber(word32(option, at)), SeqNumber(word32(option, at + 4)));
                    self.blocks.push(RequestBlock { start, end });
                }
            }
            (kind::MSS..=kind::WINDOW_SCALE | kind::BLOCKS | kind::TIMESTAMPS..=kind::START, _) => {
                return None;
            }
            _ => {}
        }
        Some(())
    }

    fn emit(&self, out: &mut [u8]) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        if let Some(mss) = self.mss {
            put(&[kind::MSS, 4]);
            put(&mss.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            put(&[kind::WINDOW_SCALE, 3, shift]);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            put(&[kind::TIMESTAMPS, 10]);
            put(&value.to_be_bytes());
            put(&echo.to_be_bytes());
        }
        if let Some(token) = self.token {
            put(&[kind::TOKEN, 10]);
            put(&token.to_be_bytes());
        }
        if self.start > 0 {
            put(&[kind::START, 10]);
            put(&self.start.to_be_bytes());
        }
        let blocks = self.blocks.as_slice();
        if !blocks.is_empty() {
            put(&[kind::BLOCKS, (2 + 8 * blocks.len()) as u8]);
            for block in blocks {
                put(&block.start.0.to_be_bytes());
                put(&block.end.0.to_be_bytes());
            }
        }
    }
}
