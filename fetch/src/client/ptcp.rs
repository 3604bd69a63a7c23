//! pTCP: the server sends, over a pipe for each open path.
//!
//! The first path that opens carries the first pipe, whose opening segment says from which byte on the object is wanted; the
//! others join once that is established. A path that is opened again brings a new pipe, which takes the place of
//! the one before. When the server knows the connection no more, another begins at the first byte missing.
//!
//! A receiver has nothing to repeat and so does not notice that nothing comes any more: a path that is silent is asked for
//! an answer, and lost when it gives none.
use super::carrier::{Carried, Carrier, Note};
use super::traffic::Store;
use super::{DownloadConfig, PATH_SILENCE};
use crate::channel::Message;
use crate::{random, segment};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_ptcp::{Connection, Path, PtcpConfig, PtcpEvent, Segment, State};
use prismux_r2cp::policy::Cost;
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
    heard_at: Instant,
    asked_at: Instant,
    asks: bool,
}

pub(super) struct Ptcp {
    config: PtcpConfig,
    size: u64,
    /// The object from this byte on is the connection's stream.
    offset: u64,
    connection: Option<Connection>,
    /// By path; none where the path is not open.
    members: Vec<Option<Member>>,
    /// Names of paths are used once.
    next_name: u64,
    is_complete: bool,
    duplicate_bytes: u64,
    notes: VecDeque<Note>,
}

impl Ptcp {
    /// For an object of `size` bytes. Says what of that which an earlier attempt received is not sent again: a stream begins
    /// at the first byte missing.
    pub(super) fn begin(size: u64, config: &DownloadConfig) -> (Self, Vec<Range<u64>>) {
        let resume = config.resume.as_ref().and_then(|(_, ranges)| ranges.first());
        let prefix = resume.filter(|range| range.start == 0);
        let offset = prefix.map_or(0, |range| range.end.min(size));
        let carrier = Self {
            config: segment::config(config.window),
            size,
            offset,
            connection: None,
            members: Vec::new(),
            next_name: 0,
            is_complete: false,
            duplicate_bytes: 0,
            notes: VecDeque::new(),
        };
        (carrier, prefix.cloned().into_iter().collect())
    }

    /// Bytes of the object that are here without a gap.
    fn received(&self) -> u64 {
        self.offset + self.connection.as_ref().map_or(0, Connection::bytes_received_in_order)
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
                    let random = Seed(random::number()).stream("pTCP");
                    let config = self.config.clone();
                    self.connection = Some(Connection::connect_over(config, member.name, random, now));
                    member.role = Role::Opens;
                }
            }
        }
    }

    /// Takes note of what happened to the connection. `arrived` is the path and the payload of the segment just handed over.
    fn take_events(&mut self, now: Instant, arrived: Option<(usize, &[u8])>, store: &mut Store<'_>) {
        while let Some(event) = self.connection.as_mut().and_then(Endpoint::poll_event) {
            let PtcpEvent::Connection(event) = event else { continue };
            if let (TcpEvent::Accepted { segment_offset, stream_offset, bytes }, Some((path, payload))) =
                (event, arrived)
            {
                let start = segment_offset as usize;
                if let Some(part) = payload.get(start..start + bytes as usize) {
                    store(self.offset + stream_offset, part);
                }
                if let Some(member) = &mut self.members[path] {
                    member.received_bytes += u64::from(bytes);
                }
                self.notes.push_back(Note::News);
            }
        }
        self.look_at_pipes();
        self.look_at_connection(now);
        self.employ(now);
    }

    /// Which pipes are established now, and which have ended.
    fn look_at_pipes(&mut self) {
        let Some(connection) = &self.connection else { return };
        let is_over = connection.state() == State::Closed;
        for (path, member) in self.members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            if matches!(member.role, Role::Waits | Role::Leaves | Role::Ended) {
                continue;
            }
            if member.role != Role::Carries && connection.has_established(member.name) {
                member.role = Role::Carries;
                self.notes.push_back(Note::Opened(path));
            }
            if self.is_complete || connection.has_pipe(member.name) {
                continue;
            }
            if is_over && member.role == Role::Joins {
                // The server does not know the connection; it knows the session, which may begin another.
                member.role = Role::Waits;
            } else {
                member.role = Role::Ended;
                self.notes.push_back(Note::Lost(path, "its server has ended the session"));
            }
        }
    }

    fn look_at_connection(&mut self, now: Instant) {
        let received = self.received();
        let Some(connection) = &mut self.connection else { return };
        if received == self.size && connection.state() != State::Opening && !self.is_complete {
            self.is_complete = true;
            self.notes.push_back(Note::Complete);
            connection.close(now);
        }
        if connection.state() == State::Closed && !self.is_complete {
            self.forget_connection();
        }
    }

    /// Another connection goes on where this one ends.
    fn forget_connection(&mut self) {
        self.offset = self.received();
        if let Some(connection) = self.connection.take() {
            self.duplicate_bytes += connection.drops().duplicate_bytes;
        }
    }

    /// Paths that have been silent: asked, or given up.
    fn look_for_silence(&mut self, now: Instant) {
        for (path, place) in self.members.iter_mut().enumerate() {
            let Some(member) = place else { continue };
            if now.saturating_since(member.heard_at) >= PATH_SILENCE {
                self.notes.push_back(Note::Lost(path, "its server is silent"));
            } else if now >= member.ask_at() {
                (member.asked_at, member.asks) = (now, true);
            }
        }
    }

    fn path_named(&self, name: Path) -> Option<usize> {
        self.members.iter().position(|member| member.as_ref().is_some_and(|member| member.name == name))
    }
}

