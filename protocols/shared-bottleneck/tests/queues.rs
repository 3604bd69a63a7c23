//! Two links whose packets pass queues that are computed packet by packet: one that both share, or one for each.
use prismux_shared_bottleneck::{Detector, Finding, Passed, Verdict};
use prismux_units::{Duration, Instant};
use proptest::prelude::*;

/// Numbers at random, always the same for a seed.
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }
}

/// What a packet met.
#[derive(Clone, Copy)]
struct Packet {
    link: usize,
    sent_s: f64,
    bytes: f64,
    arrived_s: f64,
}

const PACKET_BYTES: f64 = 1400.0;

/// Packets of both links, each at `load` of its half of 20 Mbit/s, through queues that lie so far behind the sender.
fn packets(seed: u64, seconds: f64, is_shared: bool, before_s: [f64; 2]) -> Vec<Packet> {
    let mut draws = Draws(seed);
    let mut all = Vec::new();
    for link in 0..2 {
        let mut at_s = 0.0;
        while at_s < seconds {
            at_s += draws.exponential(PACKET_BYTES * 8.0 / 9.7e6);
            all.push(Packet { link, sent_s: at_s, bytes: PACKET_BYTES, arrived_s: 0.0 });
        }
    }
    let reaches = |packet: &Packet| packet.sent_s + before_s[packet.link];
    all.sort_by(|a, b| reaches(a).total_cmp(&reaches(b)));
    let mut free_s = [0.0_f64; 2];
    for packet in &mut all {
        let (queue, rate) = if is_shared { (0, 20e6) } else { (packet.link, 10e6) };
        let starts = free_s[queue].max(packet.sent_s + before_s[packet.link]);
        free_s[queue] = starts + packet.bytes * 8.0 / rate;
        packet.arrived_s = free_s[queue] + 0.01;
    }
    all
}

/// What the detector hears of them: everything sent, and of every fourth packet its delay, 30 ms after it came.
fn run(packets: &[Packet], before_s: [f64; 2], numbers: [u8; 2]) -> (Detector, Vec<Finding>) {
    let mut sent_before = [0_u64; 2];
    let mut count = [0_u32; 2];
    let mut heard: Vec<(f64, usize, Option<Passed>)> = Vec::new();
    let mut by_sending = packets.to_vec();
    by_sending.sort_by(|a, b| a.sent_s.total_cmp(&b.sent_s));
    let instant = |s: f64| Instant::from_nanos((s * 1e9) as u64);
    for packet in &by_sending {
        let link = packet.link;
        heard.push((packet.sent_s, link, None));
        count[link] += 1;
        if count[link] % 4 == 0 {
            let took_s = packet.arrived_s - packet.sent_s;
            heard.push((
                packet.arrived_s + 0.03,
                link,
                Some(Passed {
                    sent_at: instant(packet.sent_s),
                    sent_before_bytes: sent_before[link],
                    delay_nanos: (took_s * 1e9) as i64 - 5_000_000_000 * link as i64,
                    queueing_delay: Duration::from_nanos(((took_s - before_s[link] - 0.011) * 1e9) as u64),
                }),
            ));
        }
        sent_before[link] += packet.bytes as u64;
    }
    heard.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut detector = Detector::default();
    let mut changes = Vec::new();
    for (at_s, link, passed) in heard {
        match passed {
            None => detector.sent(instant(at_s), numbers[link], PACKET_BYTES as u32),
            Some(passed) => detector.passed(instant(at_s), numbers[link], passed),
        }
        changes.extend(std::iter::from_fn(|| detector.poll_event()));
    }
    (detector, changes)
}

#[test]
fn one_queue_is_found_wherever_it_lies_and_its_rate_is_known() {
    for (seed, before_s) in [(1, [0.0, 0.0]), (2, [0.04, 0.0]), (3, [0.0, 0.07]), (4, [0.02, 0.08])] {
        let (detector, changes) = run(&packets(seed, 60.0, true, before_s), before_s, [0, 1]);
        let found: Vec<_> = detector.findings().collect();
        assert_eq!(
            (found.len(), found[0].links, found[0].verdict),
            (1, (0, 1), Verdict::Shared),
            "{found:?}"
        );
        assert_eq!(changes.len(), 1, "{changes:?}");
        let evidence = found[0].evidence.unwrap();
        let rate = evidence.rate.unwrap().as_bps() as f64;
        assert!((19e6..21e6).contains(&rate) && evidence.gain > 2.0, "{evidence:?}");
    }
}

#[test]
fn two_queues_are_two_however_alike_their_load_is() {
    for seed in 1..=8 {
        let before_s = [0.0, 0.01 * seed as f64];
        let (detector, _) = run(&packets(seed, 60.0, false, before_s), before_s, [0, 1]);
        let found: Vec<_> = detector.findings().collect();
        assert_eq!(found[0].verdict, Verdict::Separate, "{seed}: {found:?}");
        assert!(found[0].evidence.unwrap().rate.is_none());
    }
}

#[test]
fn a_link_that_is_another_one_begins_anew() {
    let (mut detector, _) = run(&packets(1, 40.0, true, [0.0; 2]), [0.0; 2], [0, 1]);
    assert_eq!(detector.findings().count(), 1);
    detector.forget(1);
    assert_eq!(detector.findings().count(), 0);
}

#[test]
fn the_order_of_links_does_not_matter() {
    for is_shared in [true, false] {
        let all = packets(5, 60.0, is_shared, [0.0, 0.02]);
        let of = |numbers| run(&all, [0.0, 0.02], numbers).0.findings().collect::<Vec<_>>();
        let (one, other) = (of([0, 1]), of([6, 3]));
        assert_eq!((one[0].verdict, one[0].is_alike), (other[0].verdict, other[0].is_alike));
        assert_eq!((one[0].links, other[0].links), ((0, 1), (3, 6)));
        let gain = |found: &[Finding]| found[0].evidence.unwrap().gain;
        assert!((gain(&one) / gain(&other) - 1.0).abs() < 1e-6, "{one:?} {other:?}");
    }
}

proptest! {
    /// Whatever a host says, in whatever order, and however wrong: nothing panics, and nothing is kept of more than
    /// the first eight links.
    #[test]
    fn nothing_that_is_said_does_harm(said in prop::collection::vec(
        (any::<u8>(), any::<u64>(), any::<u64>(), any::<i64>(), any::<u64>(), any::<bool>()), 0..200)
    ) {
        let mut detector = Detector::default();
        for (link, at, before, delay, queueing, is_sent) in said {
            // Half of the times are within seconds of one another, as those of a host are.
            let at = if at % 2 == 0 { at % 20_000_000_000 } else { at };
            let (link, now) = (link % 16, Instant::from_nanos(at));
            if is_sent {
                detector.sent(now, link, before as u32);
            }
            detector.lost(link, before);
            detector.passed(now, link, Passed {
                sent_at: Instant::from_nanos(before),
                sent_before_bytes: before,
                delay_nanos: delay,
                queueing_delay: Duration::from_nanos(queueing),
            });
            prop_assert!(detector.findings().all(|finding| finding.links.0 < finding.links.1 && finding.links.1 < 8));
        }
    }
}
