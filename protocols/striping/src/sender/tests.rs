use super::{Policy, Sender};
use alloc::vec::Vec;

/// Sockets that take so many records each, of 100 bytes.
fn written(sender: &mut Sender, mut rooms: Vec<u64>) -> Vec<usize> {
    let mut sockets = Vec::new();
    while let Some(write) = sender.poll_write(|socket| rooms[socket] * 100) {
        assert_eq!(write.header.number, write.stream_offset / 88, "records are numbered in order");
        rooms[write.socket] -= 1;
        sockets.push(write.socket);
    }
    sockets
}

#[test]
fn an_unaware_sender_fills_one_socket_after_the_other() {
    let mut sender = Sender::new(Policy::Unaware, 3, 100);
    sender.give(88 * 100);
    assert_eq!(written(&mut sender, [2, 3, 0].into()), [0, 0, 1, 1, 1]);
    assert_eq!(written(&mut sender, [1, 0, 1].into()), [2, 0], "it goes on where it stopped");
}

#[test]
fn a_smart_sender_deals_in_proportion() {
    let mut sender = Sender::new(Policy::Smart, 2, 100);
    sender.estimate(&[1.0, 3.0]);
    sender.give(88 * 400);
    let sockets = written(&mut sender, [1000, 1000].into());
    assert_eq!(sockets.iter().filter(|&&socket| socket == 1).count(), 300);
    assert!(sockets.windows(5).all(|window| window.contains(&0)), "evenly spread");
}

#[test]
fn a_smart_sender_waits_for_the_socket_whose_turn_it_is() {
    let mut sender = Sender::new(Policy::Smart, 2, 100);
    sender.give(88 * 100);
    assert_eq!(written(&mut sender, [1, 50].into()), [0, 1]);
    assert_eq!(written(&mut sender, [0, 50].into()), []);
    assert_eq!(written(&mut sender, [1, 50].into()), [0, 1]);
}

#[test]
fn the_last_record_is_as_long_as_what_is_left() {
    let mut sender = Sender::new(Policy::Unaware, 1, 100);
    sender.give(90);
    let lengths: Vec<u32> =
        core::iter::from_fn(|| sender.poll_write(|_| 1000)).map(|write| write.header.payload_bytes).collect();
    assert_eq!(lengths, [88, 2]);
    assert!(sender.is_done());
}

#[test]
fn estimates_that_make_no_sense_stop_nothing() {
    for rates in [[0.0, 0.0], [f64::NAN, 1.0], [-1.0, f64::INFINITY]] {
        let mut sender = Sender::new(Policy::Smart, 2, 100);
        sender.estimate(&rates);
        sender.give(88 * 20);
        assert_eq!(written(&mut sender, [1000, 1000].into()).len(), 20, "{rates:?}");
    }
}
