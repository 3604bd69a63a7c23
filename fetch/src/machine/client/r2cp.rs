//! R²CP: the client asks, and says what is asked for over which path.
use super::carrier::{Carried, CarrierEvent, PathMessage, PathTransmit};
use super::event::PathLoss;
use super::{DownloadConfig, PATH_TIMEOUT};
use crate::SEGMENT_BYTES;
use crate::channel::Message;
use prismux_endpoint::{Deadline, Drain, Endpoint, Output, expire};
use prismux_r2cp::policy::Cost;
use prismux_r2cp::{Connection, PipeId, R2cpConfig, R2cpEvent};
use prismux_rcp::{PacketIn, PacketOut, PipeState, RcpConfig, RcpHeader, StreamEvent};
use prismux_units::{ByteCount, Instant};
use prismux_wire::SeqNumber;
use std::collections::VecDeque;
use std::ops::Range;

pub(super) struct R2cp {
    connection: Connection,
    /// Which path each pipe belongs to.
    pipes: Vec<usize>,
    /// The pipe that each path has now.
    current: Vec<Option<PipeId>>,
    leaving: VecDeque<(PipeId, PacketOut)>,
    events: VecDeque<CarrierEvent>,
    message: Vec<u8>,
}

impl R2cp {
    /// For an object of `size` bytes. Says what of that which an earlier attempt received is not asked for again.
    pub(super) fn begin(now: Instant, size: u64, config: &DownloadConfig) -> (Self, Vec<Range<u64>>) {
        let rcp = RcpConfig {
            mss: SEGMENT_BYTES,
            receive_buffer: config.window,
            consume_on_arrival: true,
            max_out_of_order_ranges: 1 << 16,
            give_up_after: PATH_TIMEOUT,
            open_retries: 3,
            ecn: true,
            ..RcpConfig::modern()
        };
        let (length, target_rate) = (Some(ByteCount::new(size)), config.rate);
        let mut connection = Connection::new(R2cpConfig { length, target_rate, ..R2cpConfig::new(rcp) }, now);
        if let Some(position) = config.ask_up_to {
            connection.ask_up_to(position);
        }
        let mut held = Vec::new();
        for range in config.resume.iter().flat_map(|(_, ranges)| ranges) {
            // What lies too far ahead would leave no room to ask for what is missing.
            let edge = connection.bytes_received_in_order() + config.window.as_u64() / 2;
            if range.start < edge {
                connection.already_here(range);
                held.push(range.clone());
            }
        }
        let mut carrier = Self {
            connection,
            pipes: Vec::new(),
            current: Vec::new(),
            leaving: VecDeque::new(),
            events: VecDeque::new(),
            message: Vec::new(),
        };
        carrier.drain(now, 0);
        (carrier, held)
    }

    pub(super) fn ask_up_to(&mut self, now: Instant, position: u64) {
        self.connection.ask_up_to(position);
        self.drain(now, 0);
    }

    pub(super) fn already_here(&mut self, now: Instant, range: &Range<u64>) {
        self.connection.already_here(range);
        self.drain(now, 0);
    }

    /// Drains the connection. The payload of what was just handed over begins at `payload_offset`.
    fn drain(&mut self, now: Instant, payload_offset: usize) {
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.connection, now) {
            match output {
                Output::Transmit(leaving) => self.leaving.push_back(leaving),
                Output::Event(R2cpEvent::Stream(StreamEvent::Accepted {
                    packet_offset,
                    stream_offset,
                    bytes,
                })) => {
                    let start = payload_offset + packet_offset as usize;
                    let part = start..start + bytes as usize;
                    self.events.push_back(CarrierEvent::Accepted { offset: stream_offset, part });
                }
                Output::Event(event) => self.events.extend(self.event_for(event)),
            }
        }
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

