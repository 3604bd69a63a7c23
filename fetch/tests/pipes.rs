//! Downloads by pTCP between the machines in virtual time: weather, pipes that die and return, ends and returns.
mod common;

use common::*;
use prismux_endpoint::Endpoint;
use prismux_fetch::LinkUser;
use prismux_fetch::client::{DownloadConfig, DownloadEvent, PathLoss, Transport};
use prismux_fetch::server::ServerConfig;
use prismux_units::{Duration, Rate};

fn config() -> DownloadConfig {
    DownloadConfig { transport: Transport::Ptcp, ..DownloadConfig::default() }
}

fn world(bytes: &[u8], links: usize, weather: Weather, seed: u64) -> World {
    World::new(&[Shelf::of(bytes)], links, config(), weather, seed)
}

/// A world whose interfaces have 10 Mbit/s each.
fn slow(bytes: &[u8], links: usize) -> World {
    let mut world = world(bytes, links, CLEAR, 1);
    world.network.rate = Some(Rate::from_mbps(10));
    world
}

/// A world whose server gives each client no more than `rate`.
fn capped(bytes: &[u8], links: usize, rate: Rate) -> World {
    let mut world = world(bytes, links, CLEAR, 1);
    let server = ServerConfig { rate_cap: Some(rate), ..ServerConfig::default() };
    world.restart_server(0, server, &Shelf::of(bytes));
    world
}

fn received(world: &World, path: usize) -> u64 {
    world.download.report(path).received_bytes
}

#[test]
fn one_interface() {
    let bytes = content(300_000, 1);
    let mut world = world(&bytes, 1, CLEAR, 1);
    world.complete(&bytes);
    assert_eq!((world.stored_bytes, received(&world, 0)), (300_000, 300_000), "each byte once");
    world.run_until(|world| world.download.is_over(world.now));
    let counters = world.servers[0].counters();
    assert_eq!((counters.retries, counters.opened, counters.sessions.finished), (0, 1, 1));
    assert_eq!((counters.sessions.connections, counters.sessions.pipes), (1, 1));
    assert_eq!((counters.sessions.refused_segments, counters.sessions.nonsense), (0, 0));
    let now = world.now;
    for second in 1..9 {
        wait(&mut world.servers[0], now + Duration::from_secs(second));
    }
    assert_eq!((world.servers[0].clients(), world.servers[0].poll_timeout()), (0, None), "all is forgotten");
}

#[test]
fn objects_of_no_one_and_few_bytes() {
    for length in [0, 1, 1264, 1265, 1266, 2530, 2531] {
        let bytes = content(length, 2);
        world(&bytes, 2, CLEAR, 1).complete(&bytes);
    }
}

#[test]
fn every_interface_is_a_pipe_of_one_connection() {
    let bytes = content(4_000_000, 3);
    let mut world = world(&bytes, 3, CLEAR, 1);
    world.complete(&bytes);
    for path in 0..3 {
        assert!(received(&world, path) > 100_000, "path {path} brought {}", received(&world, path));
    }
    let sessions = world.servers[0].counters().sessions;
    assert_eq!((sessions.connections, sessions.pipes), (1, 3));
    assert_eq!(world.stored_bytes, 4_000_000, "each byte once");
}

#[test]
fn every_byte_is_right_in_any_weather() {
    for seed in 0..12 {
        let bytes = content(400_000, seed);
        let jitter = Duration::from_millis(20 * (seed % 3));
        let weather = Weather { loss: 0.03, duplicates: 0.05, corruption: 0.03, jitter };
        let mut world = world(&bytes, 1 + seed as usize % 3, weather, seed);
        world.complete(&bytes);
        let forged = world.servers[0].counters().sessions.forged + world.download.counters().forged;
        assert!(forged > 0, "seed {seed}: corruption is noticed");
        assert!(world.download.counters().replayed > 0, "seed {seed}: duplicates are noticed");
        assert_eq!(world.stored_bytes, 400_000, "seed {seed}: each byte once");
    }
}

