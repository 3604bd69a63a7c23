//! Request blocks: what earlier requests asked for, so that a lost one is noticed.
use prismux_wire::SeqNumber;

/// A range that was requested: first number, and the number after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestBlock {
    /// The first number of the block.
    pub start: SeqNumber,
    /// The number after the block's last.
    pub end: SeqNumber,
}

/// Up to three blocks, the most recent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestBlocks {
    blocks: [RequestBlock; Self::MAX],
    count: u8,
}

impl RequestBlocks {
    /// As many as a request carries.
    pub const MAX: usize = 3;

    /// Appends a block; false, and nothing happens, when there is no room.
    pub fn push(&mut self, block: RequestBlock) -> bool {
        let Some(place) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *place = block;
        self.count += 1;
        true
    }

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[RequestBlock] {
        self.blocks.get(..usize::from(self.count)).unwrap_or_default()
    }
}
