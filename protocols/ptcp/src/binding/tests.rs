#![allow(clippy::single_range_in_vec_init)]
use super::{Bindings, Hold};
use alloc::vec::Vec;
use core::ops::Range;

/// Four virtual segments of 100 that carry bytes from 1000 on.
fn four() -> Bindings {
    let mut bindings = Bindings::default();
    for start in [1000, 1100, 1200, 1300] {
        bindings.push(start..start + 100);
    }
    bindings
}

fn unbound_by(bindings: &mut Bindings, window: u64, copy_first: bool) -> Vec<Range<u64>> {
    let mut unbound = Vec::new();
    bindings.shrink(window, copy_first, |range| unbound.push(range));
    unbound
}

#[test]
fn what_lies_beyond_the_window_is_unbound_once() {
    let mut bindings = four();
    assert_eq!(unbound_by(&mut bindings, 250, false), [1200..1300, 1300..1400]);
    assert_eq!(unbound_by(&mut bindings, 250, false), []);
    let holds: Vec<Hold> = bindings.iter().map(|binding| binding.hold).collect();
    assert_eq!(holds, [Hold::Owner, Hold::Owner, Hold::None, Hold::None]);
}

#[test]
fn the_first_segment_never_leaves_the_window_but_can_be_copied() {
    let mut bindings = four();
    assert_eq!(unbound_by(&mut bindings, 50, true), [1000..1100, 1100..1200, 1200..1300, 1300..1400]);
    assert_eq!(bindings.at(0).unwrap().hold, Hold::Copy);
    assert_eq!(unbound_by(&mut bindings, 50, true), [], "one copy at a time");
}

#[test]
fn what_has_arrived_takes_no_room_and_stays() {
    let mut bindings = four();
    let mut arrived = Vec::new();
    bindings.arrived(100..300, |binding| arrived.push(binding.start));
    bindings.arrived(100..400, |binding| arrived.push(binding.start));
    arrived.sort_unstable();
    assert_eq!(arrived, [100, 200, 300], "each once");
    let mut bindings = four();
    bindings.arrived(100..300, |_| {});
    assert_eq!(unbound_by(&mut bindings, 200, false), [], "0..100 and 300..400 are inside");
    assert_eq!(unbound_by(&mut bindings, 100, false), [1300..1400]);
}

#[test]
fn half_a_segment_can_be_acknowledged() {
    let mut bindings = four();
    let mut settled = Vec::new();
    bindings.acknowledge(130, |binding| settled.push(binding.carried()));
    assert_eq!(settled, [1000..1100, 1100..1130]);
    assert_eq!(bindings.at(130).unwrap().carried(), 1130..1200);
    assert!(bindings.at(129).is_none());
}

#[test]
fn a_pipe_that_ends_gives_up_what_it_owns() {
    let mut bindings = four();
    unbound_by(&mut bindings, 100, false);
    let mut freed = Vec::new();
    bindings.release(|range| freed.push(range));
    assert_eq!(freed, [1000..1100]);
    assert!(bindings.is_empty());
}
