//! What the papers leave open about the UMTS links of their simulations (section VIII): delay, jitter, queue.
//!
//! Two places bound them. Section V-C reckons with an "average RTT" of 120 ms for a community of 5 Mbit/s, and the
//! windows of section VIII-E.2, 60 segments together, are what 4.2 Mbit/s carry in 114 ms. So a round trip under load
//! takes some 120 ms, and the links have queues of a few packets. UMTS sends a frame every 10 ms, for which a packet
//! waits. What claims are judged by follows from that; the other readings stand beside it.

/// A reading: one-way delay, the longest wait for a frame, the queue of a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// For keys and columns.
    pub(super) name: &'static str,
    delay_ms: u64,
    jitter_ms: u64,
    queue_packets: u64,
}

/// Round trips of some 120 ms under load, with the queue of a bandwidth-delay product.
pub(super) const SHORT: Reading =
    Reading { name: "35 ms, 10 packets", delay_ms: 35, jitter_ms: 10, queue_packets: 10 };
/// The same with hardly any queue.
pub(super) const SHORTEST: Reading =
    Reading { name: "35 ms, 5 packets", delay_ms: 35, jitter_ms: 10, queue_packets: 5 };
/// The same with the queue that ns-2 gives a link unless told otherwise.
pub(super) const SHORT_FULL: Reading =
    Reading { name: "35 ms, 50 packets", delay_ms: 35, jitter_ms: 10, queue_packets: 50 };
/// Delays of UMTS as measured in the field.
pub(super) const LONG_FULL: Reading =
    Reading { name: "100 ms, 50 packets", delay_ms: 100, jitter_ms: 40, queue_packets: 50 };

/// All of them; the first is judged by, unless a claim says otherwise.
pub(super) const READINGS: [Reading; 4] = [SHORT, SHORTEST, SHORT_FULL, LONG_FULL];

impl Reading {
    /// Overrides of the first `links` shared links.
    pub(super) fn overrides(&self, links: usize) -> Vec<String> {
        let Self { delay_ms, jitter_ms, queue_packets, .. } = self;
        let of = |link: usize| {
            [
                format!("links.wwan{link}.delay={delay_ms} ms"),
                format!("links.wwan{link}.jitter={jitter_ms} ms"),
                format!("links.wwan{link}.queue={queue_packets} packets"),
            ]
        };
        (1..=links).flat_map(of).collect()
    }
}
