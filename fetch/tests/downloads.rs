//! Downloads between the machines in virtual time: weather, several servers and interfaces, ends and returns.
mod common;

use common::*;
use prismux_fetch::LinkUser;
use prismux_fetch::client::{DownloadConfig, DownloadError, DownloadEvent, PathEnd, PathLoss, Rejection};
use prismux_fetch::handshake::Refusal;
use prismux_fetch::server::ServerConfig;
use prismux_units::{ByteCount, Duration, Instant, Rate};

fn world(bytes: &[u8], servers: usize, links: usize, weather: Weather, seed: u64) -> World {
    let shelves = vec![Shelf::of(bytes); servers];
    World::new(&shelves, links, DownloadConfig::default(), weather, seed)
}

fn received(world: &World, path: usize) -> u64 {
    world.download.report(path).received_bytes
}

#[test]
fn one_server_one_interface() {
    let bytes = content(300_000, 1);
    let mut world = world(&bytes, 1, 1, CLEAR, 1);
    world.complete(&bytes);
    assert_eq!(world.stored_bytes, 300_000, "each byte once");
    world.run_until(|world| world.download.is_over(world.now));
    let counters = world.servers[0].counters();
    assert_eq!((counters.retries, counters.opened, counters.sessions.finished), (0, 1, 1));
    assert_eq!((counters.sessions.forged, counters.sessions.replayed, counters.forged_hellos), (0, 0, 0));
}

#[test]
fn objects_of_no_one_and_few_bytes() {
    for length in [0, 1, 1288, 1289, 1290, 2578, 2579] {
        let bytes = content(length, 2);
        world(&bytes, 1, 1, CLEAR, 1).complete(&bytes);
    }
}

#[test]
fn several_servers_and_interfaces_share_the_work() {
    let bytes = content(4_000_000, 3);
    let mut world = world(&bytes, 2, 2, CLEAR, 1);
    world.complete(&bytes);
    for path in 0..4 {
        assert!(received(&world, path) > 100_000, "path {path} brought {}", received(&world, path));
    }
}

#[test]
fn every_byte_is_right_in_any_weather() {
    for seed in 0..12 {
        let bytes = content(400_000, seed);
        let jitter = Duration::from_millis(20 * (seed % 3));
        let weather = Weather { loss: 0.03, duplicates: 0.05, corruption: 0.03, jitter };
        let mut world = world(&bytes, 1 + seed as usize % 2, 1 + seed as usize / 2 % 2, weather, seed);
        world.complete(&bytes);
        let server: u64 = world.servers.iter().map(|server| server.counters().sessions.forged).sum();
        let counters = world.download.counters();
        assert!(server + counters.forged > 0, "seed {seed}: corruption is noticed");
        assert!(counters.replayed > 0, "seed {seed}: duplicates are noticed");
        assert_eq!(world.stored_bytes, 400_000, "seed {seed}: each byte once");
    }
}

#[test]
fn a_server_that_prepares_the_object_is_asked_again() {
    let bytes = content(10_000, 4);
    let shelf = Shelf::of(&bytes);
    shelf.preparing.set(5);
    let mut world = World::new(&[shelf], 1, DownloadConfig::default(), CLEAR, 1);
    world.complete(&bytes);
    assert_eq!(world.servers[0].counters().preparing, 5);
}

#[test]
fn a_server_that_cannot_serve_now_is_asked_again_later() {
    let bytes = content(10_000, 4);
    let shelf = Shelf::of(&bytes);
    shelf.unreadable.set(3);
    let mut world = World::new(&[shelf], 1, DownloadConfig::default(), CLEAR, 1);
    let began_at = world.now;
    world.complete(&bytes);
    assert_eq!(world.servers[0].counters().refused, 3);
    // After half a second, a second, and two.
    assert!((3.5..4.0).contains(&(world.now - began_at).as_secs_f64()), "took {}", world.now - began_at);
}

