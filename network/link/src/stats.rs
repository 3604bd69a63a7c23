//! What a link has done.

/// Counters of one direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Packets handed to the link.
    pub offered_packets: u64,
    /// Bytes handed to the link.
    pub offered_bytes: u64,
    /// Packets that came out, damaged ones and copies included.
    pub delivered_packets: u64,
    /// Bytes that came out.
    pub delivered_bytes: u64,
    /// Packets that found the queue full.
    pub queue_drops: u64,
    /// Packets that a managed queue dropped before it was full.
    pub early_drops: u64,
    /// Packets that a managed queue marked.
    pub marked_packets: u64,
    /// Packets lost on the channel.
    pub lost_packets: u64,
    /// Packets lost because the link was down.
    pub outage_drops: u64,
    /// Extra copies delivered.
    pub duplicated_packets: u64,
    /// Packets delivered damaged.
    pub corrupted_packets: u64,
    /// The most packets that ever waited.
    pub max_queue_packets: u64,
}

impl LinkStats {
    /// Packets that went in and will never come out.
    pub const fn dropped_packets(&self) -> u64 {
        self.queue_drops + self.early_drops + self.lost_packets + self.outage_drops
    }
}
