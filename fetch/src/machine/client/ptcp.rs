//! pTCP: the server sends, over a pipe for each open path.
//!
//! The first path that opens carries the first pipe, whose opening segment says from which byte on the object is
//! wanted; the others join once that is established. A path that is opened again brings a new pipe, which takes the
//! place of the one before. When the server knows the connection no more, another begins at the first byte missing.
//!
//! A receiver has nothing to repeat and so does not notice that nothing comes any more: a path that is silent is
//! asked for an answer, and lost when it gives none.
use super::carrier::{Carried, CarrierEvent, PathMessage, PathTransmit};
use super::event::PathLoss;
use super::{DownloadConfig, PATH_TIMEOUT};
use crate::channel::Message;
use crate::segment;
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Deadline, Drain, Endpoint, Output, expire};
use prismux_ptcp::{Connection, Path, PtcpConfig, PtcpEvent, Segment, State};
use prismux_sealed::Entropy;
use prismux_tcp::TcpEvent;
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, TcpFlags};
use std::collections::VecDeque;
use std::ops::Range;

/// A path silent for this long is asked for an answer, again and again.
const ASK_AFTER: Duration = Duration::from_secs(2);

/// What an open path does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It has no pipe yet.
    Waits,
    /// Its pipe opens the connection.
    Opens,
    /// Its pipe joins.
    Joins,
    /// Its pipe is established.
    Carries,
    /// Its pipe has been reset by the user's wish, of which the server is told.
    Leaves,
    /// Its pipe has ended.
    Ended,
}

/// An open path.
struct Member {
    name: Path,
    role: Role,
    received_bytes: u64,
    last_seen: Instant,
    asked_at: Instant,
    asks: bool,
}

pub(super) struct Ptcp {
    config: PtcpConfig,
    size: u64,
    /// The object from this byte on is the connection's stream.
    offset: u64,
    connection: Option<Connection>,
    entropy: Entropy,
    /// By path; none where the path is not open.
    members: Vec<Option<Member>>,
    /// Names of paths are used once.
    next_name: u64,
    is_complete: bool,
    duplicate_bytes: u64,
    leaving: VecDeque<Segment>,
    events: VecDeque<CarrierEvent>,
    message: Vec<u8>,
}

impl Ptcp {
    /// For an object of `size` bytes. Says what of that which an earlier attempt received is not sent again: a stream
    /// begins at the first byte missing.
    pub(super) fn begin(size: u64, config: &DownloadConfig, entropy: Entropy) -> (Self, Vec<Range<u64>>) {
        let resume = config.resume.as_ref().and_then(|(_, ranges)| ranges.first());
        let prefix = resume.filter(|range| range.start == 0);
        let offset = prefix.map_or(0, |range| range.end.min(size));
        let carrier = Self {
            config: segment::config(config.window),
            size,
            offset,
            connection: None,
            entropy,
            members: Vec::new(),
            next_name: 0,
            is_complete: false,
            duplicate_bytes: 0,
            leaving: VecDeque::new(),
            events: VecDeque::new(),
            message: Vec::new(),
        };
        (carrier, prefix.cloned().into_iter().collect())
    }

    /// Gives pipes to open paths that have none: the first one opens the connection, the others join it.
    fn employ(&mut self, now: Instant) {
        if self.is_complete {
            return;
        }
        for member in self.members.iter_mut().flatten().filter(|member| member.role == Role::Waits) {
            match &mut self.connection {
                Some(connection) => {
                    if connection.open_pipe(now, member.name).is_some() {
                        member.role = Role::Joins;
                    }
                }
                None => {
                    let random = Seed(self.entropy.number()).stream("pTCP");
                    let config = self.config.clone();
                    self.connection = Some(Connection::connect_over(config, member.name, random, now));
                    member.role = Role::Opens;
                }
            }
        }
    }

    /// After a mutation of the connection: drains it, does what its events ask for, and drains it again. `arrived` is
    /// the path of the segment just handed over, and where its payload begins.
    fn settle(&mut self, now: Instant, arrived: Option<(usize, usize)>) {
        self.drain(now, arrived);
        self.follow_pipes();
        self.follow_connection(now);
        self.employ(now);
        self.drain(now, None);
    }

