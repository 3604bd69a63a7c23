//! Some of the pieces of a file.
use alloc::vec;
use alloc::vec::Vec;

/// A set of pieces, one bit for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceSet {
    count: u32,
    held: u32,
    /// The first piece is the highest bit of the first byte.
    bits: Vec<u8>,
}

fn place(piece: u32) -> (usize, u8) {
    (piece as usize / 8, 0x80 >> (piece % 8))
}

impl PieceSet {
    /// None of `count` pieces.
    pub fn none(count: u32) -> Self {
        Self { count, held: 0, bits: vec![0; count.div_ceil(8) as usize] }
    }

    /// The set that `bits` stand for; `None` if they are too few or many, or stand for pieces that do not exist.
    pub fn from_bits(count: u32, bits: &[u8]) -> Option<Self> {
        let beyond = (8 - count % 8) % 8;
        let fits = bits.len() == count.div_ceil(8) as usize
            && bits.last().is_none_or(|last| u32::from(*last) & ((1 << beyond) - 1) == 0);
        let held = bits.iter().map(|byte| byte.count_ones()).sum();
        fits.then(|| Self { count, held, bits: bits.to_vec() })
    }

    /// One bit for each piece, zeros up to a whole byte.
    pub fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// How many pieces there are, in the set or not.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// How many are in the set.
    pub const fn held(&self) -> u32 {
        self.held
    }

    /// Whether all are.
    pub const fn is_whole(&self) -> bool {
        self.held == self.count
    }

    /// Whether `piece` is in the set.
    pub fn contains(&self, piece: u32) -> bool {
        let (byte, bit) = place(piece);
        piece < self.count && self.bits.get(byte).is_some_and(|bits| bits & bit != 0)
    }

    /// Adds `piece`; true if it was not there before.
    pub fn insert(&mut self, piece: u32) -> bool {
        let (byte, bit) = place(piece);
        let is_new = piece < self.count && !self.contains(piece);
        if let (true, Some(bits)) = (is_new, self.bits.get_mut(byte)) {
            *bits |= bit;
            self.held += 1;
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_reads_as_it_was_written(count in 1..200u32, pieces in prop::collection::vec(0..250u32, 0..100)) {
            let mut set = PieceSet::none(count);
            let new = pieces.iter().filter(|&&piece| set.insert(piece)).count();
            prop_assert_eq!(set.held() as usize, new);
            prop_assert!((0..250).all(|piece| set.contains(piece) == (piece < count && pieces.contains(&piece))));
            prop_assert_eq!(PieceSet::from_bits(count, set.bits()), Some(set));
        }
    }

    #[test]
    fn bits_of_pieces_that_do_not_exist_are_refused() {
        assert_eq!(PieceSet::from_bits(3, &[0xe0]).map(|set| set.is_whole()), Some(true));
        assert_eq!(PieceSet::from_bits(3, &[0xf0]), None);
        assert_eq!(PieceSet::from_bits(3, &[0xe0, 0]), None);
        assert_eq!(PieceSet::from_bits(8, &[]), None);
        assert_eq!(PieceSet::from_bits(0, &[]).map(|set| set.is_whole()), Some(true));
    }
}
