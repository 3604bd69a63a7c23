//! Random histories of loss, reordering, duplication and lost ACKs, for every kind of sender: all bytes arrive, the
//! scoreboard's sums hold after each step, no window is overrun, and the transfer ends.
use crate::harness::{MSS, Path, World};
use prismux_tcp::engine::{CongestionKind, EngineConfig, WindowReduction};
use prismux_units::{Duration, Instant};
use proptest::prelude::*;

/// Senders that differ in the paths through the engine.
fn senders() -> Vec<(&'static str, EngineConfig)> {
    let modern = EngineConfig::modern();
    let reno = EngineConfig { congestion: CongestionKind::NewReno, ..modern.clone() };
    vec![
        ("modern", modern.clone()),
        ("modern newreno", reno.clone()),
        (
            "rfc 6675",
            EngineConfig { rack: false, tlp: false, reduction: WindowReduction::Immediate, ..reno.clone() },
        ),
        ("rfc 6582", EngineConfig { sack: false, reduction: WindowReduction::Immediate, ..reno.clone() }),
        ("prr without sack", EngineConfig { sack: false, limited_transmit: false, ..reno }),
        ("stp", EngineConfig { congestion: CongestionKind::Stp, ..modern.clone() }),
        ("bbr", EngineConfig { congestion: CongestionKind::Bbr, ..modern.clone() }),
        ("bbr3", EngineConfig { congestion: CongestionKind::Bbr3, ..modern.clone() }),
        (
            "bbr3 without sack",
            EngineConfig { congestion: CongestionKind::Bbr3, sack: false, ..modern.clone() },
        ),
        ("bbr without sack", EngineConfig { congestion: CongestionKind::Bbr, sack: false, ..modern.clone() }),
        ("stp without sack", EngineConfig { congestion: CongestionKind::Stp, sack: false, ..modern.clone() }),
        ("burst limit", EngineConfig { max_burst: Some(3), ..modern }),
        ("linux-2.4", EngineConfig::linux24()),
        ("ns-2 sack1", EngineConfig::ns2_sack1()),
        ("ns-2 newreno", EngineConfig::ns2_newreno()),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    (
        prop_oneof![Just(0.0), 0.0..0.3f64],
        prop_oneof![Just(0.0), 0.0..0.3f64],
        prop_oneof![Just(0.0), 0.0..0.2f64],
        1u64..300,
        prop_oneof![Just(0u64), 1u64..400],
        0.0..1.0f64,
        prop_oneof![Just(0u64), 10u64..5000],
        1usize..60,
        any::<bool>(),
        prop_oneof![Just(1_000_000u64), 500u64..40_000],
    )
        .prop_map(
            |(loss, ack_loss, duplicate, rtt, jitter, share, serial, queue, timestamps, window)| Path {
                loss,
                lose_every: None,
                ack_loss,
                duplicate,
                rtt: Duration::from_millis(rtt),
                jitter: Duration::from_millis(jitter),
                jitter_share: share,
                serialisation: Duration::from_micros(serial),
                queue,
                timestamps,
                window,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn every_byte_is_delivered_and_the_sums_hold(path in path(), seed: u64, units in 1u64..120_000) {
        for (name, config) in senders() {
            let mut world = World::new(&config, path.clone(), units, seed);
            world.run_until(Instant::from_secs(40_000));
            prop_assert!(
                world.report.finished_at.is_some(),
                "{name}: stuck at {} of {units} at {}, {:?}", world.engine.acked(), world.now, world.engine.metrics()
            );
        }
    }

    #[test]
    fn a_clean_path_sees_no_retransmission(
        rtt in 1u64..500, serial in 0u64..3000, units in 1u64..400_000, seed: u64
    ) {
        for (name, config) in senders() {
            let path = Path {
                rtt: Duration::from_millis(rtt),
                serialisation: Duration::from_micros(serial),
                // A first window's queue must not look like a lost segment to a timer without a sample.
                window: 60 * u64::from(MSS),
                ..Path::clean()
            };
            let mut world = World::new(&config, path, units, seed);
            world.run_until(Instant::from_secs(40_000));
            prop_assert!(world.report.finished_at.is_some(), "{name}");
            prop_assert_eq!(world.report.retransmissions, 0, "{}", name);
            prop_assert_eq!(world.engine.metrics().counters.timeouts, 0, "{}", name);
        }
    }
}
