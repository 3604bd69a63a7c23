//! The fetching machine: one object over many paths, datagrams in and datagrams out.
//!
//! A *path* is one interface towards one server. Each opens a sealed session, learns there what the object is, and then
//! becomes a pipe of one connection, which carries the object. The first server that answers says what
//! the object is (unless the caller knows); another that says otherwise is refused before any byte of it is used.
//!
//! A path that dies is opened again, with growing pauses, while the others go on. The download fails when every server has
//! refused, or nothing has come for too long.
//!
//! `path`: one path's life; `steer`: paths come and go. `carrier`: what the connection has to do, whichever protocol it speaks:
//! `r2cp`, which asks, or `ptcp`, which is sent to. `traffic`: datagrams between paths and the connection. `delivery`: when the stream went on.
//! `report`: how all of this is doing.
mod carrier;
mod delivery;
mod path;
mod ptcp;
mod r2cp;
mod report;
mod steer;
mod traffic;
mod transport;

pub use delivery::Delivery;
pub use report::{DownloadCounters, PathReport};
pub use transport::{Transport, UnknownTransport};

use crate::digest::Digest;
use crate::handshake::Identity;
use crate::key::PublicKey;
use carrier::{Carrier, Note};
use path::{Path, State};
use prismux_r2cp::policy::Cost;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::Ecn;
use ptcp::Ptcp;
use r2cp::R2cp;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;

/// Received out of order, or asked for, at most, unless the caller says otherwise. It lies on disk, not in memory.
pub const DEFAULT_WINDOW: ByteCount = ByteCount::new(32 << 20);
/// A server that answers nothing for this long has its path opened anew.
const PATH_SILENCE: Duration = Duration::from_secs(8);
/// Goodbyes are waited for no longer than this.
const FAREWELL: Duration = Duration::from_millis(500);

/// One interface towards one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSpec {
    /// The caller's number of the interface.
    pub link: usize,
    /// The server.
    pub address: SocketAddr,
    /// The server's key.
    pub key: PublicKey,
    /// The object's path there.
    pub object: String,
    /// What using it costs.
    pub cost: Cost,
}

/// How a download behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct DownloadConfig {
    /// What carries the object.
    pub transport: Transport,
    /// No faster than this; cheap paths first. R²CP only.
    pub rate: Option<Rate>,
    /// The digest that the object must have.
    pub digest: Option<Digest>,
    /// What an earlier attempt knew of the object, and what it received.
    pub resume: Option<(Identity, Vec<Range<u64>>)>,
    /// Nothing new for this long ends the download.
    pub give_up_after: Duration,
    /// Received out of order, or asked for, at most.
    pub window: ByteCount,
}

impl Default for DownloadConfig {
    fn default() -> Self {
        let give_up_after = Duration::from_secs(60);
        let transport = Transport::default();
        Self { transport, rate: None, digest: None, resume: None, give_up_after, window: DEFAULT_WINDOW }
    }
}

/// Something the caller should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadEvent {
    /// What the object is; before its first byte.
    Identified(Identity),
    /// A path is open.
    Opened(usize),
    /// A path was lost and is opened again.
    Lost(usize, &'static str),
    /// A path's server is refused, or refuses, for good.
    Refused(usize, String),
    /// A path was closed by the caller's wish, and nothing is on its way any more.
    Closed(usize),
    /// Every byte is here.
    Complete,
    /// It will not be completed, and why.
    Failed(String),
}

/// What a datagram is to go out with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Over this interface,
    pub link: usize,
    /// to this server,
    pub to: SocketAddr,
    /// with these bits.
    pub ecn: Ecn,
}

/// See the module's description.
pub struct Download {
    config: DownloadConfig,
    paths: Vec<Path>,
    identity: Option<Identity>,
    held: Vec<Range<u64>>,
    /// From the moment the object is known.
    carrier: Option<Box<dyn Carrier>>,
    /// Last time something new came.
    news_at: Instant,
    ended_at: Option<Instant>,
    failed: bool,
    delivery: Delivery,
    counters: DownloadCounters,
    events: VecDeque<DownloadEvent>,
    /// Sealed answers that wait to leave, by path.
    replies: VecDeque<(usize, Vec<u8>)>,
    opened: Vec<u8>,
    message: Vec<u8>,
}

impl Download {
    /// A download over these paths.
    pub fn new(config: DownloadConfig, paths: impl IntoIterator<Item = PathSpec>, now: Instant) -> Self {
        Self {
            config,
            paths: paths.into_iter().map(|spec| Path::new(spec, now)).collect(),
            identity: None,
            held: Vec::new(),
            carrier: None,
            news_at: now,
            ended_at: None,
            failed: false,
            delivery: Delivery::default(),
            counters: DownloadCounters::default(),
            events: VecDeque::new(),
            replies: VecDeque::new(),
            opened: Vec::new(),
            message: Vec::new(),
        }
    }

    /// What the object is, once known.
    pub const fn identity(&self) -> Option<Identity> {
        self.identity
    }

    /// What an earlier attempt received and is not fetched again; from the moment the object is known.
    pub fn held(&self) -> Vec<Range<u64>> {
        self.held.clone()
    }

    /// The user wants no more: servers are told.
    pub fn abort(&mut self, now: Instant) {
        if let Some(carrier) = &mut self.carrier {
            carrier.abort(now);
        }
        self.ended_at.get_or_insert(now);
    }

