//! Members of a community that share a file, in virtual time, each with an uplink of its own.
mod common;

use common::{Commons, Manner, SECRET};
use prismux_community::contents::Reason;
use prismux_fetch::member::{CommunitySecret, MemberError, MemberEvent};
use prismux_units::{Duration, Instant, Rate};

const MB: usize = 1_000_000;

fn mbps(rate: u64) -> Rate {
    Rate::from_mbps(rate)
}

/// Bits of the file over the sum of the uplinks.
fn ideal(commons: &Commons, rates: &[u64]) -> Duration {
    let sum: u64 = rates.iter().sum();
    Duration::from_micros(8 * commons.content.len() as u64 / sum)
}

#[test]
fn three_members_take_a_third_each_and_every_byte_once() {
    let mut commons = Commons::new(12 * MB, &[mbps(8); 3], 1);
    commons.run();
    let ideal = ideal(&commons, &[8; 3]);
    let mut origin_bytes = 0;
    for index in 0..3 {
        commons.is_whole(index);
        let counters = commons.counters(index);
        origin_bytes += counters.origin_bytes;
        assert!(commons.took(index) < ideal * 14 / 10, "{} for {ideal}", commons.took(index));
        assert!(counters.wasted_bytes < 100_000, "{counters:?}");
        assert_eq!(counters.origin_bytes + counters.neighbour_bytes, 12 * MB as u64);
    }
    // All together little more than the file has left the origin.
    assert!(origin_bytes < 13 * MB as u64, "{origin_bytes}");
}

#[test]
fn the_quicker_uplink_takes_more_and_nobody_waits_for_the_slow_one() {
    let mut commons = Commons::new(12 * MB, &[mbps(16), mbps(2)], 2);
    commons.run();
    let ideal = ideal(&commons, &[16, 2]);
    for index in 0..2 {
        commons.is_whole(index);
        assert!(commons.took(index) < ideal * 15 / 10, "{} for {ideal}", commons.took(index));
    }
    assert!(commons.counters(0).origin_bytes > 3 * commons.counters(1).origin_bytes);
}

#[test]
fn what_a_member_owes_that_dies_is_taken_elsewhere() {
    let mut commons = Commons::new(6 * MB, &[mbps(8); 3], 3);
    commons.run_until(|commons| commons.now >= Instant::from_millis(2000));
    commons.kill(2);
    commons.run();
    let alone = ideal(&commons, &[8]);
    for index in 0..2 {
        commons.is_whole(index);
        assert!(commons.took(index) < alone * 8 / 10, "{} of {alone}", commons.took(index));
    }
    commons.run_until(|commons| commons.now >= Instant::from_secs(6));
    assert!(commons.left(0, 2, Reason::Silent) && commons.left(1, 2, Reason::Silent));
}

#[test]
fn who_gives_wrong_bytes_is_found_out_and_left_and_everybody_else_is_whole() {
    let mut commons = Commons::new(6 * MB, &[mbps(8); 3], 4);
    commons.become_of(2, Manner::Lies);
    commons.run();
    for index in 0..2 {
        commons.is_whole(index);
        assert!(commons.left(index, 2, Reason::Lied), "{:?}", commons.events(index));
        let counters = commons.counters(index);
        assert!((1..=2).contains(&counters.plan.wrong), "{counters:?}");
    }
}

#[test]
fn who_does_not_know_the_secret_gets_nothing_and_is_not_believed() {
    let mut commons = Commons::new(2 * MB, &[mbps(8); 2], 5);
    let stranger = CommunitySecret::new("not the secret of these members").expect("long enough");
    commons.restart_with(1, stranger);
    commons.run();
    for index in 0..2 {
        commons.is_whole(index);
        let counters = commons.counters(index);
        assert_eq!((counters.neighbour_bytes, counters.given_bytes), (0, 0));
        assert!(counters.announcements.forged > 0);
    }
}

#[test]
fn who_comes_later_gets_what_is_there_from_its_neighbours_alone() {
    let mut commons = Commons::new(2 * MB, &[mbps(8); 2], 6);
    commons.hold_back(1, Instant::from_secs(10));
    commons.run();
    commons.is_whole(1);
    let counters = commons.counters(1);
    assert!(counters.neighbour_bytes > MB as u64, "{counters:?}");
    assert!(commons.took(1) < Duration::from_millis(1500), "{}", commons.took(1));
}

#[test]
fn what_an_earlier_attempt_left_is_used_as_far_as_it_is_right() {
    let mut commons = Commons::new(2 * MB, &[mbps(8)], 7);
    // Of the second piece some bytes are wrong.
    commons.leave_behind(0, &[0, 1, 2], 300_000);
    commons.run();
    commons.is_whole(0);
    let counters = commons.counters(0);
    assert_eq!(counters.origin_bytes, 2 * MB as u64 - 2 * (256 << 10));
}

#[test]
fn an_empty_file_and_one_of_a_byte_are_shared_too() {
    for bytes in [0, 1] {
        let mut commons = Commons::new(bytes, &[mbps(8); 2], 8);
        commons.run();
        commons.is_whole(0);
        commons.is_whole(1);
    }
}

#[test]
fn an_origin_that_is_silent_ends_it_with_a_remedy_and_neighbours_go_on_without_it() {
    let mut commons = Commons::new(2 * MB, &[mbps(8); 2], 9);
    // One has nothing from the origin but the list: everything else comes from the other.
    commons.run_until(|commons| {
        commons.events(1).iter().any(|event| matches!(event, MemberEvent::Identified(_)))
    });
    commons.cut(1);
    commons.run();
    commons.is_whole(1);
    assert_eq!(commons.counters(1).origin_bytes, 0);

    let mut commons = Commons::new(2 * MB, &[mbps(8)], 10);
    commons.run_until(|commons| commons.counters(0).origin_bytes > 0);
    commons.cut(0);
    commons.run();
    let failure = commons.failure(0).expect("it cannot be complete");
    assert!(matches!(failure, MemberError::Silence(_)));
    assert!(failure.to_string().contains("remedy"), "{failure}");
}

#[test]
fn a_server_without_lists_is_told_of_with_a_remedy() {
    let mut commons = Commons::new(MB, &[mbps(8)], 11);
    commons.forget_lists();
    commons.run();
    let failure = commons.failure(0).expect("no list").to_string();
    assert!(failure.contains("without --share"), "{failure}");
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    let of = |seed| {
        let mut commons = Commons::new(2 * MB, &[mbps(8); 3], seed);
        commons.run();
        (commons.now, commons.counters(0), commons.counters(1))
    };
    assert_eq!(of(12), of(12));
    assert_ne!(of(12).0, of(13).0);
    assert!(SECRET.len() >= 16);
}
