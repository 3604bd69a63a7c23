//! What is known of links together, so that a packet need not look at each of two hundred.
//!
//! Links that are up are taken eight at a time. Of each group sums and bounds are kept; they are worked out anew, when
//! somebody asks, where a link of the group has been touched since. What a packet changes is in one group or two, so it
//! costs as much as eight links and one step for each group. Up to eight links are one group, in order of number.
mod bounds;

pub(crate) use bounds::{Bounds, MODEST_FILL};

use super::{Link, LinkTable};
use crate::ids::LinkId;
use alloc::vec::Vec;
use core::cell::Cell;
use core::cmp::Ordering;
use prismux_units::{Duration, Instant};

/// Links of a group.
pub(crate) const GROUP: usize = 8;
/// As many groups as there can be; a bit stands for each.
const MAX_GROUPS: usize = LinkId::COUNT.div_ceil(GROUP);
/// Of more links than one group the one with the least hRTT is looked for no more often than this.
const FASTEST_FOR: Duration = Duration::from_millis(1);

/// Which link is in which group, and what is known of the groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Links that are up, group after group.
    arranged: Vec<LinkId>,
    /// The group of each link, by number; of one that is not up it says nothing.
    of_link: Vec<u8>,
    sums: Vec<Cell<Sums>>,
    bounds: Vec<Cell<Bounds>>,
    total: Cell<Sums>,
    /// The link of the least hRTT, and when it was looked for.
    fastest: Cell<Option<(Instant, LinkId)>>,
    /// Groups whose sums, or bounds, are to be worked out anew: a bit for each.
    stale_sums: Cell<u32>,
    stale_bounds: Cell<u32>,
}

/// Sums over some links.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part {
    /// How many they are.
    pub(crate) count: usize,
    /// Bytes that may be in flight.
    pub(crate) cap_bytes: u64,
    /// Bytes per second to plan with.
    pub(crate) rate: f64,
    /// What fills those with little to do within a round trip, bytes per second. Of others than links that return
    /// receipts too little is known.
    pub(crate) room_rate: f64,
    /// What they could carry beside what they have in flight, bytes per second.
    idle_rate: f64,
}

impl Part {
    fn of(link: &Link) -> Self {
        let model = &link.model;
        let room = || {
            let room = model.cap_bytes().saturating_sub(link.variables.in_flight_bytes);
            Some(room as f64 / model.min_rtt()?.as_secs_f64().max(1e-4))
        };
        let room_rate = if model.is_measured() { room() } else { None };
        Self {
            count: 1,
            cap_bytes: model.cap_bytes(),
            rate: model.planning_rate().unwrap_or(0.0),
            room_rate: room_rate.unwrap_or(0.0),
            idle_rate: model.idle_rate(link.variables.in_flight_bytes),
        }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            cap_bytes: self.cap_bytes.saturating_add(other.cap_bytes),
            rate: self.rate + other.rate,
            room_rate: self.room_rate + other.room_rate,
            idle_rate: self.idle_rate + other.idle_rate,
        }
    }
}

/// Sums over links that are up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    /// Over those that are usable.
    pub(crate) usable: Part,
    /// Over all of them.
    all: Part,
    /// The largest hRTT.
    pub(crate) largest_hrtt: Option<Duration>,
    /// Some far end has returned receipts.
    pub(crate) has_receipts: bool,
}

impl Sums {
    /// Over links that take new data, as [`LinkTable::usable`] has it.
    pub(crate) fn taking(&self) -> &Part {
        if self.usable.count > 0 { &self.usable } else { &self.all }
    }

    fn with(self, link: &Link) -> Self {
        let part = Part::of(link);
        Self {
            usable: if link.usable { self.usable.plus(&part) } else { self.usable },
            all: self.all.plus(&part),
            largest_hrtt: self.largest_hrtt.max(link.smoothed_rtt()),
            has_receipts: self.has_receipts || link.model.has_receipts(),
        }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            usable: self.usable.plus(&other.usable),
            all: self.all.plus(&other.all),
            largest_hrtt: self.largest_hrtt.max(other.largest_hrtt),
            has_receipts: self.has_receipts || other.has_receipts,
        }
    }
}

