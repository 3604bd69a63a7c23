//! A gateway of a fleet: homes that the registry lists come and go while it runs, and which of them are served here is
//! told.
use crate::accounts::Keeper;
use crate::config::{Home, ProxyConfig, SealedPeer};
use crate::daemon::{DaemonError, Wakes};
use crate::fleet::{RegistryReport, RegistryThread};
use prismux_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

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
    /// What the registry said last, for the next start, where it can be kept.
    kept: Option<Keeper>,
    /// What it is to say as soon as it can be written.
    to_keep: Option<String>,
}

impl Fleet {
    /// Begins to ask the registry, if there is one. What it says is kept beside `accounts`.
    ///
    /// # Errors
    /// The password's file cannot be read, or the system has no thread.
    pub fn start(
        config: &ProxyConfig,
        accounts: &Path,
        wakes: &Wakes<'_>,
    ) -> Result<Option<Self>, DaemonError> {
        let Some(registry) = &config.registry else { return Ok(None) };
        let file = accounts.with_extension("registry");
        let as_it_is = |text: &str| (text.to_owned(), 0, text.to_owned());
        let read = Keeper::open(file.clone(), "what the registry said", as_it_is);
        let (text, kept) = match read {
            Ok((text, keeper)) => (text, Some(keeper)),
            Err(error) => {
                let file = file.display();
                tracing::warn!(%file, %error, "what the registry says cannot be kept for a start without it");
                (String::new(), None)
            }
        };
        let registry =
            RegistryThread::start(registry, &text).map_err(|error| DaemonError::Config(error.to_string()))?;
        wakes.watch_registry(registry.wake())?;
        let (present, gone, revoked) = (BTreeMap::new(), HashSet::new(), BTreeSet::new());
        let next_told = Instant::ZERO;
        Ok(Some(Self { registry, next_told, present, gone, revoked, kept, to_keep: None }))
    }

    /// Has what the registry said written; what comes before that is done waits, and the latest counts.
    pub fn keep(&mut self, text: Option<String>) {
        let Some(keeper) = &mut self.kept else { return };
        self.to_keep = text.or(self.to_keep.take());
        if !keeper.is_writing()
            && let Some(text) = self.to_keep.take()
        {
            keeper.replace(text);
        }
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
