//! Packet scripts of explicit loss notices (TCP-PRISM's loss reports): for the modern sender and the one of ns-2.
use crate::harness::script::Script;
use prismux_tcp::engine::{EngineConfig, Phase, SendKind};

fn senders() -> Vec<EngineConfig> {
    let modern = EngineConfig { hystart: None, ..EngineConfig::modern() };
    vec![
        modern.clone(),
        EngineConfig { rack: false, ..modern },
        EngineConfig::linux24(),
        EngineConfig::ns2_sack1(),
    ]
}

/// Twenty segments outstanding from 40, whatever the sender.
fn start(config: &EngineConfig) -> Script {
    let mut s = Script::warmed(config, 100, 40, 20);
    s.pass(100);
    s
}

#[test]
fn the_reported_segment_is_resent_at_once_and_the_window_keeps_its_share() {
    for config in senders() {
        let mut s = start(&config);
        let window = s.engine.cwnd();
        assert!(s.notice(40, 40, 1, 0.75).window_reduced, "{config:?}");
        assert_eq!(s.send_with_kind().first(), Some(&(40, SendKind::Retransmission)), "{config:?}");
        assert_eq!((s.engine.cwnd(), s.engine.phase()), (window * 3 / 4, Phase::Recovery), "{config:?}");
    }
}

#[test]
fn one_reduction_per_path_until_it_is_acknowledged() {
    for config in senders() {
        let mut s = start(&config);
        let window = s.engine.cwnd() as f64;
        s.notice(40, 40, 1, 0.75);
        s.send();
        assert!(!s.notice(40, 44, 1, 0.75).window_reduced, "the same path again");
        assert!(s.send().contains(&44), "but the segment is resent");
        assert!(s.notice(40, 46, 2, 0.75).window_reduced, "another path has its own share");
        s.send();
        let expected = window * 0.75 * 0.75;
        assert!((s.engine.cwnd() as f64 - expected).abs() <= 2.0, "{} {expected}", s.engine.cwnd());
        s.pass(100);
        s.ack(60);
        assert_eq!(s.engine.phase(), Phase::Open);
        s.limits.window_end += 10_000;
        s.send();
        s.pass(100);
        assert!(s.notice(60, 60, 1, 0.75).window_reduced, "the reduction was acknowledged");
        assert_eq!(s.engine.metrics().counters.loss_notices, 4);
    }
}

#[test]
fn a_repeated_notice_changes_nothing() {
    for config in senders() {
        let mut s = start(&config);
        s.notice(40, 42, 1, 0.75);
        let window = s.engine.cwnd();
        s.notice(40, 42, 1, 0.75);
        assert_eq!(s.send().iter().filter(|&&n| n == 42).count(), 1);
        s.pass(1);
        s.notice(40, 42, 1, 0.75);
        s.notice(40, 42, 2, 0.5);
        assert!(!s.send().contains(&42), "just resent");
        assert_eq!(s.engine.cwnd(), window);
        assert_eq!(s.engine.metrics().counters.ignored_notices, 3);
    }
}

#[test]
fn recovery_lasts_until_what_was_sent_at_entry_is_acknowledged() {
    for config in senders() {
        let mut s = start(&config);
        s.notice(40, 40, 1, 0.75);
        s.limits.window_end += 50_000;
        s.send();
        s.pass(100);
        s.ack(59);
        assert_eq!(s.engine.phase(), Phase::Recovery);
        let window = s.engine.cwnd();
        s.ack(60);
        assert_eq!(
            (s.engine.phase(), s.engine.cwnd()),
            (Phase::Open, window),
            "{config:?} {:?}",
            s.engine.metrics()
        );
    }
}

#[test]
fn a_notice_for_a_segment_not_outstanding_is_counted_and_ignored() {
    for config in senders() {
        let mut s = start(&config);
        let window = s.engine.cwnd();
        for lost in [3, 60, 5000] {
            assert!(!s.notice(40, lost, 1, 0.5).window_reduced);
        }
        assert_eq!((s.engine.cwnd(), s.engine.phase()), (window, Phase::Open));
        assert_eq!(s.engine.metrics().counters.ignored_notices, 3);
    }
}

