//! What a session is for.
use super::counters::SessionCounters;
use prismux_endpoint::Alarm;
use prismux_rcp::Sender;

/// What carries the object through a session.
pub(super) enum Service {
    /// The client has not said.
    Open,
    /// It asks by RCP.
    Rcp(Box<RcpService>),
    /// It is a pipe of the pTCP connection with this token.
    Ptcp(u64),
}

/// The RCP sender of one session.
pub(super) struct RcpService {
    pub(super) sender: Sender,
    pub(super) alarm: Alarm,
}

impl Service {
    /// The pTCP connection that the session has a pipe of, or had.
    pub(super) const fn transfer(&self) -> Option<u64> {
        match self {
            Self::Ptcp(token) => Some(*token),
            _ => None,
        }
    }

    /// Adds what the RCP sender counted.
    pub(super) fn add_to(&self, counters: &mut SessionCounters) {
        let Self::Rcp(rcp) = self else { return };
        let metrics = rcp.sender.metrics();
        counters.requests += metrics.requests;
        counters.data_bytes += metrics.data_bytes;
        counters.outside_object += metrics.drops.beyond_end;
        counters.refused_requests +=
            metrics.drops.beyond_limit + metrics.drops.below_purge + metrics.drops.crowded;
        counters.bad_packets += metrics.drops.forged + metrics.drops.malformed;
    }
}
