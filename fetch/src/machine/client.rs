//! The fetching machine: one object over many paths, datagrams in and datagrams out.
//!
//! A *path* is one interface towards one server. Each opens a sealed session, learns there what the object is, and then
//! becomes a pipe of one connection, which carries the object. Where the caller knows its digest, a server that
//! has another is refused before any byte of it is used. Else the first server that answers says what the object is,
//! and another server that says otherwise ends the download.
//!
//! A path that dies is opened again, with growing pauses, while the others go on. The download fails when every
//! server has refused, or nothing has come for too long.
//!
//! An [`Endpoint`]: a datagram, a timeout, or a command (use, close, abort) is a mutation; [`Download::datagram`] has
//! the bytes of the last transmit, [`Download::part`] those of the object that a datagram brought.
//!
//! `path`: one path's life; `steer`: paths come and go. `carrier`: what the connection has to do, whichever protocol
//! it speaks: `r2cp`, which asks, or `ptcp`, which is sent to. `traffic`: datagrams between paths and the connection;
//! `progress`: what follows from them. `delivery`: when the stream went on. `report`: how all of this is doing.
//! `event`: what the caller is told.
mod carrier;
mod delivery;
mod event;
mod path;
mod progress;
mod ptcp;
mod r2cp;
mod report;
mod steer;
mod traffic;
mod transport;

pub use delivery::Delivery;
pub use event::{DownloadError, DownloadEvent, PathEnd, PathLoss, Rejection};
pub use report::{DownloadCounters, PathReport};
pub use transport::{Transport, UnknownTransport};

use super::digest::Digest;
use super::handshake::Identity;
use super::key::PublicKey;
use carrier::Carrier;
use path::Path;
use prismux_endpoint::{Deadline, Endpoint, expire};
use prismux_r2cp::policy::Cost;
use prismux_sealed::Entropy;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::Ecn;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;

/// Received out of order, or asked for, at most, unless the caller says otherwise. It lies on disk, not in memory.
pub const DEFAULT_WINDOW: ByteCount = ByteCount::new(32 << 20);
/// A server that answers nothing for this long has its path opened anew.
const PATH_TIMEOUT: Duration = Duration::from_secs(8);
/// Answers to the close are waited for no longer than this.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

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
    /// The object may have no more bytes than this.
    pub max_size: Option<ByteCount>,
    /// What an earlier attempt knew of the object, and what it received.
    pub resume: Option<(Identity, Vec<Range<u64>>)>,
    /// Nothing new for this long ends the download.
    pub give_up_after: Duration,
    /// Received out of order, or asked for, at most.
    pub window: ByteCount,
    /// Nothing is asked for that ends beyond this, for who wants the object bit by bit (R²CP).
    pub ask_up_to: Option<u64>,
}

impl Default for DownloadConfig {
    fn default() -> Self {
        Self {
            transport: Transport::default(),
            rate: None,
            digest: None,
            max_size: None,
            resume: None,
            give_up_after: Duration::from_secs(60),
            window: DEFAULT_WINDOW,
            ask_up_to: None,
        }
    }
}

/// A datagram that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received<'a> {
    /// The caller's number of the interface it came over.
    pub link: usize,
    /// Who sent it.
    pub from: SocketAddr,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// A datagram to send; [`Download::datagram`] has its bytes until the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The caller's number of the interface it leaves by.
    pub link: usize,
    /// The server it goes to.
    pub to: SocketAddr,
    /// Its ECN bits.
    pub ecn: Ecn,
}