    /// Nothing more will happen: it is complete (and goodbyes are answered or were waited for), has failed, or was aborted.
    pub fn is_over(&self, now: Instant) -> bool {
        let Some(ended_at) = self.ended_at else { return false };
        let is_closed = self.carrier.as_ref().is_none_or(|carrier| carrier.is_closed());
        is_closed || now.saturating_since(ended_at) >= FAREWELL
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<DownloadEvent> {
        self.events.pop_front()
    }

    /// When [`Download::handle_timeout`] wants to be called.
    pub fn next_deadline(&self) -> Option<Instant> {
        if let Some(ended_at) = self.ended_at {
            return Some(ended_at + FAREWELL);
        }
        let carrier = self.carrier.as_ref().and_then(|carrier| carrier.deadline());
        let paths = self.paths.iter().filter_map(Path::deadline);
        paths.chain(carrier).chain([self.news_at + self.config.give_up_after]).min()
    }

    /// Time has reached the deadline.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some(carrier) = &mut self.carrier {
            carrier.handle_timeout(now);
        }
        self.take_notes(now);
        for path in &mut self.paths {
            path.handle_timeout(now);
        }
        if self.ended_at.is_none() && now.saturating_since(self.news_at) >= self.config.give_up_after {
            let states: Vec<String> = self.paths.iter().map(Path::describe).collect();
            self.fail(
                now,
                format!(
                    "nothing has come for {}: {}\n  remedy: compare addresses and ports with what the servers print, let UDP pass, \
                     then give the same command again: it goes on where it stopped",
                    self.config.give_up_after,
                    states.join("; ")
                ),
            );
        }
    }

    fn fail(&mut self, now: Instant, why: String) {
        if self.ended_at.is_none() {
            self.failed = true;
            self.ended_at = Some(now);
            self.events.push_back(DownloadEvent::Failed(why));
        }
    }

    /// Path `index` has learnt from its server what the object is. True if it is what all others have.
    fn compare(&mut self, now: Instant, index: usize, identity: Identity) -> bool {
        let wanted = match &self.config.resume {
            _ if self.identity.is_some() => self.identity.map(|known| (known, "of the others")),
            Some((known, _)) => Some((*known, "of the partial file")),
            None => None,
        };
        let problem = match wanted {
            Some((known, whose)) if known != identity => Some(format!(
                "its object has {} bytes and digest {}, that {whose} {} bytes and digest {}",
                identity.size, identity.digest, known.size, known.digest
            )),
            _ => self
                .config
                .digest
                .filter(|&digest| digest != identity.digest)
                .map(|digest| format!("its object has digest {}, wanted was {digest}", identity.digest)),
        };
        if let Some(problem) = problem {
            self.refuse(now, index, problem);
            return false;
        }
        if self.identity.is_none() {
            self.begin(now, identity);
        }
        true
    }

    /// The object is known: the connection begins.
    fn begin(&mut self, now: Instant, identity: Identity) {
        let (carrier, held): (Box<dyn Carrier>, _) = match self.config.transport {
            Transport::R2cp => {
                let (carrier, held) = R2cp::begin(now, identity.size, &self.config);
                (Box::new(carrier), held)
            }
            Transport::Ptcp => {
                let (carrier, held) = Ptcp::begin(identity.size, &self.config);
                (Box::new(carrier), held)
            }
        };
        (self.carrier, self.held) = (Some(carrier), held);
        self.identity = Some(identity);
        self.events.push_back(DownloadEvent::Identified(identity));
    }

    fn refuse(&mut self, now: Instant, index: usize, why: String) {
        self.leave(now, index);
        self.paths[index].state = State::Refused(why.clone());
        self.events.push_back(DownloadEvent::Refused(index, why));
        if self.paths.iter().all(Path::is_refused) {
            let reasons: Vec<String> = self.paths.iter().map(Path::describe).collect();
            self.fail(now, format!("no server can be used: {}", reasons.join("; ")));
        }
    }

    /// The path's session is over; it will be opened again.
    fn lose(&mut self, now: Instant, index: usize, why: &'static str) {
        if self.paths[index].is_leaving {
            return self.closed(now, index);
        }
        let was_open = self.paths[index].is_open();
        self.leave(now, index);
        self.paths[index].wait(now);
        if was_open && self.ended_at.is_none() {
            self.events.push_back(DownloadEvent::Lost(index, why));
        }
    }

    /// What the path's pipe owes comes over others.
    fn leave(&mut self, now: Instant, index: usize) {
        let (true, Some(carrier)) = (self.paths[index].is_open(), &mut self.carrier) else { return };
        self.paths[index].past = self.paths[index].past.plus(&carrier.carried(index));
        self.paths[index].state = State::Down;
        carrier.drop_path(now, index);
    }

    /// Takes note of what happened to the connection and its paths.
    fn take_notes(&mut self, now: Instant) {
        while let Some(note) = self.carrier.as_mut().and_then(|carrier| carrier.poll_note()) {
            match note {
                Note::News => {
                    self.news_at = now;
                    let in_order = self.carrier.as_ref().map_or(0, |carrier| carrier.in_order_bytes());
                    self.delivery.reached(now, in_order);
                }
                Note::Opened(index) => {
                    self.paths[index].opened();
                    self.events.push_back(DownloadEvent::Opened(index));
                }
                Note::Lost(index, why) => self.lose(now, index, why),
                Note::Closed(index) if self.paths[index].is_leaving => self.closed(now, index),
                // All pipes close when the object is complete.
                Note::Closed(_) => {}
                Note::Refused(index, why) => self.refuse(now, index, why),
                Note::Complete => {
                    self.ended_at.get_or_insert(now);
                    self.events.push_back(DownloadEvent::Complete);
                }
            }
        }
    }
}
