//! Spatial reuse: how many transmissions a slot holds.
//!
//! [`pragmatic`] counts only transmissions of whole journeys from source to destination (the thesis, section 7.3.1);
//! [`independent`] counts any hops between neighbours (its figure 31).
use crate::cell::shuffle;
use crate::reach::Reach;
use crate::routes::{Hop, Route};
use crate::timeline::{ConflictRule, Timeline};
use alloc::vec;
use alloc::vec::Vec;
use prismux_endpoint::random::RandomStream;

/// A schedule that serves every flow at least once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Its length in slots.
    pub slots: usize,
    /// Transmissions in all slots together.
    pub transmissions: usize,
    /// Packets that reach their destination.
    pub packets: usize,
}

impl Schedule {
    /// Spatial reuse: transmissions in a slot.
    pub fn reuse(&self) -> f64 {
        self.transmissions as f64 / self.slots.max(1) as f64
    }

    /// Packets from source to destination in a slot.
    pub fn packets_per_slot(&self) -> f64 {
        self.packets as f64 / self.slots.max(1) as f64
    }
}

/// The pragmatic spatial reuse of flows on `routes`: the shortest schedule that serves each flow once, filled with as
/// many further journeys as fit.
///
/// Finding either optimum is hard; both are approached greedily: first fit in a random order, then refilling, least
/// served flow first.
pub fn pragmatic(reach: &Reach, routes: &[Route], rule: ConflictRule, random: &mut RandomStream) -> Schedule {
    let mut timeline = Timeline::new(reach.hosts(), rule);
    let mut schedule = Schedule { slots: 0, transmissions: 0, packets: 0 };
    let mut order: Vec<usize> = (0..routes.len()).filter(|&flow| !routes[flow].hops().is_empty()).collect();
    shuffle(&mut order, random);
    let mut place = |route: &Route, end: Option<usize>, schedule: &mut Schedule| {
        let Some(slots) = timeline.first_fit(route.hops(), usize::MAX) else { return false };
        let last = slots.last().map_or(0, |slot| slot + 1);
        if end.is_some_and(|end| last > end) {
            return false;
        }
        for (&hop, &slot) in route.hops().iter().zip(&slots) {
            timeline.take(reach, hop, slot);
        }
        schedule.slots = schedule.slots.max(last);
        schedule.transmissions += slots.len();
        schedule.packets += 1;
        true
    };
    for &flow in &order {
        place(&routes[flow], None, &mut schedule);
    }
    let end = Some(schedule.slots);
    let mut served = vec![1_u32; routes.len()];
    while let Some(index) = (0..order.len()).min_by_key(|&index| served[order[index]]) {
        let flow = order[index];
        if place(&routes[flow], end, &mut schedule) {
            served[flow] += 1;
        } else {
            order.remove(index);
        }
    }
    schedule
}

/// Transmissions between random neighbours that fit into one slot: hops in a random order, each taken if it disturbs
/// none before it.
pub fn independent(reach: &Reach, rule: ConflictRule, random: &mut RandomStream) -> usize {
    let mut hops: Vec<Hop> = Vec::new();
    for from in 0..reach.hosts() {
        hops.extend(reach.of(from).iter().map(|&to| Hop { from, to }));
    }
    shuffle(&mut hops, random);
    let mut timeline = Timeline::new(reach.hosts(), rule);
    let mut taken = 0;
    for hop in hops {
        if timeline.is_free(hop, 0) {
            timeline.take(reach, hop, 0);
            taken += 1;
        }
    }
    taken
}
