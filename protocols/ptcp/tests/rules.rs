//! One test for each rule: what leaves on which pipe, with which bytes.
mod harness;

use harness::{Fate, Flight, Weather, World, client, config, server};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_ptcp::{Connection, Path, PtcpConfig, PtcpEvent, Segment, State};
use prismux_tcp::TcpEvent;
use prismux_units::{Duration, Instant};
use prismux_wire::TcpFlags;
use std::cell::RefCell;
use std::rc::Rc;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Paths with these one-way delays in milliseconds.
fn paths(delays: &[u64]) -> Vec<Weather> {
    delays.iter().map(|&ms| Weather { delay: Duration::from_millis(ms), ..Weather::default() }).collect()
}

/// A world in which every pipe has been opened, and nothing else has happened.
fn opened(config: PtcpConfig, delays: &[u64]) -> World {
    let mut world = World::new(Seed(1), config, paths(delays));
    world.run(at(2000));
    world.log.clear();
    world
}

/// Position in the stream of the opening side, from a segment's pSEQ and the first one's.
fn position(segment: &Segment, first: &Segment) -> u32 {
    segment.header.seq.0.wrapping_sub(first.header.seq.0)
}

#[test]
fn the_first_pipe_carries_data_and_the_others_join_one_by_one() {
    let mut world = World::new(Seed(1), config(2, 3, 64_000), paths(&[10, 50, 200]));
    world.write(0, 1_000);
    assert_eq!(world.state(0), Some(State::Opening));
    world.run(at(25));
    assert_eq!((world.state(0), world.state(1)), (Some(State::Established(1)), Some(State::Opening)));
    world.run(at(35));
    assert_eq!(world.state(1), Some(State::Established(1)), "the ACK of the first pipe has arrived");
    assert_eq!(world.received(1), 1_000, "data flows in ESTABLISHED(1)");
    world.run(at(150));
    assert_eq!(world.state(0), Some(State::Established(2)));
    world.run(at(1000));
    assert_eq!((world.state(0), world.state(1)), (Some(State::Established(3)), Some(State::Established(3))));
    let set_ups: Vec<_> =
        world.log.iter().filter_map(|(_, side, s)| Some((side, s, s.set_up.as_ref()?))).collect();
    let (_, syn, wants) = set_ups[0];
    assert_eq!((syn.header.destination, wants.transmit_pipes, wants.addresses.as_slice().len()), (0, 3, 3));
    let (_, answer, grants) = set_ups[1];
    assert_eq!((answer.header.destination, grants.receive_pipes), (syn.header.source, 3));
    let further: Vec<_> = set_ups.iter().filter(|(side, s, _)| **side == 0 && s.header.pipe > 0).collect();
    assert_eq!(further.len(), 2);
    for (_, syn, shown) in further {
        assert_eq!((syn.header.destination, shown.token), (answer.header.source, grants.token));
        assert_eq!(syn.path.local, client(usize::from(syn.header.pipe)));
    }
}

#[test]
fn a_further_pipe_must_show_the_token() {
    let mut config = config(2, 2, 64_000);
    config.tcp.syn_retries = 0;
    let mut world = World::new(Seed(1), config, paths(&[10, 10]));
    let seen: Rc<RefCell<Vec<Flight>>> = Rc::default();
    let catch = Rc::clone(&seen);
    world.hook = Some(Box::new(move |_, flight| {
        let further = flight.to == 1 && flight.segment.header.pipe == 1;
        if further && flight.segment.set_up.is_some() {
            catch.borrow_mut().push(flight.clone());
            return Fate::Lose;
        }
        Fate::Pass
    }));
    world.run(at(500));
    let mut forged = seen.borrow()[0].clone();
    forged.segment.set_up.as_mut().expect("a SYN has it").token ^= 1;
    world.arrive(forged.clone());
    assert_eq!((world.end(1).drops().bad_token, world.end(1).pipe_count()), (1, 1));
    forged.segment.header.destination ^= 1;
    world.arrive(forged);
    assert_eq!((world.end(1).drops().wrong_connection, world.end(1).pipe_count()), (1, 1));
    let honest = seen.borrow()[0].clone();
    world.arrive(honest);
    assert_eq!(world.end(1).pipe_count(), 2);
}