    fn event_for(&self, event: R2cpEvent) -> Option<CarrierEvent> {
        match event {
            R2cpEvent::PipeEnded { pipe, failed: true } => {
                self.path_of(pipe).map(|path| CarrierEvent::Lost(path, PathLoss::SilentOrEnded))
            }
            R2cpEvent::PipeEnded { pipe, failed: false } => self.path_of(pipe).map(CarrierEvent::Closed),
            R2cpEvent::Disagreement(pipe) => self.path_of(pipe).map(CarrierEvent::OtherEnd),
            R2cpEvent::PipeOpened(pipe) => self.path_of(pipe).map(CarrierEvent::Opened),
            R2cpEvent::Stream(StreamEvent::Complete) => Some(CarrierEvent::Complete),
            _ => None,
        }
    }

    pub(super) fn open(&mut self, now: Instant, path: usize, initial: SeqNumber, cost: Cost) {
        if self.current.len() <= path {
            self.current.resize(path + 1, None);
        }
        self.current[path] = Some(self.connection.open(now, initial, cost));
        self.pipes.push(path);
        self.drain(now, 0);
    }

    pub(super) fn close_path(&mut self, now: Instant, path: usize) {
        match self.pipe_of(path) {
            Some(pipe) => self.connection.close_pipe(pipe),
            None => self.events.push_back(CarrierEvent::Closed(path)),
        }
        self.drain(now, 0);
    }

    pub(super) fn drop_path(&mut self, now: Instant, path: usize) {
        if let Some(pipe) = self.current.get_mut(path).and_then(Option::take) {
            self.connection.drop_pipe(pipe);
            self.drain(now, 0);
        }
    }

    pub(super) fn abort(&mut self, now: Instant) {
        self.connection.abort();
        self.drain(now, 0);
    }

    pub(super) fn message(&self) -> &[u8] {
        &self.message
    }

    pub(super) fn carried(&self, path: usize) -> Carried {
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

    pub(super) fn in_order_bytes(&self) -> u64 {
        self.connection.bytes_received_in_order()
    }

    pub(super) fn duplicate_bytes(&self) -> u64 {
        self.connection.metrics().duplicate_bytes
    }

    pub(super) fn is_closed(&self) -> bool {
        let state = |pipe| self.connection.pipe_metrics(PipeId(pipe)).map(|metrics| metrics.state);
        (0..self.pipes.len()).all(|pipe| state(pipe).is_none_or(|state| state == PipeState::Closed))
    }
}

impl Endpoint for R2cp {
    type Input<'a> = PathMessage<'a>;
    type Transmit = PathTransmit;
    type Event = CarrierEvent;

    fn handle_input(&mut self, now: Instant, PathMessage { path, ecn, message }: PathMessage<'_>) {
        let (Message::Rcp(bytes), Some(pipe)) = (message, self.pipe_of(path)) else {
            return self.events.push_back(CarrierEvent::Malformed);
        };
        let Ok((header, length)) = RcpHeader::parse(bytes) else {
            return self.events.push_back(CarrierEvent::Malformed);
        };
        let packet = PacketIn { header, payload_bytes: (bytes.len() - length) as u32, ecn };
        self.connection.handle_input(now, (pipe, packet));
        self.drain(now, length);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if expire(&mut self.connection, now) {
            self.drain(now, 0);
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<PathTransmit> {
        loop {
            let (pipe, packet) = self.leaving.pop_front()?;
            // A path that has gone on to another pipe says nothing for the old one.
            let Some(path) = self.path_of(pipe) else { continue };
            self.message.clear();
            Message::Rcp(&[]).emit(&mut self.message);
            let start = self.message.len();
            self.message.resize(start + packet.header.wire_bytes(), 0);
            if packet.header.emit(&mut self.message[start..]).is_ok() {
                return Some(PathTransmit { path, ecn: packet.ecn });
            }
        }
    }

    fn poll_event(&mut self) -> Option<CarrierEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.connection.poll_timeout()
    }
}