impl Groups {
    /// Everything of a link may have changed.
    pub(super) fn touch(&mut self, id: LinkId) {
        let bit = self.of_link.get(usize::from(id.0)).map_or(0, |group| 1 << group);
        *self.stale_sums.get_mut() |= bit;
        *self.stale_bounds.get_mut() |= bit;
    }

    /// Everything of all links may have changed.
    pub(super) fn touch_all(&mut self) {
        let all = ((1_u64 << self.sums.len()) - 1) as u32;
        self.stale_sums.set(all);
        self.stale_bounds.set(all);
        self.fastest.set(None);
    }

    /// These links are up, in this order.
    pub(super) fn arrange(&mut self, links: impl Iterator<Item = LinkId>) {
        self.arranged.clear();
        self.arranged.extend(links);
        for (place, id) in self.arranged.iter().enumerate() {
            let number = usize::from(id.0);
            if self.of_link.len() <= number {
                self.of_link.resize(number + 1, 0);
            }
            if let Some(group) = self.of_link.get_mut(number) {
                *group = (place / GROUP) as u8;
            }
        }
        let count = self.arranged.len().div_ceil(GROUP);
        self.sums.resize_with(count, Cell::default);
        self.bounds.resize_with(count, || Cell::new(Bounds::NONE));
        self.total.set(Sums::default());
        self.touch_all();
    }

    /// The link of the least hRTT, where many were looked through a moment ago.
    pub(super) fn fastest(&self, now: Instant) -> Option<LinkId> {
        let of_late = |(at, _): &(Instant, LinkId)| now >= *at && now.saturating_since(*at) < FASTEST_FOR;
        self.fastest.get().filter(of_late).map(|(_, id)| id)
    }

    /// The link of the least hRTT has been looked for.
    pub(super) fn note_fastest(&self, now: Instant, fastest: Option<LinkId>) {
        if self.arranged.len() > GROUP {
            self.fastest.set(fastest.map(|id| (now, id)));
        }
    }

    /// Groups of which this is said, no longer from now on.
    fn take_stale(bits: &Cell<u32>) -> impl Iterator<Item = usize> {
        let mut left = bits.replace(0);
        core::iter::from_fn(move || {
            let group = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(group)
        })
    }
}

/// A rank: full links come after all others, and then the least number is first.
pub(crate) type Rank = (bool, f64);

