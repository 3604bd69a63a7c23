//! Radios that change their channel.
mod common;

use common::{assert_conserved, run, secs, still, unicast};
use prismux_units::{Duration, Instant};
use prismux_wireless::{Air, AirEvent, HostId, MacConfig};

const A: HostId = HostId(0);
const B: HostId = HostId(1);
const C: HostId = HostId(2);

/// Three hosts that hear one another, with 802.11b.
fn three() -> Air<u64> {
    still(MacConfig::dsss(), &[(0.0, 0.0), (50.0, 0.0), (0.0, 50.0)], 1)
}

fn micros(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

/// What happens until `end`: received packets by host, and packets that failed.
fn outcome(air: &mut Air<u64>, end: Instant) -> (Vec<(HostId, u64)>, Vec<u64>) {
    let (mut received, mut failed) = (Vec::new(), Vec::new());
    run(air, end, |_, _, event| match event {
        AirEvent::Received { host, payload, .. } => received.push((host, payload)),
        AirEvent::Failed { payload, .. } => failed.push(payload),
        _ => {}
    });
    (received, failed)
}

#[test]
fn hosts_hear_one_another_on_one_channel_alone_and_again_when_they_meet() {
    let mut air = three();
    air.tune(Instant::ZERO, B, Some(6));
    assert_eq!((air.channel(A), air.channel(B)), (Some(1), Some(6)));
    air.send(Instant::ZERO, A, unicast(1, 500, 1)).expect("room");
    assert_eq!(outcome(&mut air, secs(1)), (vec![], vec![1]));
    air.tune(secs(1), A, Some(6));
    air.send(secs(1), A, unicast(1, 500, 2)).expect("room");
    assert_eq!(outcome(&mut air, secs(2)), (vec![(B, 2)], vec![]));
    assert_conserved(&air, secs(2), 3);
}

#[test]
fn who_is_tuned_to_no_channel_hears_nobody_else_there() {
    let mut air = three();
    air.tune(Instant::ZERO, A, None);
    air.tune(Instant::ZERO, B, None);
    assert_eq!(air.channel(A), None);
    air.send(Instant::ZERO, A, unicast(1, 500, 1)).expect("room");
    assert_eq!(outcome(&mut air, secs(1)), (vec![], vec![1]));
    assert_eq!(air.stats(secs(1), B).signals, 0);
}

#[test]
fn a_frame_that_is_being_received_is_lost_to_a_host_that_leaves() {
    let mut air = three();
    air.send(Instant::ZERO, A, unicast(1, 1500, 1)).expect("room");
    // Behind DIFS (50 us) the frame lasts 192 us and 8 bits at 11 Mbit/s for each byte.
    let (received, _) = outcome(&mut air, micros(500));
    assert_eq!(received, vec![]);
    air.tune(micros(500), B, Some(6));
    assert_eq!(outcome(&mut air, secs(1)), (vec![], vec![1]));
    let left = air.stats(secs(1), B);
    assert_eq!((left.signals, left.lost_tuning), (1, 1), "{left:?}");
    // What it would have heard to the end was not heard: 451 us of 1312.
    assert!((left.receiving.as_secs_f64() - 449e-6).abs() < 2e-6, "{left:?}");
    assert_conserved(&air, secs(1), 3);
}

#[test]
fn a_host_that_arrives_during_a_frame_waits_for_its_end() {
    let arrival = |arrives: bool| {
        let mut air = three();
        air.tune(Instant::ZERO, C, Some(6));
        air.send(Instant::ZERO, A, unicast(1, 1500, 1)).expect("room");
        outcome(&mut air, micros(500));
        if arrives {
            air.tune(micros(500), C, Some(1));
        }
        air.send(micros(500), C, unicast(1, 100, 2)).expect("room");
        (outcome(&mut air, secs(1)), air.stats(secs(1), C))
    };
    let ((received, failed), stats) = arrival(true);
    assert_eq!(received, [(B, 1), (B, 2)], "its frame came behind that of A, and collided with nothing");
    assert_eq!((failed, stats.timeouts), (vec![], 0));
    assert!(stats.lost_weak >= 1, "the frame that had begun was carrier: {stats:?}");
    let ((received, failed), _) = arrival(false);
    assert_eq!((received, failed), (vec![(B, 1)], vec![2]), "from its own channel it reaches nobody");
}

#[test]
fn measurements_follow_distance_and_see_every_channel() {
    let mut air = three();
    air.tune(Instant::ZERO, B, Some(6));
    let near = air.measure_w(Instant::ZERO, B, A);
    // Free space: half the distance to A of what is between B and C is half the squared distance.
    let far = air.measure_w(Instant::ZERO, B, C);
    assert!((near / far - 2.0).abs() < 1e-9, "{near} {far}");
    assert_eq!(air.measure_w(Instant::ZERO, A, A), 0.0);
    assert_eq!(air.measure_w(Instant::ZERO, HostId(7), A), 0.0);
}
