use super::{CHECK_INTERVAL, PathSearch};
use prismux_units::{Duration, Instant};

const WIDEST: usize = 1500;

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// Has a check go on until it rests: a path that takes `takes(time, bytes)`, and answers after `rtt_ms`. Returns the
/// bytes sent.
fn run(
    path: &mut PathSearch,
    (from_ms, to_ms): (u64, u64),
    rtt_ms: u64,
    takes: impl Fn(u64, usize) -> bool,
) -> usize {
    let (mut under_way, mut sent_bytes) = (Vec::new(), 0);
    for time in from_ms..to_ms {
        for (number, bytes) in path.poll(at(time)) {
            sent_bytes += bytes;
            if takes(time, bytes) {
                under_way.push((time + rtt_ms, number));
            }
        }
        for (_, number) in under_way.extract_if(.., |(due, _)| *due <= time) {
            path.answered(number);
        }
    }
    sent_bytes
}

fn begun() -> PathSearch {
    let mut path = PathSearch::new(WIDEST);
    path.begin(at(0));
    path
}

#[test]
fn a_path_that_takes_everything_costs_one_packet() {
    let mut path = begun();
    assert_eq!(run(&mut path, (0, 10_000), 80, |_, _| true), WIDEST);
    assert_eq!((path.limit(), path.deadline()), (None, None), "an idle path is left alone");
}

#[test]
fn every_common_size_is_found_within_two_seconds() {
    for limit in [1492, 1480, 1460, 1420, 1400, 1300, 1280] {
        let mut path = begun();
        run(&mut path, (0, 2_000), 200, |_, bytes| bytes <= limit);
        assert_eq!(path.limit(), Some(limit));
    }
    let mut path = begun();
    run(&mut path, (0, 2_000), 200, |_, bytes| bytes <= 1399);
    assert_eq!(path.limit(), Some(1380), "the next one below");
}

#[test]
fn a_far_end_that_knows_no_probes_says_nothing_about_the_path() {
    let mut path = begun();
    let bytes = run(&mut path, (0, 60_000), 80, |_, _| false);
    assert!(path.limit().is_none() && bytes < 22_000, "{bytes}");
    path.sent(at(60_000));
    assert_eq!(path.deadline(), None, "it is not asked again");
}

#[test]
fn one_lost_probe_says_nothing_about_the_path() {
    let mut path = begun();
    run(&mut path, (0, 10_000), 80, |time, _| time > 600);
    assert_eq!(path.limit(), None);
}

#[test]
fn a_round_trip_longer_than_a_check_makes_no_path_narrower_than_it_is() {
    for (takes, limit) in [(1500, None), (1400, Some(1400))] {
        for rtt_ms in [700, 1500, 2500] {
            let mut path = begun();
            run(&mut path, (0, 8_000), rtt_ms, |_, bytes| bytes <= takes);
            path.sent(at(8_000));
            run(&mut path, (8_000, 30_000), rtt_ms, |_, bytes| bytes <= takes);
            assert!(path.limit() == limit || rtt_ms > 2_000 && path.limit().is_none(), "{rtt_ms} ms");
        }
    }
}

#[test]
fn an_answer_that_comes_after_the_end_of_the_check_counts() {
    let mut path = begun();
    let widest = path.poll(at(0))[0].0;
    run(&mut path, (1, 4_000), 80, |_, bytes| bytes <= 1400);
    assert_eq!(path.limit(), Some(1400));
    assert!(path.answered(widest), "the queue was long");
    assert_eq!(path.limit(), None);
}

#[test]
fn a_path_that_becomes_narrow_is_noticed_and_one_that_becomes_wide_too() {
    let mut path = begun();
    run(&mut path, (0, 1_000), 80, |_, _| true);
    path.sent(at(1_000));
    let due = path.deadline().unwrap();
    assert_eq!(due, at(1_000) + CHECK_INTERVAL);
    run(&mut path, (1_000, 20_000), 80, |_, bytes| bytes <= 1400);
    assert_eq!(path.limit(), Some(1400));
    path.sent(at(20_000));
    let bytes = run(&mut path, (20_000, 40_000), 80, |_, bytes| bytes <= 1400);
    assert_eq!((path.limit(), bytes), (Some(1400), 1400 + WIDEST), "as before: two packets");
    path.sent(at(40_000));
    run(&mut path, (40_000, 60_000), 80, |_, _| true);
    assert_eq!(path.limit(), None);
}

#[test]
fn what_is_known_of_a_path_stays_while_nothing_is_answered() {
    let mut path = begun();
    run(&mut path, (0, 4_000), 80, |_, bytes| bytes <= 1400);
    path.begin(at(4_000));
    run(&mut path, (4_000, 10_000), 80, |_, _| false);
    assert_eq!(path.limit(), Some(1400));
}

#[test]
fn answers_to_earlier_checks_and_to_sizes_that_nobody_sends_count_for_nothing() {
    let mut path = begun();
    let old = path.poll(at(0))[0].0;
    run(&mut path, (1, 4_000), 80, |_, bytes| bytes <= 1400);
    path.begin(at(4_000));
    assert!(!path.answered(old) && !path.answered(u64::MAX));
    let new = path.poll(at(4_000))[0].0;
    assert!(!path.answered(new & !0xffff) && !path.answered(new & !0xffff | 1), "no path is so narrow");
    assert_eq!(path.limit(), Some(1400));
    path.begin(at(4_001));
    assert_eq!(path.poll(at(4_001)).len(), 0, "a check under way is not begun anew");
}

proptest::proptest! {
    /// Wide paths that lose every fifth packet, however long they take to answer: header bytes at most are given away.
    #[test]
    fn a_path_that_loses_packets_of_every_size_is_not_taken_for_a_narrow_one(
        fates: [u64; 32],
        rtt_ms in 5_u64..900,
    ) {
        let mut path = begun();
        let arrives = |time: u64, bytes: usize| {
            let drawn = fates[bytes % 32].rotate_left((time % 64) as u32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (drawn >> 32) % 5 > 0
        };
        run(&mut path, (0, 10_000), rtt_ms, arrives);
        proptest::prop_assert!(path.limit().is_none_or(|bytes| bytes >= 1400), "{:?}", path.limit());
    }
}
