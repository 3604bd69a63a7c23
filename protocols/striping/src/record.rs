//! A record's header: 8 bytes of number, 4 bytes of payload length, both big-endian. The payload follows.
use core::fmt;

/// Number and payload length of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RecordHeader {
    /// Counted from 0 over all sockets.
    pub number: u64,
    /// Bytes that follow the header.
    pub payload_bytes: u32,
}

/// Why bytes are not a record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordError {
    /// More bytes are needed first.
    Incomplete,
    /// The length is zero or above [`MAX_PAYLOAD_BYTES`]: this is not a striped stream.
    Length(u32),
}

/// Longest payload that is believed.
pub const MAX_PAYLOAD_BYTES: u32 = 1 << 20;

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete => f.write_str("record header incomplete"),
            Self::Length(bytes) => write!(f, "record of {bytes} bytes"),
        }
    }
}

impl core::error::Error for RecordError {}

impl RecordHeader {
    /// Length of the header in bytes.
    pub const WIRE_BYTES: usize = 12;

    /// Length of header and payload in bytes.
    pub const fn record_bytes(&self) -> u64 {
        Self::WIRE_BYTES as u64 + self.payload_bytes as u64
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// When it is cut short or its length cannot be.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        let fixed: &[u8; Self::WIRE_BYTES] = bytes.first_chunk().ok_or(RecordError::Incomplete)?;
        let [a, b, c, d, e, f, g, h, length @ ..] = *fixed;
        let payload_bytes = u32::from_be_bytes(length);
        if payload_bytes == 0 || payload_bytes > MAX_PAYLOAD_BYTES {
            return Err(RecordError::Length(payload_bytes));
        }
        Ok(Self { number: u64::from_be_bytes([a, b, c, d, e, f, g, h]), payload_bytes })
    }

    /// The header as it goes to the wire.
    pub fn emit(&self) -> [u8; Self::WIRE_BYTES] {
        let mut bytes = [0; Self::WIRE_BYTES];
        bytes[..8].copy_from_slice(&self.number.to_be_bytes());
        bytes[8..].copy_from_slice(&self.payload_bytes.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests;
