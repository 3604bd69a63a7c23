//! A file in pieces.
use core::ops::Range;

/// Most pieces of a file, so that one datagram says which of them somebody has.
pub const MAX_PIECES: u32 = 8192;
const MIN_PIECE_BYTES: u64 = 256 << 10;
const MAX_PIECE_BYTES: u64 = 16 << 20;
/// Longest file that is shared, in bytes: 128 GiB.
pub const MAX_SIZE: u64 = MAX_PIECES as u64 * MAX_PIECE_BYTES;

/// How a file is cut: pieces of one length, a power of two from 256 KiB to 16 MiB, the last one shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    size: u64,
    piece_bytes: u64,
}

impl Layout {
    /// The layout of a file of `size` bytes; none of one that is longer than [`MAX_SIZE`].
    pub fn of(size: u64) -> Option<Self> {
        let mut piece_bytes = MIN_PIECE_BYTES;
        while size.div_ceil(piece_bytes) > u64::from(MAX_PIECES) {
            piece_bytes *= 2;
        }
        (piece_bytes <= MAX_PIECE_BYTES).then_some(Self { size, piece_bytes })
    }

    /// Bytes of the file.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of every piece but the last.
    pub const fn piece_bytes(&self) -> u64 {
        self.piece_bytes
    }

    /// Pieces of the file: none of an empty one.
    pub const fn count(&self) -> u32 {
        self.size.div_ceil(self.piece_bytes) as u32
    }

    /// Where `piece` lies in the file; nowhere if there is none of this number.
    pub fn range(&self, piece: u32) -> Range<u64> {
        let start = (u64::from(piece) * self.piece_bytes).min(self.size);
        start..(start + self.piece_bytes).min(self.size)
    }

    /// The pieces that lie in `range` as wholes.
    pub fn whole_pieces(&self, range: &Range<u64>) -> Range<u32> {
        let end = if range.end >= self.size { self.count() } else { (range.end / self.piece_bytes) as u32 };
        let first = range.start.div_ceil(self.piece_bytes).min(u64::from(end)) as u32;
        first..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_the_file_without_gap_or_overlap(size in 0..=MAX_SIZE) {
            let layout = Layout::of(size).expect("no longer than the longest");
            prop_assert!(layout.count() <= MAX_PIECES);
            let mut end = 0;
            for piece in 0..layout.count() {
                let range = layout.range(piece);
                prop_assert!(range.start == end && range.end > end);
                end = range.end;
            }
            prop_assert_eq!(end, size);
            prop_assert!(layout.range(layout.count()).is_empty());
            prop_assert_eq!(layout.whole_pieces(&(0..size)), 0..layout.count());
        }

        #[test]
        fn whole_pieces_lie_inside_and_no_other_does(
            size in 1..50_000_000u64, a in 0..50_000_000u64, b in 0..50_000_000u64,
        ) {
            let layout = Layout::of(size).expect("short");
            let range = a.min(b).min(size)..a.max(b).min(size);
            let whole = layout.whole_pieces(&range);
            for piece in 0..layout.count() {
                let own = layout.range(piece);
                prop_assert_eq!(whole.contains(&piece), range.start <= own.start && own.end <= range.end);
            }
        }
    }

    #[test]
    fn what_is_too_long_has_no_layout() {
        assert_eq!(Layout::of(MAX_SIZE).map(|layout| layout.count()), Some(MAX_PIECES));
        assert_eq!(Layout::of(MAX_SIZE + 1), None);
    }
}
