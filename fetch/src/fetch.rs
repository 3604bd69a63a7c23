//! `prismux fetch` on Linux: one object, over several interfaces from several servers, into a file.
//!
//! `links`: sockets on interfaces that come and go. `error`: what can go wrong.
mod error;
mod links;

pub use crate::socket::Via;
pub use error::FetchError;

use crate::client::{Download, DownloadConfig, DownloadCounters, DownloadEvent, PathReport, PathSpec};
use crate::digest::Digest;
use crate::handshake::Identity;
use crate::partial::{self, Leftover, PartialFile};
use crate::socket;
use crate::url::Url;
use links::Links;
use prismux_datapath::batch::BatchReceiver;
use prismux_datapath::clock::Clock;
use prismux_datapath::event_loop::{EventLoop, StopHandle, Token, Wake};
use prismux_r2cp::policy::Cost;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::Ecn;
use std::path::PathBuf;

/// The sidecar is brought up to date this often.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// The observer is told this often, and interfaces that are gone are looked for.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// What to fetch, and how.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// The same object at one server or several.
    pub urls: Vec<Url>,
    /// Interfaces to use; none means whatever the routing table says.
    pub via: Vec<Via>,
    /// Interfaces that cost more than nothing.
    pub costs: Vec<(Via, Cost)>,
    /// No faster than this.
    pub rate: Option<Rate>,
    /// The digest that the object must have.
    pub digest: Option<Digest>,
    /// Where it goes.
    pub output: PathBuf,
    /// Replace a file that is there.
    pub overwrite: bool,
    /// Forget what an earlier attempt received.
    pub restart: bool,
    /// Nothing new for this long ends the attempt.
    pub give_up_after: Duration,
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
}

/// Fetches. Ends early with `stop`, and on SIGINT and SIGTERM if `on_signals`.
///
/// # Errors
/// See [`FetchError`]. What has been received stays for the next attempt, unless its digest is wrong.
pub fn run(
    request: &FetchRequest,
    stop: StopHandle,
    on_signals: bool,
    observer: &mut dyn FnMut(Update<'_>),
) -> Result<FetchSummary, FetchError> {
    let leftover = prepare_output(request)?;
    let mut event_loop = EventLoop::new(Clock::start(), stop)?;
    if on_signals {
        event_loop.stop_on_signals()?;
    }
    let clock = event_loop.clock();
    let (links, specs) = Links::open(request, &event_loop)?;
    let names = specs.iter().map(|spec| (links.name(spec.link), spec.address.to_string())).collect();
    let config = DownloadConfig {
        rate: request.rate,
        digest: request.digest,
        resume: leftover.as_ref().map(|leftover| (leftover.identity, leftover.ranges.clone())),
        give_up_after: request.give_up_after,
    };
    let fetch = Fetch {
        request,
        download: Download::new(config, specs, clock.now()),
        links,
        leftover,
        file: None,
        names,
        resumed_bytes: 0,
        outgoing: Vec::new(),
    };
    fetch.run(event_loop, observer)
}

/// Refuses to overwrite, and finds what an earlier attempt left.
fn prepare_output(request: &FetchRequest) -> Result<Option<Leftover>, FetchError> {
    if !request.overwrite && request.output.exists() {
        return Err(partial::PartialError::Exists(request.output.clone()).into());
    }
    if request.restart {
        partial::discard(&request.output);
    }
    Ok(partial::leftover(&request.output)?)
}

struct Fetch<'a> {
    request: &'a FetchRequest,
    download: Download,
    links: Links,
    leftover: Option<Leftover>,
    /// From the moment the object is known.
    file: Option<PartialFile>,
    names: Vec<(String, String)>,
    resumed_bytes: u64,
    outgoing: Vec<u8>,
}

