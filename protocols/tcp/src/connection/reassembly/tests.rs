extern crate std;

use super::{Insertion, Reassembly};
use prismux_wire::{SackBlock, SeqNumber};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

const ORIGIN: SeqNumber = SeqNumber(u32::MAX - 20);
const LENGTH: usize = 64;

/// The same stream as a row of bytes that are here or not.
struct Reference {
    here: Vec<bool>,
}

impl Reference {
    fn next(&self) -> u64 {
        self.here.iter().position(|&here| !here).unwrap_or(LENGTH) as u64
    }

    fn range(&self, block: &SackBlock) -> core::ops::Range<usize> {
        let start = block.start.distance_from(ORIGIN) as usize;
        start..block.end.distance_from(ORIGIN) as usize
    }

    /// Whether `block` is a whole island of what is here beyond `next`.
    fn is_island(&self, block: &SackBlock) -> bool {
        let range = self.range(block);
        let (before, after) = (self.here[range.start - 1], self.here.get(range.end) == Some(&true));
        range.start as u64 > self.next() && self.here[range].iter().all(|&here| here) && !before && !after
    }

    fn islands(&self) -> usize {
        let next = self.next() as usize;
        (next + 1..LENGTH).filter(|&at| self.here[at] && !self.here[at - 1]).count()
    }
}

proptest! {
    #[test]
    fn reassembly_agrees_with_a_row_of_bytes(
        ranges in prop::collection::vec((0..LENGTH as u64, 1..9u64), 1..80),
        max_blocks in 0..5usize,
        with_dsack in any::<bool>(),
    ) {
        let mut reassembly = Reassembly::new(u32::MAX);
        let mut reference = Reference { here: vec![false; LENGTH] };
        for (start, length) in ranges {
            let range = start..(start + length).min(LENGTH as u64);
            let row = range.start as usize..range.end as usize;
            let before = reference.next();
            let repeated = reference.here[row.clone()].iter().any(|&here| here);
            let new = reference.here[row.clone()].iter().any(|&here| !here);
            reference.here[row.clone()].fill(true);
            let insertion = reassembly.insert(range.clone());

            prop_assert_eq!(reassembly.next(), reference.next());
            prop_assert_eq!(reassembly.has_gap(), reference.islands() > 0);
            match insertion {
                Insertion::Advanced { .. } => prop_assert!(reference.next() > before),
                Insertion::OutOfOrder => prop_assert!(new && reference.next() == before),
                Insertion::Duplicate => prop_assert!(!new),
                Insertion::Overflow => prop_assert!(false, "there is room"),
            }

            let blocks = reassembly.sack_blocks(ORIGIN, max_blocks, with_dsack);
            let blocks = blocks.as_slice();
            let dsack = usize::from(repeated && with_dsack && max_blocks > 0);
            prop_assert_eq!(blocks.len(), max_blocks.min(dsack + reference.islands()));
            if dsack == 1 {
                let reported = reference.range(&blocks[0]);
                prop_assert!(row.start <= reported.start && reported.end <= row.end && !reported.is_empty());
            }
            for (index, block) in blocks.iter().enumerate().skip(dsack) {
                prop_assert!(reference.is_island(block), "{block:?}");
                prop_assert!(!blocks[dsack..index].contains(block), "each island once");
            }
            // RFC 2018 section 4: the first block holds the segment that triggered the ACK.
            if range.start > reference.next() && blocks.len() > dsack {
                let first = reference.range(&blocks[dsack]);
                prop_assert!(first.start <= row.start && row.end <= first.end);
            }
        }
    }

    #[test]
    fn the_store_keeps_its_bound_and_still_advances(
        ranges in prop::collection::vec((0..LENGTH as u64, 1..4u64), 1..80),
        max_ranges in 0..4u32,
    ) {
        let mut reassembly = Reassembly::new(max_ranges);
        for (start, length) in ranges {
            let before = reassembly.next();
            let insertion = reassembly.insert(start..start + length);
            prop_assert!(reassembly.apart.as_ref().map_or(0, |apart| apart.beyond.len()) <= max_ranges as usize);
            if start <= before && start + length > before {
                prop_assert!(reassembly.next() >= start + length);
            }
            if insertion == Insertion::Overflow {
                prop_assert!(start > before);
            }
        }
    }
}
