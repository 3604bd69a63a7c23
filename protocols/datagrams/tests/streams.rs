//! Whatever links do to packets: none passes twice, none that came is kept, and none waits longer than the bound.
use prismux_datagrams::{Arrived, Order, Resequencer};
use prismux_endpoint::{Endpoint, expire};
use prismux_units::{Duration, Instant};
use proptest::prelude::*;

const MAX_HOLD: Duration = Duration::from_millis(150);

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn order(number: u32) -> Order {
    Order { waits: true, stream: 3, number }
}

/// Feeds packets `(link, number)` at one instant and returns what passes.
fn feed(far: &mut Resequencer<u32>, now: Instant, packets: &[(u8, u32)]) -> Vec<u32> {
    let mut passed = Vec::new();
    for &(link, number) in packets {
        far.handle_input(now, Arrived { link, order: order(number), packet: number });
        passed.extend(std::iter::from_fn(|| far.poll_transmit(now)));
    }
    passed
}

#[test]
fn a_packet_that_was_overtaken_is_waited_for() {
    let mut far = Resequencer::default();
    assert_eq!(feed(&mut far, at(0), &[(0, 10), (0, 12), (0, 13)]), [10, 12, 13], "one link keeps the order");
    assert_eq!(feed(&mut far, at(1), &[(1, 14), (0, 16), (0, 17)]), [14]);
    assert_eq!(feed(&mut far, at(5), &[(1, 15)]), [15, 16, 17]);
    let counters = far.counters();
    assert_eq!((counters.held, counters.given_up, counters.late), (3, 1, 0));
}

#[test]
fn what_every_link_has_passed_by_is_lost() {
    let mut far = Resequencer::default();
    feed(&mut far, at(0), &[(0, 10), (1, 11)]);
    assert_eq!(feed(&mut far, at(1), &[(0, 13)]), []);
    assert_eq!(feed(&mut far, at(2), &[(1, 14)]), [13, 14], "12 can come no more");
    assert_eq!(feed(&mut far, at(3), &[(1, 12)]), [12], "and passes when it does after all");
    assert_eq!(feed(&mut far, at(4), &[(0, 12)]), [], "once");
    assert_eq!((far.counters().late, far.counters().duplicates), (1, 1));
}

#[test]
fn nothing_waits_longer_than_packets_were_late() {
    let mut far = Resequencer::default();
    assert_eq!(far.bound(), MAX_HOLD, "nothing is known yet");
    for round in 0..50_u64 {
        let number = 100 + 2 * round as u32;
        feed(&mut far, at(100 * round), &[(0, number + 1)]);
        feed(&mut far, at(100 * round + 20), &[(1, number)]);
    }
    assert!(
        (Duration::from_millis(20)..=Duration::from_millis(40)).contains(&far.bound()),
        "{:?}",
        far.bound()
    );
    feed(&mut far, at(6000), &[(0, 300)]);
    let due = far.poll_timeout().unwrap().at;
    assert!(due <= at(6040));
    assert!(expire(&mut far, due));
    assert_eq!(far.poll_transmit(due), Some(300));
}

#[test]
fn a_near_end_that_begins_anew_is_followed_at_once() {
    let mut far = Resequencer::default();
    feed(&mut far, at(0), &[(0, 10), (1, 11), (0, 13)]);
    assert_eq!(feed(&mut far, at(1), &[(0, 5_000_000)]), [13, 5_000_000]);
    assert_eq!(feed(&mut far, at(2), &[(0, 5_000_001)]), [5_000_001]);
}

/// A packet of one of three links: how long it takes, and whether it is lost or comes twice.
fn packets() -> impl Strategy<Value = Vec<(u8, u64, u8)>> {
    prop::collection::vec((0..3_u8, 0..200_u64, 0..10_u8), 1..400)
}

proptest! {
    #[test]
    fn each_packet_that_comes_passes_once_and_within_the_bound(packets in packets(), first in 0_u32..1 << 24) {
        let mut arrivals = Vec::new();
        for (index, &(link, takes_ms, fate)) in packets.iter().enumerate() {
            let sent_ms = index as u64;
            let copies = match fate { 0 => 0, 1 => 2, _ => 1 };
            for copy in 0..copies {
                arrivals.push((sent_ms + takes_ms + 30 * copy, link, index as u32));
            }
        }
        arrivals.sort_unstable();
        let mut far = Resequencer::default();
        let mut came: Vec<Option<u64>> = vec![None; packets.len()];
        let mut passed = vec![false; packets.len()];
        let end = arrivals.last().map_or(0, |arrival| arrival.0) + 200;
        let mut next = arrivals.into_iter().peekable();
        for now_ms in 0..=end {
            let now = at(now_ms);
            expire(&mut far, now);
            while let Some((_, link, number)) = next.next_if(|arrival| arrival.0 <= now_ms) {
                came[number as usize].get_or_insert(now_ms);
                let order = Order::from_bits(1 << 31 | (first + number) & 0xff_ffff);
                far.handle_input(now, Arrived { link, order, packet: number });
            }
            while let Some(number) = far.poll_transmit(now) {
                let number = number as usize;
                prop_assert!(!passed[number], "{number} passed twice");
                passed[number] = true;
                let waited_ms = now_ms - came[number].expect("it has come");
                prop_assert!(waited_ms <= 151, "{number} waited {waited_ms} ms");
            }
        }
        for (number, came) in came.iter().enumerate() {
            prop_assert_eq!(came.is_some(), passed[number], "packet {}", number);
        }
    }
}
