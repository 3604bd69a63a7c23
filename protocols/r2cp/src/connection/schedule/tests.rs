use super::*;
use crate::R2cpConfig;
use crate::policy::Cost;
use prismux_endpoint::Endpoint;
use prismux_rcp::{PacketIn, RcpConfig, RcpFlags, RcpHeader, RcpOptions};
use prismux_wire::{Ecn, SeqNumber};

const SEGMENT: u64 = 100;

fn config(window_segments: u32) -> R2cpConfig {
    let mut rcp = RcpConfig { mss: 100, timestamps: false, consume_on_arrival: true, ..RcpConfig::modern() };
    rcp.engine.initial_window_segments = window_segments;
    R2cpConfig::new(rcp)
}

/// A connection whose pipes opened at zero and have the given round trips, in ms.
fn connection(config: R2cpConfig, round_trips: &[u64]) -> Connection {
    let mut connection = Connection::new(config, Instant::ZERO);
    for _ in round_trips {
        connection.open(Instant::ZERO, SeqNumber(1), Cost(0));
    }
    while connection.poll_transmit(Instant::ZERO).is_some() {}
    let mut order: Vec<usize> = (0..round_trips.len()).collect();
    order.sort_by_key(|&pipe| round_trips[pipe]);
    for pipe in order {
        let options = RcpOptions { token: Some(9), mss: Some(100), ..RcpOptions::default() };
        let header = RcpHeader {
            flags: RcpFlags::SYN | RcpFlags::ACK,
            window: u16::MAX,
            number: SeqNumber(1000),
            proof: RcpHeader::acknowledging(SeqNumber(2)),
            options,
        };
        let packet = PacketIn { header, payload_bytes: 0, ecn: Ecn::NotEct };
        connection.handle_input(Instant::from_millis(round_trips[pipe]), (PipeId(pipe), packet));
    }
    connection
}

/// The segments asked for now, by pipe.
fn asked(connection: &mut Connection, now: Instant) -> Vec<(usize, u64)> {
    core::iter::from_fn(|| connection.poll_transmit(now))
        .map(|(id, packet)| {
            let position = packet.header.number.distance_from(SeqNumber(1001));
            (id.0, position as u64 / SEGMENT)
        })
        .collect()
}

use alloc::vec::Vec;

#[test]
fn the_third_in_rank_takes_the_third_segment_not_asked_for() {
    // The fast pipe was asked for 0 to 5; the slow one's data will come when two of them have come and their successors
    // have been asked for and come too: with 6 the next, it takes 8.
    let mut connection = connection(config(6), &[100, 300]);
    let start = Instant::from_millis(300);
    assert_eq!(connection.rank(start, PipeId(1)), 1);
    for (order, at) in [140, 199, 201, 210, 220, 230].into_iter().enumerate() {
        let now = Instant::from_millis(at);
        let send = connection.pipes[0].pipe.wish(now, SEGMENT, false).unwrap();
        let data = order as u64 * SEGMENT..(order as u64 + 1) * SEGMENT;
        connection.request(now, PipeId(0), &send, data, false);
    }
    // At 100 ms the slow pipe's answer would come at 400 ms: of the requests those at 140 and 199 ms will have been
    // answered, and their successors' data been here, by then.
    let asks_at = Instant::from_millis(100);
    assert_eq!(connection.rank(asks_at, PipeId(1)), 3);
    assert_eq!(connection.choose(asks_at, PipeId(1)), Some((8 * SEGMENT..9 * SEGMENT, false)));
}

#[test]
fn what_a_rank_skips_takes_no_room() {
    for (buffer, expected) in [(8, Some(12)), (7, None)] {
        let mut small = config(6);
        small.rcp.receive_buffer = prismux_units::ByteCount::new(buffer * SEGMENT);
        let mut connection = connection(small, &[10, 1000]);
        connection.pipes[1].is_leaving = true;
        assert_eq!(asked(&mut connection, Instant::from_millis(10)).len(), 6);
        connection.pipes[1].is_leaving = false;
        // Six segments are under way, the seventh in rank is segment 12; one segment's room is kept for the first
        // pending.
        let chosen = connection.choose(Instant::from_millis(20), PipeId(1));
        assert_eq!(chosen.map(|(data, _)| data.start / SEGMENT), expected, "{buffer}");
    }
}

/// Answers each question with the next of these, and waits where there are none.
#[derive(Debug)]
struct Told(Vec<Option<usize>>);

impl crate::scheduler::Scheduler for Told {
    fn choose(&mut self, pipes: &[PipeView], offer: &Offer) -> Option<usize> {
        assert!(pipes[offer.pipe.0].usable && offer.room_bytes > 0 && offer.segment_bytes == SEGMENT);
        if self.0.is_empty() { None } else { self.0.remove(0) }
    }
}

#[test]
fn a_scheduler_from_outside_chooses_the_segment_or_lets_the_pipe_wait() {
    let mut connection = connection(config(3), &[100, 300]);
    connection.set_scheduler(alloc::boxed::Box::new(Told(alloc::vec![Some(0), Some(1), None])));
    let now = Instant::from_millis(300);
    // The first pending, then the second of what remains, then a pause of both pipes.
    assert_eq!(asked(&mut connection, now), [(0, 0), (0, 2)]);
    // What was asked for, and what it left out, is in the books as ever.
    assert_eq!(connection.pending.first(), SEGMENT);
    assert!(connection.pipes.iter().any(|slot| slot.is_waiting));
}

#[test]
fn while_nothing_is_under_way_somebody_asks_whatever_the_scheduler_says() {
    let mut connection = connection(config(3), &[100, 300]);
    connection.set_scheduler(alloc::boxed::Box::new(Told(Vec::new())));
    assert_eq!(asked(&mut connection, Instant::from_millis(300)), [(0, 0)]);
}
