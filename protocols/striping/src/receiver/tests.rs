use super::{Receiver, Sockets};
use crate::record::RecordHeader;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Sockets whose streams are lists of record numbers, of 100 bytes each.
#[derive(Default)]
struct Queues(Vec<VecDeque<u64>>);

impl Sockets for Queues {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn peek(&self, socket: usize) -> Option<RecordHeader> {
        self.0[socket].front().map(|&number| RecordHeader { number, payload_bytes: 100 })
    }
}

fn run(receiver: &mut Receiver, queues: &mut Queues) -> Vec<u64> {
    let delivered = receiver.run(queues, |queues, read| {
        queues.0[read.socket].pop_front();
    });
    delivered.into_iter().map(|header| header.number).collect()
}

#[test]
fn early_records_wait_in_the_buffer_and_then_in_their_socket() {
    let mut receiver = Receiver::new(200);
    let mut queues = Queues(vec![VecDeque::new(), [1, 2, 3, 4].into()]);
    assert_eq!(run(&mut receiver, &mut queues), []);
    assert_eq!((receiver.held(), queues.0[1].len()), (200, 2), "the buffer is full: 3 and 4 stay");
    assert!(receiver.peeks > 0);
    queues.0[0].push_back(0);
    assert_eq!(run(&mut receiver, &mut queues), [0, 1, 2, 3, 4]);
    assert_eq!((receiver.held(), receiver.delivered()), (0, 500));
}

#[test]
fn without_a_buffer_only_what_is_in_order_is_read() {
    let mut receiver = Receiver::new(0);
    let mut queues = Queues(vec![[2].into(), [1, 3].into(), [0].into()]);
    assert_eq!(run(&mut receiver, &mut queues), [0, 1, 2, 3]);
}

#[test]
fn in_peek_mode_the_next_record_is_found_on_any_other_socket() {
    let mut receiver = Receiver::new(100);
    let mut queues = Queues(vec![[5, 6].into(), [7].into(), [0, 1].into()]);
    assert_eq!(run(&mut receiver, &mut queues), [0, 1]);
    assert_eq!(receiver.held(), 100);
}

#[test]
fn repeated_numbers_are_taken_away_and_counted() {
    let mut receiver = Receiver::new(1000);
    let mut queues = Queues(vec![[0, 0, 3].into(), [3, 1].into()]);
    assert_eq!(run(&mut receiver, &mut queues), [0, 1]);
    assert_eq!((receiver.repeated, receiver.held()), (2, 100));
}

proptest! {
    /// Whatever the dealing and the order of arrival: a buffer of any size delivers all, once, in order.
    #[test]
    fn everything_is_delivered_once_and_in_order(
        dealt in prop::collection::vec(0usize..4, 1..200),
        arrivals in prop::collection::vec(0usize..4, 0..400),
        buffer in 0u64..3000,
    ) {
        let mut sent = vec![VecDeque::new(); 4];
        for (number, &socket) in dealt.iter().enumerate() {
            sent[socket].push_back(number as u64);
        }
        let mut queues = Queues(vec![VecDeque::new(); 4]);
        let mut receiver = Receiver::new(buffer);
        let mut delivered = Vec::new();
        for socket in arrivals.into_iter().chain((0..4).flat_map(|s| [s; 200])) {
            if let Some(number) = sent[socket].pop_front() {
                queues.0[socket].push_back(number);
                delivered.extend(run(&mut receiver, &mut queues));
                prop_assert!(receiver.held() <= buffer);
            }
        }
        prop_assert_eq!(delivered, (0..dealt.len() as u64).collect::<Vec<_>>());
    }
}
