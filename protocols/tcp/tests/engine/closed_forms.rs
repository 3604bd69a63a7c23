//! The engine against formulas: what theory says a window does, over many round trips on a small path.
use crate::harness::{MSS, Path, World};
use prismux_tcp::engine::{CongestionKind, EngineConfig, WindowReduction};
use prismux_units::{Duration, Instant};

/// Mean rate in segments per round trip with one loss in every `period` new segments.
fn rate(config: &EngineConfig, period: u64, rtt: Duration, seconds: u64) -> f64 {
    let path = Path { rtt, lose_every: Some(period), ..Path::clean() };
    let mut world = World::new(config, path, 10_000_000_000, 1);
    world.audit_every = 500;
    world.run_until(Instant::from_secs(10));
    let before = world.engine.acked();
    world.run_until(Instant::from_secs(10 + seconds));
    let segments = (world.engine.acked() - before) as f64 / f64::from(MSS);
    assert_eq!(world.engine.metrics().counters.timeouts, 0, "each loss is repaired by fast retransmit");
    segments / (seconds as f64 / rtt.as_secs_f64())
}

#[test]
fn newreno_follows_the_square_root_law() {
    let base = EngineConfig { congestion: CongestionKind::NewReno, hystart: None, ..EngineConfig::modern() };
    let senders = [
        ("prr and rack", base.clone()),
        ("rfc 6675", EngineConfig { rack: false, reduction: WindowReduction::Immediate, ..base }),
        ("linux-2.4", EngineConfig::linux24()),
        ("ns-2 sack1", EngineConfig::ns2_sack1()),
    ];
    for (name, config) in senders {
        for period in [400, 1600, 6400] {
            let measured = rate(&config, period, Duration::from_millis(50), 120);
            // Mathis et al.: W = sqrt(3 / 2p) with an ACK for every segment and periodic loss.
            let law = libm::sqrt(1.5 * period as f64);
            let ratio = measured / law;
            assert!((0.88..1.12).contains(&ratio), "{name}, p = 1/{period}: {measured:.2}, law {law:.2}");
        }
    }
}

#[test]
fn cubic_has_the_mean_window_of_rfc_9438_equation_5() {
    // At this RTT and loss rate the cubic function lies above the Reno-friendly one.
    let config = EngineConfig { hystart: None, ..EngineConfig::modern() };
    let (rtt, period) = (Duration::from_millis(200), 20_000u64);
    let measured = rate(&config, period, rtt, 240);
    let (c, beta) = (0.4f64, 0.7f64);
    let p = 1.0 / period as f64;
    let law =
        libm::pow(c * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25) * libm::pow(rtt.as_secs_f64() / p, 0.75);
    let ratio = measured / law;
    assert!((0.85..1.15).contains(&ratio), "{measured:.1} segments per RTT, equation 5 {law:.1}");
}

#[test]
fn cubic_is_as_fast_as_reno_where_reno_is_fast() {
    // Short RTT, frequent loss: the Reno-friendly region (RFC 9438 section 4.3).
    let cubic = EngineConfig { hystart: None, ..EngineConfig::modern() };
    let reno = EngineConfig { congestion: CongestionKind::NewReno, ..cubic.clone() };
    let rtt = Duration::from_millis(10);
    let ratio = rate(&cubic, 300, rtt, 60) / rate(&reno, 300, rtt, 60);
    assert!((0.9..1.2).contains(&ratio), "{ratio}");
}

#[test]
fn the_queue_of_one_bandwidth_delay_product_keeps_the_link_busy() {
    // NewReno halves: with a buffer of one BDP the link never idles; CUBIC keeps 0.7 and needs less.
    for config in [EngineConfig::modern(), EngineConfig::ns2_sack1(), EngineConfig::linux24()] {
        let path = Path { serialisation: Duration::from_micros(1000), queue: 100, ..Path::clean() };
        let mut world = World::new(&config, path, 110_000_000, 1);
        world.audit_every = 500;
        world.run_until(Instant::from_secs(20));
        let before = world.engine.acked();
        world.run_until(Instant::from_secs(80));
        let used = (world.engine.acked() - before) as f64 / 60_000_000.0;
        assert!(used > 0.985, "{:?} uses {used} of the link", config.recovery);
    }
}

/// `Agent/TCP/Sack1` and `Newreno` of ns-2.35, one flow over the reference dumbbell (10 Mbit/s, 68 ms, 1040-byte
/// packets, drop-tail of 20 or 100), 280 seconds from the 20th: mean window and fast retransmits of the whole run.
#[test]
fn the_ns2_senders_agree_with_ns2_on_a_single_flow() {
    let runs = [
        ("sack1", EngineConfig::ns2_sack1(), 100, 142.01, 29.0, 9.615e6),
        ("sack1", EngineConfig::ns2_sack1(), 20, 77.68, 76.0, 8.397e6),
        ("newreno", EngineConfig::ns2_newreno(), 100, 142.01, 28.0, 9.615e6),
        ("newreno", EngineConfig::ns2_newreno(), 20, 77.68, 74.0, 8.397e6),
    ];
    for (name, config, queue, window, recoveries, goodput) in runs {
        let path = Path {
            rtt: Duration::from_micros(68_896),
            serialisation: Duration::from_micros(832),
            // The drop-tail queue of ns-2 holds one packet less than its limit.
            queue: queue - 1,
            timestamps: false,
            ..Path::clean()
        };
        let mut world = World::new(&config, path, 10_000_000_000, 1);
        world.audit_every = 500;
        let (mut samples, mut sum, mut before) = (0.0, 0.0, 0);
        for tick in 0..15_000u64 {
            world.run_until(Instant::from_millis(20 * tick));
            if tick == 1000 {
                before = world.engine.acked();
            }
            if tick >= 1000 {
                sum += world.engine.cwnd() as f64 / f64::from(MSS);
                samples += 1.0;
            }
        }
        let rate = (world.engine.acked() - before) as f64 * 8.0 / 280.0;
        let counters = world.engine.metrics().counters;
        assert!((sum / samples / window - 1.0).abs() < 0.02, "{name} {queue}: window {}", sum / samples);
        let fast = counters.fast_recoveries as f64;
        assert!((fast / recoveries - 1.0).abs() < 0.06, "{name} {queue}: {fast} fast retransmits");
        assert!((rate / goodput - 1.0).abs() < 0.01, "{name} {queue}: {rate} bit/s");
    }
}
