//! Linux's CUBIC ends slow start at a train of ACKs, none more than 2 ms after the other, that is longer than half of
//! the shortest round trip. Over several links that is long before they are full.
use crate::support::{Bench, ack, at};
use prismux_prism::ProxyConfig;
use prismux_units::{Duration, Instant};

const PACKET: u32 = 1000;
/// What HyStart takes for the end of a train.
const TRAIN_GAP: Duration = Duration::from_millis(2);

/// A sender of which each acknowledged packet calls up `response` new ones; ACKs come from the receiver every half
/// millisecond from 10 ms on until `millis` have passed. When they were released, with their numbers.
fn released(config: ProxyConfig, response: u32, millis: u32) -> Vec<(Instant, u32)> {
    let mut bench = Bench::new(config, &[500_000]);
    bench.handshake(at(0), 1000, 7);
    let (mut sent, mut arrived, mut released) = (0, 0, Vec::new());
    let send = |bench: &mut Bench, now: Instant, sent: &mut u32, count: u32| {
        for _ in 0..count {
            bench.send(now, 1000 + *sent * PACKET, PACKET);
            *sent += 1;
        }
    };
    send(&mut bench, at(10), &mut sent, 10);
    for step in 1..=10 * millis {
        let now = at(10) + Duration::from_micros(100 * u64::from(step));
        let mut said = bench.run_timers(now).numbers();
        if step % 5 == 0 && arrived < sent {
            arrived += 1;
            said.extend(bench.ack(now, &ack(1000 + arrived * PACKET, &[]), u64::from(step)).numbers());
        }
        // The sender answers in the same instant.
        send(&mut bench, now, &mut sent, response * said.len() as u32);
        released.extend(said.into_iter().map(|number| (now, number)));
    }
    released
}

/// The longest time in which no ACK is released more than [`TRAIN_GAP`] after the one before.
fn longest_train(released: &[(Instant, u32)]) -> Duration {
    let trains = released.chunk_by(|(before, _), (after, _)| *after - *before <= TRAIN_GAP);
    trains.map(|train| train[train.len() - 1].0 - train[0].0).max().unwrap_or_default()
}

#[test]
fn acks_to_a_sender_in_slow_start_never_come_as_a_train_of_ten_milliseconds() {
    let released = released(ProxyConfig::default(), 2, 100);
    // In the end the links are full, and at first one ACK stands for several.
    assert!(released.len() > 50, "{} of 200 ACKs", released.len());
    assert!(released.is_sorted_by_key(|(_, number)| *number), "in order");
    assert!(longest_train(&released) < Duration::from_millis(10), "{:?}", longest_train(&released));
}

#[test]
fn acks_to_a_sender_past_slow_start_go_at_once() {
    let released = released(ProxyConfig::default(), 1, 500);
    let later: Vec<_> = released.into_iter().filter(|(now, _)| *now > at(400)).collect();
    assert!(longest_train(&later) >= Duration::from_millis(100), "{:?}", longest_train(&later));
}

#[test]
fn the_published_proxy_never_makes_acks_wait_for_a_pause() {
    let released = released(ProxyConfig::paper(), 2, 100);
    assert!(longest_train(&released) > Duration::from_millis(90), "{:?}", longest_train(&released));
}

#[test]
fn no_ack_waits_for_its_group_longer_than_60_ms_whatever_the_round_trip_was() {
    let mut bench = Bench::new(ProxyConfig::default(), &[500_000]);
    bench.handshake(at(0), 1000, 7);
    for number in 0..40 {
        bench.send(at(10), 1000 + number * PACKET, PACKET);
    }
    // An outage of 20 s, and single ACKs after it.
    for number in 1..8_u32 {
        let now = at(20_000) + Duration::from_secs(u64::from(number));
        let ack_number = 1000 + number * PACKET;
        let mut said = bench.ack(now, &ack(ack_number, &[]), u64::from(number)).numbers();
        for millis in 1..=61 {
            said.extend(bench.run_timers(now + Duration::from_millis(millis)).numbers());
        }
        assert_eq!(said.last(), Some(&ack_number), "{said:?}");
    }
}
