//! Rules that both structures share, and those of each.
use super::*;
use alloc::vec;

const fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

fn route(hosts: &[u8]) -> Vec<Ipv4Addr> {
    hosts.iter().copied().map(host).collect()
}

fn caches() -> [RouteCache; 2] {
    [CacheKind::Path { primary_paths: 3, secondary_paths: 3 }, CacheKind::Link { max_links: 12 }]
        .map(|kind| RouteCache::new(host(1), kind, Some(Duration::from_secs(300))))
}

#[test]
fn the_shortest_route_is_found_and_so_are_hosts_on_the_way() {
    for mut cache in caches() {
        cache.add(Instant::ZERO, &route(&[2, 3, 4]), Learned::Asked);
        cache.add(Instant::ZERO, &route(&[5, 4]), Learned::Seen);
        assert_eq!(cache.find(Instant::ZERO, host(4), false), Some(route(&[5, 4])));
        assert_eq!(cache.find(Instant::ZERO, host(3), false), Some(route(&[2, 3])));
        assert_eq!(cache.find(Instant::ZERO, host(9), false), None);
    }
}

#[test]
fn a_broken_link_is_forgotten_in_its_direction_with_all_behind_it() {
    for mut cache in caches() {
        cache.add(Instant::ZERO, &route(&[2, 3, 4]), Learned::Asked);
        cache.remove_link(host(3), host(2));
        assert_eq!(cache.find(Instant::ZERO, host(4), false), Some(route(&[2, 3, 4])));
        cache.remove_link(host(2), host(3));
        assert_eq!(cache.find(Instant::ZERO, host(4), false), None);
        assert_eq!(cache.find(Instant::ZERO, host(2), false), Some(route(&[2])));
        cache.remove_link(host(1), host(2));
        assert_eq!(cache.find(Instant::ZERO, host(2), false), None);
    }
}

#[test]
fn routes_with_a_host_twice_or_with_the_own_host_are_refused() {
    for mut cache in caches() {
        cache.add(Instant::ZERO, &route(&[2, 3, 2, 4]), Learned::Asked);
        cache.add(Instant::ZERO, &route(&[2, 1, 4]), Learned::Asked);
        cache.add(Instant::ZERO, &[], Learned::Asked);
        assert_eq!(cache.entries(), 0);
    }
}

#[test]
fn what_is_remembered_ages_and_is_bounded() {
    for mut cache in caches() {
        cache.add(Instant::ZERO, &route(&[2, 3]), Learned::Asked);
        assert_eq!(cache.find(Instant::from_secs(299), host(3), true), Some(route(&[2, 3])));
        assert_eq!(cache.find(Instant::from_secs(300), host(3), true), None);
        for number in 10..200 {
            cache.add(Instant::from_secs(400), &route(&[number, 3]), Learned::Asked);
            cache.add(Instant::from_secs(400), &route(&[number, 4]), Learned::Seen);
        }
        assert!(cache.entries() <= 12, "{}", cache.entries());
        assert!(cache.find(Instant::from_secs(400), host(199), true).is_some(), "the newest is kept");
    }
}

#[test]
fn a_route_that_comes_by_again_lives_longer_and_is_learnt_anew_after_a_break() {
    for mut cache in caches() {
        for second in [0, 100, 200] {
            cache.add(Instant::from_secs(second), &route(&[2, 3, 4]), Learned::Seen);
        }
        assert_eq!(cache.find(Instant::from_secs(499), host(4), false), Some(route(&[2, 3, 4])));
        cache.remove_link(host(2), host(3));
        assert_eq!(cache.find(Instant::from_secs(499), host(4), false), None);
        for _ in 0..2 {
            cache.add(Instant::from_secs(499), &route(&[2, 3, 4]), Learned::Seen);
        }
        assert_eq!(cache.find(Instant::from_secs(700), host(4), false), Some(route(&[2, 3, 4])));
    }
}

#[test]
fn a_path_that_is_used_moves_to_the_primary_list() {
    let mut cache = RouteCache::new(host(1), CacheKind::Path { primary_paths: 1, secondary_paths: 1 }, None);
    cache.add(Instant::ZERO, &route(&[2, 3]), Learned::Seen);
    assert_eq!(cache.find(Instant::ZERO, host(3), true), Some(route(&[2, 3])));
    cache.add(Instant::ZERO, &route(&[4, 5]), Learned::Seen);
    assert_eq!(
        cache.find(Instant::ZERO, host(3), false),
        Some(route(&[2, 3])),
        "out of reach of what is seen"
    );
    assert_eq!(cache.entries(), 2);
}

#[test]
fn paths_with_a_common_beginning_are_one() {
    let mut cache = RouteCache::new(host(1), CacheKind::Path { primary_paths: 4, secondary_paths: 4 }, None);
    for hosts in [vec![2, 3], vec![2, 3, 4], vec![2]] {
        cache.add(Instant::ZERO, &route(&hosts), Learned::Asked);
    }
    assert_eq!(cache.entries(), 1);
    assert_eq!(cache.find(Instant::ZERO, host(4), false), Some(route(&[2, 3, 4])));
}

#[test]
fn a_cache_that_is_off_knows_nothing() {
    let mut cache = RouteCache::new(host(1), CacheKind::Off, None);
    cache.add(Instant::ZERO, &route(&[2]), Learned::Asked);
    assert_eq!((cache.find(Instant::ZERO, host(2), true), cache.entries()), (None, 0));
}
