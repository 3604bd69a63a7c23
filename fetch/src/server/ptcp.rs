//! pTCP at the server: one connection for each client, whose pipes are sessions.
//!
//! The first session of a client opens the connection, and learns its token inside the seal; another session joins it by
//! showing the token. Both ask for the same object, and each address has proved itself before. Segments leave by the
//! session of their pipe, payload is read from the object when it leaves.
use super::counters::SessionCounters;
use super::session::{Service, Session};
use super::timers::Alarm;
use super::{Buffers, Object, Objects, Outbox, Server, Wake, counted};
use crate::PTCP_SEGMENT_BYTES;
use crate::channel::Message;
use crate::random;
use crate::segment;
use crate::wire::ConnectionId;
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_ptcp::{Connection, PtcpConfig, PtcpEvent, Segment, SegmentOut, State, reset_for};
use prismux_rcp::rate_cap::RateCap;
use prismux_tcp::TcpEvent;
use prismux_units::{ByteCount, Instant, Rate};
use prismux_wire::Ecn;
use std::sync::Arc;

/// May leave at once under a rate cap.
const BURST: ByteCount = ByteCount::new(64 << 10);
/// Under a rate cap the connection is handed so many bytes at a time: whole segments, with timestamps.
const HANDED_BYTES: u64 = 8 * (PTCP_SEGMENT_BYTES as u64 - 12);

/// Clients send no bytes at all.
const RECEIVE_BUFFER: ByteCount = ByteCount::new(64 << 10);

/// How all connections behave.
pub(super) fn config() -> PtcpConfig {
    segment::config(RECEIVE_BUFFER)
}

/// An object, or the rest of it, on its way to one client.
pub(super) struct Upload {
    connection: Connection,
    object: Arc<dyn Object>,
    /// The stream is the object from here on.
    offset: u64,
    length: u64,
    /// Sessions whose pipes it has or had.
    sessions: Vec<ConnectionId>,
    cap: Option<RateCap>,
    alarm: Alarm,
    is_closing: bool,
    is_finished: bool,
}

impl<O: Objects> Server<O> {
    /// A pTCP segment arrived in session `id`; the opening one says where in the object to begin.
    pub(super) fn handle_ptcp(
        &mut self,
        now: Instant,
        id: ConnectionId,
        ecn: Ecn,
        offset: Option<u64>,
        bytes: &[u8],
        out: &mut Outbox<'_>,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some((segment, _)) = segment::parse(bytes, segment::path_named(id.0), ecn) else {
            return self.counters.sessions.nonsense += 1;
        };
        let token = match (&session.service, offset) {
            (&Service::Ptcp(token), _) => self.hand_over(now, token, &segment),
            (Service::Open, Some(offset)) => self.open_upload(now, id, offset, &segment),
            (Service::Open, None) => self.join_upload(now, id, &segment),
            (Service::Rcp(_), _) => return self.counters.sessions.nonsense += 1,
        };
        match token {
            Some(token) => self.pump_upload(now, token, out),
            None => self.refuse_segment(id, &segment, out),
        }
    }

    /// A segment of a pipe, unless the pipe has ended or another session has taken its place.
    fn hand_over(&mut self, now: Instant, token: u64, segment: &Segment) -> Option<u64> {
        let upload = self.uploads.get_mut(&token)?;
        if !upload.connection.has_pipe(segment.path) {
            return None;
        }
        upload.connection.handle_input(now, segment.clone());
        Some(token)
    }

    /// The first pipe of a connection.
    fn open_upload(&mut self, now: Instant, id: ConnectionId, offset: u64, syn: &Segment) -> Option<u64> {
        let session = self.sessions.get_mut(&id)?;
        let counters = &mut self.counters.sessions;
        let Some(length) = session.object.identity().size.checked_sub(offset) else {
            counters.outside_object += 1;
            return None;
        };
        let random = Seed(random::number()).stream("pTCP");
        let connection = Connection::accept(self.ptcp.clone(), &[], syn, random, now).ok()?;
        counters.connections += 1;
        counters.pipes += 1;
        let token = connection.token();
        session.service = Service::Ptcp(token);
        let upload = Upload {
            connection,
            object: Arc::clone(&session.object),
            offset,
            length,
            sessions: vec![id],
            cap: self.config.rate_cap.map(|rate: Rate| RateCap::new(rate, BURST, now)),
            alarm: Alarm::default(),
            is_closing: false,
            is_finished: false,
        };
        self.uploads.insert(token, upload);
        Some(token)
    }

    /// A further pipe of the connection whose token it shows.
    fn join_upload(&mut self, now: Instant, id: ConnectionId, syn: &Segment) -> Option<u64> {
        let session = self.sessions.get_mut(&id)?;
        let token = syn.set_up.as_ref()?.token;
        let upload = self.uploads.get_mut(&token)?;
        if upload.object.identity() != session.object.identity() {
            return None;
        }
        upload.connection.handle_input(now, syn.clone());
        if !upload.connection.has_pipe(syn.path) {
            return None;
        }
        self.counters.sessions.pipes += 1;
        upload.sessions.push(id);
        session.service = Service::Ptcp(token);
        Some(token)
    }

    /// There is no pipe for `segment`: says so.
    fn refuse_segment(&mut self, id: ConnectionId, segment: &Segment, out: &mut Outbox<'_>) {
        self.counters.sessions.refused_segments += 1;
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let mut send = counted(&mut self.counters.datagrams_sent, &mut self.counters.bytes_sent, out);
        let message = &mut self.buffers.message;
        message.clear();
        Message::Ptcp(&[]).emit(message);
        if let Some(reset) = reset_for(segment)
            && segment::emit(&reset, message).is_some()
        {
            session.send(Ecn::NotEct, &mut self.buffers, &mut send);
        }
    }

    /// A timer of connection `token`, or its rate cap.
    pub(super) fn wake_upload(&mut self, now: Instant, at: Instant, token: u64, out: &mut Outbox<'_>) {
        let Some(upload) = self.uploads.get_mut(&token) else { return };
        if upload.alarm.rings(at) {
            if let Some(cap) = &mut upload.cap {
                cap.wake(now);
            }
            if upload.connection.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
                upload.connection.handle_timeout(now);
            }
            self.pump_upload(now, token, out);
        }
    }

    /// Sends what the connection has to say, takes note of what happened to it, and times what is next.
    fn pump_upload(&mut self, now: Instant, token: u64, out: &mut Outbox<'_>) {
        let Some(upload) = self.uploads.get_mut(&token) else { return };
        let mut send = counted(&mut self.counters.datagrams_sent, &mut self.counters.bytes_sent, out);
        let counters = &mut self.counters.sessions;
        while let Some(leaving) = upload.next_segment(now) {
            let id = ConnectionId(segment::number_of(&leaving.segment.path));
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            if upload.write(now, &leaving, &mut self.buffers, counters) {
                session.send(leaving.segment.ecn, &mut self.buffers, &mut send);
            }
        }
        if upload.take_events(counters) {
            for id in &upload.sessions {
                if let Some(session) = self.sessions.get_mut(id) {
                    session.ended_at.get_or_insert(now);
                }
            }
        }
        let timeout = upload.connection.poll_timeout().map(|deadline| deadline.at);
        let cap = upload.cap.as_ref().and_then(RateCap::wakes_at);
        let at = timeout.into_iter().chain(cap).min();
        self.timers.set(&mut upload.alarm, Wake::Upload(token), at);
    }

    /// Sessions have been forgotten: their pipes end, and connections without any.
    pub(super) fn leave_uploads(&mut self, now: Instant, left: &[(ConnectionId, u64)], out: &mut Outbox<'_>) {
        for &(id, token) in left {
            let Some(upload) = self.uploads.get_mut(&token) else { continue };
            upload.connection.drop_pipe(now, segment::path_named(id.0));
            upload.sessions.retain(|&known| known != id);
            if upload.sessions.is_empty() {
                self.uploads.remove(&token);
            } else {
                self.pump_upload(now, token, out);
            }
        }
    }

    /// Ends sessions whose place another has taken.
    pub(super) fn end_replaced(&mut self, now: Instant) {
        for upload in self.uploads.values().filter(|upload| upload.sessions.len() > 1) {
            let has_pipe = |id: &&ConnectionId| upload.connection.has_pipe(segment::path_named(id.0));
            for id in upload.sessions.iter().filter(|id| !has_pipe(id)) {
                if let Some(session) = self.sessions.get_mut(id) {
                    session.ended_at.get_or_insert(now);
                }
            }
        }
    }

    /// Ends connection `token` at once and says so.
    pub(super) fn abort_upload(&mut self, now: Instant, token: u64, out: &mut Outbox<'_>) {
        let Some(upload) = self.uploads.get_mut(&token) else { return };
        upload.abort(now);
        self.pump_upload(now, token, out);
    }
}

