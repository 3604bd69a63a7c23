//! One end: a [`ByteConnection`], an application that writes and reads at its own pace, and a checker that
//! watches every segment in both directions.
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::RandomStream;
use prismux_tcp::{ByteConnection, Connection, SegmentIn, SegmentOut, State};
use prismux_units::{Duration, Instant};
use prismux_wire::{SeqNumber, TcpFlags};

/// The byte at `position` of a stream; differs between the directions.
pub fn content(direction: usize, position: u64) -> u8 {
    let mixed = (position ^ (direction as u64) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 56) as u8
}

/// What the application does.
#[derive(Debug, Clone)]
pub struct Application {
    pub to_write: u64,
    /// Most bytes per turn; a turn is every `pause`.
    pub write_chunk: usize,
    pub read_chunk: usize,
    pub pause: Duration,
    pub send_buffer: usize,
}

pub struct Host {
    pub index: usize,
    pub tcp: ByteConnection,
    application: Application,
    written: u64,
    pub read: u64,
    pub next_turn: Instant,
    checker: Checker,
}

/// What must hold whatever the channel does.
#[derive(Default)]
struct Checker {
    our_initial: Option<SeqNumber>,
    peer_initial: Option<SeqNumber>,
    /// Shifts offered; scaling needs both.
    our_shift: Option<u8>,
    /// Which positions of the peer's stream have been handed to us.
    arrived: Vec<bool>,
    /// Highest right edge we ever advertised.
    advertised: u64,
    /// Highest right edge the peer ever advertised to us.
    allowed: u64,
    peer_shift: Option<u8>,
    highest_ack: u64,
}

impl Checker {
    fn note_arrival(&mut self, segment: &SegmentIn) {
        let header = &segment.header;
        if header.flags.contains(TcpFlags::SYN) {
            self.peer_initial = Some(header.seq);
            self.peer_shift = header.options.window_scale;
        }
        let Some(initial) = self.peer_initial else { return };
        if let Some(ours) = self.our_initial
            && header.flags.contains(TcpFlags::ACK)
            && let Some(ack) = header.ack.unwrap_near(ours + 1, self.allowed)
        {
            let syn = header.flags.contains(TcpFlags::SYN);
            let shift = self.our_shift.and(self.peer_shift).filter(|_| !syn).unwrap_or(0);
            self.allowed = self.allowed.max(ack + (u64::from(header.window) << shift));
        }
        let Some(start) = header.seq.unwrap_near(initial + 1, self.arrived.len() as u64) else { return };
        let length = u64::from(segment.payload_bytes) + u64::from(header.flags.contains(TcpFlags::FIN));
        let end = (start + length) as usize;
        self.arrived.resize(self.arrived.len().max(end), false);
        self.arrived[start as usize..end].fill(true);
    }

    fn check_transmit(&mut self, segment: &SegmentOut) {
        let header = &segment.header;
        if header.flags.contains(TcpFlags::SYN) {
            self.our_initial = Some(header.seq);
            self.our_shift = header.options.window_scale;
            return;
        }
        if header.flags.contains(TcpFlags::RST) {
            return;
        }
        assert!(header.options.fits(), "options fit the header: {:?}", header.options);
        let initial = self.peer_initial.expect("no ACK before the peer's SYN");
        let ack = header.ack.unwrap_near(initial + 1, self.highest_ack).expect("ACK behind the SYN");
        let complete = self.arrived.iter().position(|&here| !here).unwrap_or(self.arrived.len()) as u64;
        assert!(ack <= complete, "ACK of {ack}, received up to {complete}");
        assert!(ack >= self.highest_ack, "ACK went back from {} to {ack}", self.highest_ack);
        self.highest_ack = ack;
        for block in header.options.sack.as_slice() {
            let start = block.start.unwrap_near(initial + 1, ack).expect("SACK behind the SYN") as usize;
            let end = block.end.unwrap_near(initial + 1, ack).expect("SACK behind the SYN") as usize;
            assert!(start < end && self.arrived[start..end].iter().all(|&here| here), "SACK of what came");
        }
        let shift = self.peer_shift.and(self.our_shift).unwrap_or(0);
        let edge = ack + (u64::from(header.window) << shift);
        assert!(edge >= self.advertised, "right edge went back from {} to {edge}", self.advertised);
        self.advertised = edge;
        let end = segment.stream_offset + u64::from(segment.payload_bytes);
        assert!(segment.payload_bytes == 0 || end <= self.allowed, "sent up to {end} of {}", self.allowed);
    }
}

impl Host {
    pub fn new(index: usize, connection: Connection, application: Application) -> Self {
        let tcp = ByteConnection::new(connection, application.send_buffer);
        let checker = Checker::default();
        Self { index, tcp, application, written: 0, read: 0, next_turn: Instant::ZERO, checker }
    }

    /// A host that answers `syn`.
    pub fn answering(
        index: usize,
        connection: Connection,
        application: Application,
        syn: &SegmentIn,
    ) -> Self {
        let mut host = Self::new(index, connection, application);
        host.checker.note_arrival(syn);
        host
    }

    pub fn handle(&mut self, now: Instant, segment: SegmentIn, payload: &[u8]) {
        self.checker.note_arrival(&segment);
        self.tcp.handle_input(now, (segment, payload));
    }

    pub fn transmit(&mut self, now: Instant) -> Option<(SegmentIn, Vec<u8>)> {
        let segment = self.tcp.poll_transmit(now)?;
        self.checker.check_transmit(&segment);
        let mut payload = vec![0; segment.payload_bytes as usize];
        self.tcp.payload(&segment, &mut payload).expect("what is sent is held");
        Some((segment.into(), payload))
    }

    /// The application's turn.
    pub fn turn(&mut self, now: Instant, random: &mut RandomStream) {
        self.next_turn = now + self.application.pause;
        self.write_some(random);
        let mut buffer = vec![0; 1 + random.below(self.application.read_chunk as u64) as usize];
        let count = self.tcp.read(&mut buffer);
        for (offset, &byte) in buffer[..count].iter().enumerate() {
            let position = self.read + offset as u64;
            assert_eq!(byte, content(1 - self.index, position), "byte {position}");
        }
        self.read += count as u64;
    }

    fn write_some(&mut self, random: &mut RandomStream) {
        let chunk = 1 + random.below(self.application.write_chunk as u64);
        let count = chunk.min(self.application.to_write - self.written);
        let bytes: Vec<u8> = (self.written..self.written + count).map(|p| content(self.index, p)).collect();
        self.written += self.tcp.write(&bytes) as u64;
        if self.written == self.application.to_write && self.tcp.status().connected {
            self.tcp.close();
        }
    }

    /// Something to read, to write or to close.
    pub fn wants_turn(&self) -> bool {
        let unwritten = self.written < self.application.to_write;
        let unclosed = self.tcp.status().connected && !self.tcp.connection().is_closing();
        self.tcp.readable() > 0 || (unwritten && self.tcp.room() > 0) || (!unwritten && unclosed)
    }

    pub fn is_done(&self) -> bool {
        self.tcp.state() == State::Closed
    }
}
