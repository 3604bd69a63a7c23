//! Bytes for hosts that have them: two rings and a [`Connection`].
use crate::connection::{Connection, SegmentIn, SegmentOut, State, TcpEvent};
use alloc::boxed::Box;
use alloc::vec;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;

/// Bytes of a stream between two positions, stored at position modulo capacity.
#[derive(Debug, Clone)]
struct Ring {
    bytes: Box<[u8]>,
}

impl Ring {
    fn new(capacity: usize) -> Self {
        Self { bytes: vec![0; capacity.max(1)].into_boxed_slice() }
    }

    /// The two pieces that `length` bytes from `position` on occupy.
    fn split(&self, position: u64, length: usize) -> (usize, usize) {
        let start = (position % self.bytes.len() as u64) as usize;
        (start, length.min(self.bytes.len() - start))
    }

    fn store(&mut self, position: u64, data: &[u8]) {
        let (start, head) = self.split(position, data.len());
        self.bytes[start..start + head].copy_from_slice(&data[..head]);
        self.bytes[..data.len() - head].copy_from_slice(&data[head..]);
    }

    fn load(&self, position: u64, out: &mut [u8]) {
        let (start, head) = self.split(position, out.len());
        let tail = out.len() - head;
        out[..head].copy_from_slice(&self.bytes[start..start + head]);
        out[head..].copy_from_slice(&self.bytes[..tail]);
    }
}

/// What we sent or will send, until it is acknowledged.
#[derive(Debug, Clone)]
pub struct SendBuffer {
    ring: Ring,
    acknowledged: u64,
    written: u64,
}

impl SendBuffer {
    /// Room for `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        Self { ring: Ring::new(capacity), acknowledged: 0, written: 0 }
    }

    /// Bytes that can be written now.
    pub fn room(&self) -> usize {
        self.ring.bytes.len() - (self.written - self.acknowledged) as usize
    }

    /// Bytes held: written and not acknowledged.
    pub const fn held(&self) -> u64 {
        self.written - self.acknowledged
    }

    /// Appends as much of `data` as there is room for; says how much.
    pub fn write(&mut self, data: &[u8]) -> usize {
        let count = data.len().min(self.room());
        self.ring.store(self.written, &data[..count]);
        self.written += count as u64;
        count
    }

    /// Copies stream bytes from `offset` on into `out`. Returns false, and copies nothing, unless all of
    /// them are held.
    pub fn copy(&self, offset: u64, out: &mut [u8]) -> bool {
        let held = offset >= self.acknowledged && offset + out.len() as u64 <= self.written;
        if held {
            self.ring.load(offset, out);
        }
        held
    }

    /// Forgets bytes before `up_to`.
    pub fn acknowledge(&mut self, up_to: u64) {
        self.acknowledged = self.acknowledged.max(up_to.min(self.written));
    }
}

/// What arrived, with holes, until it is read.
#[derive(Debug, Clone)]
pub struct ReceiveBuffer {
    ring: Ring,
    read: u64,
    readable: u64,
}

impl ReceiveBuffer {
    /// Room for `capacity` bytes beyond what was read.
    pub fn new(capacity: usize) -> Self {
        Self { ring: Ring::new(capacity), read: 0, readable: 0 }
    }

    /// Keeps `data` at stream offset `offset`. Returns false, and keeps nothing, outside the buffer.
    pub fn store(&mut self, offset: u64, data: &[u8]) -> bool {
        let end = offset.saturating_add(data.len() as u64);
        let fits = offset >= self.read && end <= self.read + self.ring.bytes.len() as u64;
        if fits {
            self.ring.store(offset, data);
        }
        fits
    }

    /// Bytes before `up_to` are complete.
    pub fn complete(&mut self, up_to: u64) {
        self.readable = self.readable.max(up_to.min(self.read + self.ring.bytes.len() as u64));
    }

    /// Bytes that can be read.
    pub const fn readable(&self) -> usize {
        (self.readable - self.read) as usize
    }

    /// Takes as much as there is and fits into `out`; says how much.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let count = out.len().min(self.readable());
        self.ring.load(self.read, &mut out[..count]);
        self.read += count as u64;
        count
    }
}

/// A [`Connection`] that keeps its own bytes.
///
/// An [`Endpoint`]: segments go in with their payload; out come headers with a stream offset, whose payload
/// [`payload`](Self::payload) copies. The event is that [`status`](Self::status) has changed.
#[derive(Debug)]
pub struct ByteConnection {
    connection: Connection,
    send: SendBuffer,
    receive: ReceiveBuffer,
    status: Status,
    /// The status as the last event told it.
    told: Status,
}

