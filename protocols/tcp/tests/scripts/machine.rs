//! A connection as the subject of scripts.
use crate::segment::{self, OUR_INITIAL, OUR_PORT, PEER_PORT};
use prismux_endpoint::Endpoint;
use prismux_script::{Events, Packet, Subject, Words, same};
use prismux_tcp::{Connection, SegmentOut, TcpConfig};
use prismux_units::Instant;
use std::sync::Arc;

/// One end of a connection, and what it has told its host.
pub struct Machine {
    config: Arc<TcpConfig>,
    connection: Option<Connection>,
    events: Events,
    window_edge: u64,
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] = &["state", "event", "no-event", "readable", "acked", "count"];

    fn new(config: &mut Words<'_>) -> Result<Self, String> {
        let config = Arc::new(crate::config::read(config)?);
        Ok(Self { config, connection: None, events: Events::default(), window_edge: 0 })
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "<" => self.receive(now, words)?,
            "open" => {
                same("side", words.word("a side")?, "active")?;
                let config = Arc::clone(&self.config);
                self.connection = Some(Connection::connect(config, OUR_PORT, PEER_PORT, OUR_INITIAL, now));
            }
            "write" => self.connection()?.write(words.number("bytes")?),
            "read" => self.connection()?.read(words.number("bytes")?),
            "close" => self.connection()?.close(),
            "abort" => self.connection()?.abort(),
            "state" => same("state", self.connection()?.state().name(), words.word("a state")?)?,
            question if Events::QUESTIONS.contains(&question) => self.events.answer(question, words)?,
            "readable" => same("readable", self.connection()?.bytes_readable(), words.number("bytes")?)?,
            "acked" => same("acked", self.connection()?.stream_acked(), words.number("bytes")?)?,
            "count" => {
                let name = words.word("a counter")?;
                same(name, self.counter(name)?, words.number("a count")?)?;
            }
            _ => return Err("unknown step".to_owned()),
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let segment = self.connection.as_mut()?.poll_transmit(now)?;
        self.take_events();
        check(&segment);
        Some(segment::write(&segment))
    }

    fn deadline(&self) -> Option<Instant> {
        self.connection.as_ref()?.poll_timeout().map(|deadline| deadline.at)
    }

    fn wake(&mut self, now: Instant) {
        if let Some(connection) = &mut self.connection {
            connection.handle_timeout(now);
            self.take_events();
        }
    }
}

/// What holds of every segment.
fn check(segment: &SegmentOut) {
    assert!(segment.header.options.fits(), "the options do not fit: {segment:?}");
    if segment.payload_bytes > 0 {
        let relative = (segment.header.seq - OUR_INITIAL.0).0;
        assert_eq!(segment.stream_offset, u64::from(relative) - 1, "stream offset and number differ");
    }
}

impl Machine {
    fn connection(&mut self) -> Result<&mut Connection, String> {
        self.connection.as_mut().ok_or_else(|| "no connection yet".to_owned())
    }

    fn receive(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        let input = segment::read(words)?;
        match &mut self.connection {
            Some(connection) => connection.handle_input(now, input),
            None => {
                let config = Arc::clone(&self.config);
                self.connection = Some(Connection::accept(config, &input.header, OUR_INITIAL, now));
            }
        }
        Ok(())
    }

    fn take_events(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        while let Some(event) = connection.poll_event() {
            self.events.push(event);
        }
        let edge = connection.receive_window_edge();
        assert!(
            edge >= self.window_edge,
            "the window's right edge moved left: {} to {edge}",
            self.window_edge
        );
        self.window_edge = edge;
    }

    fn counter(&mut self, name: &str) -> Result<u64, String> {
        let metrics = self.connection()?.metrics();
        Ok(match name {
            "challenge_acks" => metrics.challenge_acks_sent,
            "old_timestamp" => metrics.drops.old_timestamp,
            "missing_timestamp" => metrics.drops.missing_timestamp,
            "out_of_window" => metrics.drops.out_of_window,
            "bad_ack" => metrics.drops.bad_ack,
            "unproven" => metrics.drops.unproven,
            "malformed" => metrics.drops.malformed,
            "store_full" => metrics.drops.store_full,
            "duplicate_bytes" => metrics.duplicate_bytes_received,
            "out_of_order" => metrics.out_of_order_segments,
            "probes" => metrics.probes_sent,
            "retransmitted" => metrics.engine.counters.retransmitted_segments,
            "timeouts" => metrics.engine.counters.timeouts,
            "spurious" => metrics.engine.counters.spurious_retransmissions,
            "ecn_reductions" => metrics.engine.counters.ecn_reductions,
            _ => return Err(format!("unknown counter {name:?}")),
        })
    }
}
