//! Packet-by-packet tables.
use super::*;
use crate::config::{BDP_FLOOR_BYTES, OutagePolicy, QueueLimit, ScheduledChange};
use crate::{DeliveryTrace, GilbertElliott, Jitter, LinkChange, LossModel};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::Probability;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 1000-byte packets take 8 ms; 20 ms to the far end.
fn one_mbit() -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(1), ms(20)).with_queue(QueueLimit::Unlimited)
}

fn link(config: &LinkConfig) -> Link<u32> {
    Link::new(config, Seed(1), "test")
}

/// Polls at every wake-up until the link is empty or has stopped; returns (arrival in ms, packet).
fn arrivals(link: &mut Link<u32>) -> Vec<(u64, u32)> {
    let mut list = vec![];
    while let Some(now) = link.next_wakeup() {
        while let Some(delivery) = link.poll_delivery(now) {
            assert_eq!(delivery.at, now);
            list.push((now.as_nanos() / MS, delivery.packet));
        }
    }
    list
}

#[test]
fn packets_leave_one_after_the_other_and_travel_the_delay() {
    let mut link = link(&one_mbit());
    for packet in 0..3 {
        link.enqueue(at(5), 1000, packet).unwrap();
    }
    link.enqueue(at(100), 500, 3).unwrap();
    assert_eq!(arrivals(&mut link), [(33, 0), (41, 1), (49, 2), (124, 3)]);
}

#[test]
fn the_queue_limit_excludes_the_packet_in_service() {
    let mut link = link(&one_mbit().with_queue(QueueLimit::Packets(2)));
    for packet in 0..3 {
        link.enqueue(at(0), 1000, packet).unwrap();
    }
    let dropped = link.enqueue(at(0), 1000, 3).unwrap_err();
    assert_eq!(dropped, Dropped { reason: DropReason::QueueFull, packet: 3, size_bytes: 1000 });
    // At 8 ms the second packet's sending begins, which makes room for one.
    assert!(link.enqueue(Instant::from_nanos(8 * MS - 1), 1000, 4).is_err());
    link.enqueue(at(8), 1000, 5).unwrap();
    assert_eq!(link.queue(at(8)), (2, ByteCount::new(2000)));
    assert_eq!(arrivals(&mut link), [(28, 0), (36, 1), (44, 2), (52, 5)]);
    assert_eq!((link.stats().queue_drops, link.stats().max_queue_packets), (2, 2));
}

#[test]
fn a_byte_limit_counts_the_bytes_that_wait() {
    let mut link = link(&one_mbit().with_queue(QueueLimit::Bytes(ByteCount::new(1500))));
    link.enqueue(at(0), 1000, 0).unwrap();
    link.enqueue(at(0), 1000, 1).unwrap();
    assert!(link.enqueue(at(0), 501, 2).is_err());
    link.enqueue(at(0), 500, 3).unwrap();
    assert_eq!(link.queue(at(7)), (2, ByteCount::new(1500)));
}

#[test]
fn a_bdp_limit_follows_rate_and_delay() {
    let config = LinkConfig::new(Rate::from_mbps(8), ms(50)).with_queue(QueueLimit::Bdp(0.5));
    let mut link = link(&config);
    assert_eq!(link.limit_bytes(), 50_000); // 8 Mbit/s x 100 ms / 2
    link.apply(at(1), LinkChange::rate(Rate::from_mbps(16)));
    assert_eq!(link.limit_bytes(), 100_000);
    link.apply(at(2), LinkChange::delay(ms(1)));
    assert_eq!(link.limit_bytes(), BDP_FLOOR_BYTES);
}

#[test]
fn sending_times_do_not_drift() {
    // 1500 bytes at 7 Mbit/s take 12000/7 us: no whole number of nanoseconds.
    let config = LinkConfig::new(Rate::from_mbps(7), Duration::ZERO).with_queue(QueueLimit::Unlimited);
    let mut link = link(&config);
    let count = 70_000;
    for packet in 0..count {
        link.enqueue(Instant::ZERO, 1500, packet).unwrap();
    }
    let mut last = Instant::ZERO;
    while let Some(now) = link.next_delivery() {
        last = link.poll_delivery(now).unwrap().at;
    }
    assert_eq!(last, Instant::from_secs(120)); // 70,000 x 12,000 bit / 7 Mbit/s, to the nanosecond
}

#[test]
fn a_new_rate_applies_to_the_rest_of_the_packet_in_service_and_to_what_waits() {
    let mut link = link(&one_mbit());
    for packet in 0..3 {
        link.enqueue(at(0), 1000, packet).unwrap();
    }
    // After 4 ms half of packet 0 is out; the other half takes 2 ms at twice the rate.
    link.apply(at(4), LinkChange::rate(Rate::from_mbps(2)));
    link.enqueue(at(4), 1000, 3).unwrap();
    assert_eq!(arrivals(&mut link), [(26, 0), (30, 1), (34, 2), (38, 3)]);
}

