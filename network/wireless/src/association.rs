//! Which base station a host belongs to: handoff by received power, with hysteresis and a time to trigger.
//!
//! The rule is that of 3GPP TS 36.331: measurements in decibels pass a filter of the first order (5.5.3.2); a base
//! station takes over when it has been better than the present one by the hysteresis for as long as the time to trigger
//! (5.5.4.4, event A3), or when the present one has not been heard well enough to receive any more while that one has
//! (5.5.4.6, event A5). Where all need the same power, the second follows from the first. Having no base station counts
//! as one that is heard just well enough to receive, so that coverage too is entered and left with hysteresis.
//!
//! A base station with several radios counts as one for each, at the same place. Of equals a host takes the one to
//! which fewest belong, as access points tell with their beacons (IEEE 802.11-2012, 8.4.2.30: station count), and
//! stays: equals are never better by a hysteresis.
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// When a host leaves one base station for another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssociationConfig {
    /// How often it measures all base stations.
    pub interval: Duration,
    /// The filter coefficient k of TS 36.331: a new measurement weighs 2^(-k/4). With 0 each stands alone.
    pub filter_coefficient: u8,
    /// By how many decibels another base station must be better.
    pub hysteresis_db: f64,
    /// For how long it must have been.
    pub time_to_trigger: Duration,
    /// How long the host has no link while it changes.
    pub gap: Duration,
}

impl AssociationConfig {
    /// Measurements every 100 ms with LTE's default filter (k = 4), 3 dB, 160 ms; 50 ms without a link.
    pub const fn lte() -> Self {
        Self {
            interval: Duration::from_millis(100),
            filter_coefficient: 4,
            hysteresis_db: 3.0,
            time_to_trigger: Duration::from_millis(160),
            gap: Duration::from_millis(50),
        }
    }

    /// What is impossible about it.
    pub fn fault(&self) -> Option<&'static str> {
        let possible = (0.0..=MAX_HYSTERESIS_DB).contains(&self.hysteresis_db);
        match self.interval < Duration::from_millis(1) {
            true => Some("hosts would measure more often than every millisecond"),
            false if !possible => Some("the hysteresis is not between 0 and 20 dB"),
            false => None,
        }
    }
}

/// The largest hysteresis.
const MAX_HYSTERESIS_DB: f64 = 20.0;

/// What is weaker than the receive threshold by this much counts as no weaker: nothing is heard of it anyway, and the
/// filter soon forgets it.
const FLOOR_DB: f64 = 30.0;

/// One host's choice among base stations, which are known by their places in a list.
#[derive(Debug, Clone)]
pub struct Association {
    config: AssociationConfig,
    /// The power from which on frames of each are received, in watts.
    thresholds_w: Vec<f64>,
    /// By how much more power each needs than the first, in decibels.
    offsets_db: Vec<f64>,
    serving: Option<usize>,
    /// The filtered power of each above its threshold, in decibels, once measured.
    levels_db: Vec<f64>,
    /// Since when each has been better by the hysteresis; the last entry is that of none.
    better_since: Vec<Option<Instant>>,
    measured: bool,
}

impl Association {
    /// With none of the base stations, nothing measured. From `thresholds_w` on, frames of each are received.
    pub fn new(config: AssociationConfig, thresholds_w: Vec<f64>) -> Self {
        let first_w = thresholds_w.first().copied().unwrap_or(1.0);
        let offsets_db: Vec<f64> =
            thresholds_w.iter().map(|threshold_w| 10.0 * libm::log10(threshold_w / first_w)).collect();
        Self {
            config,
            serving: None,
            levels_db: offsets_db.iter().map(|offset_db| -FLOOR_DB - offset_db).collect(),
            better_since: vec![None; thresholds_w.len() + 1],
            thresholds_w,
            offsets_db,
            measured: false,
        }
    }

    /// The base station that the host belongs to.
    pub const fn serving(&self) -> Option<usize> {
        self.serving
    }

    /// By how much, in decibels, the base station that the host belongs to is heard better than just well enough.
    pub fn level_db(&self) -> Option<f64> {
        self.serving.and_then(|serving| self.levels_db.get(serving).copied())
    }

