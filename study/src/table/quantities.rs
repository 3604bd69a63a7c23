//! What is measured: name, unit and meaning of every column, and how it is read off a result.
use prismux_trace::results::{FlowResult, GroupResult, LinkResult, RunResult};

/// One measured quantity of a `T`: how its column is called, counted and read.
#[derive(Debug)]
pub struct Quantity<T: 'static> {
    /// Name of the column, as in the JSON form of a result.
    pub name: &'static str,
    /// Unit in the notation of the SI, "1" for counts and fractions.
    pub unit: &'static str,
    /// What it means.
    pub about: &'static str,
    /// The value; `None` where it is unknown.
    pub of: Reader<T>,
    /// Most runs do not have it: a sweep leaves the column out where no run has.
    pub is_rare: bool,
}

impl<T> Quantity<T> {
    /// Whether `row` has it.
    pub fn is_known(&self, row: &T) -> bool {
        match self.of {
            Reader::Float(of) => of(row).is_some(),
            Reader::Whole(of) => of(row).is_some(),
        }
    }
}

/// How a quantity is read, by the type of its column.
#[derive(Debug)]
pub enum Reader<T: 'static> {
    /// A column of doubles.
    Float(fn(&T) -> Option<f64>),
    /// A column of whole numbers.
    Whole(fn(&T) -> Option<u64>),
}

const fn float<T>(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    of: fn(&T) -> Option<f64>,
) -> Quantity<T> {
    Quantity { name, unit, about, of: Reader::Float(of), is_rare: false }
}

const fn whole<T>(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    of: fn(&T) -> Option<u64>,
) -> Quantity<T> {
    Quantity { name, unit, about, of: Reader::Whole(of), is_rare: false }
}

const fn rare_float<T>(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    of: fn(&T) -> Option<f64>,
) -> Quantity<T> {
    Quantity { name, unit, about, of: Reader::Float(of), is_rare: true }
}

const fn rare_whole<T>(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    of: fn(&T) -> Option<u64>,
) -> Quantity<T> {
    Quantity { name, unit, about, of: Reader::Whole(of), is_rare: true }
}

/// What is measured of a flow.
pub static FLOW_QUANTITIES: &[Quantity<FlowResult>] = &[
    float("goodput_bps", "bit/s", "payload delivered once and in order, over the flow's life", |f| {
        Some(f.goodput_bps)
    }),
    float("steady_goodput_bps", "bit/s", "the same in steady state", |f| f.steady_goodput_bps),
    whole("bytes", "B", "bytes that reached the application", |f| Some(f.bytes)),
    float("completion_s", "s", "time until all bytes had arrived; null when they did not", |f| {
        f.completion_s
    }),
    whole("retransmitted_segments", "1", "segments sent again", |f| Some(f.retransmitted_segments)),
    whole("spurious_retransmissions", "1", "of these, segments that had not been lost", |f| {
        f.spurious_retransmissions
    }),
    whole("timeouts", "1", "retransmission timeouts", |f| Some(f.timeouts)),
    rare_whole("packets.sent", "1", "datagrams sent", |f| Some(f.packets?.sent)),
    rare_whole("packets.lost", "1", "of these, those that never arrived", |f| Some(f.packets?.lost)),
    rare_float("packets.loss", "1", "lost datagrams over sent ones", |f| Some(f.packets?.loss)),
    rare_whole("acks.sent", "1", "ACKs without data; null unless asked for", |f| Some(f.acks?.sent)),
    rare_whole("acks.lost", "1", "of these, those dropped on their way", |f| Some(f.acks?.lost)),
    rare_whole("acks.most_lost_in_a_row", "1", "the most lost one after the other", |f| {
        Some(f.acks?.most_lost_in_a_row)
    }),
    rare_float("delay.mean_s", "s", "mean one-way delay of data packets; null unless asked for", |f| {
        Some(f.delay?.mean_s)
    }),
    rare_float("delay.p50_s", "s", "its median", |f| Some(f.delay?.p50_s)),
    rare_float("delay.p95_s", "s", "its 95th percentile", |f| Some(f.delay?.p95_s)),
    rare_float("delay.p99_s", "s", "its 99th percentile", |f| Some(f.delay?.p99_s)),
    rare_float("delay.max_s", "s", "the longest", |f| Some(f.delay?.max_s)),
    rare_float("delay.jitter_s", "s", "interarrival jitter at the end (RFC 3550)", |f| {
        Some(f.delay?.jitter_s)
    }),
    rare_float("delay.variation_p99_s", "s", "99th percentile of the delay variation (RFC 3393)", |f| {
        Some(f.delay?.variation_p99_s)
    }),
    rare_whole("response.count", "1", "whole responses", |f| Some(f.response?.count)),
    rare_float("response.mean_s", "s", "mean time from request to whole response", |f| {
        Some(f.response?.mean_s)
    }),
    rare_float("response.p50_s", "s", "its median", |f| Some(f.response?.p50_s)),
    rare_float("response.p95_s", "s", "its 95th percentile", |f| Some(f.response?.p95_s)),
    rare_float("response.p99_s", "s", "its 99th percentile", |f| Some(f.response?.p99_s)),
    rare_float("response.max_s", "s", "the longest", |f| Some(f.response?.max_s)),
];