fn compare(a: Rank, b: Rank) -> Ordering {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

impl LinkTable {
    /// Puts the links that are up into groups: of many those together that are alike, because then bounds tell more.
    pub(crate) fn arrange(&mut self) {
        let mut links = self.up.clone();
        if links.len() > GROUP {
            links.sort_by_cached_key(|&id| {
                let link = self.get(id);
                (link.is_none_or(|link| !link.usable), link.and_then(|link| link.model.min_rtt()), id)
            });
        }
        self.groups.arrange(links.into_iter());
    }

    fn group(&self, group: usize) -> impl Iterator<Item = (LinkId, &Link)> {
        let links = self.groups.arranged.chunks(GROUP).nth(group).unwrap_or_default();
        links.iter().filter_map(|&id| Some((id, self.get(id)?)))
    }

    /// Sums over all links that are up.
    pub(crate) fn sums(&self) -> Sums {
        let Groups { sums, total, stale_sums, .. } = &self.groups;
        if stale_sums.get() != 0 {
            for group in Groups::take_stale(stale_sums) {
                let anew = self.group(group).fold(Sums::default(), |sums, (_, link)| sums.with(link));
                sums.get(group).inspect(|place| place.set(anew));
            }
            total.set(sums.iter().fold(Sums::default(), |all, sums| all.plus(&sums.get())));
        }
        total.get()
    }

    /// Whether all links are in one group: then what a link alone says is sooner read off the links than summed up.
    fn is_one_group(&self) -> bool {
        self.groups.sums.len() <= 1
    }

    /// The largest hRTT over all links that are up.
    pub fn largest_hrtt(&self) -> Option<Duration> {
        match self.is_one_group() {
            true => self.up().filter_map(|(_, link)| link.smoothed_rtt()).max(),
            false => self.sums().largest_hrtt,
        }
    }

    /// Some link's far end has returned receipts.
    pub(crate) fn has_receipts(&self) -> bool {
        match self.is_one_group() {
            true => self.up().any(|(_, link)| link.model.has_receipts()),
            false => self.sums().has_receipts,
        }
    }

    /// What links that take new data could carry beside what they have in flight, without this one; bytes per second.
    pub(crate) fn idle_rate_beside(&self, id: LinkId) -> f64 {
        let any = self.sums().usable.count > 0;
        let own = self.groups.of_link.get(usize::from(id.0)).map_or(usize::MAX, |&group| usize::from(group));
        let of_group = |(group, sums): (usize, &Cell<Sums>)| {
            if group != own {
                let Sums { usable, all, .. } = sums.get();
                return if any { usable.idle_rate } else { all.idle_rate };
            }
            let others = self.group(group).filter(|(other, link)| *other != id && (link.usable || !any));
            others.map(|(_, link)| link.model.idle_rate(link.variables.in_flight_bytes)).sum()
        };
        self.groups.sums.iter().enumerate().map(of_group).sum()
    }

    /// The link of the least rank among those that take new data; of several the one with the lowest number. `bound`
    /// says what no link within some bounds ranks before; `likely` is looked at first.
    pub(crate) fn least(
        &self,
        likely: Option<LinkId>,
        bound: impl Fn(&Bounds) -> Rank,
        rank: impl Fn(LinkId, &Link) -> Rank,
    ) -> Option<LinkId> {
        let ranked = |(id, link): (LinkId, &Link)| (rank(id, link), id);
        let first = |a: (Rank, LinkId), b: (Rank, LinkId)| {
            if compare(b.0, a.0).then(b.1.cmp(&a.1)).is_lt() { b } else { a }
        };
        if self.is_one_group() || !self.up().any(|(_, link)| link.usable) {
            return self.usable().map(ranked).reduce(first).map(|(_, id)| id);
        }
        let mut at_least = [((true, f64::INFINITY), 0); MAX_GROUPS];
        for (place, (group, bounds)) in at_least.iter_mut().zip(self.bounds().enumerate()) {
            *place = (bound(&bounds), group);
        }
        let at_least = at_least.iter().take(self.groups.bounds.len());
        let nearest = at_least.clone().min_by(|a, b| compare(a.0, b.0)).copied();
        let others = at_least.filter(|(_, group)| nearest.is_some_and(|(_, nearest)| *group != nearest));
        let likely = likely.and_then(|id| Some((id, self.get(id).filter(|link| link.up && link.usable)?)));
        let mut best = likely.map(ranked);
        for &(bound, group) in nearest.iter().chain(others) {
            if best.is_none_or(|(rank, _)| compare(bound, rank).is_le()) {
                let links = self.group(group).filter(|(_, link)| link.usable);
                best = best.into_iter().chain(links.map(ranked)).reduce(first);
            }
        }
        best.map(|(_, id)| id)
    }

    /// The bounds of all groups, in order.
    fn bounds(&self) -> impl Iterator<Item = Bounds> {
        for group in Groups::take_stale(&self.groups.stale_bounds) {
            let links = self.group(group).filter(|(_, link)| link.usable);
            let anew = links.fold(Bounds::NONE, |bounds, (_, link)| {
                bounds.with(&link.model, link.variables.in_flight_bytes)
            });
            self.groups.bounds.get(group).inspect(|place| place.set(anew));
        }
        self.groups.bounds.iter().map(Cell::get)
    }
}

#[cfg(test)]
mod tests;
