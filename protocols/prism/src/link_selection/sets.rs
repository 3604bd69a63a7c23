//! Which set of links gives senders most.
use crate::ids::LinkId;
use alloc::vec::Vec;

/// A larger set must promise this much more before it replaces the present one, and a smaller one too.
const HYSTERESIS: f64 = 1.03;
/// Share of its value that a very distant set must gain over a near one to be worth its delay.
const DELAY_PRICE: f64 = 0.02;
/// At this round trip, in seconds, half of [`DELAY_PRICE`] is asked.
const NEAR_RTT: f64 = 0.2;
/// A repair takes this many round trips of the nearest link.
const REPAIR_ROUNDS: f64 = 1.2;
/// All sets of up to this many links are compared; of more, those that [`nearest_first`] names.
const MAX_COMPARED: usize = 8;

/// A link that may be used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) id: LinkId,
    /// Bytes per second.
    pub(super) rate: f64,
    /// Seconds in flight when the link is full.
    pub(super) rtt: f64,
    /// Probability that, at any time, a packet of this link is missing and being repaired.
    pub(super) repairing: f64,
}

/// A set of small numbers: places in a list of links, or their own numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Set([u64; LinkId::COUNT.div_ceil(64)]);

impl Set {
    /// Those of the first 64 numbers whose bits are set.
    const fn from_bits(bits: u64) -> Self {
        let mut words = [0; LinkId::COUNT.div_ceil(64)];
        words[0] = bits;
        Self(words)
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub(super) fn insert(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    pub(super) fn union(mut self, other: Self) -> Self {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
        self
    }
}

impl FromIterator<usize> for Set {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = Self::default();
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

/// The places of the candidates of which this holds.
pub(super) fn places(candidates: &[Candidate], holds: impl Fn(&Candidate) -> bool) -> Set {
    candidates.iter().enumerate().filter(|(_, c)| holds(c)).map(|(place, _)| place).collect()
}

/// Sum of the rates and the longest round trip, repairs over the nearest link included. The nearest candidates come
/// first.
pub(super) fn sum(candidates: &[Candidate], set: &Set) -> (f64, f64) {
    let chosen = candidates.iter().enumerate().filter(|(place, _)| set.contains(*place)).map(|(_, c)| c);
    let nearest = chosen.clone().next().map_or(0.0, |c| c.rtt);
    chosen.fold((0.0, 0.0), |(rate, rtt), c| (rate + c.rate, f64::max(rtt, c.time(nearest))))
}

impl Candidate {
    /// Its round trip with repairs over a link of this one.
    fn time(&self, nearest: f64) -> f64 {
        self.rtt + REPAIR_ROUNDS * nearest * self.repairing
    }
}

/// What links of this rate and longest round trip are worth to senders with this flight, in bytes per second.
fn value((rate, rtt): (f64, f64), flight: f64) -> f64 {
    if rtt == 0.0 { 0.0 } else { rate.min(flight / rtt) * (1.0 - DELAY_PRICE * rtt / (rtt + NEAR_RTT)) }
}

/// The best set; `present` stays unless another is clearly better.
pub(super) fn choose(candidates: &[Candidate], flight: f64, present: &Set) -> Set {
    if candidates.len() > MAX_COMPARED {
        return nearest_first(candidates, flight, present);
    }
    let mut best = (*present, HYSTERESIS * value(sum(candidates, present), flight));
    for bits in 1..1_u64 << candidates.len() {
        let set = Set::from_bits(bits);
        let this = value(sum(candidates, &set), flight);
        if this > best.1 {
            best = (set, this);
        }
    }
    if best.0.is_empty() { Set::from_bits(1) } else { best.0 }
}

/// The best of the sets that hold all links up to some round trip, repairs over the nearest link included. No other can
/// be better, because a link no slower than the slowest of a set adds its rate to the set and no delay; but for one
/// case: where repairs make the nearest link itself the slowest, they are reckoned over it though it is left out.
///
/// A link that is not in use counts as [`HYSTERESIS`] times as far. To ask that of the whole set, as among few links,
/// would leave out for ever what adds less than that: each of two hundred equal links.
fn nearest_first(candidates: &[Candidate], flight: f64, present: &Set) -> Set {
    let nearest = candidates.first().map_or(0.0, |c| c.rtt);
    let far = |place: usize| if present.contains(place) { 1.0 } else { HYSTERESIS };
    let time = |(place, c): (usize, &Candidate)| (c.time(nearest) * far(place), place, c.rate);
    let mut order: Vec<(f64, usize, f64)> = candidates.iter().enumerate().map(time).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut total, mut best, mut taken) = (0.0, 0.0, 1);
    for (count, &(time, _, rate)) in (1..).zip(&order) {
        total += rate;
        let this = value((total, time), flight);
        if this > best {
            (best, taken) = (this, count);
        }
    }
    order.iter().take(taken).map(|&(_, place, _)| place).collect()
}

#[cfg(test)]
mod tests;