/// Fetches one object; see the module's description.
pub struct Download {
    config: DownloadConfig,
    entropy: Entropy,
    paths: Vec<Path>,
    identity: Option<Identity>,
    /// The key of the server that said so.
    believed: Option<PublicKey>,
    held: Vec<Range<u64>>,
    /// From the moment the object is known.
    carrier: Option<Carrier>,
    /// Last time something new came.
    progress_at: Instant,
    /// Since when servers have done nothing but prepare the object.
    preparing_since: Option<Instant>,
    ended_at: Option<Instant>,
    failed: bool,
    delivery: Delivery,
    counters: DownloadCounters,
    events: VecDeque<DownloadEvent>,
    /// Sealed answers that wait to leave, by path.
    replies: VecDeque<(usize, Vec<u8>)>,
    opened: Vec<u8>,
    message: Vec<u8>,
    datagram: Vec<u8>,
}

impl Download {
    /// A download over these paths. On a real network `entropy` comes from the operating system.
    pub fn new(
        config: DownloadConfig,
        paths: impl IntoIterator<Item = PathSpec>,
        entropy: Entropy,
        now: Instant,
    ) -> Self {
        Self {
            config,
            entropy,
            paths: paths.into_iter().map(|spec| Path::new(spec, now)).collect(),
            identity: None,
            believed: None,
            held: Vec::new(),
            carrier: None,
            progress_at: now,
            preparing_since: None,
            ended_at: None,
            failed: false,
            delivery: Delivery::default(),
            counters: DownloadCounters::default(),
            events: VecDeque::new(),
            replies: VecDeque::new(),
            opened: Vec::new(),
            message: Vec::new(),
            datagram: Vec::new(),
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

    /// The bytes of the last transmit.
    pub fn datagram(&self) -> &[u8] {
        &self.datagram
    }

    /// The bytes that a [`DownloadEvent::Received`] of the last datagram speaks of; none if it was an earlier one's.
    pub fn part(&self, part: Range<usize>) -> &[u8] {
        self.opened.get(part).unwrap_or_default()
    }

    /// The user wants no more: servers are told.
    pub fn abort(&mut self, now: Instant) {
        if let Some(carrier) = &mut self.carrier {
            carrier.abort(now);
        }
        self.ended_at.get_or_insert(now);
    }

    /// Nothing more will happen: it is complete (and the close was answered or waited for), has failed, or was aborted.
    pub fn is_over(&self, now: Instant) -> bool {
        let Some(ended_at) = self.ended_at else { return false };
        let is_closed = self.carrier.as_ref().is_none_or(Carrier::is_closed);
        is_closed || now.saturating_since(ended_at) >= CLOSE_TIMEOUT
    }

    /// How far all paths have come.
    fn path_ends(&self) -> Vec<(SocketAddr, PathEnd)> {
        self.paths.iter().map(|path| (path.spec.address, path.end())).collect()
    }

    fn fail(&mut self, now: Instant, why: DownloadError) {
        if self.ended_at.is_none() {
            self.failed = true;
            self.ended_at = Some(now);
            self.events.push_back(DownloadEvent::Failed(why));
        }
    }
}

impl Endpoint for Download {
    type Input<'a> = Received<'a>;
    type Transmit = Transmit;
    type Event = DownloadEvent;

    fn handle_input(&mut self, now: Instant, received: Received<'_>) {
        self.receive(now, &received);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(carrier) = &mut self.carrier {
            expire(carrier, now);
        }
        self.drain_carrier(now);
        for path in &mut self.paths {
            path.handle_timeout(now, &mut self.entropy);
        }
        let after = self.config.give_up_after;
        if now.saturating_since(self.progress_at) >= after {
            self.fail(now, DownloadError::Silence { after, paths: self.path_ends() });
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.transmit(now)
    }

    fn poll_event(&mut self) -> Option<DownloadEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let carrier = self.carrier.as_ref().and_then(Endpoint::poll_timeout);
        let end = match self.ended_at {
            Some(ended_at) => Deadline { at: ended_at + CLOSE_TIMEOUT, why: "close" },
            None => Deadline { at: self.progress_at + self.config.give_up_after, why: "give-up" },
        };
        let paths = self.paths.iter().filter_map(Path::deadline).filter(|_| self.ended_at.is_none());
        paths.chain(carrier).chain([end]).min_by_key(|deadline| deadline.at)
    }
}