#[test]
fn one_pipe_that_fails_to_open_is_dropped_and_data_goes_on() {
    let mut config = config(2, 3, 64_000);
    config.tcp.syn_retries = 2;
    let mut world = World::new(Seed(1), config, paths(&[10, 10, 10]));
    world.hook =
        Some(Box::new(|_, flight| if flight.segment.header.pipe == 1 { Fate::Lose } else { Fate::Pass }));
    world.write(0, 500_000);
    world.run(at(60_000));
    assert_eq!(world.state(0), Some(State::Established(2)));
    assert_eq!(world.received(1), 500_000);
    assert!(world.events[0].contains(&PtcpEvent::PipeClosed { pipe: 1 }));
}

#[test]
fn a_peer_that_wants_one_pipe_gets_a_single_tcp() {
    // The client has three addresses; the server grants one pipe.
    let mut world = World::new(Seed(1), config(2, 3, 64_000), paths(&[10, 10, 10]));
    world.server_config.pipes = 1;
    world.write(0, 100_000);
    // A lost flight: what a single TCP sends again are the same bytes.
    let mut lost = 0;
    world.hook = Some(Box::new(move |now, flight| {
        let hit = flight.to == 1 && flight.segment.payload_bytes > 0 && now > at(100) && lost < 30;
        lost += u32::from(hit);
        if hit { Fate::Lose } else { Fate::Pass }
    }));
    world.run(at(60_000));
    assert_eq!(world.received(1), 100_000);
    assert_eq!((world.end(0).pipe_count(), world.end(1).pipe_count()), (1, 1));
    let offsets: std::collections::BTreeSet<u32> = world
        .log
        .iter()
        .filter(|(_, side, s)| *side == 0 && s.payload_bytes > 0)
        .map(|(_, _, s)| s.header.seq.0.wrapping_sub(s.tcp.seq.0))
        .collect();
    assert_eq!(offsets.len(), 1, "both sequence spaces run in step");
    let striping = world.end(0).striping();
    assert_eq!((striping.unbound_bytes, striping.rebound_segments, striping.redundant_segments), (0, 0, 0));
}

#[test]
fn pipes_with_space_of_their_own_share_one_receive_window() {
    // Three pipes may send 1000 B each; 1000 B are advertised: the first gets them, the others freeze.
    let mut config = config(2, 3, 334);
    config.consume_on_arrival = false;
    let mut world = opened(config, &[30, 10, 20]);
    world.auto_read = false;
    world.write(0, 10_000);
    let data = |world: &World| -> Vec<(u8, u32)> {
        let sent = world.log.iter().filter(|(_, side, s)| *side == 0 && s.payload_bytes > 0);
        sent.map(|(_, _, s)| (s.header.pipe, s.payload_bytes)).collect()
    };
    assert_eq!(data(&world), [(1, 1000)], "the pipe with the least round trip asks first");
    world.run(at(2100));
    assert_eq!(data(&world).len(), 1, "the window is closed");
    world.read(1);
    world.run(at(2150));
    assert_eq!(data(&world).len(), 2, "reading opens it for one more");
}

#[test]
fn a_window_update_that_is_lost_is_asked_for() {
    let mut config = config(2, 2, 600);
    config.consume_on_arrival = false;
    let mut world = opened(config, &[10, 10]);
    world.auto_read = false;
    world.write(0, 5_000);
    world.run(at(2500));
    let before = world.received(1);
    world.hook = Some(Box::new(|_, flight| if flight.to == 0 { Fate::Lose } else { Fate::Pass }));
    world.read(1);
    world.hook = None;
    world.auto_read = true;
    world.run(at(200_000));
    assert!(before < 5_000);
    assert_eq!(world.received(1), 5_000);
}

