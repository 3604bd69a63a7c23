//! `prismux fetch` on Linux: one object, over several interfaces from several servers, into a file.
//!
//! `request`: what is wanted, told and answered. `links`: sockets on interfaces that come and go. `orders`: what
//! reaches it while it runs. `sample`: how it went, over time. [`share`]: the same among neighbours. `transport`: what
//! a transport cannot do. `error`: what can go wrong.
mod error;
mod links;
mod orders;
mod request;
mod sample;
pub mod share;
mod transport;

pub use crate::client::Transport;
pub use crate::socket::Via;
pub use error::{FetchError, UsageError};
pub use request::{FetchRequest, FetchSummary, PathProgress, Update};
pub use sample::Sample;

use crate::client::{Download, DownloadConfig, DownloadEvent, PathSpec, Received, Transmit};
use crate::os_entropy;
use crate::partial::{self, Leftover, PartialFile};
use crate::socket;
use crate::url::Url;
use links::{FIRST_TOKEN, Links};
use orders::Orders;
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_linux::batch::BatchReceiver;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Token, Wake};
use prismux_r2cp::policy::Cost;
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use request::PathName;
use sample::Sampler;

/// The sidecar is brought up to date this often.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// The observer is told this often, and interfaces that are gone are looked for.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// Orders have come.
const ORDERS: Token = FIRST_TOKEN;

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
    transport::check(request)?;
    let leftover = prepare_output(request)?;
    let mut event_loop = EventLoop::new(Clock::start(), stop)?;
    if on_signals {
        event_loop.stop_on_signals()?;
    }
    let clock = event_loop.clock();
    let links = Links::new(request, &event_loop)?;
    let mut fetch = Fetch {
        request,
        download: Download::new(config_of(request, leftover.as_ref()), [], os_entropy(), clock.now()),
        orders: None,
        sampler: request.sample_every.map(Sampler::new),
        started_at: clock.now(),
        completed_at: None,
        file: None,
        names: Vec::new(),
        resumed_bytes: 0,
        links,
    };
    for url in &request.urls {
        fetch.use_server(url, &event_loop)?;
    }
    if let Some(path) = &request.orders {
        fetch.orders = Some(orders::take(path, &event_loop)?);
    }
    fetch.run(event_loop, observer)
}

fn config_of(request: &FetchRequest, leftover: Option<&Leftover>) -> DownloadConfig {
    DownloadConfig {
        transport: request.transport,
        rate: request.rate,
        digest: request.digest,
        max_size: request.max_size,
        resume: leftover.map(|leftover| (leftover.identity, leftover.ranges.clone())),
        give_up_after: request.give_up_after,
        window: request.window,
        ask_up_to: None,
    }
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
    orders: Option<Orders>,
    sampler: Option<Sampler>,
    started_at: Instant,
    completed_at: Option<Instant>,
    /// From the moment the object is known.
    file: Option<PartialFile>,
    names: Vec<PathName>,
    resumed_bytes: u64,
}

