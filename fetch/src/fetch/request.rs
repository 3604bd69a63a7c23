//! What is wanted of a fetch, what it tells meanwhile, and what it answers.
use super::Sample;
use crate::client::{DEFAULT_WINDOW, Delivery, DownloadCounters, PathReport, Transport};
use crate::digest::Digest;
use crate::handshake::Identity;
use crate::member::MemberCounters;
use crate::socket::Via;
use crate::url::Url;
use prismux_r2cp::policy::Cost;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use std::path::PathBuf;

/// What to fetch, and how.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// The same object at one server or several.
    pub urls: Vec<Url>,
    /// What carries it.
    pub transport: Transport,
    /// Interfaces to use; none means whatever the routing table says.
    pub via: Vec<Via>,
    /// Interfaces that cost more than nothing.
    pub costs: Vec<(Via, Cost)>,
    /// No faster than this.
    pub rate: Option<Rate>,
    /// The digest that the object must have.
    pub digest: Option<Digest>,
    /// It may have no more bytes than this.
    pub max_size: Option<ByteCount>,
    /// Where it goes.
    pub output: PathBuf,
    /// Replace a file that is there.
    pub overwrite: bool,
    /// Forget what an earlier attempt received.
    pub restart: bool,
    /// Nothing new for this long ends the attempt.
    pub give_up_after: Duration,
    /// Received out of order, or asked for, at most.
    pub window: ByteCount,
    /// A file or named pipe with orders, one on a line: `use URL`, `close NAME...`.
    pub orders: Option<PathBuf>,
    /// The observer gets a [`Sample`] whenever something came, this often at most.
    pub sample_every: Option<Duration>,
}

impl FetchRequest {
    /// The object at `urls` into `output`, everything else as it is by default.
    pub fn new(urls: Vec<Url>, output: PathBuf) -> Self {
        Self {
            urls,
            transport: Transport::default(),
            via: Vec::new(),
            costs: Vec::new(),
            rate: None,
            digest: None,
            max_size: None,
            output,
            overwrite: false,
            restart: false,
            give_up_after: Duration::from_secs(60),
            window: DEFAULT_WINDOW,
            orders: None,
            sample_every: None,
        }
    }
}

/// A path's names.
pub(super) struct PathName {
    /// The interface or source address.
    pub(super) link: String,
    /// The server as the URL has it.
    pub(super) host: String,
    /// Its address and port.
    pub(super) server: String,
}

/// One interface towards one server, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct PathProgress {
    /// The interface or source address.
    pub link: String,
    /// The server.
    pub server: String,
    /// How it is doing.
    pub report: PathReport,
}

/// What the observer is told.
#[derive(Debug)]
pub enum Update<'a> {
    /// What the object is, and how many of its bytes an earlier attempt received.
    Identified {
        /// What it is.
        identity: Identity,
        /// Bytes that are here already.
        resumed_bytes: u64,
    },
    /// Something happened that people may want to know.
    Note(String),
    /// A path is used, or not any more.
    Path {
        /// When, since the start.
        at: Duration,
        /// The interface or source address.
        link: &'a str,
        /// The server.
        server: &'a str,
        /// What happened, in a word.
        what: &'static str,
    },
    /// What came, if samples are wanted.
    Sample(&'a Sample),
    /// How far it is among neighbours.
    Sharing {
        /// Bytes that are here.
        received_bytes: u64,
        /// Neighbours that are there.
        neighbours: usize,
        /// What has come from where, and was given.
        counters: &'a MemberCounters,
    },
    /// How far it is.
    Progress {
        /// Bytes that are here.
        received_bytes: u64,
        /// By path.
        paths: &'a [PathProgress],
    },
}

/// A download that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchSummary {
    /// What it is.
    pub identity: Identity,
    /// Bytes that an earlier attempt had received.
    pub resumed_bytes: u64,
    /// Time from the first Hello to the last byte.
    pub elapsed: Duration,
    /// By path.
    pub paths: Vec<PathProgress>,
    /// What arrived besides.
    pub counters: DownloadCounters,
    /// How the stream went on.
    pub delivery: Delivery,
    /// The start, by the clock of `delivery`.
    pub started_at: Instant,
}
