//! Assisted scheduling: the base station knows all places and backlogs, and says who sends in which slot
//! (the thesis, section 8.1, figures 42 and 43).
//!
//! Whole journeys are scheduled, least served flow first, each hop in the first slot that disturbs nothing. What does
//! not end within a period is carried over to the next and never pre-empted. In the source's listing carried entries
//! are never removed and keep the old period's slot numbers; here they move to the new period.
use crate::reach::Reach;
use crate::routes::{Hop, Route};
use crate::timeline::{ConflictRule, Timeline};
use alloc::vec;
use alloc::vec::Vec;

/// What the schedule asks for in one slot: the first packet of `flow` at `hop.from` goes to `hop.to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    /// The flow.
    pub flow: usize,
    /// Who sends to whom.
    pub hop: Hop,
    /// Packet that all hops of a journey belong to.
    pub journey: u64,
}

/// The base station's scheduler.
#[derive(Debug, Clone)]
pub struct AssistedScheduler {
    period_slots: usize,
    rule: ConflictRule,
    /// Packets scheduled of each flow so far, `None` before its first backlog.
    service: Vec<Option<u64>>,
    /// What lies beyond the last period, with slots counted from its end.
    carried: Vec<(usize, Transmission)>,
    journeys: u64,
}

/// One period's schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Period {
    /// Transmissions of each slot.
    pub slots: Vec<Vec<Transmission>>,
    /// Packets scheduled anew, for each flow: its backlog shrinks by as many.
    pub scheduled: Vec<u64>,
    /// Carried journeys whose hosts no longer hear one another, by flow; their packets must start again.
    pub broken: Vec<usize>,
}

impl AssistedScheduler {
    /// For `flows` flows at first, with periods of `period_slots` slots (at least one).
    pub fn new(flows: usize, period_slots: usize) -> Self {
        Self {
            period_slots: period_slots.max(1),
            rule: ConflictRule::ReceiverSide,
            service: vec![None; flows],
            carried: Vec::new(),
            journeys: 0,
        }
    }

    /// The same by another rule of what may share a slot.
    #[must_use]
    pub fn with_rule(self, rule: ConflictRule) -> Self {
        Self { rule, ..self }
    }

    /// Slots of a period.
    pub fn period_slots(&self) -> usize {
        self.period_slots
    }

    /// The next period, for hosts that hear one another as in `reach`, with each flow's route, if it has any, and
    /// backlog in packets: flows beyond those that were there before are new.
    pub fn draw(&mut self, reach: &Reach, routes: &[Option<Route>], backlog: &[u64]) -> Period {
        let flows = self.service.len().max(backlog.len());
        self.service.resize(flows, None);
        let mut timeline = Timeline::new(reach.hosts(), self.rule);
        let mut period = Period {
            slots: vec![Vec::new(); self.period_slots],
            scheduled: vec![0; flows],
            broken: Vec::new(),
        };
        let mut carried = core::mem::take(&mut self.carried);
        period.broken = drop_broken(&mut carried, reach);
        for (slot, transmission) in carried {
            timeline.take(reach, transmission.hop, slot);
            self.enter(slot, transmission, &mut period);
        }
        self.admit(backlog);
        let waits =
            |flow: &usize, scheduled: &[u64]| scheduled[*flow] < backlog.get(*flow).copied().unwrap_or(0);
        let mut candidates: Vec<usize> = (0..flows).filter(|flow| waits(flow, &period.scheduled)).collect();
        // The least served first; among equals the lowest number.
        while let Some(index) = (0..candidates.len()).min_by_key(|&index| self.service[candidates[index]]) {
            let flow = candidates[index];
            let route = routes.get(flow).and_then(Option::as_ref);
            if !route.is_some_and(|route| self.place(flow, route, reach, &mut timeline, &mut period)) {
                candidates.remove(index);
                continue;
            }
            period.scheduled[flow] += 1;
            self.service[flow] = self.service[flow].map(|service| service + 1);
            if !waits(&flow, &period.scheduled) {
                candidates.remove(index);
            }
        }
        period
    }

    /// A flow with its first backlog counts as served as the least served one: otherwise it would have everything
    /// until it has caught up.
    fn admit(&mut self, backlog: &[u64]) {
        let least = self.service.iter().flatten().min().copied().unwrap_or(0);
        for (service, &packets) in self.service.iter_mut().zip(backlog) {
            if service.is_none() && packets > 0 {
                *service = Some(least);
            }
        }
    }

    /// Gives a journey its slots; false when its first hop would begin behind the period.
    fn place(
        &mut self,
        flow: usize,
        route: &Route,
        reach: &Reach,
        timeline: &mut Timeline,
        period: &mut Period,
    ) -> bool {
        let Some(slots) = timeline.first_fit(route.hops(), self.period_slots) else { return false };
        if slots.is_empty() {
            return false;
        }
        self.journeys += 1;
        for (&hop, &slot) in route.hops().iter().zip(&slots) {
            timeline.take(reach, hop, slot);
            self.enter(slot, Transmission { flow, hop, journey: self.journeys }, period);
        }
        true
    }

    /// Into the period, or beyond it.
    fn enter(&mut self, slot: usize, transmission: Transmission, period: &mut Period) {
        match period.slots.get_mut(slot) {
            Some(entries) => entries.push(transmission),
            None => self.carried.push((slot - self.period_slots, transmission)),
        }
    }
}

