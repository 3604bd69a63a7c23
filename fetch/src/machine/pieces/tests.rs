use super::*;
use proptest::prelude::*;

fn list_of(bytes: &[u8], step: usize) -> Vec<u8> {
    let mut hasher = PieceHasher::new(bytes.len() as u64).expect("short");
    for part in bytes.chunks(step) {
        hasher.update(part);
    }
    hasher.finish()
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

#[test]
fn a_list_vouches_for_each_piece_and_for_the_whole() {
    let bytes = content(600_000);
    let list = PieceList::parse(&list_of(&bytes, 100_000)).unwrap();
    assert_eq!(list.layout().count(), 3);
    assert_eq!(list.identity(), Identity { size: 600_000, digest: Digest::of(&bytes[..]).unwrap() });
    for piece in 0..3 {
        let range = list.layout().range(piece);
        let (start, end) = (range.start as usize, range.end as usize);
        assert!(list.is_right(piece, &bytes[start..end]));
        assert!(!list.is_right(piece, &bytes[start..end - 1]));
        assert!(!list.is_right(piece + 1, &bytes[start..end]));
    }
    assert_eq!(list.hash(3), None);
}

#[test]
fn an_empty_file_has_a_list_without_pieces() {
    let list = PieceList::parse(&list_of(&[], 1)).unwrap();
    assert_eq!((list.layout().count(), list.identity().size), (0, 0));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let good = list_of(&content(600_000), 4096);
    let changed = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        PieceList::parse(&bytes)
    };
    assert_eq!(changed(0, b'p'), Err(ListError::Kind));
    assert_eq!(changed(8, 1), Err(ListError::Layout), "too long a file");
    assert_eq!(changed(13, 1), Err(ListError::Length), "fewer hashes than its pieces");
    assert_eq!(changed(20, 7), Err(ListError::Layout), "other pieces");
    for length in 0..good.len() {
        assert!(PieceList::parse(&good[..length]).is_err(), "{length}");
    }
    assert_ne!(changed(60, 0).unwrap().root(), PieceList::parse(&good).unwrap().root());
}

#[test]
fn paths_of_lists_are_no_paths_of_files() {
    assert_eq!(listed_file(&list_path("a/b")), Some("a/b"));
    assert_eq!(listed_file("pieces/a"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_list_does_not_depend_on_how_the_file_was_read(length in 0..700_000usize, step in 1..300_000usize) {
        let bytes = content(length);
        prop_assert_eq!(list_of(&bytes, step.max(997)), list_of(&bytes, 1 << 20));
    }
}
