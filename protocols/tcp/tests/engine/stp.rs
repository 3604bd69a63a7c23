//! Packet scripts of STP: windows in bytes, losses found by reports, timeouts upon silence.
use crate::harness::script::Script;
use prismux_tcp::engine::{CongestionKind, EngineConfig, Phase};

fn stp() -> EngineConfig {
    EngineConfig { congestion: CongestionKind::Stp, ..EngineConfig::modern() }
}

#[test]
fn one_report_of_ten_segments_is_worth_ten_of_one() {
    let mut s = Script::new(&stp());
    assert_eq!(s.send().len(), 10);
    s.pass(100);
    s.ack(10);
    assert_eq!(s.window(), 20);
    assert_eq!(s.send().len(), 20);
}

#[test]
fn a_window_of_bytes_reported_in_avoidance_is_a_segment_more() {
    let mut s = Script::warmed(&stp(), 100, 30, 10);
    s.pass(100);
    s.sack(30, &[(31, 32)]);
    s.send();
    s.pass(100);
    s.ack(40);
    let window = s.window();
    assert_eq!((s.engine.phase(), window), (Phase::Open, s.threshold()));
    for round in 1..=3 {
        s.limits.window_end = u64::MAX;
        let sent = s.send().len() as u64;
        let all = s.engine.next() / 1000;
        s.pass(100);
        s.ack(all - sent / 2);
        s.ack(all);
        assert!(s.window() >= window && s.window() <= window + round, "{} after {round} rounds", s.window());
    }
    assert!(s.window() > window);
}

#[test]
fn a_gap_is_a_loss_as_soon_as_it_is_reported_and_halves_the_window_once() {
    let mut s = Script::warmed(&stp(), 100, 60, 20);
    let before = s.window();
    s.limits.window_end = 0;
    s.pass(100);
    s.sack(60, &[(61, 62)]);
    assert_eq!((s.engine.phase(), s.send()), (Phase::Recovery, vec![60]));
    assert_eq!(s.window(), before / 2);
    s.pass(10);
    s.sack(60, &[(64, 65), (61, 62)]);
    assert_eq!(s.send(), [62, 63], "at once, whatever the window");
    assert_eq!((s.window(), s.engine.metrics().counters.fast_recoveries), (before / 2, 1));
}

#[test]
fn a_repair_missing_from_a_report_a_round_trip_and_a_poll_later_is_made_again() {
    let mut s = Script::warmed(&stp(), 120, 60, 20);
    s.limits.window_end = 0;
    s.pass(120);
    s.sack(60, &[(61, 80)]);
    assert_eq!(s.send(), [60]);
    let patience = s.engine.srtt().unwrap() + s.engine.poll_interval().unwrap();
    let deviation = s.engine.metrics().rttvar * 4;
    s.now += patience;
    s.sack(60, &[(61, 80)]);
    assert_eq!(s.send(), [], "it may still arrive");
    s.now += deviation;
    s.sack(60, &[(61, 80)]);
    assert_eq!(s.send(), [60]);
    assert_eq!(s.engine.metrics().counters.timeouts, 0);
}

#[test]
fn only_silence_means_a_timeout() {
    let mut s = Script::warmed(&stp(), 400, 60, 20);
    let metrics = s.engine.metrics();
    let silence = metrics.srtt.unwrap() * 2 + metrics.rttvar * 4;
    let most = silence + EngineConfig::modern().clock_granularity;
    assert!(metrics.rto >= silence && metrics.rto <= most, "{} for {silence}", metrics.rto);
    for _ in 0..3 {
        s.now += silence - prismux_units::Duration::from_millis(1);
        s.ack(60);
        s.send();
    }
    assert_eq!(s.engine.metrics().counters.timeouts, 0, "reports come");
    assert_eq!(s.fire().0, "rto");
    assert_eq!((s.window(), s.engine.metrics().counters.timeouts), (1, 1));
}
