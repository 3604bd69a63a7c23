use super::{Piece, RangeMap};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use proptest::prelude::*;

proptest! {
    /// Against a map from position to tag.
    #[test]
    fn pieces_are_those_of_a_map_by_position(
        steps in prop::collection::vec((0u8..4, 0u64..60, 1u64..20, 0u8..3), 1..60)
    ) {
        let mut map = RangeMap::default();
        let mut reference: BTreeMap<u64, u8> = BTreeMap::new();
        for (operation, start, length, tag) in steps {
            let range = start..start + length;
            match operation {
                0 | 1 => {
                    let mut added = Vec::new();
                    map.insert(range.clone(), tag, |part| added.extend(part));
                    let missing: Vec<u64> = range.filter(|p| !reference.contains_key(p)).collect();
                    prop_assert_eq!(&added, &missing);
                    reference.extend(missing.into_iter().map(|p| (p, tag)));
                }
                2 => {
                    let mut removed = Vec::new();
                    map.remove(range.clone(), |piece| {
                        removed.extend((piece.start..piece.end).map(|p| (p, piece.tag)));
                    });
                    let gone: Vec<(u64, u8)> = reference.range(range.clone()).map(|(&p, &t)| (p, t)).collect();
                    prop_assert_eq!(removed, gone);
                    reference.retain(|p, _| !range.contains(p));
                }
                _ => {
                    map.remove_below(start);
                    reference.retain(|&p, _| p >= start);
                }
            }
            let held: Vec<(u64, u8)> =
                map.iter().flat_map(|piece| (piece.start..piece.end).map(|p| (p, piece.tag))).collect();
            prop_assert_eq!(held, reference.iter().map(|(&p, &t)| (p, t)).collect::<Vec<_>>());
            let pieces: Vec<Piece<u8>> = map.iter().copied().collect();
            prop_assert!(pieces.windows(2).all(|w| w[0].end < w[1].start || w[0].tag != w[1].tag), "{pieces:?}");
        }
    }
}

#[test]
fn retagging_joins_neighbours() {
    let mut map = RangeMap::default();
    map.insert(0..10, 1, |_| {});
    map.insert(10..20, 2, |_| {});
    map.insert(20..30, 1, |_| {});
    map.retag(2, 1);
    assert_eq!(map.iter().copied().collect::<Vec<_>>(), [Piece { start: 0, end: 30, tag: 1 }]);
}
