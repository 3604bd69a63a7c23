//! Explicit loss notification in one pipe of several: what its link damages costs that pipe no window, and no other pipe
//! anything.
mod harness;

use harness::{Fate, Flight, Weather, World, config};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use std::cell::RefCell;
use std::rc::Rc;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// What became of one damaged segment of the first pipe.
struct Repair {
    /// The first pipe's largest window from the damage to the acknowledgement of its repair, and by how much it ever fell.
    largest: u64,
    fell: u64,
    /// pSEQ of what was damaged, and of everything sent later under the same virtual number.
    damaged: u32,
    repeated: Vec<u32>,
    unbound_bytes: u64,
    received: u64,
}

/// Two pipes in full flight; one data segment of the first is lost, and with `told` its receiver's link layer knows.
fn damage(told: bool) -> Repair {
    let mut config = config(2, 2, 256_000);
    (config.loss_notification, config.opportunistic_retransmission) = (true, false);
    let weather = |ms| Weather { delay: Duration::from_millis(ms), ..Weather::default() };
    let mut world = World::new(Seed(1), config, vec![weather(40), weather(15)]);
    let lost: Rc<RefCell<Option<Flight>>> = Rc::default();
    let catch = Rc::clone(&lost);
    world.hook = Some(Box::new(move |now, flight| {
        let data = flight.to == 1 && flight.segment.header.pipe == 0 && flight.segment.payload_bytes > 0;
        if now < at(300) || !data || catch.borrow().is_some() {
            return Fate::Pass;
        }
        *catch.borrow_mut() = Some(flight.clone());
        Fate::Lose
    }));
    world.write(0, 1_000_000);
    let done = Rc::clone(&lost);
    world.run_while(at(5_000), |_| done.borrow().is_none());
    let damaged = lost.borrow().clone().expect("there was traffic").segment;
    if told {
        world.mutate(1, |end, _| end.damaged(&damaged));
    }
    let window = |world: &World| world.end(0).pipes().next().expect("the first").tcp.engine.cwnd_bytes;
    let (mut largest, mut fell) = (window(&world), 0);
    let from = world.log.len();
    world.run_while(at(550), |world| {
        largest = largest.max(window(world));
        fell = fell.max(largest - window(world));
        true
    });
    let again = world.log[from..].iter().filter(|(_, side, segment)| {
        *side == 0
            && segment.header.pipe == 0
            && segment.payload_bytes > 0
            && segment.tcp.seq == damaged.tcp.seq
    });
    let repeated = again.map(|(_, _, segment)| segment.header.seq.0).collect();
    world.run(at(60_000));
    Repair {
        largest,
        fell,
        damaged: damaged.header.seq.0,
        repeated,
        unbound_bytes: world.end(0).striping().unbound_bytes,
        received: world.received(1),
    }
}

#[test]
fn a_damaged_segment_is_repeated_once_with_its_bytes_and_the_window_stays() {
    let repair = damage(true);
    assert_eq!(repair.fell, 0);
    assert_eq!(repair.repeated, [repair.damaged], "the same bytes, once");
    assert_eq!(repair.unbound_bytes, 0, "nothing changes pipes");
    assert_eq!(repair.received, 1_000_000);
}

#[test]
fn the_same_loss_untold_halves_the_window_and_frees_what_is_beyond_it() {
    let repair = damage(false);
    assert!(repair.fell >= repair.largest / 2, "{} fell by {}", repair.largest, repair.fell);
    assert!(repair.unbound_bytes > 0);
    assert_eq!(repair.received, 1_000_000);
}
