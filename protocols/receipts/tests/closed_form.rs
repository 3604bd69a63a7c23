//! Links whose rate, delay and queue are known, measured.
mod support;

use prismux_units::{Duration, Rate};
use support::{Link, World};

const RATE: Rate = Rate::from_mbps(20);

fn link(jitter: Duration, clump: Duration) -> Link {
    Link { jitter, clump, ..Link::clean(RATE, Duration::from_millis(25)) }
}

/// How far the capacity is from the link's rate, after 4 s of as much as it carries and a little more.
fn error_of(link: Link, seed: u64) -> f64 {
    let mut world = World::new(link, seed);
    world.send_at(link.rate.mul_f64(1.05), Duration::from_secs(4));
    let capacity = world.meter.estimate(world.now).capacity.expect("4 s of packets").as_bps();
    capacity as f64 / link.rate.as_bps() as f64 - 1.0
}

#[test]
fn a_link_of_known_rate_is_measured_within_2_percent() {
    let mut complaints = Vec::new();
    for rate in [Rate::from_mbps(5), RATE, Rate::from_mbps(100)] {
        for (jitter, clump) in [(0, 0), (5, 0), (10, 0), (20, 0), (40, 0), (0, 10), (5, 10)] {
            let (jitter, clump) = (Duration::from_millis(jitter), Duration::from_millis(clump));
            for seed in 0..3 {
                let link = Link { jitter, clump, ..Link::clean(rate, Duration::from_millis(25)) };
                let error = error_of(link, seed);
                if !(-0.02..=0.02).contains(&error) {
                    complaints.push(format!(
                        "{rate} jitter {jitter} clump {clump} seed {seed}: {:.1} %",
                        error * 100.0
                    ));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn receipts_that_are_late_or_lost_do_not_change_the_rate() {
    let mut link = link(Duration::from_millis(10), Duration::ZERO);
    link.receipt_loss = 0.3;
    let error = error_of(link, 1);
    assert!((-0.02..=0.02).contains(&error), "{error}");
}

#[test]
fn a_link_that_is_not_full_has_carried_what_was_sent() {
    let mut world = World::new(link(Duration::ZERO, Duration::ZERO), 1);
    world.send_at(Rate::from_mbps(5), Duration::from_secs(3));
    let estimate = world.meter.estimate(world.now);
    let capacity = estimate.capacity.unwrap().as_bps() as f64;
    assert!((4.9e6..5.1e6).contains(&capacity), "{capacity}");
    assert!(!estimate.is_busy);
    assert_eq!(estimate.queueing_delay, Some(Duration::ZERO));
    assert_eq!(estimate.min_rtt.map(Duration::as_millis), Some(50), "{estimate:?}");
}

#[test]
fn the_queue_is_known() {
    let mut world = World::new(link(Duration::ZERO, Duration::ZERO), 1);
    world.send_at(Rate::from_mbps(5), Duration::from_secs(1));
    // 1.2 times the rate for 200 ms: 40 ms of queue.
    world.send_at(RATE.mul_f64(1.2), Duration::from_millis(200));
    world.send_at(RATE, Duration::from_millis(200));
    let estimate = world.meter.estimate(world.now);
    let queue = estimate.queueing_delay.unwrap().as_secs_f64();
    assert!((0.036..0.042).contains(&queue), "{queue}");
    assert!(estimate.is_busy);
}

/// The far clock gains or loses; the queue does not seem to grow with it.
#[test]
fn clocks_that_drift_make_no_queue() {
    for drift_ppm in [-200, -50, 50, 200] {
        let link = Link { drift_ppm, ..link(Duration::ZERO, Duration::ZERO) };
        let mut world = World::new(link, 1);
        world.send_at(Rate::from_mbps(1), Duration::from_secs(120));
        let estimate = world.meter.estimate(world.now);
        let queue = estimate.queueing_delay.unwrap();
        assert!(queue < Duration::from_millis(1), "{drift_ppm} ppm: {queue}");
        assert!(!estimate.is_busy);
    }
}

/// A fourfold fall and rise of the rate is known within half a second.
#[test]
fn a_change_of_the_rate_is_followed() {
    let mut world = World::new(link(Duration::ZERO, Duration::ZERO), 1);
    for rate in [RATE, Rate::from_mbps(5), RATE] {
        world.link.rate = rate;
        world.send_at(rate.mul_f64(1.1), Duration::from_millis(500));
        let capacity = world.meter.estimate(world.now).capacity.unwrap().as_bps() as f64;
        let ratio = capacity / rate.as_bps() as f64;
        assert!((0.9..1.1).contains(&ratio), "{rate}: {ratio}");
    }
}

/// Half of the packets take less than half of the jitter more than the quickest.
#[test]
fn jitter_is_known() {
    let mut link = link(Duration::from_millis(20), Duration::ZERO);
    link.reorders = true;
    let mut world = World::new(link, 1);
    world.send_at(Rate::from_mbps(2), Duration::from_secs(10));
    let estimate = world.meter.estimate(world.now);
    let (p50, p95) = (estimate.jitter_p50.unwrap().as_secs_f64(), estimate.jitter_p95.unwrap().as_secs_f64());
    assert!((0.006..0.013).contains(&p50) && (0.015..0.025).contains(&p95), "{p50} {p95}");
}

/// Packets that are sent all at once queue behind one another: no jitter of the link, and their spacing is its rate.
#[test]
fn bursts_are_no_jitter_and_show_what_the_link_carries() {
    let mut world = World::new(link(Duration::ZERO, Duration::ZERO), 1);
    world.send_at(Rate::from_mbps(2), Duration::from_secs(1));
    let mut shown = Vec::new();
    for _ in 0..8 {
        world.send_at(RATE.mul_f64(3.0), Duration::from_millis(30));
        for _ in 0..12 {
            world.send_at(Rate::from_mbps(2), Duration::from_millis(24));
            shown.extend(world.meter.estimate(world.now).burst_rate);
        }
    }
    let jitter = world.meter.estimate(world.now).jitter_p95.unwrap();
    assert!(jitter < Duration::from_millis(1), "{jitter}");
    assert!(!shown.is_empty());
    for rate in shown {
        let ratio = rate.as_bps() as f64 / RATE.as_bps() as f64;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }
}

#[test]
fn a_burst_shows_by_how_much_it_took_longer_to_come_than_to_be_sent() {
    let mut world = World::new(link(Duration::ZERO, Duration::ZERO), 1);
    world.send_at(Rate::from_mbps(2), Duration::from_secs(1));
    assert_eq!(world.meter.estimate(world.now).queue_growth, Duration::ZERO);
    // Three times the rate for 40 ms: a queue of 80 ms, of which the latest interval sees a part.
    world.send_at(RATE.mul_f64(3.0), Duration::from_millis(40));
    world.send_at(Rate::from_mbps(2), Duration::from_millis(100));
    let estimate = world.meter.estimate(world.now);
    let (came, sent) = (estimate.delivery_rate.unwrap(), estimate.offered_rate.unwrap());
    let share = came.as_bps() as f64 / sent.as_bps() as f64;
    assert!((0.3..0.4).contains(&share), "{came} of {sent}");
    // An interval lasts at least a quarter of the round trip of 50 ms, and two thirds of it are queue.
    let growth = estimate.queue_growth.as_secs_f64();
    assert!((0.008..0.012).contains(&growth), "{growth} s");
}
