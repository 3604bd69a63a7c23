use super::*;
use alloc::vec;
use proptest::prelude::*;

fn announcement(count: u32, claims: Vec<u32>, pieces: &[u32]) -> Announcement {
    let mut held = PieceSet::none(count);
    for &piece in pieces {
        held.insert(piece);
    }
    Announcement {
        run: 0x0102_0304_0506_0708,
        echo: 9,
        number: 10,
        key: [0xaa; KEY_BYTES],
        root: [0xbb; ROOT_BYTES],
        claims,
        held,
    }
}

fn emitted(announcement: &Announcement) -> Vec<u8> {
    let mut out = Vec::new();
    announcement.emit(&mut out);
    out
}

#[test]
fn bytes_are_those_of_the_table() {
    let bytes = emitted(&announcement(11, vec![2, 10], &[0, 8]));
    let number = |value: u64| value.to_be_bytes().to_vec();
    let wanted = [
        vec![0x17, 0, 0, 0],
        number(0x0102_0304_0506_0708),
        number(9),
        number(10),
        vec![0xaa; 32],
        vec![0xbb; 32],
        vec![0, 0, 0, 11, 2, 0, 0, 0, 2, 0, 0, 0, 10, 0x80, 0x80],
    ];
    assert_eq!(bytes, wanted.concat());
}

#[test]
fn what_contradicts_itself_is_refused() {
    let good = announcement(11, vec![2, 10], &[0, 8]);
    let changed = |at: usize, value: u8| {
        let mut bytes = emitted(&good);
        bytes[at] = value;
        Announcement::parse(&bytes)
    };
    assert_eq!(changed(0, 0x14), Err(Malformed::Kind));
    assert_eq!(changed(3, 1), Err(Malformed::Kind));
    assert_eq!(changed(95, 0), Err(Malformed::Pieces), "none");
    assert_eq!(changed(92, 1), Err(Malformed::Pieces), "too many");
    assert_eq!(changed(95, 10), Err(Malformed::Claims), "a claim of what does not exist");
    assert_eq!(changed(95, 17), Err(Malformed::Length), "more pieces than bits");
    assert_eq!(changed(96, 9), Err(Malformed::Claims), "too many claims");
    assert_eq!(changed(104, 2), Err(Malformed::Claims), "the same claim twice");
    assert_eq!(changed(106, 0x90), Err(Malformed::Pieces), "a bit beyond the last piece");
    let bytes = emitted(&good);
    for length in 0..bytes.len() {
        assert!(Announcement::parse(&bytes[..length]).is_err(), "{length}");
    }
}

proptest! {
    #[test]
    fn an_announcement_reads_as_it_was_written(
        count in 1..=MAX_PIECES,
        claims in prop::collection::btree_set(0..MAX_PIECES, 0..=MAX_CLAIMS),
        pieces in prop::collection::vec(0..MAX_PIECES, 0..50),
    ) {
        let claims = claims.into_iter().filter(|claim| *claim < count).collect();
        let written = announcement(count, claims, &pieces);
        let bytes = emitted(&written);
        prop_assert!(bytes.len() <= MAX_ANNOUNCEMENT_BYTES);
        prop_assert_eq!(Announcement::parse(&bytes), Ok(written));
    }
}