/// More than is sent before the first timeout.
const TOTAL: u64 = 600_000;

/// Two pipes with two segments each, of which pipe 0's are lost, the second one kept by the test; runs until pipe 0's
/// timeout has been followed by the second virtual segment sent again with other bytes, which is lost and kept as well.
fn rebound(config: PtcpConfig) -> (World, Flight, Flight) {
    let mut world = opened(config, &[10, 15]);
    let caught: Rc<RefCell<Vec<Flight>>> = Rc::default();
    let catch = Rc::clone(&caught);
    world.hook = Some(Box::new(move |_, flight| {
        let segment = &flight.segment;
        if flight.to == 0 || segment.header.pipe != 0 || segment.header.virtual_bytes == 0 {
            return Fate::Pass;
        }
        let mut caught = catch.borrow_mut();
        let second = caught.get(1).map(|second: &Flight| second.segment.tcp.seq);
        match caught.len() {
            0 | 1 => {
                caught.push(flight.clone());
                Fate::Lose
            }
            2 if second == Some(segment.tcp.seq) => {
                caught.push(flight.clone());
                Fate::Lose
            }
            _ => Fate::Pass,
        }
    }));
    world.write(0, TOTAL);
    let done = Rc::clone(&caught);
    world.run_while(at(20_000), |_| done.borrow().len() < 3);
    let caught = caught.borrow();
    assert_eq!(caught.len(), 3, "the second virtual segment was sent again");
    assert_eq!(caught[2].segment.payload_bytes, 1000, "with bytes");
    (world, caught[1].clone(), caught[2].clone())
}

#[test]
fn after_a_timeout_other_pipes_take_what_the_window_no_longer_holds_and_a_copy_of_its_first_segment() {
    let (world, second, again) = rebound(config(2, 2, 400_000));
    assert_eq!(second.segment.tcp.seq, again.segment.tcp.seq, "the same virtual segment");
    assert_ne!(second.segment.header.seq, again.segment.header.seq, "other bytes");
    let first =
        world.log.iter().find(|(_, side, s)| *side == 0 && s.payload_bytes > 0).expect("data was sent");
    let (origin, lost) = (first.2.clone(), position(&second.segment, &first.2));
    let on = |pipe: u8, start: u32| {
        let carried = |s: &Segment| s.payload_bytes > 0 && position(s, &origin) == start;
        world.log.iter().filter(|(_, side, s)| *side == 0 && s.header.pipe == pipe && carried(s)).count()
    };
    assert_eq!(on(1, lost), 1, "what was unbound went over the other pipe");
    assert_eq!(on(1, 0), 1, "and so did a copy of the first segment");
    assert_eq!(on(0, 0), 2, "which the old pipe keeps to probe with");
    let striping = world.end(0).striping();
    assert_eq!((striping.redundant_segments, striping.rebound_segments), (1, 1));
}

#[test]
fn what_a_silent_pipe_sends_again_is_never_its_alone() {
    for profile in [1, 2] {
        let limited = |path| Weather { rate: Some((2_000_000, 30)), ..path };
        let weather = paths(&[30, 10]).into_iter().map(limited).collect();
        let mut world = World::new(Seed(1), config(profile, 2, 1_000_000), weather);
        let dark = at(3_000);
        world.hook = Some(Box::new(move |now, flight| {
            if flight.segment.header.pipe == 0 && now >= dark { Fate::Lose } else { Fate::Pass }
        }));
        world.write(0, 50_000_000);
        world.run(at(10_000));
        let sent = |pipe: u8| {
            let of_pipe =
                move |(_, side, s): &&(Instant, usize, Segment)| *side == 0 && s.header.pipe == pipe;
            world.log.iter().filter(of_pipe).filter(|(_, _, s)| s.header.virtual_bytes > 0)
        };
        let repeated: Vec<_> = sent(0).filter(|(now, ..)| *now > dark + Duration::from_secs(1)).collect();
        assert!(repeated.len() > 1, "profile {profile}: it goes on probing");
        for (now, _, probe) in repeated.iter().filter(|(_, _, probe)| probe.payload_bytes > 0) {
            let soon = *now + Duration::from_millis(300);
            let elsewhere = sent(1).any(|(at, _, s)| s.header.seq == probe.header.seq && *at < soon);
            assert!(elsewhere, "profile {profile}: the probe at {now} holds bytes that no other pipe takes");
        }
        assert!(world.received(1) > 2_000_000, "profile {profile}: {}", world.received(1));
    }
}

