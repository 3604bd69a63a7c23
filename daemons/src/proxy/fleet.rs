//! A gateway of a fleet: homes that the registry lists come and go while it runs, and which of them are served here is
//! told.
use crate::config::{Home, ProxyConfig, SealedPeer};
use crate::daemon::{DaemonError, Wakes};
use crate::fleet::{RegistryReport, RegistryThread};
use prismux_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How often it is told whom this gateway serves.
pub(super) const TELL_INTERVAL: Duration = Duration::from_millis(500);

/// What a proxy has of its fleet.
pub(super) struct Fleet {
    pub registry: RegistryThread,
    pub next_told: Instant,
    /// Homes of the registry that may come in, and the number of the first of each one's keys.
    pub present: BTreeMap<String, (Home, u16)>,
    /// Numbers of keys that are not in the registry any more.
    pub gone: HashSet<u16>,
    /// Homes without rights, whoever lists them.
    pub revoked: BTreeSet<String>,
}

impl Fleet {
    /// Begins to ask the registry, if there is one.
    ///
    /// # Errors
    /// The password's file cannot be read, or the system has no thread.
    pub fn start(config: &ProxyConfig, wakes: &Wakes<'_>) -> Result<Option<Self>, DaemonError> {
        let Some(registry) = &config.registry else { return Ok(None) };
        let registry =
            RegistryThread::start(registry).map_err(|error| DaemonError::Config(error.to_string()))?;
        wakes.watch_registry(registry.wake())?;
        let (present, gone, revoked) = (BTreeMap::new(), HashSet::new(), BTreeSet::new());
        Ok(Some(Self { registry, next_told: Instant::ZERO, present, gone, revoked }))
    }

    /// Whether a key has no rights, by the registry.
    pub fn bars(&self, number: u16, peer: &SealedPeer) -> bool {
        self.gone.contains(&number) || peer.home.as_ref().is_some_and(|home| self.revoked.contains(home))
    }

    /// For the status page.
    pub fn report(&self) -> RegistryReport {
        self.registry.report()
    }
}

/// The number of the first of a home's keys, where it is known with the same ones and the same addresses.
pub(super) fn known_as(peers: &[SealedPeer], home: &Home) -> Option<u16> {
    let wanted = home.peers();
    let is_same = |(a, b): (&SealedPeer, &SealedPeer)| {
        (&a.public_key, &a.receivers, &a.home) == (&b.public_key, &b.receivers, &b.home)
    };
    let first = peers.windows(wanted.len()).position(|known| known.iter().zip(&wanted).all(is_same))?;
    u16::try_from(first).ok()
}
