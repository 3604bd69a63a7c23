//! Times that follow from the parameters (RFC 3561 section 10).
use crate::config::AodvConfig;
use prismux_units::Duration;

impl AodvConfig {
    /// NET_TRAVERSAL_TIME: how long an answer from anywhere may take.
    pub(crate) fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * (2 * u64::from(self.net_diameter))
    }

    /// RING_TRAVERSAL_TIME: how long an answer from within `ttl` hops may take.
    pub(crate) fn ring_traversal_time(&self, ttl: u8) -> Duration {
        self.node_traversal_time * (2 * (u64::from(ttl) + u64::from(self.timeout_buffer)))
    }

    /// How long a neighbour may be silent that sends hello messages.
    pub(crate) fn hello_lifetime(&self) -> Duration {
        self.hello_interval * u64::from(self.allowed_hello_loss)
    }
}
