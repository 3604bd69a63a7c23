//! Packets that went nowhere, counted by reason. Nothing is dropped uncounted.
use prismux_sealed::Refusal;
use prismux_trace::event::DropReason;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// One counter for each reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropCounters([u64; DropReason::ALL.len()]);

impl Default for DropCounters {
    fn default() -> Self {
        Self([0; DropReason::ALL.len()])
    }
}

impl DropCounters {
    /// Counts one packet.
    pub fn count(&mut self, reason: DropReason) {
        self.count_many(reason, 1);
    }

    /// Counts packets.
    pub fn count_many(&mut self, reason: DropReason, packets: u64) {
        if let Some(count) = self.0.get_mut(reason as usize) {
            *count += packets;
        }
    }

    /// Packets counted for `reason`.
    pub fn get(&self, reason: DropReason) -> u64 {
        self.0.get(reason as usize).copied().unwrap_or(0)
    }

    /// Packets counted for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Why a sealed datagram goes nowhere, in the vocabulary of events.
pub(crate) const fn sealed_refusal(refusal: Refusal) -> DropReason {
    match refusal {
        Refusal::Malformed => DropReason::MalformedTunnel,
        Refusal::Stranger => DropReason::UnknownPeer,
        Refusal::Forged => DropReason::Forged,
        Refusal::Replayed => DropReason::Replayed,
        Refusal::Expired => DropReason::ExpiredKeys,
        Refusal::Overloaded => DropReason::TooManyHandshakes,
    }
}

impl Serialize for DropCounters {
    /// A map from reason to count: all reasons that a daemon can have, also those that never occurred.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(DropReason::AT_A_DAEMON.len()))?;
        for &reason in DropReason::AT_A_DAEMON {
            map.serialize_entry(reason.name(), &self.get(reason))?;
        }
        map.end()
    }
}
