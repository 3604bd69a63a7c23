//! What changed over time, in columns sampled at a fixed interval.
use super::Named;
use serde::{Deserialize, Serialize};

/// Columns sampled every `interval_s` seconds. Sample `k` covers `[k, k + 1) * interval_s` where it is a rate or a
/// share, and is the state at `(k + 1) * interval_s` otherwise. A column that a backend cannot fill stays empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TimeSeries {
    /// Sampling interval in seconds.
    pub interval_s: f64,
    /// Per flow.
    pub flows: Named<FlowSeries>,
    /// Per link.
    pub links: Named<LinkSeries>,
}

/// A flow over time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Goodput of each interval, bits per second.
    pub goodput_bps: Vec<f64>,
    /// The sender's congestion window in bytes.
    pub cwnd_bytes: Vec<u64>,
    /// ACKs that the proxy holds back.
    pub held_acks: Vec<u64>,
    /// The proxy's re-sequencing buffer in bytes: from the receiver's cumulative ACK to the highest byte that it is known
    /// to have (the papers' `highest - left`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resequencing_bytes: Vec<u64>,
    /// The sender's smoothed round-trip time in seconds.
    pub srtt_s: Vec<f64>,
    /// Mean one-way delay, in seconds, of the data packets that arrived in the interval; `None` for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delay_s: Vec<Option<f64>>,
}

/// A link over time, from its first node to its second unless a column says otherwise.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Delivered bits per second, headers included.
    pub throughput_bps: Vec<f64>,
    /// Share of what all shared links delivered in the interval (0 when nothing was).
    pub share: Vec<f64>,
    /// Bytes waiting in the queue.
    pub queue_bytes: Vec<u64>,
    /// Packets lost or dropped in the interval.
    #[serde(default)]
    pub dropped_packets: Vec<u64>,
    /// Packets that a managed queue marked in the interval.
    #[serde(default)]
    pub marked_packets: Vec<u64>,
    /// The other direction: delivered bits per second, headers included.
    #[serde(default)]
    pub reverse_throughput_bps: Vec<f64>,
    /// The other direction: bytes waiting in the queue.
    #[serde(default)]
    pub reverse_queue_bytes: Vec<u64>,
    /// The other direction: packets lost or dropped in the interval.
    #[serde(default)]
    pub reverse_dropped_packets: Vec<u64>,
}

impl TimeSeries {
    /// An empty series with the given interval.
    pub fn new(interval_s: f64) -> Self {
        Self { interval_s, ..Self::default() }
    }

    /// The most samples any column has.
    pub fn len(&self) -> usize {
        let flows =
            self.flows.values().map(|f| f.goodput_bps.len().max(f.cwnd_bytes.len()).max(f.held_acks.len()));
        flows.chain(self.links.values().map(|l| l.throughput_bps.len())).max().unwrap_or(0)
    }

    /// True without any sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills every link's `share` from the throughput of the links named in `shared`; others keep none.
    pub fn set_shares(&mut self, shared: &[&str]) {
        let samples = self.links.values().map(|l| l.throughput_bps.len()).max().unwrap_or(0);
        let mut sums = vec![0.0; samples];
        for name in shared {
            for (sum, bps) in
                sums.iter_mut().zip(self.links.get(*name).iter().flat_map(|l| &l.throughput_bps))
            {
                *sum += bps;
            }
        }
        for name in shared {
            if let Some(link) = self.links.get_mut(*name) {
                let share = |(bps, sum): (&f64, &f64)| if *sum > 0.0 { bps / sum } else { 0.0 };
                link.share = link.throughput_bps.iter().zip(&sums).map(share).collect();
            }
        }
    }
}
