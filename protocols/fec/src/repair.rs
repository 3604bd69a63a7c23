//! What stands before a repair on the wire.
//!
//! | field | bytes |
//! |---|---|
//! | number of the block's first packet | 4 |
//! | packets of the block | 1 |
//! | repairs of the block | 1 |
//!
//! The packets of a block have numbers that follow one another, and its repairs have those behind them: which of the
//! repairs this is, its own number says.
use core::fmt;
use prismux_wire::SeqNumber;

/// Bytes of a repair's header.
pub const HEADER_BYTES: usize = 6;
/// Most packets of a block.
pub const MAX_BLOCK_PACKETS: usize = 32;
/// Most repairs of a block.
pub const MAX_REPAIRS: usize = 16;

/// The block that a repair belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepairHeader {
    /// Number of the block's first packet.
    pub first: SeqNumber,
    /// Packets of the block: 1 to [`MAX_BLOCK_PACKETS`].
    pub packets: u8,
    /// Repairs of the block: 1 to [`MAX_REPAIRS`].
    pub repairs: u8,
}

/// Why bytes are no repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairError {
    /// The bytes end before the header does, or right behind it.
    Truncated,
    /// No packet or no repair, or more than a block has.
    Counts,
    /// The repair's own number is none of those behind its block.
    Number,
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the repair is cut short",
            Self::Counts => "no packet or no repair, or more than a block has",
            Self::Number => "the repair's number is not behind its block",
        })
    }
}

impl core::error::Error for RepairError {}

impl RepairHeader {
    /// The header as bytes.
    pub fn emit(&self) -> [u8; HEADER_BYTES] {
        let [a, b, c, d] = self.first.0.to_be_bytes();
        [a, b, c, d, self.packets, self.repairs]
    }

    /// Reads the header of the repair with `number`; returns it and what follows.
    ///
    /// # Errors
    /// [`RepairError`]: it belongs to no block.
    pub fn parse(number: SeqNumber, bytes: &[u8]) -> Result<(Self, &[u8]), RepairError> {
        let (&[a, b, c, d, packets, repairs], symbol) =
            bytes.split_first_chunk::<HEADER_BYTES>().ok_or(RepairError::Truncated)?;
        if symbol.is_empty() {
            return Err(RepairError::Truncated);
        }
        if !(1..=MAX_BLOCK_PACKETS).contains(&usize::from(packets))
            || !(1..=MAX_REPAIRS).contains(&usize::from(repairs))
        {
            return Err(RepairError::Counts);
        }
        let header = Self { first: SeqNumber(u32::from_be_bytes([a, b, c, d])), packets, repairs };
        header.index_of(number).ok_or(RepairError::Number)?;
        Ok((header, symbol))
    }

    /// Which of its block's repairs has `number`, from 0.
    pub fn index_of(&self, number: SeqNumber) -> Option<usize> {
        let behind = number.distance_from(self.first) - i32::from(self.packets);
        usize::try_from(behind).ok().filter(|&index| index < usize::from(self.repairs))
    }
}
