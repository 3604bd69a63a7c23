//! The columns of a run's result.
//!
//! One [`RunResult`] comes out of every run, from the simulator and the lab alike; its JSON form is what
//! `prismux run --json` prints. Names keep the order of the scenario file. A value that a backend cannot
//! know is `null`, never a made-up zero.

mod fairness;
mod latency;
mod series;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use fairness::{Competitor, GroupResult, jain};
pub use latency::{AckResult, DelayMeter, DelayResult, PacketResult, ResponseResult};
pub use series::{FlowSeries, LinkSeries, TimeSeries};

/// Values by name, in the order of the scenario file.
pub type Named<T> = IndexMap<String, T>;

/// Who carried the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The packet simulator (virtual time).
    Sim,
    /// Linux network namespaces (wall clock).
    Lab,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sim => "sim",
            Self::Lab => "lab",
        })
    }
}

/// Everything one run measured, and what it was born from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The scenario's name.
    pub scenario: String,
    /// SHA-256 (hex) of the scenario after overrides; empty when the run was built in code.
    #[serde(default)]
    pub scenario_hash: String,
    /// Who carried the packets.
    pub backend: Backend,
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// Version of prismux.
    pub version: String,
    /// Length of the run in seconds (virtual in the simulator).
    pub duration_s: f64,
    /// Per flow.
    pub flows: Named<FlowResult>,
    /// Flows that count as several of one kind (`count` in a scenario), together.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub groups: Named<GroupResult>,
    /// Per link; a link between two nodes is one entry: the direction from its first node to its second, and the other
    /// one as `reverse`.
    pub links: Named<LinkResult>,
    /// Over all flows and shared links.
    pub total: TotalResult,
    /// Named counters of proxies, members and other nodes.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub nodes: Named<Named<u64>>,
    /// Programs of the user's own, in the lab.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub programs: Named<ProgramResult>,
    /// What changed over time; absent unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<TimeSeries>,
}

/// What became of a program of the user's own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ProgramResult {
    /// With which status it ended; `None` when a signal ended it, as at the end of the run.
    pub exit_status: Option<i32>,
    /// When it was started, in seconds of the run.
    pub started_s: f64,
    /// When it had ended.
    pub ended_s: f64,
    /// What it wrote to its standard output; of very much the end.
    pub output: String,
    /// What it wrote to its standard error; of very much the end.
    pub errors: String,
}

/// What one flow achieved. Goodput counts payload bytes that reached the application once and in order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowResult {
    /// Name of the transport ("tcp", "tcp-prism", "mptcp", "cbr", ...).
    pub transport: String,
    /// Bits per second from the flow's start to its completion, or to its stop or the end of the run.
    pub goodput_bps: f64,
    /// Bits per second in steady state: slow start and the tail left out.
    pub steady_goodput_bps: Option<f64>,
    /// Bytes that reached the application.
    pub bytes: u64,
    /// Seconds from the flow's start until all its bytes had arrived; `None` when they did not.
    pub completion_s: Option<f64>,
    /// Segments sent again.
    pub retransmitted_segments: u64,
    /// Of these, segments that had not been lost; `None` where the kernel does not say.
    pub spurious_retransmissions: Option<u64>,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Datagrams sent and lost; `None` for flows that repeat what is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketResult>,
    /// ACKs without data sent and lost; `None` unless asked for, and without TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acks: Option<AckResult>,
    /// One-way delay of the flow's data packets; `None` unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayResult>,
    /// Times from request to whole response; `None` for flows without requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseResult>,
    /// SHA-256 (hex) of the bytes received, where real bytes were carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Per pipe, by its access link; empty for transports that have but one.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub pipes: Named<PipeResult>,
}

/// What one pipe of a striped flow carried.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PipeResult {
    /// Payload bytes sent over it, repetitions included.
    pub sent_bytes: u64,
    /// Payload bytes that arrived over it, repetitions included.
    pub received_bytes: u64,
    /// Segments sent again on it.
    pub retransmitted_segments: u64,
    /// Its retransmission timeouts.
    pub timeouts: u64,
    /// Its smoothed round-trip time at the end, in seconds.
    pub srtt_s: Option<f64>,
    /// Its retransmission timeout at the end, in seconds.
    #[serde(default)]
    pub rto_s: Option<f64>,
    /// Its congestion window at the end.
    pub cwnd_bytes: u64,
}

/// What one link carried.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LinkResult {
    /// Configured rate, averaged over the run when it changes; `None` for a link without a limit.
    pub rate_bps: Option<u64>,
    /// Bytes delivered, headers included.
    pub delivered_bytes: u64,
    /// Packets lost to the channel or dropped by the queue.
    pub dropped_packets: u64,
    /// Of a managed queue: packets dropped before it was full; `None` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_drops: Option<u64>,
    /// Of a managed queue: packets marked for congestion; `None` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_packets: Option<u64>,
    /// Delivered bits over the bits the rate allows in the run; `None` without a limit.
    pub utilization: Option<f64>,
    /// True for a link among those that a community bonds: its rate counts as capacity.
    pub shared: bool,
    /// Share of the bytes that all shared links delivered, between 0 and 1; `None` for other links.
    pub share: Option<f64>,
    /// The other direction, from the second node to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<DirectionResult>,
}

