//! What a routing daemon has done, in numbers.
use prismux_routing::{DropReason as RoutingReason, Statistics};
use prismux_trace::event::DropReason;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

/// Packets that went nowhere, by reason, beside those that the routing protocol dropped.
#[derive(Debug, Clone, Default)]
pub struct Drops([u64; REASONS.len()]);

/// All reasons that a routing daemon itself has.
const REASONS: [DropReason; 11] = [
    // Of the kernel's packets and the radio's.
    DropReason::MalformedPacket,
    DropReason::OtherProtocol,
    DropReason::ForeignSource,
    DropReason::ForeignDestination,
    DropReason::TooLong,
    // There is no radio yet.
    DropReason::LinkDown,
    // From or to an interface whose address is not known.
    DropReason::UnknownPeer,
    DropReason::Unresolved,
    DropReason::SendBufferFull,
    DropReason::SendFailed,
    DropReason::TunRefused,
];

impl Drops {
    /// Counts a packet. Reasons that no routing daemon has are not counted.
    pub fn count(&mut self, reason: DropReason) {
        if let Some((_, count)) = REASONS.iter().zip(&mut self.0).find(|(known, _)| **known == reason) {
            *count += 1;
        }
    }

    /// Packets counted for a reason.
    pub fn get(&self, reason: DropReason) -> u64 {
        REASONS.iter().zip(&self.0).find(|(known, _)| **known == reason).map_or(0, |(_, count)| *count)
    }
}

/// What event logs call a reason of a routing protocol.
pub const fn drop_reason(reason: RoutingReason) -> DropReason {
    match reason {
        RoutingReason::NoRoute => DropReason::NoRoute,
        RoutingReason::BufferFull => DropReason::BufferFull,
        RoutingReason::BufferTimeout => DropReason::BufferTimeout,
        RoutingReason::HopLimit => DropReason::HopLimit,
        RoutingReason::LinkFailure | RoutingReason::SalvageLimit => DropReason::Unanswered,
        RoutingReason::BadRoute | RoutingReason::Loop => DropReason::BadRoute,
        RoutingReason::NotAdmitted => DropReason::NotAdmitted,
    }
}

/// All of it on the status page.
pub(super) struct AllDrops<'a> {
    pub daemon: &'a Drops,
    pub routing: Option<&'a Statistics>,
}

impl Serialize for AllDrops<'_> {
    /// A map from reason to count, also of those that never occurred.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        for reason in REASONS {
            all.insert(reason.name(), self.daemon.get(reason));
        }
        for reason in RoutingReason::ALL {
            let dropped = self.routing.map_or(0, |statistics| statistics.dropped_for(reason));
            *all.entry(drop_reason(reason).name()).or_default() += dropped;
        }
        let mut map = serializer.serialize_map(Some(all.len()))?;
        all.iter().try_for_each(|(name, count)| map.serialize_entry(name, count))?;
        map.end()
    }
}

/// What passed between kernel, protocol and radio.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Passed {
    pub sent: u64,
    pub received: u64,
    pub overheard: u64,
    pub not_delivered: u64,
}

/// The counters of the status page; those of routing have the names that results have.
pub(super) fn columns(passed: Passed, routing: Option<&Statistics>) -> BTreeMap<&'static str, u64> {
    let statistics = routing.copied().unwrap_or_default();
    let mut columns = BTreeMap::from([
        ("packets_from_kernel", statistics.originated_packets),
        ("packets_to_kernel", statistics.delivered_packets),
        ("packets_forwarded", statistics.forwarded_packets),
        ("packets_salvaged", statistics.salvaged_packets),
        ("routing_header_bytes", statistics.header_bytes),
        ("routing_refused_packets", statistics.refused_packets),
        ("route_discoveries", statistics.discoveries),
        ("route_discoveries_answered", statistics.discoveries_answered),
        ("links_broken", statistics.link_failures),
        ("radio_packets_sent", passed.sent),
        ("radio_packets_received", passed.received),
        ("radio_packets_overheard", passed.overheard),
        ("radio_packets_not_delivered", passed.not_delivered),
    ]);
    columns.extend(statistics.columns());
    columns
}
