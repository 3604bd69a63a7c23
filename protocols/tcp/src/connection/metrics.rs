//! What a connection counts.
use super::state::State;
use crate::engine::EngineMetrics;
use prismux_units::{Duration, Instant};

/// Segments that were not processed, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DropCounters {
    /// Arrived in CLOSED.
    pub closed: u64,
    /// Timestamp older than the last one accepted (PAWS, RFC 7323 section 5).
    pub old_timestamp: u64,
    /// Without the timestamps that were agreed on (RFC 7323 section 3.2).
    pub missing_timestamp: u64,
    /// Outside the receive window.
    pub out_of_window: u64,
    /// Acknowledged what was never sent, or far too old (RFC 5961 section 5).
    pub bad_ack: u64,
    /// RST or SYN that did not prove itself (RFC 5961 sections 3 and 4).
    pub unproven: u64,
    /// Without ACK, or with flags that make no sense in the state.
    pub malformed: u64,
    /// Payload for which the out-of-order store had no room.
    pub store_full: u64,
}

/// A snapshot of a connection's measures.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionMetrics {
    /// The state.
    pub state: State,
    /// The engine's measures.
    pub engine: EngineMetrics,
    /// Segments sent, all kinds.
    pub segments_sent: u64,
    /// Segments sent without payload, SYN, FIN or RST.
    pub pure_acks_sent: u64,
    /// Segments received, all kinds.
    pub segments_received: u64,
    /// Payload bytes that had already arrived before.
    pub duplicate_bytes_received: u64,
    /// Segments that arrived beyond a hole.
    pub out_of_order_segments: u64,
    /// SYN and SYN-ACK sent, retransmissions included.
    pub syns_sent: u64,
    /// Probes of a closed window or an idle peer.
    pub probes_sent: u64,
    /// Challenge ACKs sent (RFC 5961).
    pub challenge_acks_sent: u64,
    /// Segments dropped.
    pub drops: DropCounters,
}

/// Counters of what happens with every segment, next to a connection's hot fields.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Traffic {
    pub(super) segments_sent: u64,
    pub(super) pure_acks_sent: u64,
    pub(super) segments_received: u64,
}

/// The other counters behind [`ConnectionMetrics`], and the budget of challenge ACKs.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) duplicate_bytes_received: u64,
    pub(super) out_of_order_segments: u64,
    pub(super) syns_sent: u64,
    pub(super) probes_sent: u64,
    pub(super) challenge_acks_sent: u64,
    pub(super) drops: DropCounters,
    pub(super) challenge_budget: ChallengeBudget,
}

impl Counters {
    /// The snapshot, with the rest that belongs into it.
    pub(super) fn metrics(&self, state: State, traffic: Traffic, engine: EngineMetrics) -> ConnectionMetrics {
        ConnectionMetrics {
            state,
            engine,
            segments_sent: traffic.segments_sent,
            pure_acks_sent: traffic.pure_acks_sent,
            segments_received: traffic.segments_received,
            duplicate_bytes_received: self.duplicate_bytes_received,
            out_of_order_segments: self.out_of_order_segments,
            syns_sent: self.syns_sent,
            probes_sent: self.probes_sent,
            challenge_acks_sent: self.challenge_acks_sent,
            drops: self.drops,
        }
    }
}

/// At most ten unsolicited ACKs in five seconds (RFC 5961 section 7).
#[derive(Debug, Default)]
pub(super) struct ChallengeBudget {
    window_start: Instant,
    sent: u8,
}

const CHALLENGE_PERIOD: Duration = Duration::from_secs(5);
const CHALLENGES_PER_PERIOD: u8 = 10;

impl ChallengeBudget {
    /// True when another one may be sent at `now`; counts it.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        if now - self.window_start >= CHALLENGE_PERIOD {
            *self = Self { window_start: now, sent: 0 };
        }
        let allowed = self.sent < CHALLENGES_PER_PERIOD;
        self.sent += u8::from(allowed);
        allowed
    }
}
