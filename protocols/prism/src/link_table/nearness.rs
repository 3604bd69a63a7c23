//! Which links are near enough for flows that keep to one: a call, a query or a QUIC connection is as slow as its link.
use super::{Link, LinkTable};
use alloc::vec::Vec;
use prismux_units::Duration;

/// A link is near whose round trip is at most this many times that of the nearest,
const FARTHER: u64 = 2;
/// and this much longer.
const MARGIN: Duration = Duration::from_millis(30);
/// And so are the nearest that carry this share of all together: a thin link alone is not for all.
const LEAST_SHARE: f64 = 0.5;
/// A link that is near stays so up to this many times as far, or those of its flows would move, and come out of order,
/// each time that its round trip wavers.
const LEAVES: f64 = 1.5;

impl Link {
    /// Whether flows that keep to one link should take it.
    pub(crate) fn is_near(&self) -> bool {
        self.near
    }

    /// The shortest round trip, or what the host has measured.
    fn distance(&self) -> Option<Duration> {
        self.model.min_rtt().or(self.round_trip)
    }
}

impl LinkTable {
    /// Finds out which links are near. Those of which no round trip is known are.
    pub(super) fn mark_near(&mut self) {
        let mut known: Vec<(Duration, f64)> = self
            .usable()
            .filter_map(|(_, link)| Some((link.distance()?, link.variables.full_weight)))
            .collect();
        known.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let Some(&(nearest, _)) = known.first() else { return };
        let mut left = known.iter().map(|(_, weight)| weight).sum::<f64>() * LEAST_SHARE;
        let enough = known.iter().find(|(_, weight)| {
            left -= weight;
            left <= 0.0
        });
        let bound = (nearest * FARTHER + MARGIN).max(enough.map_or(nearest, |(distance, _)| *distance));
        for link in self.links.iter_mut().flatten() {
            let bound = if link.near { bound.mul_f64(LEAVES) } else { bound };
            link.near = link.distance().is_none_or(|distance| distance <= bound);
        }
    }
}
