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
    /// The distance between two packets that are struck is uniform from 1/p to 2/p, p being the chance, instead of from
    /// 1 to 1/p as in the paper: a third as many are struck. `wait_` of ns-2 and `Wait` of ns-3, true there unless told
    /// otherwise.
    pub wait: bool,
    /// Mark packets that may be marked, instead of dropping them, up to where every packet is.
    pub ecn: bool,
}

impl Red {
    /// Thresholds of 5 and 15 packets, a tenth, a weight of 0.002, gentle, the distances of the paper, with marks.
    pub const DEFAULT: Self = Self {
        min_threshold_packets: 5.0,
        max_threshold_packets: 15.0,
        max_probability: 0.1,
        weight: 0.002,
        gentle: true,
        wait: false,
        ecn: true,
    };
}

/// A packet that finds fewer waiting is not struck, whatever the average: what remains of a burst that is over would
/// only drop the repetitions of those that it has cost, and idle the link. As in ns-2 (`qlen > 1`).
const MIN_WAITING_PACKETS: usize = 2;

/// The average and the packets since the last one struck.
#[derive(Debug, Clone)]
pub(super) struct RedState {
    config: Red,
    random: RandomStream,
    average: f64,
    /// Packets since the last that was marked or dropped; `None` where none may be struck.
    count: Option<u32>,
    /// Since when the link is idle, or was when the average was last brought up to date, if nothing waits.
    idle_since: Instant,
}

impl RedState {
    pub(super) fn new(config: Red, random: RandomStream) -> Self {
        Self { config, random, average: 0.0, count: None, idle_since: Instant::ZERO }
    }

    /// The last packet taken out will have been sent at `at`.
    pub(super) fn sends_until(&mut self, at: Instant) {
        self.idle_since = at;
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
        self.strike(packets, kind)
    }

    fn average_over(&mut self, now: Instant, packets: usize, packet_time_s: f64) {
        let weight = self.config.weight;
        if packets == 0 && now > self.idle_since {
            // As if so many packets had met an empty queue.
            let missed = (now - self.idle_since).as_secs_f64() / packet_time_s.max(1e-9);
            self.average *= libm::pow(1.0 - weight, missed);
            self.idle_since = now;
        }
        self.average += weight * (packets as f64 - self.average);
    }

    fn strike(&mut self, packets: usize, kind: PacketKind) -> Verdict {
        let Red { min_threshold_packets: least, max_threshold_packets: most, .. } = self.config;
        if self.average < least || packets < MIN_WAITING_PACKETS {
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
        let sum = f64::from(count) * chance;
        let uniform = match self.config.wait {
            false => chance / (1.0 - sum).max(chance),
            true if sum < 1.0 => 0.0,
            true => chance / (2.0 - sum).max(chance),
        };
        if self.random.chance(uniform.min(1.0)) {
            self.count = Some(0);
            let marks = self.config.ecn && kind.ecn_capable;
            return if marks { Verdict::Mark } else { Verdict::Drop };
        }
        self.count = Some(count);
        Verdict::Pass
    }
}