/// One segment of a pipe with 400 ms of round-trip time is lost beside a pipe with 20 ms: by which pipes its bytes left after
/// that, and when they arrived.
fn hole_on_the_slow_pipe(opportunistic_retransmission: bool) -> (Vec<u8>, Instant) {
    let config = PtcpConfig { opportunistic_retransmission, ..config(0, 2, 1_000_000) };
    let limited = |path| Weather { rate: Some((4_000_000, 50)), ..path };
    let mut world = World::new(Seed(1), config, paths(&[200, 10]).into_iter().map(limited).collect());
    let lost = Rc::new(RefCell::new(None));
    let seen = Rc::clone(&lost);
    world.hook = Some(Box::new(move |now, flight| {
        let segment = &flight.segment;
        let hit = now > at(3_000) && segment.header.pipe == 0 && segment.payload_bytes > 0 && flight.to == 1;
        if hit && seen.borrow().is_none() {
            *seen.borrow_mut() = Some(segment.header.seq);
            return Fate::Lose;
        }
        Fate::Pass
    }));
    world.write(0, 50_000_000);
    world.run_while(at(10_000), |_| lost.borrow().is_none());
    let hole = lost.borrow().expect("a segment was lost");
    let from = world.log.len();
    let first = world.log.iter().find(|(_, side, s)| *side == 0 && s.payload_bytes > 0).expect("data");
    let offset = u64::from(hole.0.wrapping_sub(first.2.header.seq.0));
    world.run_while(at(10_000), |world| world.received(1) <= offset);
    let filled = world.now;
    world.run(filled + Duration::from_millis(500));
    let again = world.log[from..].iter().filter(|(_, side, s)| *side == 0 && s.header.seq == hole);
    (again.map(|(_, _, s)| s.header.pipe).collect(), filled)
}

#[test]
fn what_a_slow_pipe_has_lost_is_repeated_by_a_quick_one_too() {
    let (mut by, sooner) = hole_on_the_slow_pipe(true);
    by.sort_unstable();
    assert_eq!(by, [0, 1]);
    let (by, later) = hole_on_the_slow_pipe(false);
    assert_eq!(by, [0]);
    // 200 ms against 10 ms and a full queue of 100 ms.
    assert!(later - sooner > Duration::from_millis(50), "{sooner} {later}");
}

/// Whether everything arrives when the acknowledgement of a rebound segment was caused by its first copy and the
/// second copy is lost.
fn survives_an_ambiguous_acknowledgement(recheck_unconfirmed: bool, keep_alive_check: bool) -> bool {
    let config = PtcpConfig { recheck_unconfirmed, keep_alive_check, ..config(2, 2, 400_000) };
    let (mut world, first_copy, _) = rebound(config);
    world.arrive(first_copy);
    world.run(at(1_000_000));
    world.received(1) == TOTAL
}

#[test]
fn an_ambiguous_acknowledgement_hangs_the_connection_without_the_rules() {
    assert!(!survives_an_ambiguous_acknowledgement(false, false));
}

#[test]
fn unconfirmed_bytes_are_sent_again() {
    assert!(survives_an_ambiguous_acknowledgement(true, false));
}

#[test]
fn the_keep_alive_check_frees_what_nobody_will_deliver() {
    assert!(survives_an_ambiguous_acknowledgement(false, true));
}