impl Member {
    fn ask_at(&self) -> Instant {
        self.heard_at.max(self.asked_at) + ASK_AFTER
    }
}

/// The segment that says who opens a connection has none to name yet.
fn is_opening(segment: &Segment) -> bool {
    segment.tcp.flags.contains(TcpFlags::SYN) && segment.header.destination == 0
}

impl Carrier for Ptcp {
    fn open(&mut self, now: Instant, path: usize, _cost: Cost) {
        let name = segment::path_named(self.next_name);
        self.next_name += 1;
        if self.members.len() <= path {
            self.members.resize_with(path + 1, || None);
        }
        self.members[path] = Some(Member {
            name,
            role: Role::Waits,
            received_bytes: 0,
            heard_at: now,
            asked_at: now,
            asks: false,
        });
        self.employ(now);
    }

    /// What is on its way comes over the others once more.
    fn close_path(&mut self, now: Instant, path: usize) {
        let member = self.members.get_mut(path).and_then(Option::as_mut);
        if let (Some(member), Some(connection)) = (member, &mut self.connection)
            && connection.has_pipe(member.name)
        {
            member.role = Role::Leaves;
            connection.drop_pipe(now, member.name);
            self.take_events(now, None, &mut |_, _| {});
        } else {
            self.notes.push_back(Note::Closed(path));
        }
    }

    fn drop_path(&mut self, now: Instant, path: usize) {
        let member = self.members.get_mut(path).and_then(Option::take);
        if let (Some(member), Some(connection)) = (member, &mut self.connection) {
            connection.drop_pipe(now, member.name);
            self.take_events(now, None, &mut |_, _| {});
        }
    }

    fn receive(
        &mut self,
        now: Instant,
        path: usize,
        ecn: Ecn,
        message: &Message<'_>,
        store: &mut Store<'_>,
    ) -> bool {
        let Some(Some(member)) = self.members.get_mut(path) else { return false };
        member.heard_at = now;
        let bytes = match message {
            Message::Ptcp(bytes) => bytes,
            Message::Response(_) => return true,
            _ => return false,
        };
        let Some((segment, payload_offset)) = segment::parse(bytes, member.name, ecn) else { return false };
        if let Some(connection) = &mut self.connection {
            connection.handle_input(now, segment);
            self.take_events(now, Some((path, &bytes[payload_offset..])), store);
        }
        true
    }

    fn transmit(&mut self, now: Instant, message: &mut Vec<u8>) -> Option<(usize, Ecn)> {
        let asks = |member: &Option<Member>| member.as_ref().is_some_and(|member| member.asks);
        if let Some(path) = self.members.iter().position(asks) {
            if let Some(member) = &mut self.members[path] {
                member.asks = false;
            }
            Message::Challenge(random::bytes()).emit(message);
            return Some((path, Ecn::NotEct));
        }
        loop {
            let segment = self.connection.as_mut()?.poll_transmit(now)?.segment;
            // What a pipe still has to say whose path is gone is said to nobody.
            let Some(path) = self.path_named(segment.path) else { continue };
            if self.members[path].as_ref().is_some_and(|member| member.role == Role::Leaves) {
                self.notes.push_back(Note::Closed(path));
            }
            message.clear();
            match is_opening(&segment) {
                true => Message::PtcpOpening { offset: self.offset, segment: &[] }.emit(message),
                false => Message::Ptcp(&[]).emit(message),
            }
            if segment::emit(&segment, message).is_some() {
                return Some((path, segment.ecn));
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let connection = self.connection.as_ref().and_then(Endpoint::poll_timeout);
        let silence = |member: &Member| member.ask_at().min(member.heard_at + PATH_SILENCE);
        let silences = self.members.iter().flatten().map(silence);
        silences.chain(connection.map(|deadline| deadline.at)).min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(connection) = &mut self.connection
            && connection.poll_timeout().is_some_and(|deadline| deadline.at <= now)
        {
            connection.handle_timeout(now);
            self.take_events(now, None, &mut |_, _| {});
        }
        self.look_for_silence(now);
    }

    fn poll_note(&mut self) -> Option<Note> {
        self.notes.pop_front()
    }

    fn carried(&self, path: usize) -> Carried {
        let Some(Some(member)) = self.members.get(path) else { return Carried::default() };
        let pipe = self.connection.iter().flat_map(Connection::pipes).find(|pipe| pipe.path == member.name);
        Carried {
            received_bytes: member.received_bytes,
            round_trip: pipe.and_then(|pipe| pipe.tcp.engine.srtt),
            // What is repeated, and when, is the server's affair.
            ..Carried::default()
        }
    }

    fn in_order_bytes(&self) -> u64 {
        self.received()
    }

    fn duplicate_bytes(&self) -> u64 {
        let now = self.connection.as_ref().map_or(0, |connection| connection.drops().duplicate_bytes);
        self.duplicate_bytes + now
    }

    fn abort(&mut self, now: Instant) {
        if let Some(connection) = &mut self.connection {
            connection.abort(now);
        }
    }

    fn is_closed(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.state() == State::Closed)
    }
}
