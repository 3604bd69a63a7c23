//! Packet scripts of RACK and tail loss probes (RFC 8985).
use crate::harness::script::Script;
use prismux_tcp::engine::{CongestionKind, EngineConfig, Phase, SendKind};

fn rack() -> EngineConfig {
    EngineConfig { congestion: CongestionKind::NewReno, hystart: None, tlp: false, ..EngineConfig::modern() }
}

fn rack_tlp() -> EngineConfig {
    EngineConfig { tlp: true, ..rack() }
}

/// Ten outstanding segments 10..20 sent one millisecond apart, RTT 100 ms; the first ACK would be due now.
fn spaced(config: &EngineConfig) -> Script {
    let mut s = Script::warmed(config, 100, 10, 0);
    for _ in 0..10 {
        s.limits.window_end += 1000;
        s.send();
        s.pass(1);
    }
    s.pass(90);
    s
}

#[test]
fn without_reordering_seen_three_sacked_segments_mean_a_loss_at_once() {
    let mut s = spaced(&rack());
    s.sack(10, &[(11, 12)]);
    s.sack(10, &[(11, 13)]);
    assert_eq!((s.engine.phase(), s.send()), (Phase::Open, vec![]));
    s.sack(10, &[(11, 14)]);
    assert_eq!((s.engine.phase(), s.send()), (Phase::Recovery, vec![10]));
}

#[test]
fn fewer_than_three_wait_a_quarter_of_the_rtt_for_the_reordering_timer() {
    let mut s = spaced(&rack());
    s.pass(1);
    s.sack(10, &[(11, 12)]);
    assert_eq!(s.engine.phase(), Phase::Open);
    // Segment 10 left 101 ms ago; RACK.rtt is 100 ms, the window 25 ms.
    assert_eq!(s.fire(), ("rack-reorder", 24));
    assert_eq!((s.engine.phase(), s.send()), (Phase::Recovery, vec![10]));
}

#[test]
fn a_segment_that_comes_late_within_the_window_costs_nothing() {
    let mut s = spaced(&rack());
    s.pass(1);
    s.sack(10, &[(11, 12)]);
    s.pass(20);
    s.ack(12);
    assert_eq!(s.engine.phase(), Phase::Open);
    assert_eq!(s.engine.deadline().unwrap().why, "rto", "the reordering timer has no more to wait for");
    // Having seen reordering, three segments above a hole are no proof any more.
    s.sack(12, &[(13, 17)]);
    assert_eq!((s.engine.phase(), s.send()), (Phase::Open, vec![]));
}

#[test]
fn a_lost_retransmission_is_found_by_data_sent_after_it() {
    let mut s = spaced(&rack());
    s.limits.window_end += 4000;
    s.send();
    s.sack(10, &[(11, 14)]);
    let resent = s.send();
    assert_eq!(resent[0], 10);
    s.sack(10, &[(11, 20)]);
    s.limits.window_end += 8000;
    s.pass(1);
    let new = s.send();
    assert!(!new.is_empty(), "new data follows the retransmission");
    s.pass(110);
    let last = *new.last().unwrap();
    s.sack(10, &[(11, last + 1)]);
    assert_eq!(s.send().first(), Some(&10), "resent again without a timeout");
    assert_eq!(s.engine.metrics().counters.timeouts, 0);
}

#[test]
fn an_ack_too_early_for_the_retransmission_does_not_move_the_clock_of_rack() {
    let mut s = spaced(&rack());
    s.sack(10, &[(11, 14)]);
    assert_eq!(s.send(), [10]);
    s.pass(5);
    // The original of 10 arrives after all, 5 ms after the retransmission left: not an RTT.
    s.ack(14);
    assert_eq!(s.send(), Vec::<u64>::new(), "14 to 19, sent before the retransmission, are not lost");
    assert_eq!(s.engine.metrics().pipe_bytes, 6000);
}

