//! A connection as the subject of scripts.
use crate::far_end::{FarEnd, path};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_mptcp::{Connection, MptcpConfig, MptcpEvent, Path, Scheduler};
use prismux_script::{Events, Packet, Subject, Words, number, same};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{CongestionKind, WindowReduction};
use prismux_units::{ByteCount, Instant};

/// One end of a connection, the far end, and what the connection has told its host.
pub struct Machine {
    config: MptcpConfig,
    paths: usize,
    connection: Option<Connection>,
    far: FarEnd,
    events: Events,
}

/// A TCP whose numbers are easy to follow: segments of 1000 bytes, a first window of two, every segment acknowledged at
/// once, losses found by three duplicates or the timeout alone.
fn plain() -> TcpConfig {
    let mut tcp = TcpConfig::modern();
    (tcp.mss, tcp.timestamps, tcp.delayed_ack, tcp.quick_ack_segments) = (1024, false, None, 0);
    tcp.receive_buffer = ByteCount::new(64_000);
    let engine = &mut tcp.engine;
    (engine.congestion, engine.hystart) = (CongestionKind::NewReno, None);
    (engine.rack, engine.tlp, engine.frto) = (false, false, false);
    engine.reduction = WindowReduction::Immediate;
    (engine.idle_restart, engine.adaptive_reordering) = (false, false);
    engine.initial_window_segments = 2;
    tcp
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] = &["state", "mode", "event", "no-event", "readable", "acked"];

    fn new(words: &mut Words<'_>) -> Result<Self, String> {
        let mut config = MptcpConfig { consume_on_arrival: true, ..MptcpConfig::new(plain()) };
        config.scheduler = Scheduler::MinRtt;
        let mut paths = 2;
        for (key, value) in words.switches()? {
            match (key, value) {
                ("paths", value) => paths = number(value)?,
                ("scheduler", "redundant") => config.scheduler = Scheduler::Redundant,
                _ => return Err(format!("unknown switch {key:?}")),
            }
        }
        Ok(Self { config, paths, connection: None, far: FarEnd::default(), events: Events::default() })
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "<" => {
                let segment = self.far.read(words)?;
                self.connection()?.handle_input(now, segment);
            }
            "connect" => {
                let paths: Vec<Path> = (0..self.paths).map(path).collect();
                let random = Seed(1).stream("ours");
                let config = self.config.clone();
                self.connection = Some(Connection::connect(config, &paths, (4000, 80), random, now));
            }
            "write" => self.connection()?.write(words.number("bytes")?),
            "close" => self.connection()?.close(),
            "abort" => self.connection()?.abort(),
            "drop" => {
                let gone = path(words.number("a subflow")?);
                self.connection()?.drop_path(gone);
            }
            "backup" => {
                let path = path(words.number("a subflow")?);
                self.connection()?.set_backup(path, true);
            }
            question => self.answer(question, words)?,
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let out = self.connection.as_mut()?.poll_transmit(now)?;
        Some(self.far.hear(&out))
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

impl Machine {
    fn connection(&mut self) -> Result<&mut Connection, String> {
        self.connection.as_mut().ok_or_else(|| "no connection yet".to_owned())
    }

    fn take_events(&mut self) {
        while let Some(event) = self.connection.as_mut().and_then(Endpoint::poll_event) {
            match event {
                MptcpEvent::SubflowEstablished { place } => {
                    self.events.push(format_args!("SubflowEstablished({place})"));
                }
                MptcpEvent::SubflowClosed { place } => {
                    self.events.push(format_args!("SubflowClosed({place})"))
                }
                MptcpEvent::FellBack => self.events.push(format_args!("FellBack")),
                MptcpEvent::Connection(event) => self.events.push(event),
            }
        }
    }

    fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        match question {
            "state" => {
                same("state", format!("{:?}", self.connection()?.state()).as_str(), words.word("a state")?)
            }
            "mode" => {
                same("mode", format!("{:?}", self.connection()?.mode()).as_str(), words.word("a mode")?)
            }
            "event" | "no-event" => self.events.answer(question, words),
            "readable" => {
                same("readable", self.connection()?.bytes_received_in_order(), words.number("bytes")?)
            }
            "acked" => same("acked", self.connection()?.stream_acked(), words.number("bytes")?),
            _ => Err("unknown step".to_owned()),
        }
    }
}
