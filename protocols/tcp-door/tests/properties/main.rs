//! What holds of TCP-DOOR on any path, over the engine of the RFCs, that of today, and those of ns-2.
mod pair;

use pair::{Pair, Path};
use prismux_tcp::engine::{CongestionKind, EngineMetrics};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_tcp_door::{Configuration, DoorConfig, Setting};
use prismux_units::{ByteCount, Duration};
use proptest::prelude::*;

fn config() -> impl Strategy<Value = TcpConfig> {
    (0..3usize, any::<[bool; 4]>(), 200..1461u16).prop_map(|(profile, on, mss)| {
        let mut config = TcpProfile::ALL[profile].config();
        config.sack &= on[0];
        config.timestamps &= on[1];
        config.delayed_ack = on[2].then_some(Duration::from_millis(40));
        if on[3] && profile == 0 {
            config.engine.congestion = CongestionKind::Bbr;
        }
        config.mss = mss;
        config.receive_buffer = ByteCount::new(60_000);
        config.consume_on_arrival = true;
        config.give_up_after = Duration::MAX;
        config.syn_retries = 255;
        config
    })
}

fn setting() -> impl Strategy<Value = Setting> {
    let all: Vec<Setting> = Setting::all().collect();
    (0..all.len()).prop_map(move |index| all[index])
}

fn path(jitter_ms: core::ops::Range<u64>, loss: core::ops::Range<f64>) -> impl Strategy<Value = Path> {
    (5..100u64, jitter_ms, loss).prop_map(|(delay, jitter, loss)| Path {
        delay: Duration::from_millis(delay),
        jitter: Duration::from_millis(jitter),
        loss,
    })
}

/// What a freeze keeps.
fn frozen_state(metrics: &EngineMetrics) -> (u64, u64, Duration) {
    (metrics.cwnd_bytes, metrics.ssthresh_bytes, metrics.rto)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..prismux_properties::cases(60) })]

    /// Every byte arrives once and in order whatever the setting, and the transfer ends.
    #[test]
    fn every_byte_arrives(
        config in config(), setting in setting(), path in path(0..40, 0.0..0.1), seed in any::<u64>()
    ) {
        let mut pair = Pair::new(config, setting.config(), path, seed);
        pair.write(60_000);
        let mut steps = 0;
        while !pair.is_done() {
            prop_assert!(pair.step(), "nothing happens any more");
            steps += 1;
            prop_assert!(steps < 100_000, "no end");
        }
        prop_assert_eq!(pair.accepted_bytes, 60_000);
        prop_assert_eq!(pair.ends[1].bytes_received_in_order(), 60_000);
    }

    /// A path that keeps the order shows no event, however much it loses and whatever is retransmitted.
    #[test]
    fn no_detection_without_reordering(
        config in config(), setting in setting(), path in path(0..1, 0.0..0.3), seed in any::<u64>()
    ) {
        let mut pair = Pair::new(config, setting.config(), path, seed);
        pair.write(60_000);
        for _ in 0..20_000 {
            if pair.is_done() || !pair.step() {
                break;
            }
        }
        for end in 0..pair.ends.len() {
            let counters = pair.door(end);
            prop_assert_eq!((counters.late_acks, counters.late_data, counters.events), (0, 0, 0));
        }
    }

    /// While congestion control is frozen, window, threshold and timeout keep their values, on any path; only an event
    /// may give back what an earlier reduction took.
    #[test]
    fn a_freeze_keeps_window_threshold_and_timeout(
        config in config(), path in path(0..60, 0.0..0.2), seed in any::<u64>(), units in 1..9u32
    ) {
        let setting = Setting { configuration: Configuration::TemporaryDisabling, t1: Some(units), t2: None };
        let undoes = config.engine.undo;
        let mut pair = Pair::new(config, setting.config(), path, seed);
        pair.write(100_000);
        for _ in 0..20_000 {
            let frozen = pair.ends[0].engine().is_frozen(pair.now);
            let before = frozen_state(&pair.engine());
            let undone = pair.engine().counters.undone_reductions;
            if pair.is_done() || !pair.step() {
                break;
            }
            let still = frozen && pair.ends[0].engine().is_frozen(pair.now);
            let taken_back = undoes && pair.engine().counters.undone_reductions > undone;
            if still && !taken_back {
                prop_assert_eq!(before, frozen_state(&pair.engine()));
            }
        }
    }

    /// Reordering alone: once an event has been seen, the window is no smaller than any before it within T2, and
    /// reductions occur only before the first event or between freezes.
    #[test]
    fn reordering_alone_never_lowers_the_window_for_long(
        profile in 0..2usize, path in path(1..50, 0.0..1e-12), seed in any::<u64>()
    ) {
        let mut config = [TcpConfig::ns2_2002(), TcpConfig::linux_2_4()][profile].clone();
        config.engine.undo = false;
        config.receive_buffer = ByteCount::new(60_000);
        config.consume_on_arrival = true;
        let setting = Setting { configuration: Configuration::All, t1: Some(8), t2: Some(8) };
        let mut pair = Pair::new(config, setting.config(), path, seed);
        pair.write(300_000);
        let (mut largest, mut events) = (0, 0);
        while !pair.is_done() && pair.step() {
            if pair.engine().counters.segments_sent == 0 {
                continue;
            }
            let window = pair.engine().cwnd_bytes;
            let seen = pair.door(0).events;
            if seen > events {
                events = seen;
                prop_assert!(window >= largest, "{} after {}", window, largest);
            }
            largest = largest.max(window);
        }
    }

    /// The guard keeps its share: congestion control works for the rest of the time, however much is reordered.
    #[test]
    fn the_guard_keeps_its_share_of_time(path in path(20..60, 0.0..0.01), seed in any::<u64>()) {
        let share = 0.25;
        let door = DoorConfig { max_frozen_share: Some(share), ..DoorConfig::guarded() };
        let config = TcpConfig { receive_buffer: ByteCount::new(60_000), ..TcpConfig::ns2_2002() };
        let mut pair = Pair::new(config, door, path, seed);
        pair.write(10_000_000);
        let (mut frozen, mut longest_unit) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..8_000 {
            let before = pair.now;
            let was_frozen = pair.ends[0].engine().is_frozen(before);
            longest_unit = longest_unit.max(pair.ends[0].engine().base_rto());
            if !pair.step() {
                break;
            }
            if was_frozen {
                frozen += pair.now - before;
            }
        }
        let elapsed = pair.now - prismux_units::Instant::ZERO;
        // Two spans of two units at the start, and one step.
        let most = elapsed.mul_f64(share) + longest_unit * 5;
        prop_assert!(frozen <= most, "frozen {:?} of {:?}", frozen, elapsed);
        prop_assert!(pair.door(0).events > 0, "a path without events proves nothing");
    }
}

