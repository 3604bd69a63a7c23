//! The switches that every acknowledgement asks for.
use crate::engine::config::{EngineConfig, RecoveryStyle};

/// A copy of some of the configuration next to what else is in use: the rest of it stays out of the near caches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Switches {
    pub(crate) recovery: RecoveryStyle,
    pub(crate) sack: bool,
    pub(crate) limited_transmit: bool,
    /// As many as there are, where there is no limit.
    pub(crate) max_burst: u32,
}

impl Switches {
    pub(crate) fn of(config: &EngineConfig) -> Self {
        let &EngineConfig { recovery, sack, limited_transmit, max_burst, .. } = config;
        Self { recovery, sack, limited_transmit, max_burst: max_burst.unwrap_or(u32::MAX) }
    }
}
