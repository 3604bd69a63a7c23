//! How much may be in flight on a link.
use super::{CAP_EXTRA_PACKETS, CAP_EXTRA_TIME, CAP_GAIN, LinkModel, PROBE_GAIN, PROBE_ROUNDS};
use prismux_units::{ByteCount, Duration};

/// The round after one at [`PROBE_GAIN`]: what queued there drains. With less the link idles for a share of a round
/// that shows, with more a queue stays for good.
const DRAIN_GAIN: f64 = 0.94;
/// Jitter counts up to this share of the shortest RTT.
const MAX_JITTER: f64 = 0.6;

impl LinkModel {
    /// The shortest round trip and what jitter adds to it, in seconds: a link whose packets are delayed at random is
    /// only full with the delayed ones in flight too.
    pub(super) fn loaded_rtt(&self, shortest: Duration) -> f64 {
        if let Some(loaded) = self.measured_rtt() {
            return loaded;
        }
        let shortest = shortest.as_secs_f64();
        shortest + self.jitter.min(MAX_JITTER * shortest)
    }

    /// What may be in flight, from what has been learned; a startup's cap is its own.
    pub(super) fn set_cap(&mut self) {
        let (Some(rtt), false) = (self.min_rtt(), self.startup) else { return };
        let rate = self.learned();
        let product = self.search_gain() * rate * self.loaded_rtt(rtt);
        let extra = self.cap_extra();
        let phase = self.rounds % PROBE_ROUNDS;
        let drains = phase == 1 && (self.queues_for_good(extra / rate) || self.contest.is_on());
        let cap = match phase {
            // What queues for good without us then is not ours.
            _ if drains || self.contest.is_suspect() => {
                DRAIN_GAIN * rate * self.idle_rtt() + self.packet_bytes
            }
            _ if self.is_measured() => {
                let own = self.overload.gain(CAP_GAIN + self.jitter_gain()) * product + extra;
                own.max(self.contest.window() * self.packet_bytes)
            }
            0 => self.overload.probe_gain(PROBE_GAIN) * product + extra,
            1 => DRAIN_GAIN * product + self.packet_bytes,
            _ => self.overload.gain(CAP_GAIN) * product + extra,
        };
        self.cap = cap;
    }

    /// What the cap has beyond a multiple of the product.
    pub(super) fn cap_extra(&self) -> f64 {
        CAP_EXTRA_PACKETS * self.packet_bytes + CAP_EXTRA_TIME * self.learned()
    }

    /// The learned bandwidth-delay product.
    pub fn product(&self) -> Option<ByteCount> {
        let rtt = self.min_rtt()?;
        Some(ByteCount::new((self.learned() * rtt.as_secs_f64()) as u64))
    }
}