#[test]
fn a_factor_that_keeps_nothing_or_everything_resends_but_leaves_the_window() {
    for config in senders() {
        for keep in [0.0, 1.0] {
            let mut s = start(&config);
            let window = s.engine.cwnd();
            assert!(!s.notice(40, 41, 1, keep).window_reduced);
            assert_eq!((s.send().first(), s.engine.cwnd()), (Some(&41), window), "{keep}");
        }
    }
}

#[test]
fn an_unreported_loss_in_a_recovery_begun_by_a_notice_is_an_ordinary_one() {
    let config = EngineConfig { rack: false, tlp: false, hystart: None, ..EngineConfig::modern() };
    let mut s = start(&config);
    s.notice(40, 40, 1, 0.75);
    s.send();
    let threshold = s.threshold();
    s.pass(50);
    assert!(!s.sack(40, &[(46, 49)]).window_reduced, "41 to 45 may be on a slower path");
    s.pass(250);
    assert!(
        !s.sack(40, &[(46, 50)]).window_reduced,
        "the slower path may take several round trips of the quicker"
    );
    let two_timeouts = s.engine.rto().as_millis() * 2;
    s.pass(two_timeouts);
    assert!(s.ack(41).window_reduced, "41 to 45 are missing and nobody reported them");
    assert!(s.threshold() < threshold);
    let threshold = s.threshold();
    s.sack(41, &[(52, 58), (46, 50)]);
    assert_eq!(s.threshold(), threshold, "once");
}

#[test]
fn a_resent_segment_that_overtakes_a_slow_path_does_not_condemn_what_is_still_on_it() {
    let mut s = start(&senders()[0]);
    // 40 was lost on a fast path and is resent; 50 to 59 are on a path of 500 ms.
    s.notice(40, 40, 1, 0.75);
    assert_eq!(s.send(), [40]);
    s.pass(100);
    s.ack(50);
    assert_eq!(s.send(), Vec::<u64>::new(), "nothing is resent");
    assert_eq!(s.engine.metrics().counters.retransmitted_segments, 1);
    s.pass(200);
    s.ack(60);
    assert_eq!(s.engine.phase(), Phase::Open);
}

#[test]
fn recovery_lasts_until_the_last_reported_segment_has_arrived() {
    for config in senders() {
        let mut s = start(&config);
        s.notice(40, 40, 1, 0.75);
        s.limits.window_end += 50_000;
        s.pass(100);
        s.sack(40, &[(41, 60)]);
        let sent = s.send();
        assert!(sent.contains(&60), "{sent:?}");
        s.pass(100);
        // 60 is lost in turn; 58 and 59 are on a slower path and show as holes once 40 has arrived.
        s.notice(40, 60, 1, 0.75);
        s.send();
        s.ack(60);
        assert_eq!(s.engine.phase(), Phase::Recovery, "60 is still missing");
        let window = s.engine.cwnd();
        s.sack(60, &[(61, 70)]);
        assert_eq!(s.engine.cwnd(), window, "what the duplicates show was reported");
        s.pass(100);
        s.ack(70);
        assert_eq!(s.engine.phase(), Phase::Open, "{config:?}");
    }
}

#[test]
fn holes_between_paths_are_not_resent_after_a_notice() {
    for config in senders() {
        let mut s = start(&config);
        s.notice(40, 40, 1, 0.75);
        assert_eq!(s.send(), [40]);
        s.pass(90);
        // Ten arrivals beyond the holes: 41 to 45 are on a slower path.
        s.sack(40, &[(46, 56)]);
        let resent = s.send().into_iter().filter(|&n| n < 60).count();
        assert_eq!(resent, 0, "{config:?}");
    }
}

#[test]
fn a_notice_on_a_stale_acknowledgement_counts() {
    for config in senders() {
        let mut s = start(&config);
        s.ack(45);
        s.send();
        assert!(s.notice(42, 50, 1, 0.75).window_reduced, "{config:?}");
        assert_eq!(s.send().first(), Some(&50), "{config:?}");
    }
}

#[test]
fn a_timeout_was_a_reduction_for_every_path() {
    for config in senders() {
        let mut s = start(&config);
        while s.fire().0 != "rto" {
            s.send();
        }
        s.send();
        s.pass(100);
        s.ack(41);
        s.send();
        let threshold = s.threshold();
        assert!(!s.notice(41, 50, 1, 0.5).window_reduced, "50 was sent before the timeout");
        assert_eq!(s.threshold(), threshold, "slow start goes on: {config:?}");
        assert!(s.send().contains(&50), "{config:?}");
    }
}
