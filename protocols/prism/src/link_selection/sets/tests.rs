use super::{Candidate, Set, choose, nearest_first, sum, value};
use crate::ids::LinkId;
use alloc::vec::Vec;
use prismux_endpoint::random::{RandomStream, Seed};

/// Links of 1.25 MB/s each.
fn equal(count: usize, rtt: f64) -> Vec<Candidate> {
    (0..count).map(|id| Candidate { id: LinkId(id as u8), rate: 1.25e6, rtt, repairing: 0.0 }).collect()
}

fn first(count: usize) -> Set {
    (0..count).collect()
}

/// Links as they come, nearest first; at most this share of their packets is being repaired.
fn drawn(random: &mut RandomStream, count: usize, repairing: f64) -> Vec<Candidate> {
    let one = |id: usize, random: &mut RandomStream| Candidate {
        id: LinkId(id as u8),
        rate: 1e5 + 5e6 * random.uniform(),
        rtt: 0.01 + 0.3 * random.uniform(),
        repairing: repairing * random.uniform(),
    };
    let mut links: Vec<Candidate> = (0..count).map(|id| one(id, random)).collect();
    links.sort_by(|a, b| a.rtt.total_cmp(&b.rtt));
    links
}

/// What the set that was found among many is worth, as a share of the best of all sets; the least of many draws.
fn least_share(seed: u64, repairing: f64) -> f64 {
    let mut random = Seed(seed).stream("sets");
    let share = |_| {
        let links = drawn(&mut random, 8, repairing);
        let flight = 1e5 + 3e6 * random.uniform();
        let best = choose(&links, flight, &Set::default());
        let found = nearest_first(&links, flight, &first(8));
        value(sum(&links, &found), flight) / value(sum(&links, &best), flight)
    };
    (0..300).map(share).fold(1.0, f64::min)
}

#[test]
fn of_two_hundred_equal_links_all_are_used_whichever_are_at_present() {
    let links = equal(200, 0.05);
    for present in [Set::default(), first(1), first(8), first(199), first(200)] {
        assert_eq!(choose(&links, f64::MAX, &present), first(200));
        assert_eq!(choose(&links, 20e6, &present), first(200), "senders that cover all of them");
    }
}

#[test]
fn one_more_equal_link_joins_whatever_its_place() {
    let links = equal(200, 0.05);
    for missing in [0, 8, 64, 127, 128, 199] {
        let present: Set = (0..200).filter(|&place| place != missing).collect();
        assert_eq!(choose(&links, 20e6, &present), first(200));
    }
}

#[test]
fn senders_with_little_under_way_use_as_many_links_as_that_covers() {
    // A link of 1.25 MB/s and 50 ms holds 62,500 bytes.
    let links = equal(200, 0.05);
    for (flight, used) in [(50_000.0, 1), (125_000.0, 2), (625_000.0, 10), (6_250_000.0, 100)] {
        assert_eq!(choose(&links, flight, &first(used)), first(used));
        let from_none = choose(&links, flight, &Set::default());
        let count = (0..200).filter(|&place| from_none.contains(place)).count();
        assert!(count <= used && count >= used * 97 / 100, "{count} of {used}");
    }
}

#[test]
fn far_links_wait_until_the_flight_covers_their_delay() {
    let far = equal(200, 0.5).split_off(100);
    let links = [equal(100, 0.02), far].concat();
    assert_eq!(choose(&links, 3e6, &first(100)), first(100));
    assert_eq!(choose(&links, 3e6, &first(200)), first(100));
    assert_eq!(choose(&links, 200e6, &first(100)), first(200));
}

#[test]
fn what_is_chosen_of_many_is_worth_as_much_as_the_best_of_all_sets() {
    assert!(least_share(1, 0.0) > 1.0 - 1e-12);
    // Repairs are reckoned over the nearest link, in use or not.
    assert!(least_share(2, 0.5) > 0.9);
}
