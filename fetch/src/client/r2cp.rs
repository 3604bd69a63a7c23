//! R²CP: the client asks, and says what is asked for over which path.
use super::carrier::{Carried, Carrier, Note};
use super::traffic::Store;
use super::{DownloadConfig, PATH_SILENCE};
use crate::SEGMENT_BYTES;
use crate::channel::Message;
use crate::random;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_r2cp::policy::Cost;
use prismux_r2cp::{Connection, PipeId, R2cpConfig, R2cpEvent};
use prismux_rcp::{PacketIn, PipeState, RcpConfig, RcpHeader, StreamEvent};
use prismux_units::{ByteCount, Instant};
use prismux_wire::Ecn;
use std::collections::VecDeque;
use std::ops::Range;

pub(super) struct R2cp {
    connection: Connection,
    /// Which path each pipe belongs to.
    pipes: Vec<usize>,
    /// The pipe that each path has now.
    current: Vec<Option<PipeId>>,
    notes: VecDeque<Note>,
}

impl R2cp {
    /// For an object of `size` bytes. Says what of that which an earlier attempt received is not asked for again.
    pub(super) fn begin(now: Instant, size: u64, config: &DownloadConfig) -> (Self, Vec<Range<u64>>) {
        let rcp = RcpConfig {
            mss: SEGMENT_BYTES,
            receive_buffer: config.window,
            consume_on_arrival: true,
            max_out_of_order_ranges: 1 << 16,
            give_up_after: PATH_SILENCE,
            open_retries: 3,
            ecn: true,
            ..RcpConfig::modern()
        };
        let (length, target_rate) = (Some(ByteCount::new(size)), config.rate);
        let mut connection = Connection::new(R2cpConfig { length, target_rate, ..R2cpConfig::new(rcp) }, now);
        let mut held = Vec::new();
        for range in config.resume.iter().flat_map(|(_, ranges)| ranges) {
            // What lies too far ahead would leave no room to ask for what is missing.
            let edge = connection.bytes_received_in_order() + config.window.as_u64() / 2;
            if range.start < edge {
                connection.already_here(range);
                held.push(range.clone());
            }
        }
        (Self { connection, pipes: Vec::new(), current: Vec::new(), notes: VecDeque::new() }, held)
    }

    /// The path of a pipe, while it is that path's.
    fn path_of(&self, pipe: PipeId) -> Option<usize> {
        let path = self.pipes[pipe.0];
        (self.current[path] == Some(pipe)).then_some(path)
    }

    /// The pipe that a path has now.
    fn pipe_of(&self, path: usize) -> Option<PipeId> {
        self.current.get(path).copied().flatten()
    }

    fn note_for(&self, event: R2cpEvent) -> Option<Note> {
        match event {
            R2cpEvent::PipeEnded { pipe, failed: true } => {
                let why = "its server is silent or has ended the session";
                self.path_of(pipe).map(|path| Note::Lost(path, why))
            }
            R2cpEvent::PipeEnded { pipe, failed: false } => self.path_of(pipe).map(Note::Closed),
            R2cpEvent::Disagreement(pipe) => {
                let why = "its object ends elsewhere than it said";
                self.path_of(pipe).map(|path| Note::Refused(path, why.to_string()))
            }
            R2cpEvent::PipeOpened(pipe) => self.path_of(pipe).map(Note::Opened),
            R2cpEvent::Stream(StreamEvent::Complete) => Some(Note::Complete),
            _ => None,
        }
    }
}

impl Carrier for R2cp {
    fn open(&mut self, now: Instant, path: usize, cost: Cost) {
        if self.current.len() <= path {
            self.current.resize(path + 1, None);
        }
        self.current[path] = Some(self.connection.open(now, random::sequence_number(), cost));
        self.pipes.push(path);
    }

    fn close_path(&mut self, now: Instant, path: usize) {
        match self.pipe_of(path) {
            Some(pipe) => self.connection.close_pipe(now, pipe),
            None => self.notes.push_back(Note::Closed(path)),
        }
    }

    fn drop_path(&mut self, now: Instant, path: usize) {
        if let Some(pipe) = self.current.get_mut(path).and_then(Option::take) {
            self.connection.drop_pipe(now, pipe);
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
        let (Message::Rcp(packet), Some(pipe)) = (message, self.pipe_of(path)) else { return false };
        let Ok((header, length)) = RcpHeader::parse(packet) else { return false };
        let payload = &packet[length..];
        let packet = PacketIn { header, payload_bytes: payload.len() as u32, ecn };
        self.connection.handle_input(now, (pipe, packet));
        while let Some(event) = self.connection.poll_event() {
            match event {
                R2cpEvent::Stream(StreamEvent::Accepted { packet_offset, stream_offset, bytes }) => {
                    let start = packet_offset as usize;
                    if let Some(part) = payload.get(start..start + bytes as usize) {
                        store(stream_offset, part);
                    }
                    self.notes.push_back(Note::News);
                }
                event => self.notes.extend(self.note_for(event)),
            }
        }
        true
    }

    fn transmit(&mut self, now: Instant, message: &mut Vec<u8>) -> Option<(usize, Ecn)> {
        loop {
            let (pipe, packet) = self.connection.poll_transmit(now)?;
            // A path that has gone on to another pipe says nothing for the old one.
            let Some(path) = self.path_of(pipe) else { continue };
            Message::Rcp(&[]).emit(message);
            let start = message.len();
            message.resize(start + packet.header.wire_bytes(), 0);
            if packet.header.emit(&mut message[start..]).is_ok() {
                return Some((path, packet.ecn));
            }
            message.clear();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.connection.poll_timeout().map(|deadline| deadline.at)
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.connection.poll_timeout().is_some_and(|Deadline { at, .. }| at <= now) {
            self.connection.handle_timeout(now);
        }
    }

    fn poll_note(&mut self) -> Option<Note> {
        if let Some(note) = self.notes.pop_front() {
            return Some(note);
        }
        while let Some(event) = self.connection.poll_event() {
            if let Some(note) = self.note_for(event) {
                return Some(note);
            }
        }
        None
    }

    fn carried(&self, path: usize) -> Carried {
        let metrics = self.pipe_of(path).and_then(|pipe| self.connection.pipe_metrics(pipe));
        metrics.map_or_else(Carried::default, |metrics| Carried {
            received_bytes: metrics.received_bytes,
            round_trip: metrics.engine.srtt,
            timeout: Some(metrics.engine.rto),
            asked_bytes: metrics.requested_bytes,
            outstanding_bytes: metrics.engine.outstanding_bytes,
            repeated_segments: metrics.engine.counters.retransmitted_segments,
            timeouts: metrics.engine.counters.timeouts,
        })
    }

    fn in_order_bytes(&self) -> u64 {
        self.connection.bytes_received_in_order()
    }

    fn duplicate_bytes(&self) -> u64 {
        self.connection.metrics().duplicate_bytes
    }

    fn abort(&mut self, now: Instant) {
        self.connection.abort(now);
    }

    fn is_closed(&self) -> bool {
        let state = |pipe| self.connection.pipe_metrics(PipeId(pipe)).map(|metrics| metrics.state);
        (0..self.pipes.len()).all(|pipe| state(pipe).is_none_or(|state| state == PipeState::Closed))
    }
}
