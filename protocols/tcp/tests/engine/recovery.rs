//! Packet scripts of loss recovery: one test per behaviour an RFC describes.
use crate::harness::script::Script;
use prismux_tcp::engine::{CongestionKind, EngineConfig, Phase, SendKind, WindowReduction};

/// RFC 5681 and RFC 6582: no SACK.
fn newreno() -> EngineConfig {
    EngineConfig {
        sack: false,
        congestion: CongestionKind::NewReno,
        hystart: None,
        reduction: WindowReduction::Immediate,
        ..EngineConfig::modern()
    }
}

/// RFC 6675: SACK, counts instead of time.
fn sack() -> EngineConfig {
    EngineConfig { sack: true, rack: false, ..newreno() }
}

#[test]
fn rfc5681_the_third_duplicate_resends_the_first_segment_and_halves_the_window() {
    let mut s = Script::warmed(&newreno(), 100, 10, 20);
    s.pass(100);
    let window = s.window();
    assert_eq!(window, 20);
    s.ack(10);
    s.ack(10);
    assert_eq!(s.engine.phase(), Phase::Open);
    assert_eq!(s.send(), Vec::<u64>::new(), "the peer's window is full");
    s.ack(10);
    assert_eq!(s.engine.phase(), Phase::Recovery);
    assert_eq!(s.send_with_kind(), [(10, SendKind::Retransmission)]);
    assert_eq!((s.window(), s.threshold()), (10, 10));
}

#[test]
fn rfc3042_the_first_two_duplicates_release_a_new_segment_each() {
    for (limited_transmit, expected) in [(true, vec![30]), (false, vec![])] {
        let mut s = Script::warmed(&EngineConfig { limited_transmit, ..newreno() }, 100, 10, 20);
        s.limits.window_end *= 2;
        assert_eq!(s.send(), Vec::<u64>::new(), "the congestion window is full");
        s.pass(100);
        s.ack(10);
        assert_eq!(s.send(), expected, "limited transmit {limited_transmit}");
        s.ack(10);
        assert_eq!(s.send().len(), expected.len());
        s.ack(10);
        assert_eq!(s.send(), [10], "then the fast retransmit");
    }
}

#[test]
fn rfc6582_a_partial_ack_resends_the_next_hole_and_recovery_ends_at_the_recovery_point() {
    let mut s = Script::warmed(&newreno(), 100, 10, 20);
    s.pass(100);
    for _ in 0..3 {
        s.ack(10);
    }
    assert_eq!(s.send(), [10]);
    s.pass(100);
    s.ack(15);
    assert_eq!(s.engine.phase(), Phase::Recovery);
    assert_eq!(s.send(), [15], "15 is the second hole");
    assert_eq!(s.threshold(), 10, "one reduction for the window");
    s.pass(100);
    s.ack(30);
    assert_eq!(s.engine.phase(), Phase::Open);
    assert!(s.window() <= s.threshold());
    assert_eq!(s.engine.metrics().counters.fast_recoveries, 1);
}

#[test]
fn rfc6582_duplicates_of_segments_sent_before_a_timeout_do_not_start_recovery() {
    let mut s = Script::warmed(&newreno(), 100, 10, 20);
    s.fire();
    assert_eq!(s.send(), [10]);
    s.pass(100);
    s.ack(11);
    s.send();
    for _ in 0..4 {
        s.ack(11);
    }
    assert_eq!(s.engine.phase(), Phase::Loss);
    assert_eq!(s.engine.metrics().counters.fast_recoveries, 0);
}

#[test]
fn rfc6675_a_segment_is_lost_once_three_above_it_arrived_and_not_before() {
    let mut s = Script::warmed(&sack(), 100, 10, 20);
    s.pass(100);
    s.sack(10, &[(11, 13)]);
    assert_eq!((s.engine.phase(), s.send()), (Phase::Open, vec![]));
    s.sack(10, &[(11, 14)]);
    assert_eq!((s.engine.phase(), s.send()), (Phase::Recovery, vec![10]));
}

