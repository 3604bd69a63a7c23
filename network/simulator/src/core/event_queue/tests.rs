use super::{EventQueue, Popped};
use prismux_units::Instant;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// The next event not after `until`.
fn pop<T: Copy>(queue: &mut EventQueue<T>, until: Instant) -> Option<(Instant, T)> {
    loop {
        match queue.pop_until(until) {
            Popped::Due(at, target) => return Some((at, target)),
            Popped::SlotDone if queue.open_next_slot() => {}
            Popped::SlotDone | Popped::Later => return None,
        }
    }
}

#[test]
fn equal_times_leave_in_order_of_insertion() {
    let mut queue = EventQueue::new();
    let far = at(5_000_000_123);
    for target in 0..100 {
        queue.push(far, target);
        queue.push(at(u64::from(target)), target + 1000);
    }
    let order: Vec<u32> =
        std::iter::from_fn(|| pop(&mut queue, Instant::MAX).map(|(_, target)| target)).collect();
    let expected: Vec<u32> = (1000..1100).chain(0..100).collect();
    assert_eq!(order, expected);
}

#[test]
fn an_event_beyond_the_limit_stays_and_earlier_ones_may_still_come() {
    let mut queue = EventQueue::new();
    queue.push(at(1_000_000_000), "late");
    assert_eq!(pop(&mut queue, at(999_999_999)), None);
    // The wheel has looked ahead; an event before that must still be first.
    queue.push(at(999_999_999), "early");
    queue.push(at(2_000_000_000), "later");
    assert_eq!(pop(&mut queue, Instant::MAX), Some((at(999_999_999), "early")));
    assert_eq!(pop(&mut queue, Instant::MAX), Some((at(1_000_000_000), "late")));
    assert_eq!(pop(&mut queue, Instant::MAX), Some((at(2_000_000_000), "later")));
    assert_eq!(pop(&mut queue, Instant::MAX), None);
}

#[test]
fn nothing_is_due_until_the_next_event_that_is_near() {
    let mut queue = EventQueue::new();
    queue.push(at(1_000_000), "near");
    let quiet = queue.quiet_until();
    assert!(quiet <= at(1_000_000) && quiet > at(900_000), "{quiet}");
    assert_eq!(pop(&mut queue, at(999_999)), None);
    assert_eq!(queue.quiet_until(), at(1_000_000));
}

#[test]
fn memory_is_reused() {
    let mut queue = EventQueue::new();
    let capacity = |queue: &EventQueue<u64>| queue.lists.capacity() + queue.current.capacity();
    let mut settled = 0;
    for round in 0..100_000u64 {
        queue.push(at(round * 10_000 + 700_000), round);
        while pop(&mut queue, at(round * 10_000)).is_some() {}
        if round == 50_000 {
            settled = capacity(&queue);
        }
    }
    assert_eq!(queue.inserted(), 100_000);
    assert_eq!(capacity(&queue), settled);
}

/// Steps of random size over all magnitudes, so that every level is used.
fn gap() -> impl Strategy<Value = u64> {
    (0..50u32, any::<u64>()).prop_map(|(bits, raw)| raw & ((1 << bits) - 1))
}

proptest! {
    #![proptest_config(prismux_properties::cases(300))]

    #[test]
    fn events_leave_in_order_of_time_then_insertion(
        steps in prop::collection::vec((gap(), 0..4u32), 1..300),
    ) {
        let mut queue = EventQueue::new();
        let mut reference = BTreeMap::new();
        let mut now = 0u64;
        for (number, (gap, pops)) in steps.into_iter().enumerate() {
            queue.push(at(now + gap), number);
            reference.insert((now + gap, number), ());
            for _ in 0..pops {
                let expected = reference.pop_first().map(|((nanos, number), ())| (at(nanos), number));
                if let Some((first, _)) = expected {
                    prop_assert!(queue.quiet_until() <= first, "something is due before");
                }
                let popped = pop(&mut queue, Instant::MAX);
                prop_assert_eq!(popped, expected);
                now = popped.map_or(now, |(at, _)| at.as_nanos());
            }
        }
        while let Some(((nanos, number), ())) = reference.pop_first() {
            prop_assert_eq!(pop(&mut queue, at(nanos)), Some((at(nanos), number)));
        }
        prop_assert_eq!(pop(&mut queue, Instant::MAX), None);
    }
}