#[test]
fn payload_of_a_virtual_segment_that_had_arrived_is_kept_all_the_same() {
    let (mut world, first_copy, second_copy) = rebound(config(2, 2, 400_000));
    world.arrive(first_copy);
    world.events[1].clear();
    let before = world.end(1).drops().duplicate_bytes;
    world.arrive(second_copy);
    assert_eq!(
        world.end(1).drops().duplicate_bytes,
        before,
        "its bytes were new although its number was old"
    );
    world.hook = None;
    world.run(at(60_000));
    assert_eq!(world.received(1), TOTAL);
    assert_eq!(world.end(0).striping().reclaimed_bytes, 0, "and nobody sent them again");
}

#[test]
fn a_pipe_that_is_reset_gives_its_bytes_to_the_others() {
    let mut world = opened(config(2, 2, 64_000), &[10, 15]);
    world.hook = Some(Box::new(|_, flight| {
        let data = flight.to == 1 && flight.segment.header.pipe == 0 && flight.segment.payload_bytes > 0;
        if data { Fate::Lose } else { Fate::Pass }
    }));
    let last = world.end(1).pipes().next().expect("there is a first pipe");
    assert_eq!(last.pipe, 0);
    world.write(0, 20_000);
    let sent = world.log.iter().find(|(_, side, s)| *side == 0 && s.header.pipe == 0 && s.payload_bytes > 0);
    let sent = sent.expect("the first pipe has sent").2.clone();
    // What the server would send if it had forgotten the pipe.
    let mut reset = prismux_ptcp::reset_for(&sent).expect("it answers");
    reset.tcp.seq = sent.tcp.ack;
    reset.tcp.flags = TcpFlags::RST | TcpFlags::ACK;
    world.arrive(Flight { to: 0, segment: reset, carries: 0 });
    assert_eq!(world.state(0), Some(State::Established(1)));
    world.run(at(60_000));
    assert_eq!(world.received(1), 20_000);
}

#[test]
fn a_first_pipe_that_is_refused_refuses_the_connection() {
    let mut client = Connection::connect(
        config(2, 2, 64_000),
        &[client(0), client(1)],
        harness::server(0),
        (1, 2),
        Seed(2).stream("client"),
        Instant::ZERO,
    );
    let syn = client.poll_transmit(Instant::ZERO).expect("a SYN").segment;
    let reset = prismux_ptcp::reset_for(&syn).expect("it answers");
    client.handle_input(at(20), reset);
    let events: Vec<PtcpEvent> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(client.state(), State::Closed);
    assert!(
        events.contains(&PtcpEvent::Connection(TcpEvent::Reset))
            && events.contains(&PtcpEvent::Connection(TcpEvent::Closed)),
        "{events:?}"
    );
}

#[test]
fn closing_waits_for_every_byte_and_closes_every_pipe() {
    let mut world = opened(config(1, 3, 64_000), &[10, 20, 30]);
    world.write(0, 30_000);
    world.close(0);
    assert!(matches!(world.state(0), Some(State::Established(3))), "nothing is acknowledged yet");
    world.run_while(at(60_000), |world| {
        !world.events[1].contains(&PtcpEvent::Connection(TcpEvent::PeerClosed))
    });
    assert_eq!(world.received(1), 30_000, "the end of the stream comes after all of it");
    world.close(1);
    world.run(at(120_000));
    assert!(world.both_closed());
    let closed = world.events[0].iter().filter(|event| matches!(event, PtcpEvent::PipeClosed { .. })).count();
    assert_eq!(closed, 3);
    assert_eq!(world.events[0].last(), Some(&PtcpEvent::Connection(TcpEvent::Closed)));
}

#[test]
fn abort_resets_every_pipe() {
    let mut world = opened(config(0, 3, 64_000), &[10, 20, 30]);
    world.write(0, 30_000);
    world.mutate(0, |end, now| end.abort(now));
    world.run(at(10_000));
    assert_eq!((world.state(0), world.state(1)), (Some(State::Closed), Some(State::Closed)));
    assert!(world.events[1].contains(&PtcpEvent::Connection(TcpEvent::Reset)));
}

fn path(index: usize) -> Path {
    Path { local: client(index), remote: server(index) }
}

