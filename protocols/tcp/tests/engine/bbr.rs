//! BBR on one path: it fills the link with a short queue, takes loss for no congestion, paces, and knows when the
//! application is the limit.
use crate::harness::{MSS, Path, World};
use prismux_tcp::engine::{CongestionKind, EngineConfig};
use prismux_units::{Duration, Instant};

/// 8 Mbit/s and 100 ms: 100 segments of product, and a queue of ten times that.
fn long_queue() -> Path {
    Path { serialisation: Duration::from_millis(1), queue: 1000, ..Path::clean() }
}

fn config(congestion: CongestionKind) -> EngineConfig {
    EngineConfig { congestion, hystart: None, ..EngineConfig::modern() }
}

/// What a sender makes of a path in the time from 5 to 30 s.
#[derive(Debug)]
struct Measured {
    /// Share of the link's rate.
    utilization: f64,
    /// Mean smoothed round trip beyond the path's.
    queueing: Duration,
    lost: u64,
}

fn measure(congestion: CongestionKind, path: &Path) -> Measured {
    let mut world = World::new(&config(congestion), path.clone(), 1 << 40, 1);
    world.audit_every = 500;
    world.run_until(Instant::from_secs(5));
    let (before, lost_before) = (world.engine.acked(), world.report.lost);
    let mut queueing = Duration::ZERO;
    let steps = 250;
    for step in 1..=steps {
        world.run_until(Instant::from_secs(5) + Duration::from_millis(100) * step);
        queueing += world.engine.srtt().expect("measured") - path.rtt;
    }
    let segments = (world.engine.acked() - before) as f64 / f64::from(MSS);
    let capacity = 25.0 / path.serialisation.as_secs_f64();
    Measured {
        utilization: segments / capacity,
        queueing: queueing / steps,
        lost: world.report.lost - lost_before,
    }
}

#[test]
fn the_link_is_full_and_the_queue_short() {
    let bbr = measure(CongestionKind::Bbr, &long_queue());
    assert!(bbr.utilization > 0.95, "{bbr:?}");
    assert!(bbr.queueing < Duration::from_millis(25), "{bbr:?}");
    assert_eq!(bbr.lost, 0, "{bbr:?}");
    let cubic = measure(CongestionKind::Cubic, &long_queue());
    assert!(
        cubic.queueing > Duration::from_millis(250),
        "a window that only losses bound fills the queue: {cubic:?}"
    );
}

#[test]
fn loss_without_congestion_does_not_slow_it() {
    let path = Path { loss: 0.01, ..long_queue() };
    let bbr = measure(CongestionKind::Bbr, &path);
    assert!(bbr.utilization > 0.9, "{bbr:?}");
    let newreno = measure(CongestionKind::NewReno, &path);
    assert!(newreno.utilization < 0.2, "{newreno:?}");
}

#[test]
fn segments_leave_at_the_bottlenecks_rate_not_in_bursts() {
    let mut world = World::new(&config(CongestionKind::Bbr), long_queue(), 1 << 40, 1);
    world.audit_every = 500;
    world.run_until(Instant::from_secs(5));
    let (mut last, mut largest) = (world.report.segments_sent, 0);
    for _ in 0..2000 {
        let next = world.now + Duration::from_millis(1);
        world.run_until(next);
        world.now = next;
        largest = largest.max(world.report.segments_sent - last);
        last = world.report.segments_sent;
    }
    // A segment in a millisecond, a quarter more while it probes, and where the millisecond is cut.
    assert!(largest <= 3, "{largest} segments in one millisecond");
}

#[test]
fn a_path_that_becomes_slower_or_faster_is_followed() {
    for serialisation in [Duration::from_micros(2000), Duration::from_micros(500)] {
        let mut world = World::new(&config(CongestionKind::Bbr), long_queue(), 1 << 40, 1);
        world.audit_every = 500;
        world.run_until(Instant::from_secs(5));
        world.path.serialisation = serialisation;
        world.run_until(Instant::from_secs(10));
        let before = world.engine.acked();
        world.run_until(Instant::from_secs(20));
        let used =
            (world.engine.acked() - before) as f64 / f64::from(MSS) * serialisation.as_secs_f64() / 10.0;
        assert!(used > 0.93, "{used} of a link with {serialisation} for a segment");
    }
}