#[test]
fn a_blackout_of_one_of_two_pipes_costs_at_most_one_timeout_of_it() {
    let bytes = content(6_000_000, 4);
    let mut world = slow(&bytes, 2);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    assert!(received(&world, 1) > 100_000);
    world.network.dark[1] = true;
    world.longest_stall = Duration::ZERO;
    world.complete(&bytes);
    // A round trip with a full queue takes 110 ms: the timeout is that and the least variation of 200 ms. What is
    // repeated needs a trip of its own.
    let most = Duration::from_millis(110 + 200 + 110);
    assert!(world.longest_stall <= most, "nothing in order for {}", world.longest_stall);
}

#[test]
fn a_pipe_that_dies_silently_is_opened_again_and_replaces_the_old_one() {
    let bytes = content(40_000_000, 5);
    let mut world = slow(&bytes, 2);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    world.network.dark[1] = true;
    world.run_until(|world| world.events.iter().any(|event| matches!(event, DownloadEvent::Lost(1, _))));
    let before = received(&world, 1);
    world.network.dark[1] = false;
    // Its address is another now.
    world.moved[1] = 7;
    world.run_until(|world| received(world, 1) > before + 1_000_000);
    let sessions = world.servers[0].counters().sessions;
    assert_eq!((sessions.connections, sessions.pipes), (1, 3), "{:?}", world.events);
    // The other one goes, and the new one carries on alone.
    let now = world.now;
    world.download.link_down(now, 0);
    world.complete(&bytes);
    assert_eq!(world.stored_bytes, 40_000_000);
}

