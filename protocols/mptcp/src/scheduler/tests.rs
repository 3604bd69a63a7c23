//! Each scheduler against what its source says, on two subflows.
use super::{Chooser, CustomScheduler, Offer, SubflowView};
use crate::config::Scheduler;
use alloc::boxed::Box;
use prismux_units::{Duration, Instant};

/// A subflow of ten segments of 1000 bytes with the round-trip time in milliseconds, `free` of them free.
fn subflow(rtt: u64, free: u64) -> SubflowView {
    SubflowView {
        usable: true,
        has_room: free > 0,
        srtt: Duration::from_millis(rtt),
        rttvar: Duration::ZERO,
        window_bytes: 10_000,
        in_flight_bytes: 10_000 - 1000 * free,
        held_bytes: 10_000 - 1000 * free,
        queue_bytes: 60_000,
        rate: 10_000.0 / (rtt as f64 / 1000.0),
        segment_bytes: 1000,
    }
}

fn offer(unsent_bytes: u64, window_bytes: u64) -> Offer {
    Offer { now: Instant::ZERO, next_byte: 0, unsent_bytes, window_bytes, was_blocked: false }
}

#[test]
fn least_rtt_takes_the_quickest_with_room() {
    let mut chooser = Chooser::new(Scheduler::MinRtt);
    let plenty = offer(1_000_000, 1_000_000);
    assert_eq!(chooser.choose(&[subflow(50, 1), subflow(10, 1)], &plenty), Some(1));
    assert_eq!(chooser.choose(&[subflow(50, 1), subflow(10, 0)], &plenty), Some(0));
    assert_eq!(chooser.choose(&[subflow(50, 0), subflow(10, 0)], &plenty), None);
}

#[test]
fn round_robin_deals_in_turn_and_skips_the_full() {
    let mut chooser = Chooser::new(Scheduler::RoundRobin);
    let plenty = offer(1_000_000, 1_000_000);
    let views = [subflow(10, 1), subflow(20, 0), subflow(30, 1)];
    let dealt: [_; 4] = core::array::from_fn(|_| chooser.choose(&views, &plenty));
    assert_eq!(dealt, [Some(0), Some(2), Some(0), Some(2)]);
}

/// The slow subflow's round trip is five of the fast one's: that could send 1000 × (10 + 2) × 5 = 60,000 bytes
/// meanwhile, which fit a window of 100,000 beside 9000 and 1000 of the slow subflow, and do not fit one of 60,000.
#[test]
fn blest_leaves_the_slow_subflow_idle_where_it_would_fill_the_window() {
    let views = [subflow(10, 0), subflow(50, 1)];
    let mut chooser = Chooser::new(Scheduler::Blest);
    assert_eq!(chooser.choose(&views, &offer(1_000_000, 100_000 - 19_000)), Some(1));
    let mut chooser = Chooser::new(Scheduler::Blest);
    assert_eq!(chooser.choose(&views, &offer(1_000_000, 60_000 - 19_000)), None);
}

/// Twenty segments left: the fast subflow needs 1 + 2 rounds of 10 ms, the slow one 100 ms for its first.
#[test]
fn ecf_waits_for_the_fast_subflow_where_that_is_done_earlier() {
    let views = [subflow(10, 0), subflow(100, 1)];
    let mut chooser = Chooser::new(Scheduler::Ecf);
    assert_eq!(chooser.choose(&views, &offer(20_000, 1_000_000)), None);
    // With 200 segments left it needs 21 rounds, 210 ms: both help, but not yet at 11 rounds more than the bound.
    assert_eq!(chooser.choose(&views, &offer(200_000, 1_000_000)), Some(1));
}

/// 10 kB at 1 MB/s linger for 10 ms, 40 kB at 10 MB/s for 4 ms. A full queue keeps everybody waiting.
#[test]
fn linux_queues_where_what_is_held_is_sent_soonest() {
    let mut chooser = Chooser::new(Scheduler::Linux);
    let plenty = offer(1_000_000, 1_000_000);
    let slow = SubflowView { held_bytes: 10_000, rate: 1e6, ..subflow(10, 0) };
    let fast = SubflowView { held_bytes: 40_000, rate: 1e7, ..subflow(10, 0) };
    assert_eq!(chooser.choose(&[slow, fast], &plenty), Some(1));
    let full = SubflowView { held_bytes: 60_000, ..fast };
    assert_eq!(chooser.choose(&[slow, full], &plenty), None);
}

/// Always the same place.
#[derive(Debug)]
struct Fixed(Option<usize>);

impl CustomScheduler for Fixed {
    fn choose(&mut self, _: &[SubflowView], _: &Offer) -> Option<usize> {
        self.0
    }
}

#[test]
fn a_scheduler_from_outside_chooses_waits_and_cannot_choose_what_has_no_room() {
    let views = [subflow(10, 1), subflow(50, 0)];
    let plenty = offer(1_000_000, 1_000_000);
    for (choice, expected) in [(Some(0), Some(0)), (None, None), (Some(1), None), (Some(7), None)] {
        assert_eq!(Chooser::custom(Box::new(Fixed(choice))).choose(&views, &plenty), expected);
    }
}
