//! DSDV's update in bytes.
use prismux_dsdv::update::UpdateError;
use prismux_dsdv::{Advertised, DsdvHeader, INFINITE_METRIC};
use prismux_routing::Header;
use prismux_wire::SeqNumber;
use proptest::prelude::*;
use std::net::Ipv4Addr;

#[test]
fn an_update_has_twelve_bytes_for_each_route() {
    let near = Advertised { destination: Ipv4Addr::new(10, 0, 0, 3), metric: 1, seq: SeqNumber(0x0102_0304) };
    let lost = Advertised { metric: INFINITE_METRIC, seq: SeqNumber(7), ..near };
    let update = DsdvHeader::Update(vec![near, lost]);
    let mut out = [0xff; 24];
    assert_eq!(update.emit(&mut out), Ok(24));
    assert_eq!(out, [10, 0, 0, 3, 0, 0, 0, 1, 1, 2, 3, 4, 10, 0, 0, 3, 0, 0, 0, 250, 0, 0, 0, 7]);
    assert_eq!(update.emit(&mut out[..23]), Err(UpdateError::NoRoom));
    assert_eq!(DsdvHeader::Data.wire_bytes(), 0);
}

#[test]
fn what_is_no_whole_number_of_entries_is_refused() {
    for bytes in [0, 11, 13] {
        assert_eq!(DsdvHeader::parse(&vec![0; bytes]), Err(UpdateError::Length));
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        entries in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 1..30),
    ) {
        let entries = entries.into_iter().map(|(destination, metric, seq)| Advertised {
            destination: Ipv4Addr::from_bits(destination),
            metric,
            seq: SeqNumber(seq),
        });
        let update = DsdvHeader::Update(entries.collect());
        let mut out = vec![0; update.wire_bytes()];
        prop_assert_eq!(update.emit(&mut out), Ok(out.len()));
        prop_assert_eq!(DsdvHeader::parse(&out), Ok(update));
    }
}
