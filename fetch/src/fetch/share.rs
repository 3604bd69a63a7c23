//! `prismux fetch --share` on Linux: one object, into a file, together with neighbours.
//!
//! The sockets towards the origin are those of a fetch alone; one more listens for neighbours, and asks them.
use super::links::{FIRST_TOKEN, Links};
use super::{FetchError, FetchRequest, REPORT_EVERY, SAVE_EVERY, Update, prepare_output};
use crate::handshake::Identity;
use crate::member::{CommunitySecret, Member, MemberConfig, MemberCounters, MemberEvent, Received, Store};
use crate::os_entropy;
use crate::partial::{Leftover, PartialError, PartialFile};
use crate::server::Unreadable;
use crate::socket::{self, UdpPort};
use prismux_community::contents::{Layout, Reason};
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_linux::batch::BatchReceiver;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Token, Wake};
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::fs::File;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// The port of members that say nothing else.
pub const DEFAULT_PORT: u16 = 4718;

/// Neighbours have said something.
const NEIGHBOURS: Token = FIRST_TOKEN;
/// The member's number of the socket towards neighbours.
const NEIGHBOUR_LINK: usize = NEIGHBOURS as usize;

/// What to fetch, and among whom.
#[derive(Debug, Clone)]
pub struct ShareRequest {
    /// What to fetch from where into which file. Its transport, rate, orders and samples are not used.
    pub fetch: FetchRequest,
    /// What members of the community know.
    pub secret: CommunitySecret,
    /// Where neighbours are.
    pub neighbours: Vec<SocketAddr>,
    /// Where neighbours find this member.
    pub listen: SocketAddr,
    /// Having everything, neighbours that have not are given to for so long.
    pub stay: Duration,
}

/// A file that is here, with what was shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareSummary {
    /// What it is.
    pub identity: Identity,
    /// Bytes that an earlier attempt had received.
    pub resumed_bytes: u64,
    /// Time from the first Hello to the last byte.
    pub elapsed: Duration,
    /// What has come from where, and was given.
    pub counters: MemberCounters,
}

/// The pieces that have come, in the file.
struct FileStore(File);

impl Store for FileStore {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        self.0.read_exact_at(buffer, offset).map_err(|_| Unreadable)
    }
}

/// Fetches and gives. Ends early with `stop`, and on SIGINT and SIGTERM if `on_signals`; that is no failure when
/// everything is here.
///
/// # Errors
/// See [`FetchError`]. What has been received stays for the next attempt, unless its digest is wrong.
pub fn run(
    request: &ShareRequest,
    stop: StopHandle,
    on_signals: bool,
    observer: &mut dyn FnMut(Update<'_>),
) -> Result<ShareSummary, FetchError> {
    let leftover = prepare_output(&request.fetch)?;
    let mut event_loop = EventLoop::new(Clock::start(), stop)?;
    if on_signals {
        event_loop.stop_on_signals()?;
    }
    let failed = |error| FetchError::Listen(request.listen, error);
    let port = UdpPort::listen(request.listen).map_err(failed)?;
    let local = port.local_address().map_err(failed)?;
    event_loop.watch(&port, NEIGHBOURS)?;
    let mut links = Links::new(&request.fetch, &event_loop)?;
    let mut origin = Vec::new();
    for url in &request.fetch.urls {
        origin.extend(links.paths_to(url, &event_loop)?);
    }
    let started_at = event_loop.clock().now();
    let config = MemberConfig {
        origin,
        neighbour_link: NEIGHBOUR_LINK,
        neighbours: request.neighbours.clone(),
        secret: request.secret.clone(),
        digest: request.fetch.digest,
        max_size: request.fetch.max_size,
        give_up_after: request.fetch.give_up_after,
    };
    let share = Share {
        request,
        member: Member::new(config, os_entropy(), started_at),
        links,
        port,
        local,
        leftover,
        started_at,
        identity: None,
        file: None,
        resumed_bytes: 0,
        complete_at: None,
        finishing: None,
    };
    share.run(event_loop, observer)
}

struct Share<'a> {
    request: &'a ShareRequest,
    member: Member,
    links: Links,
    port: UdpPort,
    local: SocketAddr,
    leftover: Option<Leftover>,
    started_at: Instant,
    identity: Option<Identity>,
    /// From when the object is known until everything is here.
    file: Option<PartialFile>,
    resumed_bytes: u64,
    complete_at: Option<Instant>,
    /// The digest of the whole file is computed, and the file gets its name, while neighbours are still given to.
    finishing: Option<JoinHandle<Result<(), PartialError>>>,
}