    /// Takes in the power of each base station at `now`, in watts. Answers whether the host belongs to another one from
    /// now on, or to none. The first measurement alone decides at once: a host that is switched on waits for nobody.
    /// `hosts` says how many belong to each, or nothing; of equals the fewest count, then the order.
    pub fn measure(&mut self, now: Instant, powers_w: impl Iterator<Item = f64>, hosts: &[usize]) -> bool {
        let weight = match self.measured {
            true => libm::pow(2.0, -f64::from(self.config.filter_coefficient) / 4.0),
            false => 1.0,
        };
        let needs = self.thresholds_w.iter().zip(&self.offsets_db);
        for ((level_db, power_w), (threshold_w, offset_db)) in
            self.levels_db.iter_mut().zip(powers_w).zip(needs)
        {
            let measured_db = 10.0 * libm::log10((power_w / threshold_w).max(1e-9));
            *level_db += weight * (measured_db.max(-FLOOR_DB - offset_db) - *level_db);
        }
        let first = !core::mem::replace(&mut self.measured, true);
        let next = if first {
            self.strongest(|level_db, _| level_db >= 0.0, hosts)
        } else {
            self.triggered(now, hosts)
        };
        let changes = next.is_some_and(|next| next != self.serving);
        if let Some(next) = next.filter(|_| changes) {
            self.serving = next;
            self.better_since.fill(None);
        }
        changes
    }

    /// The strongest that has been better for long enough, where there is one; `Some(None)` for none at all.
    fn triggered(&mut self, now: Instant, hosts: &[usize]) -> Option<Option<usize>> {
        let mut ready = vec![false; self.better_since.len()];
        let Self { serving, levels_db, offsets_db, config, .. } = self;
        for (index, since) in self.better_since.iter_mut().enumerate() {
            let candidate = (index < levels_db.len()).then_some(index);
            let level_db = candidate.map_or(0.0, |index| levels_db[index]);
            let serving_db = serving.map_or(0.0, |serving| levels_db[serving]);
            // Powers compare with powers; with none at all, what is above the threshold.
            let more_db = match (candidate, *serving) {
                (Some(candidate), Some(serving)) => offsets_db[candidate] - offsets_db[serving],
                _ => 0.0,
            };
            let is_stronger = level_db + more_db > serving_db + config.hysteresis_db;
            let is_needed = serving_db < -config.hysteresis_db && level_db > config.hysteresis_db;
            let better = candidate != *serving && (is_stronger || is_needed);
            *since = better.then(|| since.unwrap_or(now));
            ready[index] = since.is_some_and(|since| now - since >= config.time_to_trigger);
        }
        let best = self.strongest(|_, index| ready[index], hosts);
        best.or_else(|| ready.last().is_some_and(|&none| none).then_some(None))
    }

