//! Whatever links do to packets and receipts, the meter ends with the truth.
mod support;

use prismux_units::{Duration, Rate};
use proptest::prelude::*;
use support::{Link, World};

/// What is new is told in four receipts at least, and in twelve as long as there are few gaps: only when all are
/// lost does nobody know.
fn links() -> impl Strategy<Value = Link> {
    let rates = (1..50_u64, 1..100_u64, 0..40_u64, any::<bool>());
    let harms = (0.0..0.1_f64, 0.0..0.1_f64, 0.0..0.1_f64, -100..100_i64);
    (rates, harms).prop_map(
        |((mbps, delay, jitter, reorders), (loss, duplication, receipt_loss, drift_ppm))| Link {
            jitter: Duration::from_millis(jitter),
            reorders,
            loss,
            duplication,
            receipt_loss,
            drift_ppm,
            ..Link::clean(Rate::from_mbps(mbps), Duration::from_millis(delay))
        },
    )
}

proptest! {
    #![proptest_config(prismux_properties::cases(48))]

    /// Each packet ends delivered or lost, once; what is taken for lost is what the link lost.
    #[test]
    fn every_packet_ends_as_what_became_of_it(link in links(), seed in any::<u64>(), load in 0.1..1.2_f64) {
        let mut world = World::new(link, seed);
        world.send_at(link.rate.mul_f64(load), Duration::from_secs(2));
        // Later packets, so that nobody waits for a receipt that was lost; then silence.
        world.link = Link { receipt_loss: 0.0, loss: 0.0, ..link };
        let pause = world.now + Duration::from_millis(500);
        world.run(pause);
        for _ in 0..20 {
            world.send();
            let next = world.now + Duration::from_millis(20);
            world.run(next);
        }
        let end = world.now + Duration::from_secs(20);
        world.run(end);
        let (counters, estimate) = (*world.meter.counters(), world.meter.estimate(world.now));
        prop_assert_eq!(estimate.in_flight_packets, 0);
        prop_assert_eq!(counters.sent_packets, world.sent);
        prop_assert_eq!(counters.delivered_packets + counters.lost_packets, world.sent);
        world.taken_for_lost.sort_by_key(|number| number.0);
        let wrong = world.taken_for_lost.iter().find(|number| !world.truly_lost.contains(number));
        prop_assert_eq!(wrong, None);
        prop_assert_eq!(counters.lost_packets, world.truly_lost.len() as u64);
        prop_assert_eq!(counters.forgotten_packets, 0);
    }

    /// A link that keeps order, whatever its jitter, has no spurious losses.
    #[test]
    fn a_link_in_order_has_no_spurious_losses(link in links(), seed in any::<u64>()) {
        let link = Link { reorders: false, receipt_loss: 0.0, ..link };
        let mut world = World::new(link, seed);
        world.send_at(link.rate.mul_f64(0.9), Duration::from_secs(2));
        let end = world.now + Duration::from_secs(20);
        world.run(end);
        prop_assert_eq!(world.meter.counters().spurious_losses, 0);
    }

    /// Receipts cost what they may.
    #[test]
    fn receipts_take_half_a_percent_at_most(link in links(), seed in any::<u64>()) {
        let mut world = World::new(link, seed);
        world.send_at(link.rate, Duration::from_secs(5));
        let counters = world.writer.counters();
        // What is saved up at the beginning, and one receipt each half second whatever comes.
        let allowed = 0.005 * counters.bytes as f64 + 8.0 * 94.0 + 10.0 * 150.0;
        prop_assert!((counters.receipt_bytes as f64) < allowed, "{} of {}", counters.receipt_bytes, counters.bytes);
    }
}

/// The first seconds of a link that reorders cost some spurious losses; then its thresholds fit it.
#[test]
fn spurious_losses_end() {
    let link = Link {
        jitter: Duration::from_millis(10),
        reorders: true,
        ..Link::clean(Rate::from_mbps(20), Duration::from_millis(20))
    };
    let mut world = World::new(link, 1);
    world.send_at(Rate::from_mbps(15), Duration::from_secs(2));
    let early = world.meter.counters().spurious_losses;
    world.send_at(Rate::from_mbps(15), Duration::from_secs(10));
    let late = world.meter.counters().spurious_losses - early;
    assert!(early > 0 && late * 20 < early, "{early} in 2 s, then {late} in 10 s");
}

/// Records of packets are limited: those that nobody speaks of any more are forgotten, and counted.
#[test]
fn memory_is_limited() {
    let mut world = World::new(Link::clean(Rate::from_mbps(1), Duration::from_millis(10)), 1);
    for _ in 0..70_000 {
        world.meter.send(world.now, 1500, None);
    }
    let in_flight = world.meter.estimate(world.now).in_flight_packets;
    assert_eq!(in_flight, 1 << 16);
    assert_eq!(world.meter.counters().forgotten_packets, 70_000 - in_flight);
}
