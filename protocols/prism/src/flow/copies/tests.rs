use super::{Copies, CopyCounts};
use alloc::vec::Vec;
use prismux_wire::SeqNumber;

const BUDGET: u32 = 1000;

/// Asks for so many copies; how many are kept.
fn fill(copies: &mut Copies<u32>, wanted: u32, counts: &mut CopyCounts) -> u32 {
    for number in 0..wanted {
        copies.keep(SeqNumber(number * 10), 10, &number, counts, BUDGET);
    }
    copies.in_flight.len() as u32
}

#[test]
fn a_flow_gets_no_more_of_the_budget_than_is_left() {
    let mut counts = CopyCounts::default();
    let kept: Vec<u32> = (0..3).map(|_| fill(&mut Copies::default(), BUDGET, &mut counts)).collect();
    assert_eq!(kept, [500, 250, 125]);
    // Who asks for a few gets them.
    assert_eq!(fill(&mut Copies::default(), 20, &mut counts), 20);
}

#[test]
fn a_copy_that_nothing_will_ask_for_makes_room() {
    let (mut copies, mut counts) = (Copies::default(), CopyCounts::default());
    fill(&mut copies, 5, &mut counts);
    copies.give_up(SeqNumber(20), &mut counts);
    copies.give_up(SeqNumber(20), &mut counts);
    copies.give_up(SeqNumber(25), &mut counts);
    assert_eq!(counts.in_flight, 4);
    let has: Vec<bool> = (0..5).map(|number| copies.has(SeqNumber(number * 10))).collect();
    assert_eq!(has, [true, true, false, true, true]);
    // What follows is kept as before, and all are given back in the end.
    assert!(copies.takes(SeqNumber(50), counts, BUDGET));
    copies.trim(SeqNumber(50), false, &mut counts);
    assert_eq!(counts.in_flight, 0);
}