    fn drain(&mut self, now: Instant, arrived: Option<(usize, usize)>) {
        let Some(connection) = &mut self.connection else { return };
        let mut drain = Drain::new();
        while let Some(output) = drain.next(connection, now) {
            match (output, arrived) {
                (Output::Transmit(leaving), _) => self.leaving.push_back(leaving.segment),
                (
                    Output::Event(PtcpEvent::Connection(TcpEvent::Accepted {
                        segment_offset,
                        stream_offset,
                        bytes,
                    })),
                    Some((path, payload_offset)),
                ) => {
                    let start = payload_offset + segment_offset as usize;
                    let part = start..start + bytes as usize;
                    self.events
                        .push_back(CarrierEvent::Accepted { offset: self.offset + stream_offset, part });
                    if let Some(member) = &mut self.members[path] {
                        member.received_bytes += u64::from(bytes);
                    }
                }
                (Output::Event(_), _) => {}
            }
        }
    }

    /// Which pipes are established now, and which have ended.
    fn follow_pipes(&mut self) {
        let Some(connection) = &self.connection else { return };
        let is_over = connection.state() == State::Closed;
        for (path, member) in self.members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            if matches!(member.role, Role::Waits | Role::Leaves | Role::Ended) {
                continue;
            }
            if member.role != Role::Carries && connection.has_established(member.name) {
                member.role = Role::Carries;
                self.events.push_back(CarrierEvent::Opened(path));
            }
            if self.is_complete || connection.has_pipe(member.name) {
                continue;
            }
            if is_over && member.role == Role::Joins {
                // The server does not know the connection; it knows the session, which may begin another.
                member.role = Role::Waits;
            } else {
                member.role = Role::Ended;
                self.events.push_back(CarrierEvent::Lost(path, PathLoss::Ended));
            }
        }
    }

    /// The end of the object, and of the connection.
    fn follow_connection(&mut self, now: Instant) {
        let received = self.in_order_bytes();
        let Some(connection) = &mut self.connection else { return };
        if received == self.size && connection.state() != State::Opening && !self.is_complete {
            self.is_complete = true;
            self.events.push_back(CarrierEvent::Complete);
            connection.close(now);
        }
        if connection.state() == State::Closed && !self.is_complete {
            self.forget_connection();
        }
    }

    /// Another connection goes on where this one ends.
    fn forget_connection(&mut self) {
        self.offset = self.in_order_bytes();
        if let Some(connection) = self.connection.take() {
            self.duplicate_bytes += connection.drops().duplicate_bytes;
        }
    }

    /// Paths that have been silent: asked, or given up.
    fn check_silence(&mut self, now: Instant) {
        for (path, place) in self.members.iter_mut().enumerate() {
            let Some(member) = place else { continue };
            if now.saturating_since(member.last_seen) >= PATH_TIMEOUT {
                self.events.push_back(CarrierEvent::Lost(path, PathLoss::Silent));
            } else if now >= member.ask_at() {
                (member.asked_at, member.asks) = (now, true);
            }
        }
    }

    fn path_named(&self, name: Path) -> Option<usize> {
        self.members.iter().position(|member| member.as_ref().is_some_and(|member| member.name == name))
    }

    /// The next challenge for a path that is silent.
    fn ask(&mut self) -> Option<PathTransmit> {
        let asks = |member: &Option<Member>| member.as_ref().is_some_and(|member| member.asks);
        let path = self.members.iter().position(asks)?;
        if let Some(member) = &mut self.members[path] {
            member.asks = false;
        }
        self.message.clear();
        Message::Challenge(self.entropy.bytes()).emit(&mut self.message);
        Some(PathTransmit { path, ecn: Ecn::NotEct })
    }

    pub(super) fn open(&mut self, now: Instant, path: usize) {
        let name = segment::path_named(self.next_name);
        self.next_name += 1;
        if self.members.len() <= path {
            self.members.resize_with(path + 1, || None);
        }
        self.members[path] = Some(Member {
            name,
            role: Role::Waits,
            received_bytes: 0,
            last_seen: now,
            asked_at: now,
            asks: false,
        });
        self.employ(now);
        self.drain(now, None);
    }

    /// What is on its way comes over the others once more.
    pub(super) fn close_path(&mut self, now: Instant, path: usize) {
        let member = self.members.get_mut(path).and_then(Option::as_mut);
        if let (Some(member), Some(connection)) = (member, &mut self.connection)
            && connection.has_pipe(member.name)
        {
            member.role = Role::Leaves;
            connection.drop_pipe(member.name);
            self.settle(now, None);
        } else {
            self.events.push_back(CarrierEvent::Closed(path));
        }
    }

    pub(super) fn drop_path(&mut self, now: Instant, path: usize) {
        let member = self.members.get_mut(path).and_then(Option::take);
        if let (Some(member), Some(connection)) = (member, &mut self.connection) {
            connection.drop_pipe(member.name);
            self.settle(now, None);
        }
    }

    pub(super) fn abort(&mut self, now: Instant) {
        if let Some(connection) = &mut self.connection {
            connection.abort();
            self.drain(now, None);
        }
    }

    pub(super) fn message(&self) -> &[u8] {
        &self.message
    }

    pub(super) fn carried(&self, path: usize) -> Carried {
        let Some(Some(member)) = self.members.get(path) else { return Carried::default() };
        let pipe = self.connection.iter().flat_map(Connection::pipes).find(|pipe| pipe.path == member.name);
        Carried {
            received_bytes: member.received_bytes,
            round_trip: pipe.and_then(|pipe| pipe.tcp.engine.srtt),
            // What is repeated, and when, is the server's affair.
            ..Carried::default()
        }
    }

    pub(super) fn in_order_bytes(&self) -> u64 {
        self.offset + self.connection.as_ref().map_or(0, Connection::bytes_received_in_order)
    }

    pub(super) fn duplicate_bytes(&self) -> u64 {
        let now = self.connection.as_ref().map_or(0, |connection| connection.drops().duplicate_bytes);
        self.duplicate_bytes + now
    }

    pub(super) fn is_closed(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.state() == State::Closed)
    }
}