#[test]
fn a_slower_rate_reaches_the_queue_count() {
    let mut link = link(&one_mbit());
    for packet in 0..3 {
        link.enqueue(at(0), 1000, packet).unwrap();
    }
    link.apply(at(4), LinkChange::rate(Rate::from_kbps(500)));
    assert_eq!(link.queue(at(11)).0, 2); // packet 0 now ends at 12 ms
    assert_eq!(link.queue(at(12)).0, 1);
    assert_eq!(arrivals(&mut link), [(32, 0), (48, 1), (64, 2)]);
}

#[test]
fn a_rate_of_zero_stops_the_link_until_the_next_rate() {
    let mut link = link(&one_mbit().with_queue(QueueLimit::Packets(2)));
    link.enqueue(at(0), 1000, 0).unwrap();
    link.enqueue(at(0), 1000, 1).unwrap();
    link.apply(at(12), LinkChange::rate(Rate::ZERO)); // packet 0 has left, packet 1 is half out
    link.enqueue(at(13), 1000, 2).unwrap();
    assert!(link.enqueue(at(13), 1000, 3).is_err(), "the interrupted packet waits again");
    assert_eq!(arrivals(&mut link), [(28, 0)]);
    link.apply(at(50), LinkChange::rate(Rate::from_mbps(1)));
    assert_eq!(arrivals(&mut link), [(78, 1), (86, 2)]);
}

#[test]
fn a_shorter_delay_never_lets_packets_overtake() {
    let mut link = link(&one_mbit());
    link.enqueue(at(0), 1000, 0).unwrap();
    link.enqueue(at(0), 1000, 1).unwrap();
    link.enqueue(at(0), 1000, 2).unwrap();
    link.apply(at(4), LinkChange::delay(ms(1)));
    // Packet 0 keeps its 20 ms; 1 and 2 would arrive at 17 and 25 ms.
    assert_eq!(arrivals(&mut link), [(28, 0), (28, 1), (28, 2)]);
}

#[test]
fn an_outage_loses_what_has_not_departed() {
    let mut link = link(&one_mbit());
    for packet in 0..4 {
        link.enqueue(at(0), 1000, packet).unwrap();
    }
    link.apply(at(12), LinkChange::DOWN);
    assert!(!link.is_up());
    let lost: Vec<_> =
        core::iter::from_fn(|| link.poll_dropped()).map(|drop| (drop.packet, drop.reason)).collect();
    assert_eq!(lost, [(1, DropReason::Down), (2, DropReason::Down), (3, DropReason::Down)]);
    assert_eq!(link.enqueue(at(13), 1000, 4).unwrap_err().reason, DropReason::Down);
    link.apply(at(30), LinkChange::UP);
    link.enqueue(at(31), 1000, 5).unwrap();
    assert_eq!(arrivals(&mut link), [(28, 0), (59, 5)]);
    assert_eq!(link.stats().outage_drops, 4);
}

#[test]
fn a_holding_outage_delays_what_has_not_departed() {
    let config = LinkConfig { outage: OutagePolicy::Hold, ..one_mbit().with_queue(QueueLimit::Packets(3)) };
    let mut link = link(&config);
    for packet in 0..3 {
        link.enqueue(at(0), 1000, packet).unwrap();
    }
    link.apply(at(12), LinkChange::DOWN);
    link.enqueue(at(13), 1000, 3).unwrap();
    assert_eq!(link.enqueue(at(13), 1000, 4).unwrap_err().reason, DropReason::QueueFull);
    assert_eq!(arrivals(&mut link), [(28, 0)]);
    link.apply(at(100), LinkChange::UP);
    assert_eq!(arrivals(&mut link), [(128, 1), (136, 2), (144, 3)]);
}

#[test]
fn a_schedule_runs_by_itself_and_in_order() {
    let entry = |ms, change| ScheduledChange { at: at(ms), change };
    let schedule = vec![
        entry(40, LinkChange::UP),
        entry(20, LinkChange::DOWN),
        entry(60, LinkChange::rate(Rate::from_kbps(500))),
        entry(60, LinkChange::rate(Rate::from_mbps(4))),
    ];
    let mut link = link(&LinkConfig { schedule, ..one_mbit() });
    link.enqueue(at(0), 1000, 0).unwrap();
    assert_eq!(link.next_wakeup(), Some(at(20)));
    assert!(link.enqueue(at(20), 1000, 1).is_err());
    link.enqueue(at(40), 1000, 2).unwrap();
    link.enqueue(at(60), 1000, 3).unwrap(); // the later of two changes at 60 ms counts
    assert_eq!(arrivals(&mut link), [(28, 0), (68, 2), (82, 3)]);
}

