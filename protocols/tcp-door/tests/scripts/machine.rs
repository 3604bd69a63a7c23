//! A connection with TCP-DOOR as the subject of scripts.
use crate::config::{self, Config, SEGMENT};
use crate::segment::{self, OURS, THEIRS};
use prismux_endpoint::Endpoint;
use prismux_script::{Packet, Subject, Words, duration, same};
use prismux_tcp::{Connection, SegmentIn, SegmentOut};
use prismux_tcp_door::Door;
use prismux_units::{Duration, Instant};
use prismux_wire::{DeliveryOrder, Ecn, TcpFlags, TcpHeader};

/// A script begins that long after the connection: its handshake.
const HANDSHAKE: Duration = Duration::from_millis(100);

/// One end of a connection, before it or after its handshake.
pub struct Machine {
    config: Config,
    connection: Option<Connection>,
    /// Bytes of the peer's stream that have come, with or without gaps.
    peer_sent: u64,
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] =
        &["window", "threshold", "rto", "frozen", "agreed", "payload", "readable", "count"];

    fn new(words: &mut Words<'_>) -> Result<Self, String> {
        let mut machine = Self { config: config::read(words)?, connection: None, peer_sent: 0 };
        if machine.config.handshake {
            machine.shake_hands();
        }
        Ok(machine)
    }

    fn start(&self) -> Instant {
        Instant::ZERO + HANDSHAKE
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "<" => self.receive(now, words)?,
            "open" => self.connection = Some(self.open(now)),
            "write" => {
                let bytes = words.number("bytes")?;
                self.connection()?.write(bytes);
            }
            "flight" => self.fly(now, words.number("bytes")?)?,
            question => self.answer(now, question, words)?,
        }
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let mss = u32::from(self.config.tcp.mss);
        let connection = self.connection.as_mut()?;
        let segment = connection.poll_transmit(now)?;
        while connection.poll_event().is_some() {}
        check(&segment, mss);
        Some(segment::write(&segment))
    }

    fn deadline(&self) -> Option<Instant> {
        self.connection.as_ref()?.poll_timeout().map(|deadline| deadline.at)
    }

    fn wake(&mut self, now: Instant) {
        if let Some(connection) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }
}

/// What holds of every segment: options fit, and never cost more than the segment size allows.
fn check(segment: &SegmentOut, mss: u32) {
    let options = &segment.header.options;
    assert!(options.fits(), "the options do not fit: {segment:?}");
    assert!(segment.payload_bytes + options.wire_bytes() as u32 <= mss, "larger than the MSS: {segment:?}");
}

impl Machine {
    fn connection(&mut self) -> Result<&mut Connection, String> {
        self.connection.as_mut().ok_or_else(|| "no connection yet".to_owned())
    }

    fn open(&self, now: Instant) -> Connection {
        let mut connection = Connection::connect(self.config.tcp.clone(), 1, 2, OURS, now);
        connection.set_order_watch(Box::new(Door::new(self.config.door.clone())));
        connection
    }

    fn shake_hands(&mut self) {
        let mut connection = self.open(Instant::ZERO);
        while connection.poll_transmit(Instant::ZERO).is_some() {}
        let mut header = TcpHeader {
            seq: THEIRS,
            ack: OURS + 1,
            flags: TcpFlags::SYN | TcpFlags::ACK,
            window: 60_000,
            ..TcpHeader::default()
        };
        if self.config.tcp.ecn {
            header.flags |= TcpFlags::ECE;
        }
        header.options.mss = Some(u16::MAX);
        header.options.sack_permitted = true;
        header.options.timestamps =
            self.config.tcp.timestamps.then_some(prismux_wire::Timestamps { value: 0, echo: 1 });
        header.options.delivery_order = self.config.peer_marks.then(DeliveryOrder::default);
        let now = Instant::ZERO + HANDSHAKE;
        connection.handle_input(now, SegmentIn { header, payload_bytes: 0, ecn: Ecn::NotEct });
        while connection.poll_transmit(now).is_some() {}
        while connection.poll_event().is_some() {}
        self.connection = Some(connection);
    }

    fn receive(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        let input = segment::read(words, self.peer_sent)?;
        if input.payload_bytes > 0 {
            let end = (input.header.seq - THEIRS.0 - 1).0 + input.payload_bytes;
            self.peer_sent = self.peer_sent.max(u64::from(end));
        }
        match &mut self.connection {
            Some(connection) => connection.handle_input(now, input),
            None => {
                let mut connection = Connection::accept(self.config.tcp.clone(), &input.header, OURS, now);
                connection.set_order_watch(Box::new(Door::new(self.config.door.clone())));
                self.connection = Some(connection);
            }
        }
        Ok(())
    }

    /// Writes `bytes`, all of which have to leave at once.
    fn fly(&mut self, now: Instant, bytes: u64) -> Result<(), String> {
        let mss = u32::from(self.config.tcp.mss);
        let connection = self.connection()?;
        connection.write(bytes);
        let mut left = bytes;
        while let Some(segment) = connection.poll_transmit(now) {
            check(&segment, mss);
            left -= u64::from(segment.payload_bytes);
        }
        same("bytes that wait", left, 0)
    }

    fn answer(&mut self, now: Instant, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        let connection = self.connection.as_ref().ok_or_else(|| "no connection yet".to_owned())?;
        let door: &Door = connection.order_watch().ok_or_else(|| "no TCP-DOOR".to_owned())?;
        let engine = connection.metrics().engine;
        match question {
            "window" => same("window", engine.cwnd_bytes, words.number("bytes")?),
            "threshold" if words.skip("none") => same("threshold", engine.ssthresh_bytes, u64::MAX),
            "threshold" => same("threshold", engine.ssthresh_bytes, words.number("bytes")?),
            "rto" => same("timeout", engine.rto, duration(words.word("a timeout")?)?),
            "frozen" => same("frozen", connection.engine().is_frozen(now), words.word("yes or no")? == "yes"),
            "agreed" => same("agreed", door.is_agreed(), words.word("yes or no")? == "yes"),
            "payload" => same("payload", connection.segment_bytes(), words.number("bytes")?),
            "readable" => same("readable", connection.bytes_readable(), words.number("bytes")?),
            "count" => {
                let name = words.word("a counter")?;
                let (counters, reductions) = (door.counters(), engine.counters);
                let found = match name {
                    "late_acks" => counters.late_acks,
                    "late_data" => counters.late_data,
                    "reports" => counters.reports,
                    "repeated_reports" => counters.repeated_reports,
                    "events" => counters.events,
                    "guarded" => counters.guarded,
                    "restorations" => reductions.restorations,
                    "frozen_reductions" => reductions.frozen_reductions,
                    "timeouts" => reductions.timeouts,
                    "retransmitted" => reductions.retransmitted_segments,
                    "ecn_reductions" => reductions.ecn_reductions,
                    _ => return Err(format!("no counter {name:?}")),
                };
                same(name, found, words.number("a count")?)
            }
            _ => Err(format!("unknown step {question:?}")),
        }
    }
}

const _: () = assert!(SEGMENT == 1000, "scripts count in segments of 1000 bytes");
