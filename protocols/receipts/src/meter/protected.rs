//! Packets that repairs may give back: they are judged only when the repairs should have come.
use alloc::collections::VecDeque;

/// Blocks that are remembered: more than are under way on any link.
const MAX_BLOCKS: usize = 4096;

/// Positions from the first packet of a block to its last repair; repairs are not known while the block is open.
#[derive(Debug, Clone, Copy)]
struct Block {
    first: u64,
    repairs: Option<Repairs>,
}

/// The repairs of a block: the first and the last.
#[derive(Debug, Clone, Copy)]
struct Repairs {
    first: u64,
    last: u64,
}

/// The protected blocks of a link, the earliest first.
#[derive(Debug, Default)]
pub(super) struct Protected(VecDeque<Block>);

impl Protected {
    /// The packet at `first` begins a block.
    pub fn open(&mut self, first: u64) {
        if self.0.back().is_none_or(|block| block.first < first) {
            self.close(0, 0);
            if self.0.len() >= MAX_BLOCKS {
                self.0.pop_front();
            }
            self.0.push_back(Block { first, repairs: None });
        }
    }

    /// The open block is complete: so many `repairs` end before `next`. A block without any is forgotten.
    pub fn close(&mut self, repairs: u64, next: u64) {
        if let Some(block) = self.0.back_mut().filter(|block| block.repairs.is_none()) {
            if repairs == 0 {
                self.0.pop_back();
                return;
            }
            block.repairs =
                Some(Repairs { first: next.saturating_sub(repairs), last: next.saturating_sub(1) });
        }
    }

    /// Forgets blocks that end below `position`.
    pub fn forget(&mut self, position: u64) {
        while self.0.front().is_some_and(|block| block.repairs.is_some_and(|repairs| repairs.last < position))
        {
            self.0.pop_front();
        }
    }

    /// From where on packets that come prove that the one at `position` did not: the last repair of its block, or the
    /// packet itself; `None` while its block is open.
    pub fn judged_from(&self, position: u64) -> Option<u64> {
        match self.block_at(position).map(|block| block.repairs) {
            Some(None) => None,
            Some(Some(Repairs { last, .. })) if last >= position => Some(last),
            _ => Some(position),
        }
    }

    /// Whether the packet at `position` is a repair, whose loss alone leaves nothing out.
    pub fn is_repair(&self, position: u64) -> bool {
        let repairs = self.block_at(position).and_then(|block| block.repairs);
        repairs.is_some_and(|Repairs { first, last }| (first..=last).contains(&position))
    }

    /// The last block that begins at or before `position`.
    fn block_at(&self, position: u64) -> Option<&Block> {
        let after = self.0.partition_point(|block| block.first <= position);
        self.0.get(after.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_a_block_are_judged_when_its_last_repair_should_have_come() {
        let mut protected = Protected::default();
        protected.open(10);
        assert_eq!(protected.judged_from(9), Some(9));
        assert_eq!(protected.judged_from(12), None);
        protected.close(2, 21);
        assert_eq!(protected.judged_from(10), Some(20));
        assert_eq!(protected.judged_from(21), Some(21));
        assert_eq!(
            [18, 19, 20, 21].map(|position| protected.is_repair(position)),
            [false, true, true, false]
        );
        protected.open(25);
        protected.close(0, 27);
        assert_eq!(protected.judged_from(26), Some(26));
        protected.forget(21);
        assert_eq!(protected.judged_from(10), Some(10));
    }
}
