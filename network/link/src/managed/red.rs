//! RED: random early detection (S. Floyd and V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993), with the
//! gentle slope beyond its upper threshold (S. Floyd, *Recommendation on using the gentle variant of RED*, 2000) and
//! thresholds that follow from the link's rate (S. Floyd, R. Gummadi, S. Shenker, *Adaptive RED*, 2001, section 4).
use super::{PacketKind, Verdict};
use prismux_endpoint::random::RandomStream;
use prismux_units::Instant;

/// Parameters of RED. Queues are counted in packets, or in bytes as so many packets of a mean size.
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
    /// Count bytes, as so many packets of this size, and strike packets in proportion to theirs; packets when `None`.
    /// `queue_in_bytes_` and `mean_pktsize_` of ns-2.
    pub mean_packet_bytes: Option<u32>,
    /// The thresholds and the weight follow from the link's rate, in place of those given: [`Red::follow`].
    pub automatic: bool,
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
        mean_packet_bytes: None,
        automatic: false,
    };

    /// Thresholds and weight for a link of so many packets a second, as section 4 of *Adaptive RED* has them: a delay
    /// of 5 ms lies half-way between, 5 packets at least below, three times as much above, and the average follows
    /// the queue within a second. `thresh_`, `maxthresh_` and `q_weight_` of zero in ns-2.
    pub fn follow(&mut self, packets_per_second: f64) {
        self.min_threshold_packets = (TARGET_DELAY_S * packets_per_second / 2.0).max(MIN_AUTOMATIC_PACKETS);
        self.max_threshold_packets = 3.0 * self.min_threshold_packets;
        self.weight = 1.0 - libm::exp(-1.0 / packets_per_second.max(1.0));
    }
}

/// The delay that automatic thresholds aim at.
const TARGET_DELAY_S: f64 = 0.005;
/// Automatic thresholds begin no lower.
const MIN_AUTOMATIC_PACKETS: f64 = 5.0;
/// The size of a packet by which a link's packets a second are reckoned where none is said, as in ns-2.
const MEAN_PACKET_BYTES: u32 = 500;

/// What a packet finds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Packets that wait.
    pub packets: usize,
    /// Bytes that wait.
    pub bytes: u64,
    /// Its own size.
    pub size_bytes: u32,
    /// How long it takes on an idle link.
    pub time_s: f64,
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
    /// Packets, or bytes as packets of the mean size, since the last that was marked or dropped; `None` where none may
    /// be struck.
    count: Option<f64>,
    /// Packets a second to which automatic thresholds were set.
    packets_per_second: f64,
    /// Since when the link is idle, or was when the average was last brought up to date, if nothing waits.
    idle_since: Instant,
}

impl RedState {
    pub(super) fn new(config: Red, random: RandomStream) -> Self {
        let (average, packets_per_second) = (0.0, 0.0);
        Self { config, random, average, count: None, packets_per_second, idle_since: Instant::ZERO }
    }

    /// The last packet taken out will have been sent at `at`.
    pub(super) fn sends_until(&mut self, at: Instant) {
        self.idle_since = at;
    }

    /// A packet has come.
    pub(super) fn judge(&mut self, now: Instant, found: Found, kind: PacketKind) -> Verdict {
        let mean_bytes = self.config.mean_packet_bytes.map(f64::from);
        if self.config.automatic {
            self.follow_rate(found, mean_bytes.unwrap_or(f64::from(MEAN_PACKET_BYTES)));
        }
        let size = mean_bytes.map_or(1.0, |mean| f64::from(found.size_bytes) / mean);
        let length = mean_bytes.map_or(found.packets as f64, |mean| found.bytes as f64 / mean);
        self.average_over(now, length, found.packets == 0, found.time_s / size.max(1e-9));
        self.strike(found.packets, size, kind)
    }

    /// Sets what follows from the rate anew, if that has changed.
    fn follow_rate(&mut self, found: Found, mean_bytes: f64) {
        let packets_per_second = f64::from(found.size_bytes) / mean_bytes / found.time_s.max(1e-12);
        if packets_per_second != self.packets_per_second {
            self.packets_per_second = packets_per_second;
            self.config.follow(packets_per_second);
        }
    }

    fn average_over(&mut self, now: Instant, length: f64, empty: bool, packet_time_s: f64) {
        let weight = self.config.weight;
        if empty && now > self.idle_since {
            // As if so many packets had met an empty queue.
            let missed = (now - self.idle_since).as_secs_f64() / packet_time_s.max(1e-9);
            self.average *= libm::pow(1.0 - weight, missed);
            self.idle_since = now;
        }
        self.average += weight * (length - self.average);
    }

    /// Judges a packet of `size` by the average; `packets` wait.
    fn strike(&mut self, packets: usize, size: f64, kind: PacketKind) -> Verdict {
        let Red { min_threshold_packets: least, max_threshold_packets: most, .. } = self.config;
        if self.average < least || packets < MIN_WAITING_PACKETS {
            self.count = None;
            return Verdict::Pass;
        }
        let certain = if self.config.gentle { 2.0 * most } else { most };
        if self.average >= certain {
            self.count = Some(0.0);
            return Verdict::Drop;
        }
        let slope = self.config.max_probability;
        let chance = match self.average < most {
            true => slope * (self.average - least) / (most - least),
            false => slope + (1.0 - slope) * (self.average - most) / most,
        };
        // Spread evenly: the distance between two is uniform (figure 2 and section 7 of the paper).
        let count = self.count.map_or(0.0, |count| count + size);
        let sum = count * chance;
        let uniform = match self.config.wait {
            false => chance / (1.0 - sum).max(chance),
            true if sum < 1.0 => 0.0,
            true => chance / (2.0 - sum).max(chance),
        };
        let by_size = if uniform < 1.0 { uniform * size } else { uniform };
        if self.random.chance(by_size.min(1.0)) {
            self.count = Some(0.0);
            let marks = self.config.ecn && kind.ecn_capable;
            return if marks { Verdict::Mark } else { Verdict::Drop };
        }
        self.count = Some(count);
        Verdict::Pass
    }
}