impl Fetch<'_> {
    fn run(
        mut self,
        mut event_loop: EventLoop,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<FetchSummary, FetchError> {
        let clock = event_loop.clock();
        let started_at = clock.now();
        let (mut batch, mut ready) = (socket::batch(), Vec::new());
        let (mut save_at, mut report_at) = (started_at + SAVE_EVERY, started_at + REPORT_EVERY);
        let mut completed_at = None;
        loop {
            let now = clock.now();
            self.download.handle_timeout(now);
            self.transmit(now);
            if self.take_events(observer)? {
                completed_at.get_or_insert(now);
            }
            if completed_at.is_some() && self.download.is_over(now) {
                break;
            }
            if report_at <= now {
                report_at = now + REPORT_EVERY;
                self.links.look_after(&mut self.download, &event_loop, now);
                self.report(observer);
            }
            if save_at <= now {
                save_at = now + SAVE_EVERY;
                self.save()?;
            }
            let deadline = self.download.next_deadline().into_iter().chain([report_at]).min();
            if event_loop.wait(deadline, &mut ready)? == Wake::Stop {
                return self.interrupted(clock.now());
            }
            self.receive(&ready, &mut batch, clock, observer)?;
        }
        let elapsed = completed_at.unwrap_or(started_at) - started_at;
        self.report(observer);
        self.finish(elapsed)
    }

    fn receive(
        &mut self,
        ready: &[Token],
        batch: &mut BatchReceiver,
        clock: Clock,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), FetchError> {
        for &token in ready {
            let link = token as usize;
            if !self.links.receive(link, batch) {
                continue;
            }
            let now = clock.now();
            for datagram in batch.datagrams().filter(|datagram| !datagram.truncated) {
                let ecn = datagram.traffic_class.map_or(Ecn::NotEct, Ecn::from_bits);
                let file = &mut self.file;
                self.download.handle_datagram(
                    now,
                    link,
                    datagram.from,
                    ecn,
                    datagram.bytes,
                    &mut |offset, bytes| {
                        if let Some(file) = file {
                            file.write(offset, bytes);
                        }
                    },
                );
                if self.file.is_none() {
                    // The file must be there before the next datagram brings bytes for it.
                    self.open_file(observer)?;
                }
            }
            self.transmit(now);
        }
        Ok(())
    }

    fn transmit(&mut self, now: Instant) {
        while let Some(departure) = self.download.poll_transmit(now, &mut self.outgoing) {
            self.links.push(&departure, &self.outgoing);
        }
        self.links.flush();
    }

    /// Once the object is known: the file that its bytes go to.
    fn open_file(&mut self, observer: &mut dyn FnMut(Update<'_>)) -> Result<(), FetchError> {
        let Some(identity) = self.download.identity() else { return Ok(()) };
        let held = self.download.held();
        let mut file = PartialFile::open(&self.request.output, identity, &held)?;
        file.save()?;
        self.resumed_bytes = file.received();
        self.file = Some(file);
        observer(Update::Identified { identity, resumed_bytes: self.resumed_bytes });
        Ok(())
    }

    /// Passes on what happened; true once every byte is here.
    fn take_events(&mut self, observer: &mut dyn FnMut(Update<'_>)) -> Result<bool, FetchError> {
        let mut complete = false;
        if let Some(file) = &mut self.file {
            file.check()?;
        }
        while let Some(event) = self.download.poll_event() {
            let name = |path: usize| {
                let (link, server) = &self.names[path];
                format!("{server} via {link}")
            };
            match event {
                DownloadEvent::Identified(_) | DownloadEvent::Opened(_) => {}
                DownloadEvent::Lost(path, why) => {
                    observer(Update::Note(format!("{}: {why}; it is opened again", name(path))));
                }
                DownloadEvent::Refused(path, why) => {
                    observer(Update::Note(format!("{} is not used: {why}", name(path))));
                }
                DownloadEvent::Complete => complete = true,
                DownloadEvent::Failed(why) => {
                    self.save()?;
                    return Err(FetchError::Failed(self.with_remedy(why)));
                }
            }
        }
        Ok(complete)
    }

    fn with_remedy(&self, why: String) -> String {
        match &self.leftover {
            Some(_) if why.contains("of the partial file") => format!(
                "{why}\n  remedy: the object has changed since the last attempt; give --restart to fetch it from the start"
            ),
            _ => why,
        }
    }

    fn save(&mut self) -> Result<(), FetchError> {
        Ok(self.file.as_mut().map_or(Ok(()), PartialFile::save)?)
    }

    fn interrupted(mut self, now: Instant) -> Result<FetchSummary, FetchError> {
        self.download.abort(now);
        self.transmit(now);
        self.save()?;
        let received_bytes = self.file.as_ref().map_or(0, PartialFile::received);
        Err(FetchError::Interrupted {
            received_bytes,
            size: self.download.identity().map(|identity| identity.size),
        })
    }

    fn finish(self, elapsed: Duration) -> Result<FetchSummary, FetchError> {
        let paths = self.paths();
        let (Some(identity), Some(file)) = (self.download.identity(), self.file) else {
            return Err(FetchError::Failed("the download ended before it began".to_string()));
        };
        file.finish()?;
        let counters = self.download.counters();
        Ok(FetchSummary { identity, resumed_bytes: self.resumed_bytes, elapsed, paths, counters })
    }

    fn paths(&self) -> Vec<PathProgress> {
        let paths = self.names.iter().enumerate();
        paths
            .map(|(index, (link, server))| PathProgress {
                link: link.clone(),
                server: server.clone(),
                report: self.download.report(index),
            })
            .collect()
    }

    fn report(&self, observer: &mut dyn FnMut(Update<'_>)) {
        if let Some(file) = &self.file {
            observer(Update::Progress { received_bytes: file.received(), paths: &self.paths() });
        }
    }
}

/// The path over interface `link` to the first address of `url` that the interface can reach.
fn spec_for(url: &Url, link: usize, address: std::net::SocketAddr, cost: Cost) -> PathSpec {
    PathSpec { link, address, key: url.key, object: url.path.clone(), cost }
}
