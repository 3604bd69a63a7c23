//! pTCP at the server: one connection for each client, whose pipes are sessions.
//!
//! The first session of a client opens the connection, and learns its token inside the seal; another session joins it
//! by showing the token. Both ask for the same object, and each address has been validated before. Segments leave by
//! the session of their pipe, payload is read from the object when it leaves.
use super::service::Service;
use super::transfer::Transfer;
use super::{Objects, Server, Transmit, Work};
use crate::channel::Message;
use crate::segment;
use crate::wire::ConnectionId;
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Endpoint, expire};
use prismux_ptcp::{Connection, Segment, reset_for};
use prismux_units::Instant;
use prismux_wire::Ecn;
use std::sync::Arc;

impl<O: Objects> Server<O> {
    /// A pTCP segment arrived in session `id`; the opening one says where in the object to begin.
    pub(super) fn handle_ptcp(
        &mut self,
        now: Instant,
        id: ConnectionId,
        ecn: Ecn,
        offset: Option<u64>,
        bytes: &[u8],
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some((segment, _)) = segment::parse(bytes, segment::path_named(id.0), ecn) else {
            return self.counters.sessions.nonsense += 1;
        };
        let token = match (&session.service, offset) {
            (&Service::Ptcp(token), _) => self.hand_over(now, token, &segment),
            (Service::Open, Some(offset)) => self.open_transfer(now, id, offset, &segment),
            (Service::Open, None) => self.join_transfer(now, id, &segment),
            (Service::Rcp(_), _) => return self.counters.sessions.nonsense += 1,
        };
        match token {
            Some(token) => self.turns.grant(Work::Transfer(token)),
            None => self.refuse_segment(id, &segment),
        }
    }

    /// A segment of a pipe, unless the pipe has ended or another session has taken its place.
    fn hand_over(&mut self, now: Instant, token: u64, segment: &Segment) -> Option<u64> {
        let transfer = self.transfers.get_mut(&token)?;
        if !transfer.connection.has_pipe(segment.path) {
            return None;
        }
        transfer.connection.handle_input(now, segment.clone());
        Some(token)
    }

    /// The first pipe of a connection.
    fn open_transfer(&mut self, now: Instant, id: ConnectionId, offset: u64, syn: &Segment) -> Option<u64> {
        let session = self.sessions.get_mut(&id)?;
        let counters = &mut self.counters.sessions;
        if offset > session.object.identity().size {
            counters.outside_object += 1;
            return None;
        }
        let random = Seed(self.entropy.number()).stream("pTCP");
        let connection = Connection::accept(self.ptcp.clone(), &[], syn, random, now).ok()?;
        let token = connection.token();
        let cap = Transfer::cap(self.config.rate_cap, now);
        let transfer = Transfer::new(connection, Arc::clone(&session.object), offset, id, cap)?;
        counters.connections += 1;
        counters.pipes += 1;
        session.service = Service::Ptcp(token);
        self.transfers.insert(token, transfer);
        Some(token)
    }

    /// A further pipe of the connection whose token it shows.
    fn join_transfer(&mut self, now: Instant, id: ConnectionId, syn: &Segment) -> Option<u64> {
        let session = self.sessions.get_mut(&id)?;
        let token = syn.set_up.as_ref()?.token;
        let transfer = self.transfers.get_mut(&token)?;
        if transfer.object.identity() != session.object.identity() {
            return None;
        }
        transfer.connection.handle_input(now, syn.clone());
        if !transfer.connection.has_pipe(syn.path) {
            return None;
        }
        self.counters.sessions.pipes += 1;
        transfer.sessions.push(id);
        session.service = Service::Ptcp(token);
        Some(token)
    }

    /// There is no pipe for `segment`: says so.
    fn refuse_segment(&mut self, id: ConnectionId, segment: &Segment) {
        self.counters.sessions.refused_segments += 1;
        let (Some(reset), Some(session)) = (reset_for(segment), self.sessions.get(&id)) else { return };
        let mut bytes = Vec::new();
        if segment::emit(&reset, &mut bytes).is_some() {
            self.reply_sealed(id, session.address, &Message::Ptcp(&bytes));
        }
    }

    /// A timer of connection `token`, or its rate cap.
    pub(super) fn wake_transfer(&mut self, now: Instant, at: Instant, token: u64) {
        let Some(transfer) = self.transfers.get_mut(&token) else { return };
        if transfer.alarm.rings(at) {
            if let Some(cap) = &mut transfer.cap {
                cap.wake(now);
            }
            expire(&mut transfer.connection, now);
            self.turns.grant(Work::Transfer(token));
        }
    }

    /// The next datagram of connection `token`; at the end of its turn, what happened to it.
    pub(super) fn transmit_segment(&mut self, now: Instant, token: u64) -> Option<Transmit> {
        let transfer = self.transfers.get_mut(&token)?;
        let counters = &mut self.counters.sessions;
        while let Some(leaving) = transfer.next_segment(now) {
            let id = ConnectionId(segment::number_of(&leaving.segment.path));
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            if transfer.write(now, &leaving, &mut self.message, counters) {
                session.seal(&self.message, &mut self.datagram);
                return Some(Transmit { to: session.address, ecn: leaving.segment.ecn });
            }
        }
        if transfer.take_events(counters) {
            for id in &transfer.sessions {
                if let Some(session) = self.sessions.get_mut(id) {
                    session.ended_at.get_or_insert(now);
                }
            }
        }
        let deadline = transfer.deadline();
        self.timers.set(now, &mut transfer.alarm, Work::Transfer(token), deadline);
        None
    }

    /// Session `id` has been forgotten: its pipe ends, and with the last one the connection.
    pub(super) fn leave_transfer(&mut self, id: ConnectionId, token: u64) {
        let Some(transfer) = self.transfers.get_mut(&token) else { return };
        transfer.connection.drop_pipe(segment::path_named(id.0));
        transfer.sessions.retain(|&known| known != id);
        if transfer.sessions.is_empty() {
            self.transfers.remove(&token);
        } else {
            self.turns.grant(Work::Transfer(token));
        }
    }

    /// Ends sessions whose place another has taken.
    pub(super) fn end_replaced(&mut self, now: Instant) {
        for transfer in self.transfers.values().filter(|transfer| transfer.sessions.len() > 1) {
            let has_pipe = |id: &&ConnectionId| transfer.connection.has_pipe(segment::path_named(id.0));
            for id in transfer.sessions.iter().filter(|id| !has_pipe(id)) {
                if let Some(session) = self.sessions.get_mut(id) {
                    session.ended_at.get_or_insert(now);
                }
            }
        }
    }

    /// Ends connection `token` at once and says so.
    pub(super) fn abort_transfer(&mut self, token: u64) {
        if let Some(transfer) = self.transfers.get_mut(&token) {
            transfer.abort();
            self.turns.grant(Work::Transfer(token));
        }
    }
}
