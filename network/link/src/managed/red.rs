//! RED: random early detection (S. Floyd and V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993), with the
//! gentle slope beyond its upper threshold (S. Floyd, *Recommendation on using the gentle variant of RED*, 2000).
use super::{PacketKind, Verdict};
use prismux_endpoint::random::RandomStream;
use prismux_units::Instant;

/// Parameters of RED. Queues are counted in packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Red {
    /// Below this average nothing is dropped (min_th).
    pub min_threshold_packets: f64,
    /// At this average packets are dropped with [`Red::max_probability`] (max_th).
    pub max_threshold_packets: f64,
    /// Chance of a drop at the upper threshold (max_p).
    pub max_probability: f64,
    /// Weight of the present queue in the average (w_q).
    pub weight: f64,
    /// From the upper threshold to twice as much the chance grows to one, instead of being one at once.
    pub gentle: bool,
    /// Mark packets that may be marked, instead of dropping them, up to where every packet is.
    pub ecn: bool,
}

impl Red {
    /// Thresholds of 5 and 15 packets, a tenth, a weight of 0.002, gentle, with marks.
    pub const DEFAULT: Self = Self {
        min_threshold_packets: 5.0,
        max_threshold_packets: 15.0,
        max_probability: 0.1,
        weight: 0.002,
        gentle: true,
        ecn: true,
    };
}

/// The average and the packets since the last one struck.
#[derive(Debug, Clone)]
pub(super) struct RedState {
    config: Red,
    random: RandomStream,
    average: f64,
    /// Packets since the last that was marked or dropped; `None` below the lower threshold.
    count: Option<u32>,
    idle_since: Option<Instant>,
}

impl RedState {
    pub(super) fn new(config: Red, random: RandomStream) -> Self {
        Self { config, random, average: 0.0, count: None, idle_since: Some(Instant::ZERO) }
    }

    pub(super) fn falls_idle(&mut self, now: Instant) {
        self.idle_since.get_or_insert(now);
    }

    /// A packet has come and finds `packets` waiting.
    pub(super) fn judge(
        &mut self,
        now: Instant,
        packets: usize,
        kind: PacketKind,
        packet_time_s: f64,
    ) -> Verdict {
        self.average_over(now, packets, packet_time_s);
        let verdict = self.strike(kind);
        // A packet that is dropped leaves an empty queue as idle as it was.
        self.idle_since = (verdict == Verdict::Drop && packets == 0).then_some(now);
        verdict
    }

    fn average_over(&mut self, now: Instant, packets: usize, packet_time_s: f64) {
        let weight = self.config.weight;
        if let Some(since) = self.idle_since.filter(|_| packets == 0) {
            // As if so many small packets had met an empty queue.
            let missed = (now - since).as_secs_f64() / packet_time_s.max(1e-9);
            self.average *= libm::pow(1.0 - weight, missed);
        }
        self.average += weight * (packets as f64 - self.average);
    }

    fn strike(&mut self, kind: PacketKind) -> Verdict {
        let Red { min_threshold_packets: least, max_threshold_packets: most, .. } = self.config;
        if self.average < least {
            self.count = None;
            return Verdict::Pass;
        }
        let certain = if self.config.gentle { 2.0 * most } else { most };
        if self.average >= certain {
            self.count = Some(0);
            return Verdict::Drop;
        }
        let slope = self.config.max_probability;
        let chance = match self.average < most {
            true => slope * (self.average - least) / (most - least),
            false => slope + (1.0 - slope) * (self.average - most) / most,
        };
        // Spread evenly: the distance between two is uniform (figure 2 and section 7 of the paper).
        let count = self.count.map_or(0, |count| count + 1);
        let uniform = chance / (1.0 - f64::from(count) * chance).max(chance);
        if self.random.chance(uniform.min(1.0)) {
            self.count = Some(0);
            let marks = self.config.ecn && kind.ecn_capable;
            return if marks { Verdict::Mark } else { Verdict::Drop };
        }
        self.count = Some(count);
        Verdict::Pass
    }
}
