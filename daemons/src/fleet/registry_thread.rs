//! The thread that talks with the registry, so that packets never wait for it.
use super::client::{Registry, Seen};
use super::contents::{Contents, Gateway, Serving, View, steps};
use super::kept::{self, Kept};
use crate::config::{Home, RegistryConfig};
use crate::daemon::time_of_day_micros;
use nix::sys::eventfd::{EfdFlags, EventFd};
use prismux_linux::{capabilities, confinement};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long it listens before it looks after other things.
const TURN: Duration = Duration::from_millis(200);
/// After the registry could not be reached.
const PAUSE: Duration = Duration::from_millis(500);
/// Malformed entries that are told of, of those that are new.
const MAX_TOLD: usize = 10;

/// What the thread of packets is told: the latest counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct News {
    /// Homes that may come in.
    pub homes: Arc<Vec<Home>>,
    /// Homes that may not, whoever lists them.
    pub revoked: Arc<BTreeSet<String>>,
    /// Homes that another gateway has taken over.
    pub let_go: BTreeSet<String>,
    /// What to keep in the file, where that has changed.
    pub to_keep: Option<String>,
}

/// What status pages say of the registry.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RegistryReport {
    /// This gateway's name in the fleet.
    pub name: String,
    /// Whether the registry answers.
    pub connected: bool,
    /// For how long it has, or has not.
    pub since_s: f64,
    /// How often it was lost.
    pub losses: u64,
    /// Homes that it lists.
    pub homes: usize,
    /// Of when that is, in seconds since 1970; `None` where nothing is known.
    pub known_as_of: Option<u64>,
    /// Entries that make no sense.
    pub malformed_entries: usize,
    /// Why it does not answer.
    pub error: Option<String>,
}

#[derive(Debug)]
struct State {
    is_connected: bool,
    since: Instant,
    losses: u64,
    homes: usize,
    /// When the registry was heard last.
    as_of: Option<u64>,
    malformed: usize,
    error: Option<String>,
}

/// What both threads see, each for moments only.
struct Board {
    news: Mutex<Option<News>>,
    served: Mutex<BTreeSet<String>>,
    state: Mutex<State>,
    is_ending: AtomicBool,
    wake: EventFd,
}

/// The thread, as the thread of packets sees it.
pub(crate) struct RegistryThread {
    name: String,
    board: Arc<Board>,
    thread: Option<JoinHandle<()>>,
}

impl RegistryThread {
    /// Starts the thread. `kept` is the text of the file, for as long as the registry has not been heard.
    ///
    /// # Errors
    /// The password's file, or the system, gives nothing.
    pub fn start(config: &RegistryConfig, kept: &str) -> io::Result<Self> {
        let registry = Registry::new(config).map_err(io::Error::other)?;
        let state = State {
            is_connected: false,
            since: Instant::now(),
            losses: 0,
            homes: 0,
            as_of: None,
            malformed: 0,
            error: None,
        };
        let board = Arc::new(Board {
            news: Mutex::default(),
            served: Mutex::default(),
            state: Mutex::new(state),
            is_ending: AtomicBool::new(false),
            wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
        });
        let mut session = Session {
            config: config.clone(),
            registry,
            board: Arc::clone(&board),
            contents: Contents::default(),
            view: View::default(),
            lease: None,
            claimed: BTreeSet::new(),
            since: BTreeMap::new(),
            kept: kept::read(kept, &config.prefix).unwrap_or_else(|why| {
                tracing::warn!(why, "what was kept of the registry cannot be used");
                None
            }),
        };
        let thread = std::thread::Builder::new().name("registry".to_owned()).spawn(move || session.live())?;
        Ok(Self { name: config.name.clone(), board, thread: Some(thread) })
    }

    /// What is readable when there are news.
    pub fn wake(&self) -> &EventFd {
        &self.board.wake
    }

    /// The latest news, once.
    pub fn take(&self) -> Option<News> {
        // It is non-blocking: an error means that there was nothing to take.
        let _ = self.board.wake.read();
        locked(&self.board.news).take()
    }

    /// The homes that are served here now.
    pub fn serves(&self, homes: BTreeSet<String>) {
        *locked(&self.board.served) = homes;
    }