#[test]
fn a_pipe_opened_again_elsewhere_takes_the_place_of_the_one_before() {
    let mut world = opened(config(2, 2, 64_000), &[10, 10, 10]);
    world.write(1, 400_000);
    world.run(at(2_030));
    let (sent, now) = (world.end(1).pipes().nth(1).expect("two pipes").sent_bytes, world.now);
    assert!(sent > 0);
    // The client's second interface has another address now, and nothing comes from the old one.
    world.hook = Some(Box::new(|_, flight| {
        let old = [client(1), server(1)].contains(&flight.segment.path.local);
        if old { Fate::Lose } else { Fate::Pass }
    }));
    world.mutate(0, |end, now| {
        end.drop_pipe(now, path(1));
        assert_eq!(end.open_pipe(now, path(2)), Some(1));
    });
    world.run(now + Duration::from_millis(50));
    let pipe = world.end(1).pipes().nth(1).expect("as many as before");
    assert_eq!((world.end(1).pipe_count(), pipe.path.remote), (2, client(2)));
    assert_eq!(world.state(1), Some(State::Established(2)));
    world.run(at(20_000));
    assert_eq!(world.received(0), 400_000);
}

#[test]
fn a_pipe_is_not_replaced_without_the_token() {
    let mut world = World::new(Seed(1), config(2, 2, 64_000), paths(&[10, 10]));
    world.run(at(2_000));
    let syn = world.log.iter().find(|(_, side, segment)| *side == 0 && segment.header.pipe == 1);
    let mut segment = syn.expect("a further pipe").2.clone();
    segment.path = Path { local: server(0), remote: client(5) };
    segment.set_up.as_mut().expect("a SYN has it").token ^= 1;
    world.arrive(Flight { to: 1, segment, carries: 0 });
    assert_eq!((world.end(1).drops().bad_token, world.state(1)), (1, Some(State::Established(2))));
}

#[test]
fn a_connection_outlives_its_only_pipe_when_the_host_opens_another() {
    let mut world = opened(config(2, 1, 64_000), &[10, 10]);
    world.write(1, 300_000);
    world.run(at(2_030));
    // The reset that says so is lost with the path; the server goes on in vain.
    world.hook = Some(Box::new(|_, flight| {
        let old = [client(0), server(0)].contains(&flight.segment.path.local);
        if old { Fate::Lose } else { Fate::Pass }
    }));
    world.mutate(0, |end, now| end.drop_pipe(now, path(0)));
    assert_eq!(world.state(0), Some(State::Established(0)));
    world.run(at(3_000));
    let before = world.received(0);
    assert!(before < 300_000);
    world.mutate(0, |end, now| assert_eq!(end.open_pipe(now, path(1)), Some(0)));
    world.mutate(0, |end, now| assert_eq!(end.open_pipe(now, path(0)), None, "one was agreed on"));
    world.close(1);
    world.close(0);
    world.run(at(60_000));
    assert_eq!(world.received(0), 300_000);
    assert!(world.both_closed());
}

/// Bytes unbound when the acknowledgements of two pipes with round trips of 10 ms come 25 ms later for a while.
fn unbound_by_late_acknowledgements(min_silence: Duration) -> u64 {
    let config = PtcpConfig { min_silence, ..config(0, 2, 64_000) };
    let mut world = opened(config, &[5, 5]);
    world.hook = Some(Box::new(|now, flight| {
        let late = flight.to == 0 && now > at(2_000) && now < at(2_010);
        if late { Fate::Delay(Duration::from_millis(25)) } else { Fate::Pass }
    }));
    world.write(0, 4_000_000);
    world.run(at(10_000));
    assert_eq!(world.received(1), 4_000_000);
    world.end(0).striping().unbound_bytes
}

#[test]
fn acknowledgements_that_come_late_unbind_nothing_before_the_min_silence() {
    assert!(unbound_by_late_acknowledgements(Duration::ZERO) > 0);
    assert_eq!(unbound_by_late_acknowledgements(Duration::from_millis(40)), 0);
}
