//! Packet scripts of undoing what was spurious: DSACK (RFC 3708), Eifel (RFC 3522), F-RTO (RFC 5682).
use crate::harness::script::{Script, ms};
use prismux_tcp::engine::{CongestionKind, EngineConfig, Phase, WindowReduction};

fn config() -> EngineConfig {
    EngineConfig {
        congestion: CongestionKind::NewReno,
        hystart: None,
        rack: false,
        tlp: false,
        reduction: WindowReduction::Immediate,
        ..EngineConfig::modern()
    }
}

#[test]
fn a_dsack_for_every_retransmission_restores_the_window() {
    let mut s = Script::warmed(&config(), 100, 10, 20);
    let window = s.window();
    s.pass(100);
    s.sack(10, &[(12, 30)]);
    assert_eq!(s.send(), [10, 11]);
    assert_eq!(s.threshold(), window / 2);
    s.pass(10);
    s.ack(30);
    s.pass(90);
    assert!(!s.dsack(30, 10).undone, "one of two");
    assert!(s.dsack(30, 11).undone);
    assert!(s.window() >= window, "{} of {window}", s.window());
    assert!(s.engine.metrics().ssthresh_bytes > 1_000_000_000, "slow start may go on");
    assert_eq!(s.engine.metrics().counters.spurious_retransmissions, 2);
}

#[test]
fn a_copy_made_by_the_network_undoes_nothing() {
    let mut s = Script::warmed(&config(), 100, 10, 20);
    s.pass(100);
    assert!(!s.dsack(11, 10).undone, "never sent twice");
    s.sack(11, &[(12, 15)]);
    assert_eq!(s.send(), [11]);
    assert!(!s.dsack(11, 5).undone, "sent and acknowledged before this recovery");
    assert_eq!(s.engine.phase(), Phase::Recovery);
}

#[test]
fn eifel_a_timestamp_from_before_the_retransmission_restores_the_window_at_once() {
    let mut s = Script::warmed(&config(), 100, 10, 20);
    let window = s.window();
    s.pass(100);
    s.sack(10, &[(11, 14)]);
    assert_eq!(s.send(), [10]);
    s.pass(30);
    assert!(s.ack_echoing(14, 130).undone, "the original was only late");
    assert!(s.window() >= window);
    assert_eq!(s.engine.phase(), Phase::Open);
}

#[test]
fn eifel_the_answer_to_the_retransmission_undoes_nothing() {
    let mut s = Script::warmed(&config(), 100, 10, 20);
    s.pass(100);
    s.sack(10, &[(11, 14)]);
    assert_eq!(s.send(), [10]);
    s.pass(100);
    assert!(!s.ack_echoing(14, 100).undone);
    assert_eq!(s.engine.phase(), Phase::Recovery);
}

#[test]
fn f_rto_sends_new_data_after_the_first_ack_and_undoes_a_spurious_timeout() {
    let mut s = Script::warmed(&config(), 100, 10, 20);
    s.limits.window_end += 20_000;
    s.send();
    let (window, next) = (s.window(), s.engine.next() / 1000);
    s.fire();
    assert_eq!(s.send(), [10]);
    s.pass(20);
    s.ack(11);
    assert_eq!(s.send(), [next, next + 1], "two new segments instead of retransmissions");
    s.pass(1);
    assert!(s.ack(12).undone, "12 was sent once only: the path was slow, nothing was lost");
    assert_eq!(s.engine.phase(), Phase::Open);
    assert!(s.window() >= window);
    assert_eq!(s.engine.metrics().counters.retransmitted_segments, 1);
}

#[test]
fn f_rto_a_duplicate_after_the_new_data_means_the_timeout_was_right() {
    let mut s = Script::warmed(&config(), 100, 10, 20);
    s.limits.window_end += 20_000;
    s.send();
    let next = s.engine.next() / 1000;
    s.fire();
    assert_eq!(s.send(), [10]);
    s.pass(100);
    s.ack(11);
    assert_eq!(s.send(), [next, next + 1]);
    s.pass(100);
    assert!(!s.sack(11, &[(next, next + 1)]).undone);
    assert_eq!(s.engine.phase(), Phase::Loss);
    assert_eq!(s.send().first(), Some(&11), "conventional recovery");
}

#[test]
fn f_rto_without_new_data_recovers_conventionally() {
    let mut s = Script::warmed(&config(), 100, 10, 20);
    s.limits.stream_end = s.limits.window_end;
    s.fire();
    assert_eq!(s.send(), [10]);
    s.pass(100);
    s.ack(11);
    assert_eq!(s.send(), [11, 12]);
}

#[test]
fn undo_switched_off_restores_nothing() {
    let mut s = Script::warmed(&EngineConfig { undo: false, frto: false, ..config() }, 100, 10, 20);
    s.pass(100);
    s.sack(10, &[(11, 14)]);
    s.send();
    s.pass(30);
    assert!(!s.ack_echoing(14, 130).undone);
    s.ack(30);
    assert!(!s.dsack(30, 10).undone);
    assert_eq!(s.threshold(), 10);
}

#[test]
fn linux24_raises_its_threshold_with_the_reordering_it_sees() {
    let linux = EngineConfig::linux24();
    let mut s = Script::warmed(&linux, 100, 10, 6);
    s.pass(100);
    s.sack(10, &[(11, 13)]);
    s.ack(13);
    assert_eq!(s.engine.metrics().dup_threshold, 3, "a distance of three is what the threshold tolerates");
    s.limits.window_end += 10_000;
    s.send();
    s.pass(100);
    // FACK: the hole is one segment below the highest sacked one times the threshold.
    s.sack(13, &[(14, 15)]);
    s.sack(13, &[(14, 16)]);
    assert_eq!(s.engine.phase(), Phase::Open);
    s.sack(13, &[(14, 17)]);
    assert_eq!((s.engine.phase(), s.send()), (Phase::Recovery, vec![13]));
    s.pass(30);
    assert!(s.ack_echoing(17, 130).undone);
    assert!(s.engine.metrics().dup_threshold > 3, "the hole was reordering: tolerate more");
    assert!(s.engine.rto() >= ms(200));
}

#[test]
fn linux24_fack_counts_the_distance_to_the_highest_sacked_segment() {
    let mut s = Script::warmed(&EngineConfig::linux24(), 100, 10, 6);
    s.pass(100);
    s.sack(10, &[(13, 14)]);
    assert_eq!(s.engine.phase(), Phase::Recovery, "one sacked segment, three above the hole");
    assert_eq!(s.send()[0], 10);
}

#[test]
fn linux24_rate_halving_takes_one_segment_for_every_second_ack() {
    let mut s = Script::warmed(&EngineConfig::linux24(), 100, 40, 20);
    s.limits.window_end += 40_000;
    s.send();
    s.pass(100);
    let (start, first_new) = (s.window(), s.engine.next());
    s.sack(40, &[(41, 45)]);
    s.send();
    for arrived in 46..=(40 + 18) {
        let before = s.window();
        s.sack(40, &[(41, arrived)]);
        assert!(before - s.window() <= 1, "never more than one at a time");
        s.send();
    }
    assert!(s.window() < start && s.window() >= s.threshold());
    assert!(s.engine.next() > first_new, "new data flows while the window comes down");
}