/// What one direction of a link carried.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DirectionResult {
    /// Configured rate, averaged over the run when it changes; `None` without a limit.
    pub rate_bps: Option<u64>,
    /// Bytes delivered, headers included.
    pub delivered_bytes: u64,
    /// Packets lost to the channel or dropped by the queue.
    pub dropped_packets: u64,
    /// Of a managed queue: packets dropped before it was full; `None` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_drops: Option<u64>,
    /// Of a managed queue: packets marked for congestion; `None` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_packets: Option<u64>,
    /// Delivered bits over the bits the rate allows in the run; `None` without a limit.
    pub utilization: Option<f64>,
}

/// The whole community's result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TotalResult {
    /// What all flows delivered from the start of the first to the end of the last (the stop of one that is stopped),
    /// over that time, bits per second.
    pub goodput_bps: f64,
    /// The best goodput physics allows: rates of the shared links less header overhead, over the same time,
    /// bits per second.
    pub capacity_bps: f64,
    /// `goodput_bps / capacity_bps`; `None` without a capacity.
    pub efficiency: Option<f64>,
    /// What all flows delivered while every one of them was in steady state, over that time, bits per second; `None`
    /// where they never were together.
    pub steady_goodput_bps: Option<f64>,
    /// `steady_goodput_bps / capacity_bps`.
    pub steady_efficiency: Option<f64>,
    /// Jain's index of the flows' goodputs, datagrams left out; `None` for fewer than two flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jain: Option<f64>,
}

/// Bits per second at which `bytes` pass in `seconds`; 0 for no time at all.
pub fn goodput_bps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// The goodput that links of the given rates allow: their sum, less headers.
///
/// `payload_bytes` of every `packet_bytes` on the link are the application's.
pub fn capacity_bps(rates_bps: impl IntoIterator<Item = f64>, payload_bytes: u32, packet_bytes: u32) -> f64 {
    rates_bps.into_iter().sum::<f64>() * f64::from(payload_bytes) / f64::from(packet_bytes.max(1))
}

impl DirectionResult {
    /// A direction's line from its counters over `duration_s` seconds.
    pub fn new(rate_bps: Option<u64>, delivered_bytes: u64, dropped_packets: u64, duration_s: f64) -> Self {
        let possible_bits = rate_bps.map(|rate| rate as f64 * duration_s);
        let utilization =
            possible_bits.filter(|bits| *bits > 0.0).map(|bits| delivered_bytes as f64 * 8.0 / bits);
        Self { rate_bps, delivered_bytes, dropped_packets, utilization, ..Self::default() }
    }

    /// With what a managed queue has dropped early and marked.
    #[must_use]
    pub fn managed(self, early_drops: u64, marked_packets: u64) -> Self {
        Self { early_drops: Some(early_drops), marked_packets: Some(marked_packets), ..self }
    }
}

impl LinkResult {
    /// A link's line from those of its directions.
    pub fn new(forward: DirectionResult, reverse: DirectionResult) -> Self {
        let DirectionResult {
            rate_bps,
            delivered_bytes,
            dropped_packets,
            early_drops,
            marked_packets,
            utilization,
        } = forward;
        Self {
            rate_bps,
            delivered_bytes,
            dropped_packets,
            early_drops,
            marked_packets,
            utilization,
            shared: false,
            share: None,
            reverse: Some(reverse),
        }
    }
}

impl TotalResult {
    /// What the flows delivered `together`, from the first's start to the last's end, and while all were in steady
    /// state, if they were; against a capacity in bits per second.
    pub fn new(together: Stretch, steady: Option<Stretch>, capacity_bps: f64) -> Self {
        let goodput_bps = together.goodput_bps();
        let steady = steady.filter(|steady| steady.seconds > 0.0).map(|steady| steady.goodput_bps());
        let efficiency = |bps: f64| (capacity_bps > 0.0).then(|| bps / capacity_bps);
        Self {
            goodput_bps,
            capacity_bps,
            efficiency: efficiency(goodput_bps),
            steady_goodput_bps: steady,
            steady_efficiency: steady.and_then(efficiency),
            jain: None,
        }
    }
}

/// Payload that flows delivered together in one stretch of time: a sum of rates over times of the flows' own could be
/// more than the links carry.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stretch {
    /// Bytes that reached the applications in it.
    pub bytes: u64,
    /// Its length.
    pub seconds: f64,
}

impl Stretch {
    /// Bits per second.
    pub fn goodput_bps(&self) -> f64 {
        goodput_bps(self.bytes, self.seconds)
    }
}

impl RunResult {
    /// Marks the named links as shared and fills in each one's share of what they delivered together.
    pub fn set_shared_links<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            if let Some(link) = self.links.get_mut(name) {
                link.shared = true;
            }
        }
        let delivered = |link: &LinkResult| if link.shared { link.delivered_bytes } else { 0 };
        let sum: u64 = self.links.values().map(delivered).sum();
        for link in self.links.values_mut() {
            link.share = link.shared.then(|| link.delivered_bytes as f64 / sum.max(1) as f64);
        }
    }

    /// As one JSON object on one line.
    pub fn to_json(&self) -> String {
        // Maps with string keys and plain numbers always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As JSON over several lines, for people.
    pub fn to_json_pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}
