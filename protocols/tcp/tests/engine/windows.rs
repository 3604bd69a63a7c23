//! Packet scripts of what the window does while nothing is lost: validation, idle time, silly windows.
use crate::harness::script::Script;
use prismux_tcp::engine::{Ack, CongestionKind, EngineConfig};

fn config() -> EngineConfig {
    EngineConfig { congestion: CongestionKind::NewReno, hystart: None, ..EngineConfig::modern() }
}

#[test]
fn rfc6928_the_first_window_has_ten_segments_and_that_of_the_era_two() {
    assert_eq!(Script::new(&config()).send().len(), 10);
    assert_eq!(Script::new(&EngineConfig::linux24()).send().len(), 2);
    assert_eq!(Script::new(&EngineConfig::ns2_sack1()).send().len(), 2);
}

#[test]
fn rfc7661_a_window_that_is_not_used_does_not_grow() {
    let mut s = Script::new(&config());
    for round in 0..50 {
        s.limits.stream_end = (round + 1) * 2000;
        assert_eq!(s.send().len(), 2);
        s.pass(100);
        s.ack(round * 2 + 2);
    }
    assert_eq!(s.window(), 10);
}

#[test]
fn rfc5681_the_window_shrinks_after_idle_time_but_not_below_the_first_one() {
    let mut s = Script::warmed(&config(), 100, 60, 0);
    let before = s.window();
    assert!(before >= 20);
    s.limits.window_end += 200_000;
    s.pass(60_000);
    assert_eq!(s.send().len(), 10);
    assert!(s.threshold() >= before * 3 / 4, "slow start back to three quarters");
    let mut steady = Script::warmed(&EngineConfig { idle_restart: false, ..config() }, 100, 60, 0);
    steady.limits.window_end += 200_000;
    steady.pass(60_000);
    assert_eq!(steady.send().len() as u64, before);
}

#[test]
fn nagle_holds_a_short_segment_while_anything_is_unacknowledged() {
    for (nagle, expected) in [(true, vec![0, 1]), (false, vec![0, 1, 2])] {
        let mut s = Script::new(&config());
        s.limits.nagle = nagle;
        s.limits.stream_end = 2300;
        assert_eq!(s.send(), expected);
        s.pass(100);
        s.ack(2);
        s.send();
        assert_eq!(s.engine.next(), 2300, "nothing is outstanding any more");
    }
}

#[test]
fn rfc9293_a_sliver_of_window_is_used_only_when_nothing_is_outstanding() {
    let mut s = Script::new(&config());
    s.limits.window_end = 2300;
    assert_eq!(s.send(), [0, 1]);
    s.pass(100);
    s.ack(2);
    assert_eq!(s.send(), [2]);
    assert_eq!(s.engine.next(), 2300);
}

#[test]
fn an_ack_beyond_everything_sent_is_refused() {
    let mut s = Script::new(&config());
    s.send();
    let before = s.engine.metrics();
    let outcome = s.raw(&Ack { cumulative: 10_001, is_pure: true, ..Ack::default() });
    assert!(outcome.beyond_sent);
    assert_eq!(s.engine.metrics(), before);
}

#[test]
fn sack_ranges_that_make_no_sense_change_nothing() {
    let mut s = Script::new(&config());
    s.send();
    s.pass(100);
    s.ack(5);
    s.send();
    let (pipe, next) = (s.engine.pipe(), s.engine.next() / 1000);
    s.sack(5, &[(100, 200), (0, 3), (next - 1, next + 2)]);
    assert_eq!((s.engine.pipe(), s.send()), (pipe, vec![]));
    assert_eq!(s.engine.metrics().counters.fast_recoveries, 0);
}

#[test]
fn a_smaller_segment_size_splits_what_is_outstanding() {
    let mut s = Script::new(&config());
    s.send();
    s.engine.on_mss_change(400);
    s.limits.max_segment_bytes = 400;
    s.engine.audit().unwrap();
    s.fire();
    let send = s.engine.poll_send(s.now, &s.limits).unwrap();
    assert_eq!(send.range, 0..400);
}