#[test]
fn a_server_that_never_can_ends_the_download_with_what_it_says() {
    let shelf = Shelf::of(b"bytes");
    shelf.unreadable.set(u32::MAX);
    let mut world = World::new(&[shelf], 1, DownloadConfig::default(), CLEAR, 1);
    world.run_until(|world| world.failure().is_some());
    assert!(world.now <= Instant::from_secs(62));
    let paths = vec![(server_address(0), PathEnd::Busy(Refusal::Unreadable))];
    let why = DownloadError::Silence { after: Duration::from_secs(60), paths };
    assert_eq!(world.failure(), Some(&why));
}

#[test]
fn an_object_that_is_too_long_is_refused_and_the_others_go_on() {
    let (bytes, long) = (content(50_000, 13), content(50_001, 14));
    let max_size = Some(ByteCount::new(50_000));
    let config = DownloadConfig { max_size, ..DownloadConfig::default() };
    let mut world = World::new(&[Shelf::of(&long), Shelf::of(&bytes)], 1, config, CLEAR, 1);
    world.received.resize(bytes.len(), 0);
    world.complete(&bytes);
    let refused = DownloadEvent::Refused(0, Rejection::TooLarge { found: 50_001, limit: 50_000 });
    assert!(world.events.contains(&refused), "{:?}", world.events);
}