    /// For the status page.
    pub fn report(&self) -> RegistryReport {
        let state = locked(&self.board.state);
        RegistryReport {
            name: self.name.clone(),
            connected: state.is_connected,
            since_s: state.since.elapsed().as_secs_f64(),
            losses: state.losses,
            homes: state.homes,
            known_as_of: if state.is_connected { Some(now_s()) } else { state.as_of },
            malformed_entries: state.malformed,
            error: state.error.clone(),
        }
    }
}

impl Drop for RegistryThread {
    /// Its entries are gone when this returns, or with the lease where the registry does not answer.
    fn drop(&mut self) {
        self.board.is_ending.store(true, Ordering::Relaxed);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the registry's thread had ended before its time");
        }
    }
}

/// Nothing that is half done is kept behind these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's side.
struct Session {
    config: RegistryConfig,
    registry: Registry,
    board: Arc<Board>,
    contents: Contents,
    view: View,
    lease: Option<String>,
    /// Homes of which the registry has said that this gateway serves them.
    claimed: BTreeSet<String>,
    /// What was written of those.
    since: BTreeMap<String, String>,
    /// What it goes on with where the registry cannot be read at first.
    kept: Option<Kept<'static>>,
}

impl Session {
    fn live(&mut self) {
        if let Err(error) = capabilities::keep_none() {
            tracing::warn!(%error, "the privileges of the registry's thread could not be dropped");
        }
        if let Err(error) = confinement::confine(&[]) {
            tracing::warn!(%error, "files and system calls of the registry's thread could not be restricted");
        }
        while !self.is_ending() {
            if let Err(why) = self.follow() {
                self.away(why);
                std::thread::sleep(PAUSE);
            }
        }
        if let Some(lease) = self.lease.take() {
            // It ends by itself otherwise.
            let _ = self.registry.end_lease(&lease);
        }
    }

    fn is_ending(&self) -> bool {
        self.board.is_ending.load(Ordering::Relaxed)
    }

    /// Reads all, and follows changes from there, until it cannot.
    fn follow(&mut self) -> Result<(), String> {
        let (mut revision, entries) = self.registry.snapshot()?;
        self.contents.replace(entries);
        // From now on it is older than what is known.
        self.kept = None;
        locked(&self.board.state).as_of = Some(now_s());
        self.register()?;
        self.publish();
        let mut watch = self.registry.watch(revision + 1)?;
        self.connected();
        let keep_every = Duration::from_millis(self.config.lease_seconds() * 1000 / 3);
        let (mut kept, mut looked) = (Instant::now(), Instant::now());
        while !self.is_ending() {
            match watch.next(TURN)? {
                None => {}
                Some(Seen::Changes(at, changes)) => {
                    revision = revision.max(at);
                    if !changes.is_empty() {
                        changes.into_iter().for_each(|change| self.contents.apply(change));
                        self.publish();
                    }
                }
                Some(Seen::Gone) => {
                    tracing::debug!(
                        revision,
                        "the registry has compacted what was not seen: all is read anew"
                    );
                    return Ok(());
                }
            }
            if kept.elapsed() >= keep_every {
                kept = Instant::now();
                self.keep_lease()?;
            }
            if looked.elapsed() >= TURN {
                looked = Instant::now();
                self.claim()?;
            }
        }
        Ok(())
    }

    /// A lease, and this gateway's entry under it.
    fn register(&mut self) -> Result<(), String> {
        if let Some(lease) = self.lease.clone()
            && self.registry.keep_alive(&lease)?
        {
            return Ok(());
        }
        let lease = self.registry.grant(self.config.lease_seconds())?;
        let gateway = Gateway { address: self.config.address, since: now_s() };
        let key = format!("gateways/{}", self.config.name);
        self.registry.put(&key, &text(&gateway), Some(&lease))?;
        self.lease = Some(lease);
        Ok(())
    }

    /// Without its lease a gateway passes for dead: it registers anew, and says again whom it serves.
    fn keep_lease(&mut self) -> Result<(), String> {
        let Some(lease) = self.lease.clone() else { return self.register() };
        if !self.registry.keep_alive(&lease)? {
            self.lease = None;
            self.register()?;
        }
        Ok(())
    }

