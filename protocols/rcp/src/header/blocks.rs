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
        let room = usize::from(self.count) < Self::MAX;
        if room {
            self.blocks[usize::from(self.count)] = block;
            self.count += 1;
        }
        room
    }

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[RequestBlock] {
        &self.blocks[..usize::from(self.count)]
    }
}
