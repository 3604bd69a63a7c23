//! Probes for bandwidth: when they come, when they end, what their losses and those between them mean.
use super::{Drive, MSS};
use crate::engine::congestion::bbr3::State;
use crate::engine::congestion::policy::CongestionControl;
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::{Duration, Rate};

#[test]
fn a_probe_comes_after_two_to_three_seconds_or_as_often_as_reno_loses() {
    let mut drive = Drive::cruising();
    let start = drive.sample.now;
    while drive.bbr.state == State::Cruise {
        drive.round(8);
    }
    let waited = drive.sample.now - start;
    assert_eq!(drive.bbr.state, State::Refill);
    assert!(waited > Duration::from_millis(1700) && waited < Duration::from_millis(3200), "{waited}");

    // Twelve segments of product: Reno's window would lose one in as many round trips.
    let mut small = Drive::new();
    for mbps in [1, 1, 1, 1, 1, 1] {
        small.round(mbps);
    }
    let start = small.bbr.rounds.count;
    while small.bbr.state != State::Refill {
        small.round(1);
    }
    assert!((small.bbr.rounds.count - start).abs_diff(12) <= 2, "{}", small.bbr.rounds.count - start);
}

#[test]
fn down_ends_with_headroom_for_others() {
    let mut drive = Drive::cruising();
    drive.bbr.inflight_longterm = Some(100 * MSS);
    drive.bbr.start_down(drive.sample.now);
    drive.sample.in_flight = 90 * MSS;
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Down, "85 are left to it");
    drive.sample.in_flight = 85 * MSS;
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Cruise);
    assert!(drive.window.cwnd <= 85 * MSS);

    drive.bbr.start_down(drive.sample.now);
    drive.sample.in_flight = 150 * MSS;
    drive.pass(Duration::from_secs(3));
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Refill, "it probes without having drained");
}

#[test]
fn a_probe_ends_on_a_plateau_and_not_while_the_application_is_the_limit() {
    let mut drive = Drive::probing();
    assert_eq!(drive.bbr.state.cwnd_gain(), 2.25);
    drive.sample.is_app_limited = true;
    for _ in 0..10 {
        drive.round(8);
        assert_eq!(drive.bbr.state, State::Up);
    }
    drive.sample.is_app_limited = false;
    for _ in 0..2 {
        drive.round(9);
        assert_eq!(drive.bbr.state, State::Up);
    }
    drive.round(9);
    assert_eq!(drive.bbr.state, State::Down);
    assert_eq!(drive.bbr.max_bandwidth.get(), Some(Rate::from_mbps(9)));
}

#[test]
fn losses_of_a_probe_bound_what_may_be_in_flight() {
    for is_app_limited in [false, true] {
        let mut drive = Drive::probing();
        drive.sample.is_app_limited = is_app_limited;
        drive.lose(2, 120 * MSS);
        assert_eq!(drive.bbr.state, State::Up, "two of 120 are fewer than 2 %");
        drive.lose(4, 120 * MSS);
        assert_eq!(drive.bbr.state, State::Down);
        let bound = drive.bbr.inflight_longterm;
        match is_app_limited {
            true => assert_eq!(bound, None, "so little in flight says nothing"),
            false => {
                // The loss that crosses 2 %, less what lay before it.
                let bound = bound.expect("bounded");
                assert!(bound > 115 * MSS && bound <= 120 * MSS, "{bound}");
            }
        }
        assert!(!drive.bbr.cycle.is_probe_sample, "once a probe");
    }
}

#[test]
fn the_bound_is_never_below_seven_tenths_of_the_target() {
    let mut drive = Drive::probing();
    drive.lose(2, 20 * MSS);
    let target = drive.product().min(drive.window.cwnd);
    let bound = drive.bbr.inflight_longterm.unwrap();
    assert!(bound.abs_diff(target * 7 / 10) < MSS, "{bound} of {target}");
}