#[test]
fn rfc6675_every_hole_is_filled_within_one_recovery_and_one_reduction() {
    let mut s = Script::warmed(&sack(), 100, 10, 20);
    s.pass(100);
    s.sack(10, &[(11, 12)]);
    s.sack(10, &[(13, 14), (11, 12)]);
    s.sack(10, &[(15, 18), (13, 14), (11, 12)]);
    let mut resent = s.send();
    s.sack(10, &[(15, 30), (13, 14), (11, 12)]);
    resent.extend(s.send());
    assert_eq!(resent, [10, 12, 14], "holes in order, each once");
    assert_eq!(s.threshold(), 10);
    s.pass(100);
    s.sack(12, &[(15, 30), (13, 14)]);
    s.sack(14, &[(15, 30)]);
    s.ack(30);
    assert_eq!((s.engine.phase(), s.window()), (Phase::Open, 10));
    assert_eq!(s.engine.metrics().counters.fast_recoveries, 1);
}

#[test]
fn rfc6675_in_recovery_the_pipe_limits_sending() {
    let mut s = Script::warmed(&sack(), 100, 10, 20);
    s.limits.window_end *= 4;
    s.send();
    s.pass(100);
    s.sack(10, &[(11, 14)]);
    assert_eq!(s.send()[0], 10);
    let metrics = s.engine.metrics();
    assert!(metrics.pipe_bytes >= metrics.cwnd_bytes, "the window was halved: {metrics:?}");
    let mut sent = 0;
    for arrived in 15..29 {
        s.sack(10, &[(11, arrived)]);
        sent += s.send().len();
        let metrics = s.engine.metrics();
        assert!(sent == 0 || metrics.pipe_bytes <= metrics.cwnd_bytes, "{metrics:?}");
    }
    assert!((3..=14).contains(&sent), "about half of the ACKs release a segment, not {sent}");
}

#[test]
fn rfc6675_rule_4_one_rescue_retransmission_when_nothing_else_can_be_sent() {
    let mut s = Script::warmed(&sack(), 100, 10, 10);
    s.limits.stream_end = s.limits.window_end;
    s.pass(100);
    s.sack(10, &[(11, 18)]);
    assert_eq!(s.send(), [10, 19], "the hole, then the end of the window to provoke an ACK");
    s.sack(10, &[(11, 18)]);
    assert_eq!(s.send(), Vec::<u64>::new(), "once");
}

#[test]
fn rfc6937_the_window_falls_in_proportion_to_what_is_delivered() {
    let config = EngineConfig { reduction: WindowReduction::Proportional, ..sack() };
    let mut s = Script::warmed(&config, 100, 30, 20);
    s.limits.window_end *= 4;
    s.send();
    s.pass(100);
    let flight = s.engine.metrics().outstanding_bytes / 1000;
    let first_new = s.engine.next();
    s.sack(30, &[(31, 34)]);
    assert_eq!(s.send()[0], 30, "fast retransmit at once");
    let threshold = s.threshold();
    for arrived in 35..=(30 + flight) {
        s.sack(30, &[(31, arrived)]);
        let sent = s.send();
        assert!(sent.len() <= 2, "no burst, one for about two ACKs: {sent:?}");
    }
    let new = (s.engine.next() - first_new) / 1000;
    assert!(new.abs_diff(threshold) <= 3, "about ssthresh {threshold} sent in the round trip, not {new}");
    s.pass(100);
    s.ack(30 + flight);
    assert_eq!((s.engine.phase(), s.window()), (Phase::Open, threshold));
}

#[test]
fn rfc5681_a_timeout_restarts_from_one_segment_and_half_the_window_as_threshold() {
    let mut s = Script::warmed(&sack(), 100, 10, 20);
    let (why, _) = s.fire();
    assert_eq!((why, s.engine.phase(), s.window(), s.threshold()), ("rto", Phase::Loss, 1, 10));
    assert_eq!(s.send(), [10]);
    s.pass(100);
    s.ack(11);
    assert_eq!(s.window(), 2, "slow start");
    s.pass(1);
    assert!(s.engine.rto() >= s.engine.srtt().unwrap());
}