#[test]
fn a_trace_carries_1500_bytes_per_opportunity_and_repeats() {
    let trace = Arc::new(DeliveryTrace::parse("2\n5\n5\n10\n").unwrap());
    assert_eq!(trace.mean_rate(), Rate::from_kbps(4800));
    let mut link =
        link(&LinkConfig { trace: Some(trace), queue: QueueLimit::Packets(4), ..LinkConfig::default() });
    link.enqueue(at(1), 1500, 0).unwrap(); // opportunity at 2
    link.enqueue(at(1), 700, 1).unwrap(); // these two share the first one at 5
    link.enqueue(at(1), 800, 2).unwrap();
    link.enqueue(at(1), 2000, 3).unwrap(); // the second one at 5 and a third of the one at 10
    link.enqueue(at(1), 1000, 4).unwrap(); // the rest of the one at 10
    assert!(link.enqueue(at(1), 100, 5).is_err());
    link.enqueue(at(5), 1500, 6).unwrap(); // 2, in the second round: at 12
    assert_eq!(arrivals(&mut link), [(2, 0), (5, 1), (5, 2), (10, 3), (10, 4), (12, 6)]);
    link.enqueue(at(13), 40, 7).unwrap();
    link.enqueue(at(20), 40, 8).unwrap(); // the opportunity at 20 itself has passed
    assert_eq!(arrivals(&mut link), [(15, 7), (22, 8)]);
}

#[test]
fn a_bad_trace_says_where() {
    let error = |text: &str| alloc::format!("{}", DeliveryTrace::parse(text).unwrap_err());
    assert_eq!(error("1\n2\nx\n"), "line 3 is not a time in whole milliseconds");
    assert_eq!(error("1\n# note\n0\n"), "line 3 lies before the line above it");
    assert!(error("\n").contains("no delivery opportunity"));
    assert!(error("0\n0\n").contains("above 0 ms"));
}

#[test]
fn bernoulli_loss_has_its_ratio_and_uses_the_rate() {
    let loss = LossModel::Bernoulli(Probability::new(0.1).unwrap());
    let mut link = link(&one_mbit().with_loss(loss));
    let lost = (0..100_000).filter(|&packet| link.enqueue(Instant::ZERO, 1000, packet).is_err()).count();
    // Standard deviation of the count is 95.
    assert!((9_600..10_400).contains(&lost), "{lost}");
    link.enqueue(Instant::ZERO, 1000, 100_000).ok();
    let last = arrivals(&mut link).last().copied().unwrap();
    assert_eq!(last.0, 8 * (u64::from(last.1) + 1) + 20, "lost packets take their turn");
}

#[test]
fn gilbert_elliott_loss_has_its_mean_and_its_burst_length() {
    let p = |value| Probability::new(value).unwrap();
    let chain =
        GilbertElliott { good_to_bad: p(0.01), bad_to_good: p(0.25), loss_good: p(0.0), loss_bad: p(1.0) };
    let config = LinkConfig { loss: LossModel::GilbertElliott(chain), ..LinkConfig::default() };
    let mut link = link(&config);
    let count = 400_000;
    let lost: Vec<bool> =
        (0..count).map(|packet| link.enqueue(Instant::ZERO, 100, packet).is_err()).collect();
    let total = lost.iter().filter(|&&lost| lost).count() as f64;
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let ratio = total / f64::from(count);
    assert!((ratio / chain.mean_loss() - 1.0).abs() < 0.06, "{ratio}");
    assert!((total / bursts - 4.0).abs() < 0.2, "{}", total / bursts);
}

#[test]
fn in_order_jitter_never_reorders_and_free_jitter_does() {
    let mut orders = vec![];
    for in_order in [true, false] {
        let jitter = Jitter { max: ms(40), in_order };
        let mut link = link(&LinkConfig { jitter, ..one_mbit() });
        for packet in 0..200 {
            link.enqueue(at(0), 1000, packet).unwrap();
        }
        let arrivals = arrivals(&mut link);
        assert_eq!(arrivals.len(), 200);
        for &(arrival, packet) in &arrivals {
            let departs = 8 * (u64::from(packet) + 1);
            assert!((departs + 20..=departs + 60).contains(&arrival), "{packet} at {arrival}");
        }
        orders.push(arrivals.windows(2).filter(|pair| pair[0].1 > pair[1].1).count());
    }
    assert_eq!(orders[0], 0);
    assert!(orders[1] > 20, "{}", orders[1]);
}

#[test]
fn duplicates_arrive_together_and_damage_is_flagged() {
    let certain = Probability::new(1.0).unwrap();
    let config = LinkConfig { duplicate: certain, corrupt: certain, ..one_mbit() };
    let mut link = link(&config);
    link.enqueue(at(0), 1000, 7).unwrap();
    let (first, second) = (link.poll_delivery(at(28)).unwrap(), link.poll_delivery(at(28)).unwrap());
    assert_eq!((first.packet, first.copy, first.corrupted), (7, true, true));
    assert_eq!((second.packet, second.copy, second.corrupted), (7, false, true));
    assert_eq!(link.poll_delivery(at(28)), None);
    assert_eq!((link.stats().duplicated_packets, link.stats().delivered_packets), (1, 2));
}

#[test]
fn adding_jitter_does_not_change_which_packets_are_lost() {
    let loss = LossModel::Bernoulli(Probability::new(0.3).unwrap());
    let lost = |jitter| {
        let mut link = link(&LinkConfig { jitter, ..one_mbit().with_loss(loss) });
        (0..100).filter(|&packet| link.enqueue(at(0), 1000, packet).is_err()).collect::<Vec<_>>()
    };
    assert_eq!(lost(Jitter::default()), lost(Jitter { max: ms(3), in_order: false }));
}