impl Fetch<'_> {
    fn run(
        mut self,
        mut event_loop: EventLoop,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<FetchSummary, FetchError> {
        let clock = event_loop.clock();
        let started_at = self.started_at;
        let (mut batch, mut ready) = (socket::batch(), Vec::new());
        let (mut save_at, mut report_at) = (started_at + SAVE_EVERY, started_at + REPORT_EVERY);
        loop {
            let now = clock.now();
            expire(&mut self.download, now);
            self.drain(now, observer)?;
            self.links.flush();
            if let Some(file) = &mut self.file {
                file.check()?;
            }
            if self.completed_at.is_some() && self.download.is_over(now) {
                break;
            }
            if report_at <= now {
                report_at = now + REPORT_EVERY;
                self.links.look_after(&mut self.download, &event_loop, now);
                self.report(observer);
                self.tell_old_sample(now, observer);
            }
            if save_at <= now {
                save_at = now + SAVE_EVERY;
                self.save()?;
            }
            let deadline = self.download.poll_timeout().map(|deadline| deadline.at);
            let deadline = deadline.into_iter().chain([report_at]).min();
            if event_loop.wait(deadline, &mut ready)? == Wake::Stop {
                self.tell_last_sample(observer);
                return self.interrupted(clock.now(), observer);
            }
            if ready.contains(&ORDERS) {
                self.obey(&event_loop, observer);
            }
            self.links.note_gone(&ready, &mut self.download, &event_loop, clock.now())?;
            self.receive(&ready, &mut batch, clock, observer)?;
        }
        let elapsed = self.completed_at.unwrap_or(started_at) - started_at;
        self.tell_last_sample(observer);
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
        for link in ready.iter().filter_map(|token| Links::of(*token)) {
            if !self.links.receive(link, batch) {
                continue;
            }
            let now = clock.now();
            for datagram in batch.datagrams().filter(|datagram| !datagram.truncated) {
                let received = Received {
                    link,
                    from: datagram.from,
                    ecn: datagram.traffic_class.map_or(Ecn::NotEct, Ecn::from_bits),
                    bytes: datagram.bytes,
                };
                self.download.handle_input(now, received);
                self.drain(now, observer)?;
            }
            self.links.flush();
            self.sample(now, observer);
        }
        Ok(())
    }

    /// After a mutation: queues what leaves, keeps what came, passes on what happened.
    fn drain(&mut self, now: Instant, observer: &mut dyn FnMut(Update<'_>)) -> Result<(), FetchError> {
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.download, now) {
            match output {
                Output::Transmit(Transmit { link, to, ecn }) => {
                    self.links.push(link, to, ecn, self.download.datagram());
                }
                Output::Event(event) => self.take_event(now, event, observer)?,
            }
        }
        Ok(())
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

    fn take_event(
        &mut self,
        now: Instant,
        event: DownloadEvent,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), FetchError> {
        let at = now.saturating_since(self.started_at);
        let mut tell = |path: usize, what| {
            let PathName { link, server, .. } = &self.names[path];
            observer(Update::Path { at, link, server, what });
            format!("{server} via {link}")
        };
        match event {
            DownloadEvent::Identified(_) => self.open_file(observer)?,
            DownloadEvent::Received { offset, part } => {
                if let Some(file) = &mut self.file {
                    file.write(offset, self.download.part(part));
                }
            }
            DownloadEvent::Opened(path) => drop(tell(path, "open")),
            DownloadEvent::Closed(path) => drop(tell(path, "closed")),
            DownloadEvent::Lost(path, why) => {
                let name = tell(path, "lost");
                observer(Update::Note(format!("{name}: {why}; it is opened again")));
            }
            DownloadEvent::Refused(path, why) => {
                let name = tell(path, "refused");
                observer(Update::Note(format!("{name} is not used: {why}")));
            }
            DownloadEvent::Complete => self.completed_at = self.completed_at.or(Some(now)),
            DownloadEvent::Failed(why) => {
                self.save()?;
                return Err(FetchError::Download(why));
            }
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), FetchError> {
        Ok(self.file.as_mut().map_or(Ok(()), PartialFile::save)?)
    }

    fn interrupted(
        mut self,
        now: Instant,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<FetchSummary, FetchError> {
        self.download.abort(now);
        self.drain(now, observer)?;
        self.links.flush();
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
            unreachable!("a download that is complete knows what it is of");
        };
        file.finish(self.request.overwrite)?;
        let counters = self.download.counters();
        let (resumed_bytes, started_at) = (self.resumed_bytes, self.started_at);
        let delivery = self.download.delivery();
        Ok(FetchSummary { identity, resumed_bytes, elapsed, paths, counters, delivery, started_at })
    }

    fn paths(&self) -> Vec<PathProgress> {
        let paths = self.names.iter().enumerate();
        paths
            .map(|(index, name)| PathProgress {
                link: name.link.clone(),
                server: name.server.clone(),
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
