//! Packet scripts of errors of the link (explicit loss notification): the segment goes out anew, and nothing else
//! changes.
use crate::harness::script::Script;
use prismux_tcp::engine::{EngineConfig, Phase, SendKind};

fn senders() -> Vec<EngineConfig> {
    let modern = EngineConfig { hystart: None, ..EngineConfig::modern() };
    vec![
        EngineConfig { rack: false, ..modern },
        EngineConfig::linux24(),
        EngineConfig { sack: false, fack: false, ..EngineConfig::linux24() },
        EngineConfig::ns2_sack1(),
        EngineConfig::ns2_newreno(),
    ]
}

/// Twenty segments outstanding from 40, of which an error took 40.
fn start(config: &EngineConfig) -> Script {
    let mut s = Script::warmed(config, 100, 40, 20);
    s.pass(100);
    s
}

/// SACK where the sender knows it.
fn blocks<'a>(config: &EngineConfig, blocks: &'a [(u64, u64)]) -> &'a [(u64, u64)] {
    if config.sack { blocks } else { &[] }
}

#[test]
fn what_an_error_took_is_sent_anew_once_and_no_duplicate_that_waits_for_it_is_a_sign_of_congestion() {
    for config in senders() {
        let mut s = start(&config);
        let (window, threshold) = (s.engine.cwnd(), s.threshold());
        s.error(40, blocks(&config, &[(41, 42)]));
        assert_eq!(s.send_with_kind().first(), Some(&(40, SendKind::Retransmission)), "{config:?}");
        for end in 43..60 {
            assert!(!s.error(40, blocks(&config, &[(41, end)])).window_reduced, "{config:?}");
            assert!(!s.send().contains(&40), "once: {config:?}");
        }
        assert_eq!(
            (s.engine.cwnd(), s.threshold(), s.engine.phase()),
            (window, threshold, Phase::Open),
            "{config:?}"
        );
        assert_eq!(s.engine.metrics().counters.loss_notices, 1);
        s.pass(100);
        s.ack(60);
        assert!(s.engine.cwnd() >= window && s.engine.phase() == Phase::Open, "{config:?}");
    }
}

#[test]
fn a_hole_without_a_mark_is_an_ordinary_loss() {
    for config in senders() {
        let mut s = start(&config);
        let window = s.engine.cwnd();
        s.error(40, blocks(&config, &[(41, 42)]));
        s.send();
        s.pass(100);
        // 40 is here; 45 is missing, and nobody has seen it damaged.
        s.ack(45);
        s.send();
        let reduced = [47, 48, 49, 50].map(|end| {
            let reduced = match config.sack {
                true => s.sack(45, &[(46, end)]).window_reduced,
                false => s.ack(45).window_reduced,
            };
            (reduced, s.send().contains(&45))
        });
        assert!(reduced.contains(&(true, true)), "{config:?}: {reduced:?}");
        assert!(s.engine.metrics().ssthresh_bytes < window, "{config:?}");
    }
}

#[test]
fn beside_an_error_selective_acknowledgements_find_other_holes() {
    let config = EngineConfig::linux24();
    let mut s = start(&config);
    s.error(40, &[(41, 42)]);
    assert_eq!(s.send().first(), Some(&40));
    assert!(s.error(40, &[(41, 45), (46, 50)]).window_reduced, "45 has no mark");
    let sent = s.send();
    assert!(sent.contains(&45) && !sent.contains(&40), "{sent:?}");
}

#[test]
fn an_error_that_is_not_outstanding_changes_nothing() {
    for config in senders() {
        let mut s = start(&config);
        s.ack(60);
        let window = s.engine.cwnd();
        s.error(60, &[]);
        s.limits.window_end = 0;
        assert_eq!((s.send(), s.engine.cwnd()), (vec![], window), "{config:?}");
        assert_eq!(s.engine.metrics().counters.ignored_notices, 1);
    }
}
