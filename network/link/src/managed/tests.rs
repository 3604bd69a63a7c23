//! The control laws packet by packet, and what links with managed queues do in all.
use crate::{CoDel, DropReason, FqCoDel, Link, LinkConfig, Management, PacketKind, Pie, QueueLimit, Red};
use alloc::vec;
use alloc::vec::Vec;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};

/// 1000-byte packets take 1 ms; 10 ms to the far end.
fn link(management: Management) -> Link<u32> {
    let config = LinkConfig::new(Rate::from_mbps(8), Duration::from_millis(10));
    let config = config.with_queue(QueueLimit::Packets(10_000)).with_management(management);
    Link::new(&config, Seed(1), "managed")
}

const CAPABLE: PacketKind = PacketKind { ecn_capable: true, flow: 0 };

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1000)
}

/// What came out, with times in microseconds: delivered (with its mark), dropped by the queue.
#[derive(Default)]
struct Outcome {
    delivered: Vec<(u64, u32, bool)>,
    dropped: Vec<(u64, u32)>,
}

/// Offers `kinds[i % kinds.len()]` every `gap` microseconds until `until`, polling whenever the link asks for it.
fn offer(link: &mut Link<u32>, gap: u64, until: u64, kinds: &[PacketKind]) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut next, mut number) = (0, 0);
    while next < until || link.next_wakeup().is_some() {
        let wakeup = link.next_wakeup().unwrap_or(Instant::MAX);
        if next < until && at(next) <= wakeup {
            let kind = kinds[number as usize % kinds.len()];
            if let Err(refused) = link.enqueue_kind(at(next), 1000, kind, number) {
                assert_eq!(refused.reason, DropReason::Early);
                outcome.dropped.push((next, refused.packet));
            }
            (next, number) = (next + gap, number + 1);
        } else {
            while let Some(delivery) = link.poll_delivery(wakeup) {
                let micros = delivery.at.as_nanos() / 1000;
                outcome.delivered.push((micros, delivery.packet, delivery.marked));
            }
            while let Some(gone) = link.poll_dropped() {
                outcome.dropped.push((wakeup.as_nanos() / 1000, gone.packet));
            }
        }
    }
    let stats = link.stats();
    assert_eq!(stats.offered_packets, u64::from(number));
    assert_eq!(stats.delivered_packets, outcome.delivered.len() as u64);
    assert_eq!(stats.early_drops, outcome.dropped.len() as u64);
    assert_eq!(stats.marked_packets, outcome.delivered.iter().filter(|packet| packet.2).count() as u64);
    assert_eq!(stats.offered_packets, stats.delivered_packets + stats.dropped_packets());
    outcome
}

/// RFC 8289 section 5: with twice what the link carries, the first drop comes an interval after the delay has passed
/// the target, the next ones after 100 ms, 100 / sqrt(2), 100 / sqrt(3) ... more, each at the departure that follows.
#[test]
fn codel_drops_at_distances_that_shrink_by_the_inverse_square_root() {
    let codel = CoDel { ecn: false, ..CoDel::DEFAULT };
    let mut link = link(Management::CoDel(codel));
    let outcome = offer(&mut link, 500, 600_000, &[CAPABLE]);
    let times: Vec<u64> = outcome.dropped.iter().map(|(time, _)| *time).take(8).collect();
    // Packets leave every millisecond, and the one that leaves at 2k ms came at k ms: 5 ms of waiting at 10 ms.
    let first = 110_000;
    assert!((first..=first + 2000).contains(&times[0]), "{times:?}");
    let mut law = times[0] as f64;
    for (count, time) in times.iter().enumerate().skip(1) {
        law += 100_000.0 / libm::sqrt(count as f64);
        // Polls come with deliveries, a delay and a packet later at most.
        assert!((*time as f64 - law).abs() <= 1500.0, "drop {count} at {time}, law {law}: {times:?}");
    }
}

