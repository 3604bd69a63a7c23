//! What a routing protocol has done so far, in counters.
use crate::event::DropReason;

/// Counters of one host's routing protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Packets that the layer above handed down.
    pub originated_packets: u64,
    /// Packets that were delivered to the layer above.
    pub delivered_packets: u64,
    /// Hops that the delivered packets have made.
    pub delivered_hops: u64,
    /// Packets of others that were sent on.
    pub forwarded_packets: u64,
    /// Packets that were sent over another route than their own.
    pub salvaged_packets: u64,
    /// The protocol's own packets sent, each hop counted.
    pub control_packets: u64,
    /// Bytes of the protocol's own packets sent: its headers, IP's not counted.
    pub control_bytes: u64,
    /// Bytes of the protocol's headers on packets with a payload, each hop counted.
    pub header_bytes: u64,
    /// Searches for a route that were begun, repetitions not counted.
    pub discoveries: u64,
    /// Searches that had an answer.
    pub discoveries_answered: u64,
    /// Links that the MAC layer reported broken.
    pub link_failures: u64,
    /// Packets that were not understood, or that claim what cannot be.
    pub refused_packets: u64,
    dropped: [u64; DropReason::ALL.len()],
}

impl Statistics {
    /// What results show of a routing protocol, under its names there.
    pub fn columns(&self) -> [(&'static str, u64); 3] {
        [
            ("routing_control_packets", self.control_packets),
            ("routing_control_bytes", self.control_bytes),
            ("routing_dropped_packets", self.dropped_packets()),
        ]
    }

    /// Packets that were dropped for `reason`.
    pub fn dropped_for(&self, reason: DropReason) -> u64 {
        self.dropped[reason.index()]
    }

    /// Packets that were dropped, for whatever reason.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped.iter().sum()
    }

    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        self.dropped[reason.index()] += 1;
    }
}
