use super::{Dumbbell, Ns2};

/// A hundredth of S1, so that it takes milliseconds.
const SMALL: Dumbbell = Dumbbell { seconds: 20, ..Dumbbell::S1 };

#[test]
fn the_bottleneck_is_full() {
    let cost = SMALL.run();
    // 10 Mbit/s of packets of 1040 bytes, less slow start and its losses.
    let share = cost.delivered_packets as f64 / (20.0 * 10e6 / 8.0 / 1040.0);
    assert!((0.9..1.0).contains(&share), "{share}");
}

#[test]
fn ns2_delivers_the_same() {
    let Ok(ns2) = Ns2::find() else {
        eprintln!("skipped: no ns-2 on this machine");
        return;
    };
    let (ours, theirs) = (SMALL.run(), ns2.run(&SMALL).unwrap());
    let ratio = ours.delivered_packets as f64 / theirs.delivered_packets as f64;
    assert!((0.98..1.02).contains(&ratio), "{ours:?} {theirs:?}");
}

#[test]
fn names_find_their_dumbbells() {
    assert_eq!(Dumbbell::by_name("S1 x 100").unwrap().flows, 2000);
    assert_eq!(Dumbbell::by_name("S3"), None);
}