impl Upload {
    fn abort(&mut self, now: Instant) {
        self.connection.abort(now);
        self.cap = None;
    }

    /// The next segment to leave. A rate cap holds back the stream, not what pipes say besides: a pipe is opened and
    /// repaired all the same.
    fn next_segment(&mut self, now: Instant) -> Option<SegmentOut> {
        let rest = self.length - self.connection.stream_written();
        if rest > 0 && self.connection.stream_waiting() == 0 {
            let allowed = match &mut self.cap {
                None => rest,
                Some(cap) => {
                    if cap.allows(now) {
                        rest.min(HANDED_BYTES)
                    } else {
                        0
                    }
                }
            };
            self.connection.write(now, allowed);
        }
        if self.connection.stream_written() == self.length && !self.is_closing {
            self.is_closing = true;
            self.connection.close(now);
        }
        self.connection.poll_transmit(now)
    }

    /// The message that carries `leaving` into `buffers`; false if it cannot be written.
    fn write(
        &mut self,
        now: Instant,
        leaving: &SegmentOut,
        buffers: &mut Buffers,
        counters: &mut SessionCounters,
    ) -> bool {
        buffers.message.clear();
        Message::Ptcp(&[]).emit(&mut buffers.message);
        let Some(payload) = segment::emit(&leaving.segment, &mut buffers.message) else { return false };
        if payload.is_empty() {
            return true;
        }
        if self.object.read_at(self.offset + leaving.stream_offset, payload).is_err() {
            counters.objects_lost += 1;
            self.abort(now);
            return false;
        }
        counters.data_bytes += u64::from(leaving.segment.payload_bytes);
        if let Some(cap) = &mut self.cap {
            cap.spend(now, leaving.segment.payload_bytes);
        }
        true
    }

    /// Whether the connection has ended.
    fn take_events(&mut self, counters: &mut SessionCounters) -> bool {
        while let Some(event) = self.connection.poll_event() {
            // The client closes when it has everything.
            let has_everything = self.connection.stream_acked() == self.length;
            let ends = matches!(event, PtcpEvent::Connection(TcpEvent::PeerClosed | TcpEvent::Closed));
            if ends && has_everything && !self.is_finished {
                self.is_finished = true;
                counters.finished += 1;
            }
        }
        self.is_finished || self.connection.state() == State::Closed
    }
}

impl Session {
    /// The connection that this session has a pipe of, or had.
    pub(super) const fn upload(&self) -> Option<u64> {
        match self.service {
            Service::Ptcp(token) => Some(token),
            _ => None,
        }
    }
}