#[test]
fn codel_marks_where_marks_are_understood_and_drops_the_others() {
    let mut marking = link(Management::CoDel(CoDel::DEFAULT));
    let outcome = offer(&mut marking, 500, 600_000, &[CAPABLE]);
    assert!(outcome.dropped.is_empty());
    let marked: Vec<u64> =
        outcome.delivered.iter().filter(|packet| packet.2).map(|packet| packet.0).collect();
    let mut dropping = link(Management::CoDel(CoDel::DEFAULT));
    let plain = offer(&mut dropping, 500, 600_000, &[PacketKind::default()]);
    assert!(plain.delivered.iter().all(|packet| !packet.2));
    // The first strike comes at the same time either way.
    assert!(marked[0].abs_diff(plain.dropped[0].0) <= 12_000, "{} {:?}", marked[0], plain.dropped[0]);
}

#[test]
fn a_managed_link_without_a_queue_is_as_any_other() {
    for management in [
        Management::CoDel(CoDel::DEFAULT),
        Management::FqCoDel(FqCoDel::DEFAULT),
        Management::Pie(Pie::DEFAULT),
        Management::Red(Red::DEFAULT),
    ] {
        let mut link = link(management);
        let outcome = offer(&mut link, 1000, 100_000, &[CAPABLE]);
        let expected: Vec<_> = (0..100).map(|k| (u64::from(k) * 1000 + 11_000, k, false)).collect();
        assert_eq!(outcome.delivered, expected, "{management:?}");
        assert!(outcome.dropped.is_empty());
    }
}

/// RFC 8290: a flow that sends less than its share waits for no more than a packet of each other flow, whatever these
/// have queued.
#[test]
fn fq_codel_lets_a_thin_flow_pass_a_fat_one() {
    let thin = PacketKind { flow: 1, ..CAPABLE };
    // Every tenth packet is the thin flow's; together they offer twice what the link carries.
    let mut kinds = vec![CAPABLE; 9];
    kinds.push(thin);
    let delay_of_thin = |management| {
        let outcome = offer(&mut link(management), 500, 400_000, &kinds);
        let thin = outcome.delivered.iter().filter(|packet| packet.1 % 10 == 9);
        thin.map(|&(time, number, _)| time - u64::from(number) * 500).max().unwrap()
    };
    // A packet in service, one of the thin flow's own, the way: 12 ms, and a millisecond for a turn.
    assert!(delay_of_thin(Management::FqCoDel(FqCoDel::DEFAULT)) <= 13_500);
    assert!(delay_of_thin(Management::CoDel(CoDel::DEFAULT)) > 100_000);
}

#[test]
fn a_full_fq_codel_drops_from_the_longest_queue() {
    let config = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO)
        .with_queue(QueueLimit::Packets(4))
        .with_management(Management::FqCoDel(FqCoDel::DEFAULT));
    let mut link: Link<u32> = Link::new(&config, Seed(1), "full");
    let thin = PacketKind { flow: 1, ..CAPABLE };
    for number in 0..5 {
        link.enqueue_kind(at(0), 1000, CAPABLE, number).unwrap();
    }
    link.enqueue_kind(at(0), 1000, thin, 9).unwrap();
    let dropped = link.poll_dropped().expect("one has made room");
    assert_eq!((dropped.reason, dropped.packet), (DropReason::QueueFull, 1));
    let mut order = Vec::new();
    while let Some(now) = link.next_wakeup() {
        while let Some(delivery) = link.poll_delivery(now) {
            order.push(delivery.packet);
        }
    }
    assert_eq!((order[0], order.len()), (0, 5));
    assert!(order.iter().position(|&number| number == 9) < Some(3), "{order:?}");
    assert_eq!((link.stats().queue_drops, link.stats().dropped_packets()), (1, 1));
}

/// What a packet of 1000 bytes finds behind `packets` others of a link that sends a thousand a second.
fn finds(packets: usize) -> super::red::Found {
    super::red::Found { packets, bytes: packets as u64 * 1000, size_bytes: 1000, time_s: 0.001 }
}

/// The shortest, the mean and the longest distance between two strikes with the average held at 10 packets of 5 to 15,
/// a tenth at most: p_b is 1/20.
fn distances_between_strikes(wait: bool) -> (u32, f64, u32) {
    let red = Red { weight: 1.0, wait, ..Red::DEFAULT };
    let mut state = super::red::RedState::new(red, Seed(3).stream("red"));
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for step in 1..200_000u64 {
        gap += 1;
        if state.judge(at(step * 1000), finds(10), CAPABLE) == super::Verdict::Mark {
            gaps.push(gap);
            gap = 0;
        }
    }
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    (*gaps.iter().min().unwrap(), mean, *gaps.iter().max().unwrap())
}

