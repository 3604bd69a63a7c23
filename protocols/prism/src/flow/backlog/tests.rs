//! The order and the books of what waits.
use super::*;

#[test]
fn packets_wait_in_order_of_sequence_and_once_each() {
    let (mut backlog, mut kept) = (Backlog::default(), 0);
    for seq in [3000, 1000, 2000, 1000] {
        backlog.insert_new(SeqNumber(seq), 1000, &mut kept);
    }
    let order: [u32; 3] = core::array::from_fn(|index| backlog.new.entries[index].0.0);
    assert_eq!((order, kept), ([1000, 2000, 3000], 3000));
}

#[test]
fn what_the_receiver_has_waits_no_longer() {
    let (mut backlog, mut kept) = (Backlog::default(), 0);
    for seq in [u32::MAX - 500, 499, 1499] {
        backlog.insert_new(SeqNumber(seq), 1000, &mut kept);
    }
    backlog.trim(SeqNumber(499), &mut kept);
    assert_eq!(kept, 2000, "the sequence space wraps");
    backlog.trim(SeqNumber(1400), &mut kept);
    assert_eq!(kept, 2000, "a packet acknowledged in part still waits");
    backlog.clear(&mut kept);
    assert_eq!((backlog.is_empty(), kept), (true, 0));
}