/// Removes journeys with a hop between hosts that no longer hear one another; their flows.
fn drop_broken(carried: &mut Vec<(usize, Transmission)>, reach: &Reach) -> Vec<usize> {
    let holds = |hop: Hop| reach.joins(hop.from, hop.to);
    let mut broken: Vec<(u64, usize)> =
        carried.iter().filter(|(_, t)| !holds(t.hop)).map(|(_, t)| (t.journey, t.flow)).collect();
    broken.sort_unstable();
    broken.dedup();
    carried.retain(|(_, t)| broken.binary_search(&(t.journey, t.flow)).is_err());
    broken.into_iter().map(|(_, flow)| flow).collect()
}

#[cfg(test)]
mod tests {
    use super::AssistedScheduler;
    use crate::reach::Reach;
    use crate::routes::{Hop, Route};
    use alloc::vec::Vec;
    use prismux_wireless::Position;

    fn row(places_m: &[f64]) -> Reach {
        let places: Vec<Position> = places_m.iter().map(|&x_m| Position { x_m, y_m: 0.0 }).collect();
        Reach::new(&places, 250.0)
    }

    /// Who sends to whom, slot by slot.
    fn hops(period: &super::Period) -> Vec<Vec<(usize, usize)>> {
        let of = |slot: &Vec<super::Transmission>| slot.iter().map(|t| (t.hop.from, t.hop.to)).collect();
        period.slots.iter().map(of).collect()
    }

    #[test]
    fn a_journey_that_does_not_end_in_its_period_goes_on_in_the_next_once() {
        let reach = row(&[0.0, 200.0, 400.0, 600.0]);
        let routes = [Some(Route::over(&[0, 1, 2, 3]))];
        let mut scheduler = AssistedScheduler::new(1, 2);
        let first = scheduler.draw(&reach, &routes, &[1]);
        assert_eq!(hops(&first), [[(0, 1)], [(1, 2)]]);
        let second = scheduler.draw(&reach, &routes, &[0]);
        assert_eq!(
            hops(&second),
            [[(2, 3)].to_vec(), Vec::new()],
            "slot 2 of the last period is slot 0 here"
        );
        let third = scheduler.draw(&reach, &routes, &[0]);
        assert_eq!(hops(&third), [Vec::new(), Vec::new()], "carried entries do not recur");
    }

    #[test]
    fn what_is_carried_is_not_preempted() {
        let reach = row(&[0.0, 200.0, 400.0]);
        let routes = [Some(Route::over(&[0, 1, 2])), Some(Route::over(&[1, 2]))];
        let mut scheduler = AssistedScheduler::new(2, 1);
        assert_eq!(hops(&scheduler.draw(&reach, &routes, &[1, 0])), [[(0, 1)]]);
        let second = scheduler.draw(&reach, &routes, &[0, 5]);
        assert_eq!(second.slots[0].len(), 1);
        assert_eq!(second.slots[0][0].flow, 0, "the hop carried over holds the slot");
        assert_eq!(second.scheduled, [0, 0]);
    }

    #[test]
    fn the_least_served_goes_first_and_a_newcomer_does_not_have_everything() {
        let reach = row(&[0.0, 200.0, 100.0]);
        let routes = [Some(Route::over(&[0, 1])), Some(Route::over(&[2, 1]))];
        let mut scheduler = AssistedScheduler::new(2, 10);
        assert_eq!(scheduler.draw(&reach, &routes, &[100, 0]).scheduled, [10, 0]);
        assert_eq!(scheduler.draw(&reach, &routes, &[100, 100]).scheduled, [5, 5]);
    }

    #[test]
    fn a_carried_journey_whose_hosts_have_parted_starts_again() {
        let routes = [Some(Route::over(&[0, 1, 2]))];
        let mut scheduler = AssistedScheduler::new(1, 1);
        scheduler.draw(&row(&[0.0, 200.0, 400.0]), &routes, &[1]);
        let second = scheduler.draw(&row(&[0.0, 200.0, 900.0]), &[None], &[0]);
        assert_eq!((second.broken, second.slots), ([0].to_vec(), [Vec::new()].to_vec()));
    }

    #[test]
    fn no_two_transmissions_of_a_slot_disturb_one_another_and_hops_keep_their_order() {
        use crate::cell::{Cell, Placement};
        use crate::routes::Routes;
        use prismux_endpoint::random::Seed;
        for seed in 1..=5 {
            let mut random = Seed(seed).stream("assisted");
            let cell = Cell::draw(60, 1200.0, Placement::Uniform, &mut random).unwrap();
            let reach = Reach::new(&cell.places, 250.0);
            let all = Routes::to(&reach, &[cell.base()], &mut random);
            let routes: Vec<Option<Route>> = (0..60).map(|host| all.from(host)).collect();
            let mut scheduler = AssistedScheduler::new(60, 50);
            let mut last = alloc::collections::BTreeMap::new();
            for period in 0..4 {
                let drawn = scheduler.draw(&reach, &routes, &[20; 60]);
                for (slot, entries) in drawn.slots.iter().enumerate() {
                    for (index, a) in entries.iter().enumerate() {
                        let before = last.insert(a.journey, (period, slot, a.hop));
                        assert!(before.is_none_or(|(p, s, hop): (usize, usize, Hop)| {
                            (p, s) < (period, slot) && hop.to == a.hop.from
                        }));
                        for b in &entries[..index] {
                            let four = [a.hop.from, a.hop.to, b.hop.from, b.hop.to];
                            let apart = (0..4).all(|i| (0..i).all(|j| four[i] != four[j]));
                            let heard =
                                reach.joins(a.hop.from, b.hop.to) || reach.joins(b.hop.from, a.hop.to);
                            assert!(apart && !heard, "seed {seed}: {a:?} {b:?}");
                        }
                    }
                }
            }
        }
    }
}