/// What the events said so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// The handshake is complete.
    pub connected: bool,
    /// The peer will send no more after what is readable.
    pub peer_closed: bool,
    /// The peer reset the connection.
    pub reset: bool,
    /// The connection was given up.
    pub timed_out: bool,
    /// CLOSED was reached.
    pub closed: bool,
}

impl ByteConnection {
    /// Wraps `connection` with room for `send_bytes` unacknowledged bytes. The receive buffer follows from the
    /// connection's configured window.
    ///
    /// The connection's events must still be undrained, and it must have received at most one segment with
    /// payload: pass that to [`ByteConnection::take_first_payload`].
    pub fn new(connection: Connection, send_bytes: usize) -> Self {
        let window = connection.config().receive_buffer.as_u64();
        // The window's reserve for scaled right edges, known before the handshake has settled the scale.
        let receive = ReceiveBuffer::new((window + window / 2) as usize);
        Self {
            connection,
            send: SendBuffer::new(send_bytes),
            receive,
            status: Status::default(),
            told: Status::default(),
        }
    }

    /// For a connection from a [`Listener`](crate::Listener): the payload, perhaps empty, of the segment that completed
    /// the handshake.
    pub fn take_first_payload(&mut self, payload: &[u8]) {
        self.take_events(payload);
    }

    /// Hands bytes to the stream; returns how many were taken (fewer when the send buffer is full, none
    /// after close).
    pub fn write(&mut self, data: &[u8]) -> usize {
        if !self.connection.state().can_send() || self.connection.is_closing() {
            return 0;
        }
        let count = self.send.write(data);
        self.connection.write(count as u64);
        count
    }

    /// Takes readable bytes; returns how many.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let count = self.receive.read(out);
        if count > 0 {
            self.connection.read(count as u64);
        }
        count
    }

    /// Copies the payload of `segment` into the start of `out`; `None` if `out` is too small.
    pub fn payload<'a>(&self, segment: &SegmentOut, out: &'a mut [u8]) -> Option<&'a [u8]> {
        let out = out.get_mut(..segment.payload_bytes as usize)?;
        let held = out.is_empty() || self.send.copy(segment.stream_offset, out);
        held.then_some(&*out)
    }

    /// No more bytes from us.
    pub fn close(&mut self) {
        self.connection.close();
        self.take_events(&[]);
    }

    /// Ends the connection at once.
    pub fn abort(&mut self) {
        self.connection.abort();
        self.take_events(&[]);
    }

    /// What happened so far.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// The connection's state.
    pub const fn state(&self) -> State {
        self.connection.state()
    }

    /// Bytes that can be read.
    pub const fn readable(&self) -> usize {
        self.receive.readable()
    }

    /// Bytes that can be written.
    pub fn room(&self) -> usize {
        self.send.room()
    }

    /// The connection inside, for its measures.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    fn take_events(&mut self, payload: &[u8]) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                TcpEvent::Connected => self.status.connected = true,
                TcpEvent::Accepted { segment_offset, stream_offset, bytes } => {
                    let piece = payload.get(segment_offset as usize..(segment_offset + bytes) as usize);
                    let kept = piece.is_some_and(|piece| self.receive.store(stream_offset, piece));
                    debug_assert!(kept, "the window lets in only what the buffer holds");
                }
                TcpEvent::Readable { up_to } => self.receive.complete(up_to),
                TcpEvent::Acknowledged { up_to } => self.send.acknowledge(up_to),
                TcpEvent::PeerClosed => self.status.peer_closed = true,
                TcpEvent::Reset => self.status.reset = true,
                TcpEvent::TimedOut => self.status.timed_out = true,
                TcpEvent::Closed => self.status.closed = true,
            }
        }
    }
}

impl Endpoint for ByteConnection {
    type Input<'a> = (SegmentIn, &'a [u8]);
    type Transmit = SegmentOut;
    type Event = Status;

    fn handle_input(&mut self, now: Instant, (segment, payload): (SegmentIn, &[u8])) {
        let payload_bytes = segment.payload_bytes.min(payload.len() as u32);
        self.connection.handle_input(now, SegmentIn { payload_bytes, ..segment });
        self.take_events(payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
        self.take_events(&[]);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<SegmentOut> {
        self.connection.poll_transmit(now)
    }

    fn poll_event(&mut self) -> Option<Status> {
        let changed = self.status != self.told;
        self.told = self.status;
        changed.then_some(self.status)
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.connection.poll_timeout()
    }
}
