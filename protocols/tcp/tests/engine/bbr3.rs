//! BBR of version 3 on one path: what it shares with version 1, and where it differs: it heeds losses.
use crate::harness::{MSS, Path, World};
use prismux_tcp::engine::{CongestionKind, EngineConfig};
use prismux_units::{Duration, Instant};

/// 8 Mbit/s and 100 ms: 100 segments of product.
fn path(queue: usize) -> Path {
    Path { serialisation: Duration::from_millis(1), queue, ..Path::clean() }
}

fn world(congestion: CongestionKind, path: Path) -> World {
    let config = EngineConfig { congestion, hystart: None, ..EngineConfig::modern() };
    let mut world = World::new(&config, path, 1 << 40, 1);
    world.audit_every = 500;
    world
}

/// What a sender makes of a path in the time from 10 to 60 s.
#[derive(Debug)]
struct Measured {
    /// Share of the link's rate.
    utilization: f64,
    /// Mean smoothed round trip beyond the path's.
    queueing: Duration,
    /// Share of the segments sent.
    loss: f64,
}

fn measure(congestion: CongestionKind, path: &Path) -> Measured {
    let mut world = world(congestion, path.clone());
    world.run_until(Instant::from_secs(10));
    let (acked, lost, sent) = (world.engine.acked(), world.report.lost, world.report.segments_sent);
    let mut queueing = Duration::ZERO;
    let steps = 500;
    for step in 1..=steps {
        world.run_until(Instant::from_secs(10) + Duration::from_millis(100) * step);
        queueing += world.engine.srtt().expect("measured").saturating_sub(path.rtt);
    }
    let segments = (world.engine.acked() - acked) as f64 / f64::from(MSS);
    Measured {
        utilization: segments * path.serialisation.as_secs_f64() / 50.0,
        queueing: queueing / steps,
        loss: (world.report.lost - lost) as f64 / (world.report.segments_sent - sent) as f64,
    }
}

#[test]
fn the_link_is_full_and_the_queue_short() {
    let clean = measure(CongestionKind::Bbr3, &path(1000));
    assert!(clean.utilization > 0.93, "{clean:?}");
    assert!(clean.queueing < Duration::from_millis(25), "{clean:?}");
    assert_eq!(clean.loss, 0.0, "{clean:?}");
}

#[test]
fn a_percent_of_loss_does_not_slow_it_and_a_quarter_does() {
    for (loss, least, most) in [(0.01, 0.85, 1.0), (0.25, 0.0, 0.5)] {
        let measured = measure(CongestionKind::Bbr3, &Path { loss, ..path(1000) });
        assert!(measured.utilization > least && measured.utilization < most, "{loss}: {measured:?}");
    }
}

#[test]
fn a_short_queue_loses_less_than_with_version_1() {
    let [before, now] =
        [CongestionKind::Bbr, CongestionKind::Bbr3].map(|congestion| measure(congestion, &path(8)));
    assert!(now.utilization > 0.85, "{now:?}");
    assert!(now.loss < 0.02, "{now:?}");
    assert!(now.loss < before.loss / 2.0, "{now:?} against {before:?}");
}

#[test]
fn a_path_that_becomes_ten_times_slower_or_faster_is_followed() {
    for (before, after) in [(200, 2000), (2000, 200)] {
        let mut world =
            world(CongestionKind::Bbr3, Path { serialisation: Duration::from_micros(before), ..path(100) });
        world.run_until(Instant::from_secs(10));
        world.path.serialisation = Duration::from_micros(after);
        world.run_until(Instant::from_secs(25));
        let acked = world.engine.acked();
        world.run_until(Instant::from_secs(35));
        let segments = (world.engine.acked() - acked) as f64 / f64::from(MSS);
        let used = segments * after as f64 / 1e7;
        assert!(used > 0.85, "{used} of a link with {after} µs for a segment");
    }
}

#[test]
fn reordering_that_looks_like_loss_is_taken_back() {
    let reordering = Path { jitter: Duration::from_millis(60), jitter_share: 0.02, ..path(1000) };
    let measured = measure(CongestionKind::Bbr3, &reordering);
    assert!(measured.utilization > 0.85, "{measured:?}");
}

#[test]
fn an_application_that_pauses_and_sends_again_finds_its_rate() {
    let mut world = world(CongestionKind::Bbr3, path(1000));
    world.run_until(Instant::from_secs(5));
    // Nothing of the peer's window is left for twelve seconds: longer than a minimum of round trips is believed.
    world.path.window = 0;
    world.run_until(Instant::from_secs(17));
    world.path.window = u64::MAX / 2;
    world.run_until(Instant::from_secs(18));
    let acked = world.engine.acked();
    world.run_until(Instant::from_secs(22));
    let used = (world.engine.acked() - acked) as f64 / f64::from(MSS) / 4000.0;
    assert!(used > 0.85, "{used}");
}