/// Floyd and Jacobson, figure 2: a packet is counted before it is judged, so that the distances are spread evenly over
/// 1 to 19.
#[test]
fn red_spreads_its_strikes_evenly() {
    let (shortest, mean, longest) = distances_between_strikes(false);
    assert_eq!((shortest, longest), (1, 19));
    assert!((mean - 10.0).abs() < 0.2, "{mean}");
}

/// ns-2's `wait_`: the distances are spread evenly over 1/p to 2/p, 20 to 39 where 1 to 19 were.
#[test]
fn red_that_waits_keeps_the_inverse_of_the_chance_between_two_strikes() {
    let (shortest, mean, longest) = distances_between_strikes(true);
    assert_eq!((shortest, longest), (20, 39));
    assert!((mean - 29.5).abs() < 0.3, "{mean}");
}

/// A burst raises the average above every threshold; what comes when it is gone finds no queue and is not struck.
#[test]
fn red_strikes_nothing_that_finds_no_queue() {
    let mut state = super::red::RedState::new(Red::DEFAULT, Seed(3).stream("red"));
    for step in 1..2000u64 {
        state.judge(at(step), finds(100), CAPABLE);
    }
    state.sends_until(at(1_000_000));
    let mut verdict = |micros, packets| state.judge(at(micros), finds(packets), PacketKind::default());
    assert_eq!(verdict(3000, 100), super::Verdict::Drop);
    for step in 0..20 {
        assert_eq!(verdict(4000 + step, (step % 2) as usize), super::Verdict::Pass);
    }
    assert_eq!(verdict(5000, 100), super::Verdict::Drop);
}

/// Floyd and Jacobson, section 4: the average falls by what could have been sent while the link was idle, which is from
/// the end of the last packet and not from when it left the queue. 100 full averages decay below 5 in
/// ln(20) / 0.002 = 1498 packet times.
#[test]
fn reds_average_falls_while_the_link_is_idle_only() {
    let struck_after = |sent: u64, comes: u64| {
        let mut state =
            super::red::RedState::new(Red { weight: 0.002, ..Red::DEFAULT }, Seed(3).stream("red"));
        for step in 1..20_000u64 {
            state.judge(at(step), finds(100), CAPABLE);
        }
        state.sends_until(at(sent));
        // One finds no queue, which brings the average up to date; the next judges by it.
        state.judge(at(comes), finds(0), CAPABLE);
        let strikes = |_| state.judge(at(comes), finds(2), PacketKind::default()) == super::Verdict::Drop;
        (0..50).any(strikes)
    };
    assert!(struck_after(1_020_000, 1_020_000), "busy all the time");
    assert!(struck_after(20_000, 1_020_000), "idle for 1000 packets");
    assert!(!struck_after(20_000, 1_620_000), "idle for 1600 packets");
}

#[test]
fn gentle_red_drops_all_at_twice_the_threshold_only() {
    let strikes = |gentle: bool, packets: usize| {
        let red = Red { weight: 1.0, gentle, ..Red::DEFAULT };
        let mut state = super::red::RedState::new(red, Seed(3).stream("red"));
        let struck =
            |step: u64| state.judge(at(step * 1000), finds(packets), CAPABLE) != super::Verdict::Pass;
        (1..=1000).map(struck).filter(|struck| *struck).count()
    };
    assert_eq!((strikes(false, 16), strikes(true, 30)), (1000, 1000));
    // At 16 packets: 0.1 + 0.9 / 15 = 0.16, so two of 1 / 0.16 + 1 packets.
    assert!((200..350).contains(&strikes(true, 16)), "{}", strikes(true, 16));
    assert_eq!((strikes(true, 4), strikes(false, 4)), (0, 0));
}

