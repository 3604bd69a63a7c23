//! Summary statistics of a link's one-way delay and loss (RFC 8382 section 3.2).
use alloc::collections::VecDeque;
use prismux_units::Duration;

/// The base interval (T).
pub const BASE_INTERVAL: Duration = Duration::from_millis(350);
/// Base intervals of the oscillation estimate and of loss (N).
pub const LONG_INTERVALS: usize = 50;
/// Base intervals of the other statistics (M).
pub const SHORT_INTERVALS: usize = 30;
/// Share of the variability by which a mean must leave the long one to have crossed it (p_v).
const CROSSING: f64 = 0.7;

/// What base intervals say together. The delays' unknown constant (clocks that nobody has set) does not matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Packets below the mean delay less those above, by packets (`skew_est`): a queue that is often empty makes it
    /// positive, one that is full does not.
    pub skew: f64,
    /// Mean distance of delays from the mean of the interval before, in seconds (`var_est`).
    pub variability_s: f64,
    /// Crossings of the mean delay, by intervals (`freq_est`).
    pub frequency: f64,
    /// Lost packets, by packets (`pkt_loss`).
    pub loss: f64,
}

/// One base interval.
#[derive(Debug, Clone, Copy, Default)]
struct Base {
    packets: f64,
    /// Mean delay of its packets.
    mean_s: f64,
    skew: f64,
    variability_s: f64,
    lost: f64,
    /// Its mean crossed the long one.
    crossed: bool,
}

/// Statistics of one link.
#[derive(Debug, Default)]
pub struct Statistics {
    /// The latest last; those without packets are left out.
    intervals: VecDeque<Base>,
    present: Base,
    sum_s: f64,
    /// The mean of the short intervals, without the present one (`mean_delay`).
    mean_delay_s: Option<f64>,
    /// On which side of it the last significant mean was.
    was_above: Option<bool>,
}

impl Statistics {
    /// A packet took `delay_s` seconds, but for a constant.
    pub fn passed(&mut self, delay_s: f64) {
        self.present.packets += 1.0;
        self.sum_s += delay_s;
        if let Some(mean) = self.mean_delay_s {
            let side = |is: bool| f64::from(u8::from(is));
            self.present.skew += side(delay_s < mean) - side(delay_s > mean);
        }
        if let Some(before) = self.intervals.back() {
            let distance = delay_s - before.mean_s;
            self.present.variability_s += if distance < 0.0 { -distance } else { distance };
        }
    }

    /// So many packets were lost.
    pub fn lost(&mut self, packets: u64) {
        self.present.lost += packets as f64;
    }

    /// The base interval is over.
    pub fn end_interval(&mut self) {
        let mut base = core::mem::take(&mut self.present);
        let sum_s = core::mem::take(&mut self.sum_s);
        if base.packets == 0.0 {
            self.present.lost = base.lost;
            return;
        }
        base.mean_s = sum_s / base.packets;
        if let (Some(mean), Some(now)) = (self.mean_delay_s, self.summary()) {
            let margin = CROSSING * now.variability_s;
            let is_above = base.mean_s > mean + margin;
            if is_above || base.mean_s < mean - margin {
                base.crossed = self.was_above.is_some_and(|was| was != is_above);
                self.was_above = Some(is_above);
            }
        }
        if self.intervals.len() >= LONG_INTERVALS {
            self.intervals.pop_front();
        }
        self.intervals.push_back(base);
        let means = self.short().map(|base| base.mean_s);
        self.mean_delay_s = Some(means.sum::<f64>() / self.short().count() as f64);
    }

    fn short(&self) -> impl Iterator<Item = &Base> {
        self.intervals.iter().rev().take(SHORT_INTERVALS)
    }

    /// What the intervals that are over say; `None` before any.
    pub fn summary(&self) -> Option<Summary> {
        let of = |value: fn(&Base) -> f64| self.short().map(value).sum::<f64>();
        let packets = of(|base| base.packets);
        let all = |value: fn(&Base) -> f64| self.intervals.iter().map(value).sum::<f64>();
        let (came, lost) = (all(|base| base.packets), all(|base| base.lost));
        (packets > 0.0).then(|| Summary {
            skew: of(|base| base.skew) / packets,
            variability_s: of(|base| base.variability_s) / packets,
            frequency: all(|base| f64::from(u8::from(base.crossed))) / LONG_INTERVALS as f64,
            loss: lost / (came + lost),
        })
    }
}

#[cfg(test)]
mod tests;