impl Share<'_> {
    fn run(
        mut self,
        mut event_loop: EventLoop,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<ShareSummary, FetchError> {
        let clock = event_loop.clock();
        let (mut batch, mut ready) = (socket::batch(), Vec::new());
        let (mut save_at, mut report_at) = (self.started_at + SAVE_EVERY, self.started_at + REPORT_EVERY);
        loop {
            let now = clock.now();
            expire(&mut self.member, now);
            self.drain(now, observer)?;
            self.flush();
            if self.is_over(now) {
                break;
            }
            if report_at <= now {
                report_at = now + REPORT_EVERY;
                self.links.look_after(&mut self.member, &event_loop, now);
                self.report(observer);
            }
            if save_at <= now {
                save_at = now + SAVE_EVERY;
                self.save()?;
            }
            let deadline = self.member.poll_timeout().map(|deadline| deadline.at);
            let deadline = deadline.into_iter().chain([report_at]).min();
            if event_loop.wait(deadline, &mut ready)? == Wake::Stop {
                if self.complete_at.is_some() {
                    break;
                }
                return self.interrupted(clock.now(), observer);
            }
            self.links.note_gone(&ready, &mut self.member, &event_loop, clock.now())?;
            self.receive(&ready, &mut batch, clock, observer)?;
        }
        self.finish(clock.now(), observer)
    }

    /// Whether everything is here and nobody waits for any of it.
    fn is_over(&self, now: Instant) -> bool {
        let Some(complete_at) = self.complete_at else { return false };
        let is_named = self.finishing.as_ref().is_none_or(JoinHandle::is_finished);
        is_named && (!self.member.is_needed() || now >= complete_at + self.request.stay)
    }

    fn receive(
        &mut self,
        ready: &[Token],
        batch: &mut BatchReceiver,
        clock: Clock,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), FetchError> {
        for &token in ready {
            let has_some = match Links::of(token) {
                Some(link) => self.links.receive(link, batch),
                None => token == NEIGHBOURS && self.port.receive(batch)? > 0,
            };
            if !has_some {
                continue;
            }
            let is_near = token == NEIGHBOURS;
            let now = clock.now();
            for datagram in batch.datagrams().filter(|datagram| !datagram.truncated) {
                if is_near {
                    self.port.note_asked(datagram.from, datagram.to);
                }
                let asked = datagram.to.map(|address| SocketAddr::new(address, self.local.port()));
                let received = Received {
                    link: token as usize,
                    from: datagram.from,
                    local: asked.unwrap_or(self.local),
                    ecn: datagram.traffic_class.map_or(Ecn::NotEct, Ecn::from_bits),
                    bytes: datagram.bytes,
                };
                self.member.handle_input(now, received);
                self.drain(now, observer)?;
            }
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        self.links.flush();
        self.port.flush();
    }

    /// After a mutation: queues what leaves, keeps what came, passes on what happened.
    fn drain(&mut self, now: Instant, observer: &mut dyn FnMut(Update<'_>)) -> Result<(), FetchError> {
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.member, now) {
            match output {
                Output::Transmit(transmit) => {
                    let (datagram, ecn) = (self.member.datagram(), transmit.ecn);
                    match transmit.link {
                        NEIGHBOUR_LINK => self.port.push(transmit.to, ecn, datagram),
                        link => self.links.push(link, transmit.to, ecn, datagram),
                    }
                }
                Output::Event(event) => {
                    self.take_event(now, event, observer)?;
                    // What follows from an event is drained too.
                    drain = Drain::new();
                }
            }
        }
        Ok(())
    }

    fn take_event(
        &mut self,
        now: Instant,
        event: MemberEvent,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), FetchError> {
        match event {
            MemberEvent::Identified(identity) => self.begin(now, identity, observer)?,
            MemberEvent::Piece { offset, bytes } => {
                if let Some(file) = &mut self.file {
                    file.write(offset, &bytes);
                    // Neighbours may ask for it from now on.
                    file.flush();
                    file.check()?;
                }
            }
            MemberEvent::Joined(address) => observer(Update::Note(format!("shared with {address}"))),
            MemberEvent::Left(address, why) => {
                observer(Update::Note(format!("{address} is left: {}", because(why))));
            }
            MemberEvent::Complete => {
                self.complete_at = Some(now);
                let overwrite = self.request.fetch.overwrite;
                let file = self.file.take();
                self.finishing = file.map(|file| thread::spawn(move || file.finish(overwrite)));
                if self.member.is_needed() {
                    let stay = self.request.stay;
                    observer(Update::Note(format!("complete; neighbours are given to for up to {stay}")));
                }
            }
            MemberEvent::Failed(why) => {
                self.save()?;
                return Err(FetchError::Member(why));
            }
        }
        Ok(())
    }

    /// The object is known: the file that its bytes go to, with what an earlier attempt has left.
    fn begin(
        &mut self,
        now: Instant,
        identity: Identity,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), FetchError> {
        let Some(layout) = self.member.layout() else { return Ok(()) };
        let pieces = match self.leftover.take() {
            Some(leftover) if leftover.identity != identity => return Err(FetchError::Changed),
            leftover => whole_pieces(layout, leftover.map(|leftover| leftover.ranges).unwrap_or_default()),
        };
        let held: Vec<_> = pieces
            .iter()
            .map(|pieces| layout.range(pieces.start).start..layout.range(pieces.end - 1).end)
            .collect();
        let mut file = PartialFile::open(&self.request.fetch.output, identity, &held)?;
        file.save()?;
        let store = FileStore(file.reader()?);
        self.resumed_bytes = file.received();
        self.file = Some(file);
        self.identity = Some(identity);
        observer(Update::Identified { identity, resumed_bytes: self.resumed_bytes });
        self.member.begin(now, Arc::new(store), |piece| pieces.iter().any(|held| held.contains(&piece)));
        Ok(())
    }

    fn save(&mut self) -> Result<(), FetchError> {
        Ok(self.file.as_mut().map_or(Ok(()), PartialFile::save)?)
    }

    fn report(&self, observer: &mut dyn FnMut(Update<'_>)) {
        let received_bytes = match (&self.file, self.identity, self.complete_at) {
            (_, Some(identity), Some(_)) => identity.size,
            (Some(file), _, _) => file.received(),
            _ => return,
        };
        let neighbours = self.member.neighbours();
        observer(Update::Sharing { received_bytes, neighbours, counters: &self.member.counters() });
    }

    fn interrupted(
        mut self,
        now: Instant,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<ShareSummary, FetchError> {
        self.member.stop(now);
        self.drain(now, observer)?;
        self.flush();
        self.save()?;
        let received_bytes = self.file.as_ref().map_or(0, PartialFile::received);
        Err(FetchError::Interrupted { received_bytes, size: self.identity.map(|identity| identity.size) })
    }

    fn finish(
        mut self,
        now: Instant,
        observer: &mut dyn FnMut(Update<'_>),
    ) -> Result<ShareSummary, FetchError> {
        self.report(observer);
        let counters = self.member.counters();
        self.member.stop(now);
        self.drain(now, observer)?;
        self.flush();
        if let Some(finishing) = self.finishing.take() {
            match finishing.join() {
                Ok(named) => named?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let (Some(identity), Some(complete_at)) = (self.identity, self.complete_at) else {
            unreachable!("what is complete is known");
        };
        let elapsed = complete_at - self.started_at;
        Ok(ShareSummary { identity, resumed_bytes: self.resumed_bytes, elapsed, counters })
    }
}

/// The pieces that lie in `ranges` as wholes, in runs.
fn whole_pieces(layout: Layout, ranges: Vec<Range<u64>>) -> Vec<Range<u32>> {
    let runs = ranges.into_iter().map(|range| layout.whole_pieces(&range));
    runs.filter(|run| !run.is_empty()).collect()
}

const fn because(why: Reason) -> &'static str {
    match why {
        Reason::Lied => "it gave wrong bytes",
        Reason::Owing => "it does not give what it says it has",
        Reason::Silent => "it is silent; it is used again when it is heard",
    }
}