/// RFC 8033: the delay of a stream that cannot be slowed down is held by dropping its surplus: a fifth at 1.25 times
/// what the link carries.
#[test]
fn pie_drops_the_surplus_and_holds_the_delay() {
    let pie = Pie { ecn: false, ..Pie::DEFAULT };
    let mut link = link(Management::Pie(pie));
    let outcome = offer(&mut link, 800, 20_000_000, &[CAPABLE]);
    let late = |time: u64| time > 10_000_000;
    let delays: Vec<u64> = outcome
        .delivered
        .iter()
        .filter(|packet| late(packet.0))
        .map(|&(time, number, _)| time - u64::from(number) * 800 - 11_000)
        .collect();
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64 / 1000.0;
    assert!((8.0..25.0).contains(&mean), "mean delay {mean} ms");
    let dropped = outcome.dropped.iter().filter(|(time, _)| late(*time)).count() as f64;
    let share = dropped / (dropped + delays.len() as f64);
    assert!((share - 0.2).abs() < 0.02, "{share}");
}

#[test]
fn pie_lets_a_short_burst_pass() {
    let mut link = link(Management::Pie(Pie { ecn: false, ..Pie::DEFAULT }));
    // Twice the rate for 100 ms makes 100 ms of queue, within the allowance of 150 ms.
    let outcome = offer(&mut link, 500, 100_000, &[CAPABLE]);
    assert!(outcome.dropped.is_empty(), "{:?}", outcome.dropped);
}

/// Strikes among `count` packets of `size_bytes` with `bytes` waiting, thresholds of 5 and 15 packets of 1000 bytes.
fn strikes_in_bytes(count: u64, size_bytes: u32, bytes: u64) -> usize {
    let red = Red { weight: 1.0, mean_packet_bytes: Some(1000), ..Red::DEFAULT };
    let mut state = super::red::RedState::new(red, Seed(3).stream("red"));
    let time_s = f64::from(size_bytes) / 1e6;
    let found = super::red::Found { packets: bytes as usize / 100, bytes, size_bytes, time_s };
    (1..=count).filter(|step| state.judge(at(step * 1000), found, CAPABLE) != super::Verdict::Pass).count()
}

/// Bytes wait, however many packets they are, and a packet is struck in proportion to its size.
#[test]
fn red_in_bytes_strikes_small_packets_less_often() {
    assert_eq!(strikes_in_bytes(1000, 1000, 4_900), 0, "49 packets of 100 bytes are less than five of 1000");
    // p_b is 1/20: whole packets are struck as often as where packets are counted, once in ten.
    let whole = strikes_in_bytes(100_000, 1000, 10_000);
    assert!((9_500..10_500).contains(&whole), "{whole}");
    let small = strikes_in_bytes(100_000, 100, 10_000);
    assert!(
        (whole as f64 / small as f64 - 10.0).abs() < 2.0,
        "{small} of a tenth of the size, {whole} whole"
    );
}

/// Adaptive RED, section 4: 5 ms of the link lie half-way between the thresholds, and never less than 5 packets below.
#[test]
fn automatic_thresholds_follow_the_rate() {
    let mut red = Red::DEFAULT;
    red.follow(1_000.0);
    assert_eq!((red.min_threshold_packets, red.max_threshold_packets), (5.0, 15.0));
    assert!((red.weight - 0.001).abs() < 1e-6, "{}", red.weight);
    red.follow(25_000.0);
    assert_eq!((red.min_threshold_packets, red.max_threshold_packets), (62.5, 187.5));
    assert!((red.weight - 0.00004).abs() < 1e-8, "{}", red.weight);
    // 12.5 Mbyte/s are 25,000 packets of 500 bytes a second: 60 of them are below the threshold, 180 are not.
    let automatic = Red { automatic: true, weight: 1.0, gentle: false, ..Red::DEFAULT };
    let struck = |packets: usize| {
        let mut state = super::red::RedState::new(automatic, Seed(3).stream("red"));
        let found = super::red::Found { packets, bytes: 0, size_bytes: 1500, time_s: 1500.0 / 12.5e6 };
        (1..=400_000u64).any(|step| state.judge(at(step * 100), found, CAPABLE) != super::Verdict::Pass)
    };
    assert_eq!((struck(60), struck(180)), (false, true));
}