    /// The strongest base station of those that are `eligible`: one that is heard well enough before others, of equals
    /// that with the fewest `hosts`, or the first.
    fn strongest(&self, eligible: impl Fn(f64, usize) -> bool, hosts: &[usize]) -> Option<Option<usize>> {
        let rank =
            |index: usize| (self.levels_db[index] >= 0.0, self.levels_db[index] + self.offsets_db[index]);
        let candidates =
            || (0..self.levels_db.len()).filter(|index| eligible(self.levels_db[*index], *index));
        let best = candidates().reduce(|best, next| if rank(next) > rank(best) { next } else { best })?;
        let equals = candidates().filter(|index| rank(*index) == rank(best));
        Some(equals.min_by_key(|index| hosts.get(*index).copied().unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Association, AssociationConfig};
    use alloc::vec;
    use alloc::vec::Vec;
    use prismux_endpoint::random::Seed;
    use prismux_units::{Duration, Instant};

    const THRESHOLD_W: f64 = 1e-9;

    /// Without filter.
    fn plain(hysteresis_db: f64, trigger_ms: u64) -> AssociationConfig {
        AssociationConfig {
            filter_coefficient: 0,
            hysteresis_db,
            time_to_trigger: Duration::from_millis(trigger_ms),
            ..AssociationConfig::lte()
        }
    }

    /// Whom the host belongs to after each measurement, every 100 ms, of levels in decibels above the threshold.
    fn served(config: AssociationConfig, levels_db: &[[f64; 2]]) -> Vec<Option<usize>> {
        let mut association = Association::new(config, vec![THRESHOLD_W; 2]);
        let mut step = |(index, levels): (usize, &[f64; 2])| {
            let now = Instant::from_millis(100 * index as u64);
            let before = association.serving();
            let powers = levels.iter().map(|db| THRESHOLD_W * libm::pow(10.0, db / 10.0));
            let changed = association.measure(now, powers, &[]);
            assert_eq!(changed, association.serving() != before);
            association.serving()
        };
        levels_db.iter().enumerate().map(&mut step).collect()
    }

    #[test]
    fn a_host_that_is_switched_on_takes_the_strongest_it_hears_at_once() {
        assert_eq!(served(plain(6.0, 500), &[[3.0, 5.0]]), [Some(1)]);
        assert_eq!(served(plain(6.0, 500), &[[5.0, 5.0]]), [Some(0)], "the first among equals");
        assert_eq!(served(plain(6.0, 500), &[[-0.1, -1.0]]), [None]);
    }

    #[test]
    fn another_takes_over_when_it_has_been_better_by_the_hysteresis_for_the_time_to_trigger() {
        let better = [20.0, 23.5];
        let levels = [[20.0, 10.0], better, better, [20.0, 22.9], better, better, better];
        let served = served(plain(3.0, 200), &levels);
        assert_eq!(served, [0, 0, 0, 0, 0, 0, 1].map(Some), "22.9 dB stopped the clock");
    }

    #[test]
    fn without_time_to_trigger_it_takes_over_at_the_next_measurement() {
        let served = served(plain(3.0, 0), &[[20.0, 10.0], [20.0, 22.9], [20.0, 23.1]]);
        assert_eq!(served, [0, 0, 1].map(Some));
    }

    #[test]
    fn coverage_is_left_and_entered_with_hysteresis_too() {
        let levels = [[10.0, -20.0], [-2.9, -20.0], [-3.1, -20.0], [2.9, -20.0], [3.1, -20.0]];
        assert_eq!(served(plain(3.0, 0), &levels), [Some(0), Some(0), None, None, Some(0)]);
    }

    #[test]
    fn one_that_falls_silent_is_left_for_one_that_is_heard() {
        // Better than nothing by 4 dB only, but better than silence by far.
        let silent = f64::NEG_INFINITY;
        let served = served(plain(3.0, 100), &[[20.0, 4.0], [silent, 4.0], [silent, 4.0]]);
        assert_eq!(served, [0, 0, 1].map(Some));
    }

    #[test]
    fn the_filter_gives_each_measurement_half_its_weight_with_k_of_4() {
        let config = AssociationConfig { time_to_trigger: Duration::ZERO, ..AssociationConfig::lte() };
        // 20 dB and 16, then 20 and 24: filtered 20 and 20, 22, 23, 23.5.
        let levels = [[20.0, 16.0], [20.0, 24.0], [20.0, 24.0], [20.0, 24.0], [20.0, 24.0]];
        assert_eq!(served(config, &levels), [0, 0, 0, 0, 1].map(Some));
    }

    #[test]
    fn hysteresis_and_time_to_trigger_end_the_ping_pong_of_equals_that_fade() {
        let mut random = Seed(3).stream("levels");
        let mut fading = || 30.0 + 10.0 * libm::log10(random.exponential(1.0));
        let levels: Vec<[f64; 2]> = (0..1000).map(|_| [fading(), fading()]).collect();
        let handoffs = |config| {
            let served = served(config, &levels);
            served.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        let without = handoffs(plain(0.0, 0));
        let with = handoffs(AssociationConfig { hysteresis_db: 6.0, ..AssociationConfig::lte() });
        assert!(without > 400 && with * 20 < without, "{without} handoffs without, {with} with");
    }

    /// Powers of these levels in decibels above the threshold of the first.
    fn powers(levels_db: &[f64]) -> impl Iterator<Item = f64> + '_ {
        levels_db.iter().map(|db| THRESHOLD_W * libm::pow(10.0, db / 10.0))
    }

    #[test]
    fn of_equals_a_host_takes_the_one_with_fewest_hosts_and_stays() {
        let mut association = Association::new(plain(3.0, 0), vec![THRESHOLD_W; 3]);
        let mut measure = |ms, levels_db: &[f64], hosts: &[usize]| {
            association.measure(Instant::from_millis(ms), powers(levels_db), hosts);
            association.serving()
        };
        assert_eq!(measure(0, &[20.0, 20.0, 15.0], &[4, 3, 0]), Some(1), "the weaker one is not asked for");
        assert_eq!(measure(100, &[20.0, 20.0, 15.0], &[0, 9, 0]), Some(1), "nobody moves to even them out");
        // It is switched off: the others are better by far, and the first of them is the strongest.
        assert_eq!(measure(200, &[20.0, f64::NEG_INFINITY, 15.0], &[9, 0, 0]), Some(0));
        assert_eq!(measure(300, &[15.0, 20.0, 20.0], &[0, 2, 1]), Some(2), "equals that take over");
    }

    #[test]
    fn a_radio_that_reaches_less_far_is_left_where_it_is_not_heard_for_one_as_strong() {
        // The first needs 20 dB more than the second.
        let thresholds_w = vec![THRESHOLD_W, THRESHOLD_W / 100.0];
        let mut association = Association::new(plain(3.0, 100), thresholds_w);
        let levels_db = [10.0, 0.5, -2.9, -3.1, -3.1, -10.0, 10.0, -22.9, -23.1, -23.1];
        let mut served = Vec::new();
        for (ms, level_db) in (0..).step_by(100).zip(levels_db) {
            association.measure(Instant::from_millis(ms), powers(&[level_db; 2]), &[]);
            served.push(association.serving());
        }
        let expected =
            [Some(0), Some(0), Some(0), Some(0), Some(1), Some(1), Some(1), Some(1), Some(1), None];
        assert_eq!(served, expected, "it does not go back to an equal");
    }
}