/// 70,000 data packets: TPSN wraps on the way, and nothing is taken for late; a seed repeats to the last counter.
#[test]
fn packet_numbers_wrap_unnoticed_and_a_seed_repeats() {
    let run = || {
        let config = TcpConfig { mss: 108, receive_buffer: ByteCount::new(20_000), ..TcpConfig::ns2_2002() };
        let path = Path { delay: Duration::from_millis(10), jitter: Duration::ZERO, loss: 0.0 };
        let mut pair = Pair::new(config, DoorConfig::published(), path, 1);
        pair.write(7_000_000);
        while !pair.is_done() && pair.step() {}
        (pair.sent_segments, pair.now, pair.door(0), pair.door(1))
    };
    let (segments, ended, sender, receiver) = run();
    assert!(segments > 2 * 70_000, "{segments}");
    assert_eq!((sender.late_acks, receiver.late_data, sender.events), (0, 0, 0));
    assert_eq!((segments, ended, sender, receiver), run());
}

/// The 56 settings: a name each, read back as written; 16, 16, 16, 4 and 4 of them.
#[test]
fn the_study_has_56_settings_with_names() {
    let all: Vec<Setting> = Setting::all().collect();
    assert_eq!(all.len(), 56);
    for configuration in Configuration::ALL {
        let expected = match configuration {
            Configuration::TemporaryDisabling | Configuration::InstantRecovery => 4,
            _ => 16,
        };
        let of_it = all.iter().filter(|setting| setting.configuration == configuration);
        assert_eq!(of_it.count(), expected, "{configuration:?}");
    }
    for setting in &all {
        assert_eq!(Setting::parse(&setting.name()), Some(*setting));
    }
    let mut names: Vec<String> = all.iter().map(Setting::name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 56, "names differ");
    assert_eq!(Setting::parse("all-t1x3-t2x4"), None);
}