#[test]
fn a_server_that_dies_midway_is_replaced_by_the_other() {
    let bytes = content(3_000_000, 5);
    let mut world = world(&bytes, 2, 1, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    world.dead[0] = true;
    let died_at = world.now;
    world.complete(&bytes);
    assert!(world.now - died_at < Duration::from_secs(5), "took {}", world.now - died_at);
}

#[test]
fn a_server_that_stops_in_order_is_left_at_once() {
    let bytes = content(3_000_000, 5);
    let mut world = world(&bytes, 2, 1, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    world.stop_server(0);
    world.complete(&bytes);
    assert!(world.events.iter().any(|event| matches!(event, DownloadEvent::Lost(0, _))));
}

#[test]
fn a_server_that_forgot_everything_says_so_and_is_used_again() {
    let bytes = content(3_000_000, 6);
    let mut world = world(&bytes, 1, 1, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    world.restart_server(0, ServerConfig::default(), &Shelf::of(&bytes));
    let restarted_at = world.now;
    world.complete(&bytes);
    let gone = DownloadEvent::Lost(0, PathLoss::StatelessReset);
    assert!(world.events.contains(&gone), "{:?}", world.events);
    assert!(world.now - restarted_at < Duration::from_secs(3), "took {}", world.now - restarted_at);
}

#[test]
fn all_servers_gone_ends_in_bounded_time_with_a_reason() {
    let bytes = content(3_000_000, 7);
    let mut world = world(&bytes, 2, 1, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 500_000);
    world.dead = vec![true, true];
    world.fail_for_silence();
}

#[test]
fn an_interface_that_goes_and_returns_carries_again() {
    let bytes = content(6_000_000, 8);
    // Slow enough to see the interface return.
    let config = DownloadConfig { rate: Some(Rate::from_mbps(20)), ..DownloadConfig::default() };
    let mut world = World::new(&[Shelf::of(&bytes)], 2, config, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    let now = world.now;
    world.download.link_down(now, 1);
    let before = received(&world, 1);
    assert!(!world.download.link_is_alive(1));
    world.run_until(|world| world.stored_bytes > 2_000_000);
    assert_eq!(received(&world, 1), before);
    // Back with another address.
    world.moved[1] = 7;
    let now = world.now;
    world.download.link_up(now, 1);
    world.run_until(|world| world.download.link_is_alive(1));
    let now = world.now;
    world.download.link_down(now, 0);
    world.complete(&bytes);
    assert!(received(&world, 1) > before + 2_000_000, "it carries again");
}

#[test]
fn a_closed_path_brings_what_is_on_its_way_and_nothing_more() {
    let bytes = content(6_000_000, 12);
    let config = DownloadConfig { rate: Some(Rate::from_mbps(20)), ..DownloadConfig::default() };
    let keys = [key(0)];
    let both = specs(&keys, 2);
    let mut world = World::with(&[Shelf::of(&bytes)], keys.to_vec(), both.clone(), 2, config, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    let now = world.now;
    world.download.close_path(now, 0);
    world.run_until(|world| world.events.contains(&DownloadEvent::Closed(0)));
    let (closed_at, before) = (world.now, received(&world, 0));
    assert!(closed_at - now < Duration::from_millis(200), "took {}", closed_at - now);
    world.run_until(|world| world.stored_bytes > 3_000_000);
    assert_eq!((received(&world, 0), world.download.report(0).state), (before, "closed"));
    // Used again.
    let (now, spec) = (world.now, both[0].clone());
    assert_eq!(world.download.use_path(now, spec), 0);
    world.run_until(|world| world.download.report(0).state == "open");
    let now = world.now;
    world.download.close_path(now, 1);
    world.complete(&bytes);
    assert!(received(&world, 0) > before);
    assert_eq!(world.download.counters().duplicate_bytes, 0, "nothing came twice");
}

#[test]
fn a_server_that_is_named_midway_takes_over_from_one_that_is_closed() {
    let bytes = content(6_000_000, 13);
    let keys = [key(0), key(1)];
    let both = specs(&keys, 1);
    let shelves = [Shelf::of(&bytes), Shelf::of(&bytes)];
    let config = DownloadConfig { rate: Some(Rate::from_mbps(20)), ..DownloadConfig::default() };
    let mut world = World::with(&shelves, keys.to_vec(), both[..1].to_vec(), 1, config, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    let now = world.now;
    assert_eq!(world.download.use_path(now, both[1].clone()), 1);
    world.run_until(|world| world.download.report(1).state == "open");
    let now = world.now;
    world.download.close_path(now, 0);
    world.complete(&bytes);
    assert!(received(&world, 1) > 4_000_000, "{}", received(&world, 1));
    assert_eq!(received(&world, 0) + received(&world, 1), 6_000_000);
    assert_eq!(world.download.counters().duplicate_bytes, 0, "nothing came twice");
}

#[test]
fn a_target_rate_is_kept() {
    let bytes = content(900_000, 9);
    let config = DownloadConfig { rate: Some(Rate::from_kbps(720)), ..DownloadConfig::default() };
    let mut world = World::new(&[Shelf::of(&bytes)], 1, config, CLEAR, 1);
    let started_at = world.now;
    world.complete(&bytes);
    let seconds = (world.now - started_at).as_secs_f64();
    assert!((9.8..10.5).contains(&seconds), "900 kB at 720 kbit/s take 10 s, not {seconds}");
}

#[test]
fn what_is_here_already_is_not_fetched_again() {
    let bytes = content(1_000_000, 10);
    let held = vec![0..100_000, 250_000..400_000, 999_000..1_000_000];
    let config =
        DownloadConfig { resume: Some((identity(&bytes), held.clone())), ..DownloadConfig::default() };
    let mut world = World::new(&[Shelf::of(&bytes)], 1, config, CLEAR, 1);
    for range in &held {
        let range = range.start as usize..range.end as usize;
        world.received[range.clone()].copy_from_slice(&bytes[range]);
    }
    world.complete(&bytes);
    assert_eq!(world.download.held(), held);
    assert_eq!(world.stored_bytes, 1_000_000 - 251_000);
    // Segments do not end where the gaps do, so a little more than was missing may travel.
    let sent = world.servers[0].counters().sessions.data_bytes;
    assert!(sent < 749_000 + 4 * 1400, "{sent} bytes travelled");
}

#[test]
fn everything_here_already_only_confirms_the_object() {
    let bytes = content(1_000_000, 10);
    let config = DownloadConfig {
        resume: Some((identity(&bytes), std::iter::once(0..1_000_000).collect())),
        ..DownloadConfig::default()
    };
    let mut world = World::new(&[Shelf::of(&bytes)], 1, config, CLEAR, 1);
    world.received.copy_from_slice(&bytes);
    world.complete(&bytes);
    assert_eq!(world.stored_bytes, 0);
}

#[test]
fn a_changed_object_is_not_mixed_with_the_old_one() {
    let (old, new) = (content(100_000, 11), content(100_000, 12));
    let config = DownloadConfig {
        resume: Some((identity(&old), std::iter::once(0..50_000).collect())),
        ..DownloadConfig::default()
    };
    let mut world = World::new(&[Shelf::of(&new)], 1, config, CLEAR, 1);
    world.run_until(|world| world.failure().is_some());
    let why = world.failure().expect("it failed");
    assert!(why.is_of_partial_file() && why.to_string().contains("--restart"), "{why}");
    assert_eq!(world.stored_bytes, 0);
}

#[test]
fn a_server_that_disagrees_is_refused_and_the_others_go_on() {
    for (length, seed) in [(1_000_000, 14), (999_999, 13)] {
        let (bytes, other) = (content(1_000_000, 13), content(length, seed));
        let config = DownloadConfig { digest: Some(identity(&bytes).digest), ..DownloadConfig::default() };
        let mut world = World::new(&[Shelf::of(&other), Shelf::of(&bytes)], 1, config, CLEAR, 1);
        world.received.resize(bytes.len(), 0);
        world.complete(&bytes);
        let refused = world
            .events
            .iter()
            .any(|event| matches!(event, DownloadEvent::Refused(0, Rejection::Digest { .. })));
        assert!(refused, "{:?}", world.events);
        assert_eq!(received(&world, 0), 0);
    }
}

#[test]
fn servers_that_contradict_each_other_end_a_download_whose_digest_nobody_named() {
    let (bytes, other) = (content(500_000, 15), content(500_000, 16));
    for shelves in [[&bytes, &other], [&other, &bytes]] {
        let shelves = shelves.map(|bytes| Shelf::of(bytes));
        let mut world = World::new(&shelves, 1, DownloadConfig::default(), CLEAR, 1);
        world.run_until(|world| world.failure().is_some());
        let failure = world.failure().unwrap();
        let DownloadError::Contradiction { found, known, .. } = failure else { panic!("{failure}") };
        let digests = [found.digest, known.digest];
        assert!([&bytes, &other].iter().all(|bytes| digests.contains(&identity(bytes).digest)));
        assert!(failure.to_string().contains("--sha256"), "{failure}");
        assert!(!world.is_complete());
    }
}

#[test]
fn a_server_with_another_key_is_never_believed() {
    let (bytes, impostor) = (content(100_000, 17), key(7));
    let specs = specs(&[key(0)], 1);
    let config = DownloadConfig { give_up_after: Duration::from_secs(20), ..DownloadConfig::default() };
    let mut world = World::with(&[Shelf::of(&bytes)], vec![impostor], specs, 1, config, CLEAR, 1);
    world.run_until(|world| world.failure().is_some());
    assert_eq!(world.stored_bytes, 0);
    assert!(world.servers[0].counters().forged_hellos > 0);
    assert!(world.now <= Instant::from_secs(22));
}

#[test]
fn an_object_that_is_not_there_ends_the_download_at_once() {
    let bytes = content(10, 18);
    let key = key(0);
    let mut specs = specs(std::slice::from_ref(&key), 1);
    specs[0].object = "../object".to_string();
    let mut world =
        World::with(&[Shelf::of(&bytes)], vec![key], specs, 1, DownloadConfig::default(), CLEAR, 1);
    world.run_until(|world| world.failure().is_some());
    let refused = PathEnd::Refused(Rejection::Server(Refusal::NotFound));
    let why = DownloadError::NoServer { paths: vec![(server_address(0), refused)] };
    assert_eq!(world.failure(), Some(&why));
    assert!(world.now < Instant::from_secs(2));
}
