//! What one direction of a link could have carried by any time of a run: which stretch of it counts is known behind its
//! end alone, when all flows have ended.
use prismux_link::Offer;
use prismux_units::{Instant, Rate};

/// A link's rate summed over time, with its past.
#[derive(Debug, Clone, Default)]
pub struct Offered {
    offer: Offer,
    /// When the rate changed, and the bits until then.
    changes: Vec<(Instant, f64)>,
}

impl Offered {
    /// Adds what `rate` offered since the last time.
    pub(super) fn account(&mut self, now: Instant, rate: Option<Rate>) {
        self.offer.account(now, rate);
        self.changes.push((now, self.offer.bits()));
    }

    /// Bits by `at`; by the last change what that had, if `at` is behind it.
    #[must_use]
    pub fn until(&self, at: Instant) -> f64 {
        let next = self.changes.partition_point(|&(change, _)| change < at);
        let (from, before) = next.checked_sub(1).map_or_else(Default::default, |last| self.changes[last]);
        // In between the rate was one.
        self.changes.get(next).map_or(before, |&(to, bits)| {
            let share = (at - from).as_secs_f64() / (to - from).as_secs_f64().max(1e-9);
            before + (bits - before) * share
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Offered;
    use prismux_units::{Duration, Instant, Rate};

    #[test]
    fn what_was_offered_by_any_time_is_known_behind_the_end() {
        let at = |tenths: u64| Instant::ZERO + Duration::from_millis(100 * tenths);
        let mut offered = Offered::default();
        assert_eq!(offered.until(at(3)), 0.0);
        offered.account(at(10), Some(Rate::from_mbps(8)));
        offered.account(at(10), Some(Rate::from_mbps(5)));
        offered.account(at(15), None);
        offered.account(at(20), Some(Rate::from_mbps(2)));
        let mbit =
            [0, 5, 10, 12, 15, 18, 20, 30].map(|tenths| (offered.until(at(tenths)) / 1e5).round() as u32);
        assert_eq!(mbit, [0, 40, 80, 80, 80, 86, 90, 90]);
    }
}