impl Member {
    fn ask_at(&self) -> Instant {
        self.last_seen.max(self.asked_at) + ASK_AFTER
    }

    fn deadline(&self) -> Deadline {
        let given_up_at = self.last_seen + PATH_TIMEOUT;
        Deadline { at: self.ask_at().min(given_up_at), why: "silence" }
    }
}

/// The segment that says who opens a connection has none to name yet.
fn is_opening(segment: &Segment) -> bool {
    segment.tcp.flags.contains(TcpFlags::SYN) && segment.header.destination == 0
}

impl Endpoint for Ptcp {
    type Input<'a> = PathMessage<'a>;
    type Transmit = PathTransmit;
    type Event = CarrierEvent;

    fn handle_input(&mut self, now: Instant, PathMessage { path, ecn, message }: PathMessage<'_>) {
        let Some(Some(member)) = self.members.get_mut(path) else {
            return self.events.push_back(CarrierEvent::Malformed);
        };
        member.last_seen = now;
        let parsed = match message {
            Message::Response(_) => return,
            Message::Ptcp(bytes) => segment::parse(bytes, member.name, ecn),
            _ => None,
        };
        let Some((segment, payload_offset)) = parsed else {
            return self.events.push_back(CarrierEvent::Malformed);
        };
        if let Some(connection) = &mut self.connection {
            connection.handle_input(now, segment);
            self.settle(now, Some((path, payload_offset)));
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.connection.as_mut().is_some_and(|connection| expire(connection, now)) {
            self.settle(now, None);
        }
        self.check_silence(now);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<PathTransmit> {
        if let Some(challenge) = self.ask() {
            return Some(challenge);
        }
        loop {
            let segment = self.leaving.pop_front()?;
            // What a pipe still has to say whose path is gone is said to nobody.
            let Some(path) = self.path_named(segment.path) else { continue };
            if self.members[path].as_ref().is_some_and(|member| member.role == Role::Leaves) {
                self.events.push_back(CarrierEvent::Closed(path));
            }
            self.message.clear();
            match is_opening(&segment) {
                true => Message::PtcpOpening { offset: self.offset, segment: &[] }.emit(&mut self.message),
                false => Message::Ptcp(&[]).emit(&mut self.message),
            }
            if segment::emit(&segment, &mut self.message).is_some() {
                return Some(PathTransmit { path, ecn: segment.ecn });
            }
        }
    }

    fn poll_event(&mut self) -> Option<CarrierEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let connection = self.connection.as_ref().and_then(Endpoint::poll_timeout);
        self.members
            .iter()
            .flatten()
            .map(Member::deadline)
            .fold(connection, |earliest, silence| Deadline::earliest(earliest, Some(silence)))
    }
}