    /// Says whom this gateway serves, and lets those go whom another has taken over.
    fn claim(&mut self) -> Result<(), String> {
        let served = locked(&self.board.served).clone();
        let steps = steps(&self.config.name, &served, &mut self.claimed, &self.view.serving);
        for home in steps.claim {
            let serving = Serving { gateway: self.config.name.clone(), since: now_s() };
            let value = text(&serving);
            self.registry.put(&format!("serving/{home}"), &value, self.lease.as_deref())?;
            self.since.insert(home.clone(), value);
            // It comes back by the watch too; until then it is not written again.
            self.view.serving.insert(home, serving);
        }
        for home in steps.release {
            if let Some(value) = self.since.remove(&home) {
                self.registry.delete_if(&format!("serving/{home}"), &value)?;
            }
            self.view.serving.remove(&home);
        }
        if !steps.let_go.is_empty() {
            self.tell(steps.let_go, false);
        }
        Ok(())
    }

    /// Tells the thread of packets what there is.
    fn publish(&mut self) {
        let view = self.contents.view(&self.config.network);
        let new = view.malformed.iter().filter(|entry| !self.view.malformed.contains(entry));
        for (key, reason) in new.take(MAX_TOLD) {
            let key: String = key.chars().take(80).collect();
            tracing::warn!(?key, reason, "an entry of the registry makes no sense and is left out");
        }
        {
            let mut state = locked(&self.board.state);
            (state.homes, state.malformed) = (view.homes.len(), view.malformed.len());
        }
        let is_new = (&view.homes, &view.revoked) != (&self.view.homes, &self.view.revoked);
        self.view = view;
        if is_new {
            self.tell(BTreeSet::new(), true);
        }
    }

    fn tell(&self, let_go: BTreeSet<String>, is_to_keep: bool) {
        let to_keep = is_to_keep.then(|| self.to_keep()).flatten();
        let mut news = locked(&self.board.news);
        let before = news.take().unwrap_or_default();
        *news = Some(News {
            homes: Arc::new(self.view.homes.clone()),
            revoked: Arc::new(self.view.revoked.clone()),
            let_go: before.let_go.into_iter().chain(let_go).collect(),
            to_keep: to_keep.or(before.to_keep),
        });
        drop(news);
        // Fails only when nobody has taken note of very many.
        let _ = self.board.wake.write(1);
    }

    /// What the file is to say.
    fn to_keep(&self) -> Option<String> {
        let as_of = locked(&self.board.state).as_of?;
        let entries = self.contents.lasting().map(|(key, value)| (key.into(), value.into())).collect();
        Some(Kept { prefix: self.config.prefix.as_str().into(), as_of, entries }.text())
    }

    /// The registry cannot be read at first: homes come in that it let in before.
    fn use_kept(&mut self) {
        let Some(kept) = self.kept.take() else { return };
        locked(&self.board.state).as_of = Some(kept.as_of);
        let text = |(key, value): (Cow<'_, str>, Cow<'_, str>)| (key.into_owned(), value.into_owned());
        self.contents.replace(kept.entries.into_iter().map(text).collect());
        self.publish();
        tracing::warn!(
            homes = self.view.homes.len(),
            age_s = now_s().saturating_sub(kept.as_of),
            "the registry has not been heard since this gateway began: homes come in that it let in before"
        );
    }

    fn connected(&self) {
        let mut state = locked(&self.board.state);
        if !state.is_connected {
            (state.is_connected, state.since, state.error) = (true, Instant::now(), None);
            tracing::info!(homes = state.homes, "the registry answers");
        }
    }

    fn away(&mut self, why: String) {
        let mut state = locked(&self.board.state);
        let was_connected = std::mem::replace(&mut state.is_connected, false);
        if was_connected || state.error.is_none() {
            (state.since, state.losses) = (Instant::now(), state.losses + u64::from(was_connected));
            tracing::warn!(
                why,
                "the registry does not answer: going on with what is known; no new homes meanwhile"
            );
        }
        if was_connected {
            state.as_of = Some(now_s());
        }
        state.error = Some(why);
        drop(state);
        if was_connected {
            self.tell(BTreeSet::new(), true);
        }
        self.use_kept();
    }
}

fn now_s() -> u64 {
    time_of_day_micros() / 1_000_000
}

/// Plain names and numbers always serialise.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
