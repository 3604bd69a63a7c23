//! What a meter knows of its link.
use prismux_units::{Duration, Instant, Rate};

/// A link as its meter sees it. Bytes are those that the host said packets have; `None` where nothing is known yet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LinkEstimate {
    /// Packets that are neither known to have come nor taken for lost.
    pub in_flight_packets: u64,
    /// Their bytes.
    pub in_flight_bytes: u64,
    /// Share of lost packets (repairs are none) among the latest ones, a thousand or two.
    pub loss: f64,
    /// The same with those that repairs gave back, and with lost repairs: what the link itself loses.
    pub loss_before_repair: f64,
    /// What came in the latest interval, bounded by what was sent. An interval is at least a quarter of the shortest
    /// round trip, ten milliseconds, and four times the jitter, so that clumps of packets are no rate.
    pub delivery_rate: Option<Rate>,
    /// How fast the packets of that interval were sent: a link that is given more than it carries delivers less.
    pub offered_rate: Option<Rate>,
    /// By how much the last packet of the latest interval took longer than its first.
    pub queue_growth: Duration,
    /// How many intervals have been measured: two with the same rate are two.
    pub intervals: u64,
    /// What the link carries: the rate of a busy link; until it is busy again, the most it is known to have carried
    /// since.
    pub capacity: Option<Rate>,
    /// The slope of what came since the queue was last empty, at most over 1.5 s: what the link carries now.
    pub busy_rate: Option<Rate>,
    /// What came since the queue was last empty, once that is some packets and ten milliseconds, if it was sent faster:
    /// less exact, but known early.
    pub burst_rate: Option<Rate>,
    /// The queue at the link was never empty of late.
    pub is_busy: bool,
    /// One-way delay of the quickest of the latest packets, above the least of the last 40 s.
    pub queueing_delay: Option<Duration>,
    /// Half of the packets take no longer than this above the quickest ones around them.
    pub jitter_p50: Option<Duration>,
    /// 95 % of them do.
    pub jitter_p95: Option<Duration>,
    /// Smoothed time from sending a packet to its receipt, without the time that the receipt waited.
    pub rtt: Option<Duration>,
    /// The least of the last 40 s.
    pub min_rtt: Option<Duration>,
    /// A packet is taken for lost when so many after it have come,
    pub reordering_packets: u64,
    /// and so much time has passed since it should have.
    pub reordering_time: Duration,
}

/// What was sent over a link and no receipt has told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnderWay {
    /// When the first of it was sent.
    pub since: Instant,
    /// Packets under way.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of all packets that receipts have told of so far.
    pub delivered_bytes: u64,
}

/// What a meter has counted. Every packet sent is in flight, delivered, lost or forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeterCounters {
    /// Packets sent.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that came.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets that are lost, those not counted that came after all.
    pub lost_packets: u64,
    /// Packets that the link lost and repairs gave back; they are among those that came.
    pub recovered_packets: u64,
    /// Packets that were taken for lost and came after all.
    pub spurious_losses: u64,
    /// Packets of which nothing will be known: there were too many in flight, or the far end began anew.
    pub forgotten_packets: u64,
    /// Packets that came after later ones, and whose arrival was told.
    pub reordered_packets: u64,
    /// Packets that met congestion on the way (CE).
    pub ce_packets: u64,
    /// Receipts believed.
    pub receipts: u64,
    /// Receipts refused, for whatever reason.
    pub refused_receipts: u64,
}