#[test]
fn rfc6298_each_timeout_doubles_the_next_and_a_sample_ends_it() {
    let mut s = Script::warmed(&sack(), 100, 10, 20);
    let (_, first) = s.fire();
    s.send();
    let (_, second) = s.fire();
    s.send();
    let (_, third) = s.fire();
    s.send();
    assert!(second.abs_diff(2 * first) <= 1 && third.abs_diff(4 * first) <= 1, "{first} {second} {third}");
    assert_eq!(s.threshold(), 10, "RFC 5681: repeated timeouts do not halve again");
    s.pass(100);
    s.ack(11);
    assert!(s.engine.rto().as_millis() >= 4 * first, "Karn: a retransmission gives no sample");
    s.send();
    s.pass(100);
    s.ack_echoing(13, 100);
    assert!(s.engine.rto().as_millis() <= first + 100, "a timestamp does");
}

#[test]
fn rfc2018_a_receiver_that_drops_sacked_data_is_served_after_a_timeout() {
    let mut s = Script::warmed(&sack(), 100, 10, 4);
    s.pass(100);
    s.sack(10, &[(11, 14)]);
    assert_eq!(s.send(), [10]);
    // The retransmission arrives, but the receiver has thrown the rest away.
    s.pass(100);
    s.ack(11);
    assert_eq!(s.send(), Vec::<u64>::new());
    s.fire();
    assert_eq!(s.send(), [11], "the head was sacked: nothing reported is believed any more");
}

#[test]
fn rfc2018_a_timeout_may_forget_what_was_reported_and_reports_after_it_count_again() {
    for (forget_sacks, expected) in [(false, vec![11, 14, 15, 16]), (true, vec![11, 12, 13, 14])] {
        let mut s = Script::warmed(&EngineConfig { forget_sacks, ..sack() }, 100, 10, 20);
        s.pass(100);
        s.sack(10, &[(12, 14)]);
        s.fire();
        assert_eq!(s.send(), [10]);
        s.pass(100);
        s.ack(11);
        let mut resent = s.send();
        s.pass(100);
        s.ack(resent[0] + 1);
        resent.extend(s.send());
        assert_eq!(resent, expected, "forget_sacks = {forget_sacks}");
    }
    let mut s = Script::warmed(&EngineConfig { forget_sacks: true, ..sack() }, 100, 10, 20);
    s.fire();
    assert_eq!(s.send(), [10]);
    s.pass(100);
    s.ack(11);
    assert_eq!(s.send(), [11, 12]);
    s.pass(100);
    s.sack(12, &[(13, 15)]);
    assert_eq!(s.send(), [15, 16, 17, 18], "13 and 14 are told anew, 12 is under way");
}

#[test]
fn rfc3168_an_ecn_mark_reduces_once_per_window() {
    let mut s = Script::warmed(&sack(), 100, 10, 20);
    s.pass(100);
    assert!(s.ecn(11).window_reduced);
    assert_eq!(s.threshold(), 10);
    for next in 12..30 {
        assert!(!s.ecn(next).window_reduced, "still the same window");
        s.send();
    }
    s.ack(30);
    s.limits.window_end *= 2;
    s.send();
    s.pass(100);
    assert!(s.ecn(31).window_reduced, "the next window may be reduced again");
    assert_eq!(s.engine.metrics().counters.ecn_reductions, 2);
}

#[test]
fn max_burst_limits_what_one_event_releases() {
    let mut s = Script::new(&EngineConfig { max_burst: Some(3), ..sack() });
    assert_eq!(s.send(), [0, 1, 2]);
    s.pass(100);
    s.ack(3);
    assert_eq!(s.send(), [3, 4, 5]);
}
