//! Delays of a flow's packets, losses of its datagrams, and waits for its responses.
use crate::histogram::DelayHistogram;
use prismux_units::Duration;
use serde::{Deserialize, Serialize};

/// One-way delays of the packets of a flow that carry its data: from the sending host, which hands a packet to its
/// first link, to the receiving host (RFC 7679). Percentiles are right to one part in 128.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DelayResult {
    /// Packets that arrived.
    pub samples: u64,
    /// Mean in seconds.
    pub mean_s: f64,
    /// Median in seconds.
    pub p50_s: f64,
    /// 95th percentile in seconds.
    pub p95_s: f64,
    /// 99th percentile in seconds.
    pub p99_s: f64,
    /// The longest in seconds.
    pub max_s: f64,
    /// Interarrival jitter at the end, in seconds (RFC 3550 section 6.4.1).
    pub jitter_s: f64,
    /// 99th percentile of the delay variation, in seconds (RFC 3393): of the difference, whatever its sign, between a
    /// packet's delay and that of the one that arrived before it.
    pub variation_p99_s: f64,
}

/// Times from request to whole response, in the order of the client.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ResponseResult {
    /// Whole responses.
    pub count: u64,
    /// Mean in seconds.
    pub mean_s: f64,
    /// Median in seconds.
    pub p50_s: f64,
    /// 95th percentile in seconds.
    pub p95_s: f64,
    /// 99th percentile in seconds.
    pub p99_s: f64,
    /// The longest in seconds.
    pub max_s: f64,
}

/// What became of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PacketResult {
    /// Datagrams sent.
    pub sent: u64,
    /// Those of them that never arrived, and are not on their way at the end of the run.
    pub lost: u64,
    /// `lost / sent`; 0 when none was sent.
    pub loss: f64,
}

/// What became of ACKs without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AckResult {
    /// ACKs sent.
    pub sent: u64,
    /// Those of them that links or nodes dropped.
    pub lost: u64,
    /// The most that one end sent one after the other and that were all lost.
    pub most_lost_in_a_row: u64,
}

/// Takes the delays of a flow's packets as they arrive.
#[derive(Debug, Clone, Default)]
pub struct DelayMeter {
    delays: DelayHistogram,
    variation: DelayHistogram,
    jitter_ns: f64,
    last: Option<Duration>,
}

/// The gain of RFC 3550's jitter.
const JITTER_GAIN: f64 = 1.0 / 16.0;

impl DelayMeter {
    /// Takes the delay of a packet that has just arrived.
    pub fn arrived(&mut self, delay: Duration) {
        self.delays.record(delay);
        if let Some(last) = self.last.replace(delay) {
            let difference = delay.max(last) - delay.min(last);
            self.variation.record(difference);
            self.jitter_ns += (difference.as_nanos() as f64 - self.jitter_ns) * JITTER_GAIN;
        }
    }

    /// Packets so far, and the sum of their delays.
    pub fn totals(&self) -> (u64, Duration) {
        (self.delays.count(), self.delays.sum())
    }

    /// The figures so far; `None` before the first packet.
    pub fn result(&self) -> Option<DelayResult> {
        let ResponseResult { count, mean_s, p50_s, p95_s, p99_s, max_s } = ResponseResult::of(&self.delays)?;
        Some(DelayResult {
            samples: count,
            mean_s,
            p50_s,
            p95_s,
            p99_s,
            max_s,
            jitter_s: self.jitter_ns / 1e9,
            variation_p99_s: self.variation.quantile(0.99).map_or(0.0, Duration::as_secs_f64),
        })
    }
}

impl ResponseResult {
    /// The figures of `waited`; `None` without any.
    pub fn of(waited: &DelayHistogram) -> Option<Self> {
        let quantile = |q| waited.quantile(q).map_or(0.0, Duration::as_secs_f64);
        Some(Self {
            count: waited.count(),
            mean_s: waited.mean_s()?,
            p50_s: quantile(0.5),
            p95_s: quantile(0.95),
            p99_s: quantile(0.99),
            max_s: waited.max().map_or(0.0, Duration::as_secs_f64),
        })
    }
}

impl PacketResult {
    /// Of so many datagrams sent and lost.
    pub fn new(sent: u64, lost: u64) -> Self {
        Self { sent, lost, loss: if sent == 0 { 0.0 } else { lost as f64 / sent as f64 } }
    }
}

#[cfg(test)]
mod tests {
    use super::{DelayMeter, PacketResult};
    use prismux_units::Duration;

    #[test]
    fn jitter_follows_the_formula_of_rfc_3550() {
        let mut meter = DelayMeter::default();
        assert_eq!(meter.result(), None);
        let delays_ms = [20, 20, 36, 36, 20];
        let mut jitter = 0.0;
        for pair in delays_ms.windows(2) {
            jitter += (f64::from(i32::abs(pair[1] - pair[0])) - jitter) / 16.0;
        }
        delays_ms.iter().for_each(|&ms| meter.arrived(Duration::from_millis(ms.unsigned_abs().into())));
        let result = meter.result().unwrap();
        assert!((result.jitter_s - jitter / 1e3).abs() < 1e-12, "{result:?}");
        assert_eq!((result.samples, result.max_s), (5, 0.036));
        assert!((result.variation_p99_s - 0.016).abs() < 1e-9);
        assert!((result.mean_s - 0.0264).abs() < 1e-12);
    }

    #[test]
    fn a_constant_delay_is_exact_and_has_no_variation() {
        let mut meter = DelayMeter::default();
        (0..100).for_each(|_| meter.arrived(Duration::from_micros(20_500)));
        let result = meter.result().unwrap();
        assert_eq!([result.mean_s, result.p50_s, result.p99_s, result.max_s], [0.0205; 4]);
        assert_eq!((result.jitter_s, result.variation_p99_s), (0.0, 0.0));
    }

    #[test]
    fn loss_is_a_share_of_what_was_sent() {
        assert_eq!(PacketResult::new(200, 3).loss, 0.015);
        assert_eq!(PacketResult::new(0, 0).loss, 0.0);
    }
}