#[test]
fn an_only_interface_that_goes_and_returns_elsewhere_carries_on() {
    let bytes = content(6_000_000, 6);
    let mut world = slow(&bytes, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    let now = world.now;
    world.download.link_down(now, 0);
    world.moved[0] = 9;
    let gone_at = world.now;
    world.run_until(|world| world.now > gone_at + Duration::from_secs(10));
    let now = world.now;
    world.download.link_up(now, 0);
    world.complete(&bytes);
    let sessions = world.servers[0].counters().sessions;
    assert_eq!((sessions.connections, sessions.pipes), (1, 2), "the connection outlived its only pipe");
    assert_eq!(world.stored_bytes, 6_000_000);
}

#[test]
fn a_client_that_moves_is_followed_once_it_answers_from_there() {
    let bytes = content(6_000_000, 7);
    let mut world = slow(&bytes, 2);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    world.move_and_be_followed();
    world.complete(&bytes);
    let counters = world.servers[0].counters();
    assert_eq!((counters.opened, counters.sessions.pipes, counters.sessions.migrations), (2, 2, 1));
}

#[test]
fn a_silent_path_that_moves_is_found_again() {
    let bytes = content(6_000_000, 8);
    let mut world = slow(&bytes, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    // What the server sends to the old address is lost, so the client has nothing to acknowledge.
    world.network.dark[0] = true;
    let dark_at = world.now;
    world.run_until(|world| world.now > dark_at + Duration::from_secs(1));
    world.moved[0] = 1;
    world.network.dark[0] = false;
    world.run_until(|world| world.servers[0].counters().sessions.migrations > 0);
    assert!(world.now - dark_at < Duration::from_secs(5), "took {}", world.now - dark_at);
    world.complete(&bytes);
    assert_eq!(world.servers[0].counters().sessions.pipes, 1);
}

#[test]
fn what_is_here_already_is_not_sent_again() {
    let bytes = content(1_000_000, 10);
    // A stream has one beginning: what lies beyond the first gap comes again.
    let held = vec![0..400_000, 500_000..600_000];
    let resume = Some((identity(&bytes), held));
    let mut world = World::new(&[Shelf::of(&bytes)], 2, DownloadConfig { resume, ..config() }, CLEAR, 1);
    world.received[..400_000].copy_from_slice(&bytes[..400_000]);
    world.complete(&bytes);
    assert_eq!(world.download.held(), vec![0..400_000]);
    let sent = world.servers[0].counters().sessions.data_bytes;
    assert_eq!((world.stored_bytes, sent), (600_000, 600_000));
}

#[test]
fn everything_here_already_only_confirms_the_object() {
    let bytes = content(1_000_000, 11);
    let held = vec![std::ops::Range { start: 0, end: 1_000_000 }];
    let resume = Some((identity(&bytes), held));
    let mut world = World::new(&[Shelf::of(&bytes)], 1, DownloadConfig { resume, ..config() }, CLEAR, 1);
    world.received.copy_from_slice(&bytes);
    world.complete(&bytes);
    assert_eq!((world.stored_bytes, world.servers[0].counters().sessions.data_bytes), (0, 0));
}

#[test]
fn a_server_that_forgot_everything_goes_on_at_the_first_byte_missing() {
    let bytes = content(3_000_000, 12);
    let mut world = world(&bytes, 2, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    world.restart_server(0, ServerConfig::default(), &Shelf::of(&bytes));
    let restarted_at = world.now;
    world.complete(&bytes);
    let gone = |path| DownloadEvent::Lost(path, PathLoss::StatelessReset);
    assert!(world.events.contains(&gone(0)) || world.events.contains(&gone(1)), "{:?}", world.events);
    assert!(world.now - restarted_at < Duration::from_secs(3), "took {}", world.now - restarted_at);
    let sessions = world.servers[0].counters().sessions;
    assert_eq!(sessions.connections, 1);
    assert!(sessions.data_bytes < 2_000_000, "{} bytes travelled", sessions.data_bytes);
}

#[test]
fn a_server_that_stops_ends_the_download_in_bounded_time_with_a_reason() {
    let bytes = content(3_000_000, 13);
    let mut world = world(&bytes, 2, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 500_000);
    assert_eq!(world.stop_server(0), 2, "one reset for each pipe");
    world.dead[0] = true;
    world.fail_for_silence();
}

#[test]
fn a_cap_holds_for_all_pipes_of_a_client_together() {
    let bytes = content(900_000, 14);
    let mut world = capped(&bytes, 3, Rate::from_kbps(720));
    let started_at = world.now;
    world.complete(&bytes);
    let seconds = (world.now - started_at).as_secs_f64();
    assert!((9.0..10.5).contains(&seconds), "900 kB at 720 kbit/s take 10 s less a burst, not {seconds}");
}

#[test]
fn a_server_that_prepares_the_object_is_asked_again() {
    let bytes = content(10_000, 15);
    let shelf = Shelf::of(&bytes);
    shelf.preparing.set(5);
    let mut world = World::new(&[shelf], 2, config(), CLEAR, 1);
    world.complete(&bytes);
    assert_eq!(world.servers[0].counters().preparing, 5);
}

#[test]
fn an_aborted_download_ends_the_connection_at_once() {
    let bytes = content(3_000_000, 16);
    let mut world = world(&bytes, 2, CLEAR, 1);
    world.run_until(|world| world.stored_bytes > 500_000);
    let now = world.now;
    world.download.abort(now);
    world.run_until(|world| world.now > now + Duration::from_millis(100));
    let before = world.servers[0].counters().sessions;
    world.run_until(|world| world.servers[0].clients() == 0);
    let after = world.servers[0].counters().sessions;
    assert_eq!((after.data_bytes, after.finished), (before.data_bytes, 0), "nothing more is sent");
    assert!(world.now < now + Duration::from_secs(8), "and nothing is remembered");
}

#[test]
fn a_path_that_is_closed_and_used_again_is_a_pipe_less_and_a_pipe_more() {
    let bytes = content(8_000_000, 17);
    let mut world = slow(&bytes, 2);
    world.run_until(|world| world.stored_bytes > 1_000_000);
    let now = world.now;
    world.download.close_path(now, 1);
    world.run_until(|world| world.events.contains(&DownloadEvent::Closed(1)));
    assert!(world.now - now < Duration::from_millis(50), "the server is told at once");
    world.run_until(|world| world.stored_bytes > 3_000_000);
    let before = received(&world, 1);
    assert!(world.events.iter().all(|event| !matches!(event, DownloadEvent::Lost(..))), "{:?}", world.events);
    let (now, again) = (world.now, world.specs[1].clone());
    assert_eq!(world.download.use_path(now, again), 1);
    world.run_until(|world| received(world, 1) > before + 100_000);
    // The only one that is left goes the same way.
    let now = world.now;
    world.download.close_path(now, 0);
    world.complete(&bytes);
    world.run_until(|world| world.download.is_over(world.now));
    let sessions = world.servers[0].counters().sessions;
    assert_eq!((sessions.connections, sessions.pipes, sessions.finished), (1, 3, 1));
}