#[test]
fn after_a_lossy_probe_the_next_stops_at_the_bound_and_a_clean_one_goes_on_at_once() {
    let mut drive = Drive::probing();
    drive.lose(4, 120 * MSS);
    let bound = drive.bbr.inflight_longterm.unwrap();
    (drive.sample.lost_since, drive.sample.sent_in_flight) = (0, 90 * MSS);
    drive.round(8);
    drive.pass(Duration::from_secs(4));
    drive.round(8);
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Up);
    drive.sample.in_flight = bound;
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Down, "as soon as so much is in flight");
    drive.sample.in_flight = 90 * MSS;
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Refill, "nothing was lost: again, without a cruise");
    drive.round(8);
    drive.sample.in_flight = bound;
    drive.round(8);
    assert_eq!(drive.bbr.state, State::Up, "this one stays");
}

#[test]
fn the_steps_by_which_the_bound_grows_double() {
    let mut drive = Drive::probing();
    drive.bbr.inflight_longterm = Some(100 * MSS);
    drive.window.cwnd = 100 * MSS;
    // As at the start of the probe, whose window was another.
    drive.bbr.raise_slope(&drive.window);
    drive.sample.is_window_limited = true;
    let mut bounds = vec![100 * MSS];
    for _ in 0..5 {
        drive.window.cwnd = drive.bbr.inflight_longterm.unwrap();
        drive.round(8);
        // Two more acknowledgements within the round: the window follows.
        (drive.sample.prior_delivered, drive.sample.newly_delivered) = (Some(0), 0);
        for _ in 0..2 {
            drive.window.cwnd = drive.bbr.inflight_longterm.unwrap();
            drive.bbr.on_rate_sample(&drive.sample, &mut drive.window);
        }
        bounds.push(drive.bbr.inflight_longterm.unwrap());
        assert_eq!(drive.bbr.state, State::Up, "a rate that the bound holds down is no plateau");
    }
    let steps: Vec<u64> = bounds.windows(2).map(|pair| (pair[1] - pair[0]) / MSS).collect();
    // A round trip brings back somewhat less than the bound, which has grown.
    let is_near = |(step, doubled): (&u64, &u64)| *step <= *doubled && *step * 4 >= *doubled * 3;
    assert!(steps.iter().zip(&[2, 4, 8, 16, 32]).all(is_near), "{steps:?}");
}

#[test]
fn losses_between_probes_lower_the_short_term_bounds_and_the_next_probe_lifts_them() {
    let mut drive = Drive::cruising();
    let cwnd = drive.window.cwnd;
    drive.lose(1, 100 * MSS);
    // The round that was under way, and the one with the loss.
    drive.round(6);
    drive.round(6);
    assert_eq!(drive.bbr.short_term.rate, Some(Rate::from_mbps(8)), "the latest maximum is no less");
    for _ in 0..3 {
        drive.lose(1, 100 * MSS);
        drive.round(6);
    }
    let bound = drive.bbr.short_term.rate.unwrap();
    assert!(bound < Rate::from_mbps(8) && bound >= Rate::from_mbps(6), "{bound:?}");
    assert!(drive.bbr.pacing_rate().unwrap() <= bound);
    assert!(drive.window.cwnd < cwnd);
    drive.pass(Duration::from_secs(3));
    drive.round(6);
    assert_eq!(drive.bbr.state, State::Refill);
    assert_eq!(drive.bbr.short_term.rate, None);
    drive.round(6);
    assert!(drive.bbr.pacing_rate().unwrap() > Rate::from_mbps(7), "the maximum of before is tried again");
}

#[test]
fn the_maximum_is_forgotten_after_two_cycles() {
    let mut drive = Drive::probing();
    assert_eq!(drive.bbr.max_bandwidth.get(), Some(Rate::from_mbps(8)));
    for (cycle, expected) in [(1, 8), (2, 1)] {
        while drive.bbr.state == State::Up {
            drive.round(1);
        }
        drive.round(1);
        assert_eq!(drive.bbr.max_bandwidth.get(), Some(Rate::from_mbps(expected)), "cycle {cycle}");
        drive.pass(Duration::from_secs(3));
        while drive.bbr.state != State::Up {
            drive.round(1);
        }
    }
}