#[test]
fn each_dsack_round_widens_the_reordering_window() {
    // After one DSACK the window is two quarters of the minimum RTT, after two three.
    let mut waits = Vec::new();
    for dsacks in 0..3 {
        let mut s = Script::warmed(&rack(), 100, 10, 0);
        let mut next = 10;
        for _ in 0..dsacks {
            // A hole, its retransmission, and then both copies arrive.
            s.limits.window_end += 6000;
            s.send();
            s.pass(100);
            s.sack(next, &[(next + 1, next + 5)]);
            if s.engine.phase() == Phase::Open {
                s.fire();
            }
            assert_eq!(s.send(), [next]);
            s.pass(100);
            s.ack(next + 6);
            s.dsack(next + 6, next);
            next += 6;
        }
        // Reordering is seen once in any case.
        s.limits.window_end += 2000;
        s.send();
        s.pass(100);
        s.sack(next, &[(next + 1, next + 2)]);
        s.ack(next + 2);
        next += 2;
        s.limits.window_end += 2000;
        s.send();
        s.pass(100);
        s.sack(next, &[(next + 1, next + 2)]);
        waits.push(s.fire());
    }
    assert_eq!(waits, [("rack-reorder", 25), ("rack-reorder", 50), ("rack-reorder", 75)]);
}

#[test]
fn tlp_fires_after_two_rtts_and_resends_the_last_segment() {
    let mut s = Script::warmed(&rack_tlp(), 100, 10, 5);
    s.limits.stream_end = s.limits.window_end;
    assert_eq!(s.fire(), ("tlp", 200));
    assert_eq!(s.send_with_kind(), [(14, SendKind::TailProbe)]);
    assert_eq!(s.engine.deadline().unwrap().why, "rto", "one probe, then the timeout");
}

#[test]
fn tlp_prefers_new_data_even_beyond_the_window() {
    let mut s = Script::warmed(&rack_tlp(), 100, 10, 5);
    s.limits.window_end += 1000;
    s.limits.stream_end = s.limits.window_end;
    // Without the probe, Nagle or the window could have kept it back; here nobody has asked yet.
    assert_eq!(s.fire().0, "tlp");
    assert_eq!(s.send_with_kind(), [(15, SendKind::TailProbe)]);
}

#[test]
fn tlp_waits_longer_for_a_single_segment_because_its_ack_may_be_delayed() {
    let mut s = Script::warmed(&rack_tlp(), 100, 10, 1);
    let rto = s.engine.rto().as_millis();
    assert_eq!(s.fire(), ("tlp", rto.min(400)));
}

#[test]
fn the_ack_of_a_probe_shows_a_tail_loss_and_recovery_follows_without_a_timeout() {
    let mut s = Script::warmed(&rack_tlp(), 100, 10, 5);
    s.limits.stream_end = s.limits.window_end;
    // 12, 13 and 14 are lost.
    s.pass(100);
    s.ack(12);
    assert_eq!(s.fire().0, "tlp");
    assert_eq!(s.send(), [14]);
    s.pass(100);
    s.sack(12, &[(14, 15)]);
    if s.engine.phase() == Phase::Open {
        assert_eq!(s.fire().0, "rack-reorder");
    }
    assert_eq!(s.send(), [12, 13][..s.engine.cwnd().min(2000) as usize / 1000].to_vec());
    s.pass(100);
    s.sack(13, &[(14, 15)]);
    s.send();
    s.pass(100);
    s.ack(15);
    assert_eq!(s.engine.metrics().counters.timeouts, 0);
    assert!(s.engine.is_idle());
}

#[test]
fn a_loss_that_only_the_probe_repaired_reduces_the_window() {
    let mut s = Script::warmed(&rack_tlp(), 100, 10, 5);
    s.pass(100);
    s.ack(14);
    assert_eq!(s.fire().0, "tlp");
    assert_eq!(s.send(), [14]);
    let window = s.window();
    s.pass(100);
    assert!(!s.ack(15).window_reduced, "either copy may have arrived");
    s.limits.window_end += 1000;
    s.send();
    s.pass(100);
    assert!(s.ack(16).window_reduced, "no duplicate was reported: the original was lost");
    assert!(s.threshold() < window);
}

#[test]
fn a_probe_whose_original_arrived_does_not_reduce_the_window() {
    let mut s = Script::warmed(&rack_tlp(), 100, 10, 5);
    s.pass(100);
    s.ack(14);
    s.fire();
    assert_eq!(s.send(), [14]);
    s.pass(50);
    s.ack(15);
    s.pass(50);
    s.dsack(15, 14);
    s.limits.window_end += 1000;
    s.send();
    s.pass(100);
    assert!(!s.ack(16).window_reduced);
    assert_eq!(s.engine.metrics().counters.spurious_retransmissions, 1);
}