/// What is measured of a group of flows.
pub static GROUP_QUANTITIES: &[Quantity<GroupResult>] = &[
    whole("flows", "1", "how many", |g| Some(g.flows)),
    float(
        "goodput_bps",
        "bit/s",
        "what they delivered from the start of the first to the end of the last, over that time",
        |g| Some(g.goodput_bps),
    ),
    float("jain", "1", "Jain's index of their goodputs", |g| g.jain),
];

/// What is measured of a link.
pub static LINK_QUANTITIES: &[Quantity<LinkResult>] = &[
    whole("rate_bps", "bit/s", "configured rate, averaged over the run; null without a limit", |l| {
        l.rate_bps
    }),
    whole("delivered_bytes", "B", "bytes delivered, headers included", |l| Some(l.delivered_bytes)),
    whole("dropped_packets", "1", "packets lost to the channel or dropped by the queue", |l| {
        Some(l.dropped_packets)
    }),
    rare_whole("early_drops", "1", "of these, dropped early by a managed queue; null for others", |l| {
        l.early_drops
    }),
    rare_whole("marked_packets", "1", "packets marked by a managed queue; null for others", |l| {
        l.marked_packets
    }),
    float("utilization", "1", "delivered bits over the bits the rate allows", |l| l.utilization),
    float("share", "1", "share of what all shared links delivered", |l| l.share),
    whole("reverse.rate_bps", "bit/s", "of the other direction: configured rate", |l| l.reverse?.rate_bps),
    whole("reverse.delivered_bytes", "B", "of the other direction: bytes delivered", |l| {
        Some(l.reverse?.delivered_bytes)
    }),
    whole("reverse.dropped_packets", "1", "of the other direction: packets lost or dropped", |l| {
        Some(l.reverse?.dropped_packets)
    }),
    rare_whole("reverse.early_drops", "1", "of the other direction: dropped early", |l| {
        l.reverse?.early_drops
    }),
    rare_whole("reverse.marked_packets", "1", "of the other direction: marked", |l| {
        l.reverse?.marked_packets
    }),
    float("reverse.utilization", "1", "of the other direction: delivered over possible bits", |l| {
        l.reverse?.utilization
    }),
];

/// What is measured of a whole run.
pub static TOTAL_QUANTITIES: &[Quantity<RunResult>] = &[
    float(
        "goodput_bps",
        "bit/s",
        "what all flows delivered from the start of the first to the end of the last, over that time",
        |r| Some(r.total.goodput_bps),
    ),
    float("capacity_bps", "bit/s", "the best goodput physics allows", |r| Some(r.total.capacity_bps)),
    float("efficiency", "1", "goodput over capacity", |r| r.total.efficiency),
    float("steady_goodput_bps", "bit/s", "goodput of all flows in steady state", |r| {
        r.total.steady_goodput_bps
    }),
    float("steady_efficiency", "1", "the same over capacity", |r| r.total.steady_efficiency),
    float("jain", "1", "Jain's index of the flows' goodputs, datagrams left out", |r| r.total.jain),
];
