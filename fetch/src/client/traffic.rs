//! Datagrams between the paths and the connection.
use super::path::{Open, State};
use super::{Departure, Download, DownloadEvent};
use crate::channel::{Message, OpenError};
use crate::handshake::Answer;
use crate::wire::{ConnectionId, Datagram, VERSION};
use prismux_endpoint::Endpoint;
use prismux_r2cp::{PipeId, R2cpEvent};
use prismux_rcp::{PacketIn, PacketOut, RcpHeader};
use prismux_units::Instant;
use prismux_wire::Ecn;
use std::net::SocketAddr;

/// Keeps bytes of the object: offset, bytes.
pub type Store<'a> = dyn FnMut(u64, &[u8]) + 'a;

impl Download {
    /// A datagram arrived over interface `link`. What it brings of the object goes to `store` at once.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        link: usize,
        from: SocketAddr,
        ecn: Ecn,
        bytes: &[u8],
        store: &mut Store<'_>,
    ) {
        let Ok(datagram) = Datagram::parse(bytes) else {
            self.counters.malformed += 1;
            return;
        };
        let id = match datagram {
            Datagram::Retry { client, .. }
            | Datagram::Welcome { client, .. }
            | Datagram::Notice { client, .. } => client,
            Datagram::Sealed { to, .. } => to,
            Datagram::Gone { server, proof } => return self.handle_gone(now, link, from, server, proof),
            Datagram::Hello { .. } => {
                self.counters.malformed += 1;
                return;
            }
        };
        let known = self
            .paths
            .iter()
            .position(|path| path.id() == Some(id) && path.spec.link == link && path.spec.address == from);
        let Some(index) = known else {
            self.counters.strangers += 1;
            return;
        };
        match datagram {
            Datagram::Retry { cookie, .. } => self.handle_retry(index, cookie),
            Datagram::Welcome { noise, .. } => self.handle_welcome(now, index, noise),
            Datagram::Notice { version, .. } => self.handle_notice(now, index, version),
            Datagram::Sealed { nonce, noise, .. } => self.handle_sealed(now, index, ecn, nonce, noise, store),
            Datagram::Gone { .. } | Datagram::Hello { .. } => {}
        }
    }

    /// The same Hello once more, with the cookie.
    fn handle_retry(&mut self, index: usize, cookie: &[u8; crate::cookie::COOKIE_BYTES]) {
        if let State::Opening(opening) = &mut self.paths[index].state
            && opening.cookie != *cookie
            && !opening.is_due
        {
            opening.cookie = *cookie;
            opening.is_due = true;
        } else {
            self.counters.strangers += 1;
        }
    }

    /// Anybody may have written it, so it is only believed when no answer can come: it ends nothing but this path.
    fn handle_notice(&mut self, now: Instant, index: usize, version: u8) {
        if matches!(self.paths[index].state, State::Opening(_)) && version != VERSION {
            let why =
                format!("it speaks version {version}, this is version {VERSION}; bring both to the same");
            self.refuse(now, index, why);
        }
    }

    fn handle_welcome(&mut self, now: Instant, index: usize, noise: &[u8]) {
        let State::Opening(opening) = &mut self.paths[index].state else { return };
        let Some((answer, channel)) = opening.initiator.finish(noise, &mut self.opened) else {
            self.counters.forged += 1;
            return;
        };
        let id = opening.id;
        self.news_at = now;
        match (answer, channel) {
            (Answer::Ready { proof, identity, .. }, Some(channel)) => {
                if self.compare(now, index, identity)
                    && let Some(pipe) = self.join(now, index)
                {
                    self.paths[index].state = State::Open(Box::new(Open { id, channel, proof, pipe }));
                }
            }
            (Answer::Refused(why), _) => self.refuse(now, index, why.to_string()),
            _ => self.paths[index].wait_for_server(now),
        }
    }

    fn handle_gone(
        &mut self,
        now: Instant,
        link: usize,
        from: SocketAddr,
        server: ConnectionId,
        proof: &[u8; crate::wire::PROOF_BYTES],
    ) {
        let matches = |state: &State| matches!(state, State::Open(open) if open.channel.peer() == server && open.proof == *proof);
        let known = self
            .paths
            .iter()
            .position(|path| matches(&path.state) && path.spec.link == link && path.spec.address == from);
        match known {
            Some(index) if self.ended_at.is_none() => {
                self.lose(now, index, "its server does not know the session any more")
            }
            _ => self.counters.strangers += 1,
        }
    }

    fn handle_sealed(
        &mut self,
        now: Instant,
        index: usize,
        ecn: Ecn,
        nonce: u64,
        noise: &[u8],
        store: &mut Store<'_>,
    ) {
        let State::Open(open) = &mut self.paths[index].state else {
            self.counters.strangers += 1;
            return;
        };
        match open.channel.open(nonce, noise, &mut self.opened) {
            Err(OpenError::Forged) => return self.counters.forged += 1,
            Err(OpenError::Replayed) => return self.counters.replayed += 1,
            Ok(()) => {}
        }
        let pipe = open.pipe;
        let opened = std::mem::take(&mut self.opened);
        match Message::parse(&opened) {
            Some(Message::Rcp(packet)) => self.handle_rcp(now, pipe, ecn, packet, store),
            Some(Message::Challenge(value)) => self.reply(index, &Message::Response(value)),
            Some(Message::Response(_)) | None => self.counters.malformed += 1,
        }
        self.opened = opened;
    }

    fn handle_rcp(&mut self, now: Instant, pipe: PipeId, ecn: Ecn, packet: &[u8], store: &mut Store<'_>) {
        let (Ok((header, length)), Some(connection)) = (RcpHeader::parse(packet), &mut self.connection)
        else {
            self.counters.malformed += 1;
            return;
        };
        let payload = &packet[length..];
        connection.handle_input(now, (pipe, PacketIn { header, payload_bytes: payload.len() as u32, ecn }));
        let mut others = Vec::new();
        while let Some(event) = connection.poll_event() {
            match event {
                R2cpEvent::Accepted { packet_offset, stream_offset, bytes } => {
                    self.news_at = now;
                    let start = packet_offset as usize;
                    if let Some(part) = payload.get(start..start + bytes as usize) {
                        store(stream_offset, part);
                    }
                }
                R2cpEvent::Readable { .. } => {}
                event => others.push(event),
            }
        }
        self.take_notes(now, others);
    }

    fn reply(&mut self, index: usize, message: &Message<'_>) {
        let State::Open(open) = &mut self.paths[index].state else { return };
        let mut datagram = Vec::new();
        self.message.clear();
        message.emit(&mut self.message);
        open.channel.seal(&self.message, &mut datagram);
        self.replies.push_back((index, datagram));
    }

    /// Makes `out` the next datagram to send, if there is one.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Departure> {
        if let Some((index, datagram)) = self.replies.pop_front() {
            *out = datagram;
            return Some(self.departure(index, Ecn::NotEct));
        }
        if let Some(index) = self.next_hello(now, out) {
            return Some(self.departure(index, Ecn::NotEct));
        }
        while let Some((pipe, packet)) = self.connection.as_mut()?.poll_transmit(now) {
            if let Some(index) = self.seal_packet(pipe, &packet, out) {
                return Some(self.departure(index, packet.ecn));
            }
        }
        None
    }

    fn departure(&self, index: usize, ecn: Ecn) -> Departure {
        let spec = &self.paths[index].spec;
        Departure { link: spec.link, to: spec.address, ecn }
    }

    fn next_hello(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        if self.ended_at.is_some() {
            return None;
        }
        for (index, path) in self.paths.iter_mut().enumerate() {
            if let State::Opening(opening) = &mut path.state
                && opening.is_due
            {
                opening.sent(now);
                out.clear();
                let (client, cookie, noise) = (opening.id, &opening.cookie, &opening.hello);
                Datagram::Hello { client, cookie, noise }.emit(out);
                return Some(index);
            }
        }
        None
    }

    /// The datagram that carries a pipe's packet; `None` if the pipe's path has gone on to another.
    fn seal_packet(&mut self, pipe: PipeId, packet: &PacketOut, out: &mut Vec<u8>) -> Option<usize> {
        let index = self.pipes[pipe.0];
        let State::Open(open) = &mut self.paths[index].state else { return None };
        if open.pipe != pipe {
            return None;
        }
        self.message.clear();
        Message::Rcp(&[]).emit(&mut self.message);
        let start = self.message.len();
        self.message.resize(start + packet.header.wire_bytes(), 0);
        packet.header.emit(&mut self.message[start..]).ok()?;
        open.channel.seal(&self.message, out);
        Some(index)
    }

    /// Takes note of what happened to the connection's pipes.
    pub(super) fn take_notes(&mut self, now: Instant, events: impl IntoIterator<Item = R2cpEvent>) {
        for event in events {
            match event {
                R2cpEvent::PipeEnded { pipe, failed: true } if self.is_current(pipe) => {
                    self.lose(now, self.pipes[pipe.0], "its server is silent or has ended the session");
                }
                R2cpEvent::Disagreement(pipe) if self.is_current(pipe) => {
                    let why = "its object ends elsewhere than it said".to_string();
                    self.refuse(now, self.pipes[pipe.0], why);
                }
                R2cpEvent::PipeOpened(pipe) if self.is_current(pipe) => {
                    let index = self.pipes[pipe.0];
                    self.paths[index].opened();
                    self.events.push_back(DownloadEvent::Opened(index));
                }
                R2cpEvent::Complete => {
                    self.ended_at.get_or_insert(now);
                    self.events.push_back(DownloadEvent::Complete);
                }
                _ => {}
            }
        }
    }

    /// Whether a pipe is still its path's.
    fn is_current(&self, pipe: PipeId) -> bool {
        self.paths[self.pipes[pipe.0]].pipe() == Some(pipe)
    }
}
