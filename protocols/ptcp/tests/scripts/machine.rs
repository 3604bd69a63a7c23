//! A connection as the subject of scripts.
use crate::far_end::{FarEnd, local, read_path, remote};
use crate::setup::{self, Setup};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_ptcp::{Connection, PtcpEvent, Segment, State};
use prismux_script::{Events, Packet, Subject, Words, same};
use prismux_units::Instant;
use std::net::IpAddr;

/// One end of a connection, the far end, and what the connection has told its host.
pub struct Machine {
    setup: Setup,
    connection: Option<Connection>,
    far: FarEnd,
    events: Events,
    start: Instant,
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] =
        &["state", "event", "no-event", "readable", "acked", "pipes", "cwnd", "count"];

    fn new(config: &mut Words<'_>) -> Result<Self, String> {
        let setup = setup::read(config)?;
        let far = FarEnd::new(setup.granted, setup.window);
        let mut machine =
            Self { setup, connection: None, far, events: Events::default(), start: Instant::ZERO };
        if !machine.setup.round_trips.is_empty() {
            machine.open_pipes()?;
        }
        Ok(machine)
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "<" => self.receive(now, words)?,
            "damaged" => {
                let segment = self.far.read(words)?;
                self.connection()?.damaged(&segment);
            }
            "connect" => self.connect(now),
            "write" => self.connection()?.write(words.number("bytes")?),
            "read" => self.connection()?.read(words.number("bytes")?),
            "close" => self.connection()?.close(now),
            "abort" => self.connection()?.abort(),
            "drop" => {
                let path = read_path(words)?;
                self.connection()?.drop_pipe(path);
            }
            "open" => {
                let path = read_path(words)?;
                let opened = self.connection()?.open_pipe(now, path);
                same("a pipe was opened", opened.is_some(), !words.skip("refused"))?;
            }
            word => self.answer(word, words)?,
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let connection = self.connection.as_mut()?;
        let out = connection.poll_transmit(now);
        if let Err(fault) = connection.audit() {
            panic!("{now}: {fault}");
        }
        Some(self.far.hear(&out?))
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

    fn start(&self) -> Instant {
        self.start
    }
}

impl Machine {
    fn connection(&mut self) -> Result<&mut Connection, String> {
        self.connection.as_mut().ok_or_else(|| "no connection yet".to_owned())
    }

    fn addresses(&self) -> Vec<IpAddr> {
        (0..self.setup.addresses).map(local).collect()
    }

    fn connect(&mut self, now: Instant) {
        let random = Seed(1).stream("ours");
        let config = self.setup.config.clone();
        let ports = (4000, 80);
        self.connection = Some(Connection::connect(config, &self.addresses(), remote(0), ports, random, now));
    }

    fn receive(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        let segment = self.far.read(words)?;
        match &mut self.connection {
            Some(connection) => connection.handle_input(now, segment),
            None => self.connection = Some(self.accept(now, &segment)?),
        }
        Ok(())
    }

    fn accept(&self, now: Instant, opening: &Segment) -> Result<Connection, String> {
        let (config, random) = (self.setup.config.clone(), Seed(1).stream("ours"));
        Connection::accept(config, &self.addresses(), opening, random, now).map_err(|error| error.to_string())
    }

    /// Opens every pipe before the script begins: the first, and once it is established the others together.
    fn open_pipes(&mut self) -> Result<(), String> {
        let round_trips = self.setup.round_trips.clone();
        let is_server = self.setup.is_server;
        let answer = if is_server { "ACK" } else { "SYN-ACK" };
        if is_server {
            self.exchange(Instant::ZERO, "pipe 0 SYN")?;
        } else {
            self.connect(Instant::ZERO);
            self.settle(Instant::ZERO);
        }
        let first = Instant::ZERO + round_trips[0];
        self.exchange(first, &format!("pipe 0 {answer}"))?;
        let mut others: Vec<usize> = (1..round_trips.len()).collect();
        for pipe in others.iter().filter(|_| is_server) {
            self.exchange(first, &format!("pipe {pipe} SYN"))?;
        }
        others.sort_by_key(|&pipe| round_trips[pipe]);
        self.start = first;
        for pipe in others {
            self.start = first + round_trips[pipe];
            self.exchange(self.start, &format!("pipe {pipe} {answer}"))?;
        }
        let opened = self.setup.granted.min(self.setup.config.pipes);
        same("state", self.connection()?.state(), State::Established(opened))?;
        self.take_events();
        self.events = Events::default();
        Ok(())
    }

    /// A segment of the far end comes, and what it makes leave goes.
    fn exchange(&mut self, now: Instant, segment: &str) -> Result<(), String> {
        self.receive(now, &mut Words::of(segment))?;
        self.settle(now);
        Ok(())
    }

    fn settle(&mut self, now: Instant) {
        while self.sent(now).is_some() {}
    }

    fn take_events(&mut self) {
        while let Some(event) = self.connection.as_mut().and_then(Endpoint::poll_event) {
            match event {
                PtcpEvent::PipeEstablished { pipe } => {
                    self.events.push(format_args!("PipeEstablished({pipe})"))
                }
                PtcpEvent::PipeClosed { pipe } => self.events.push(format_args!("PipeClosed({pipe})")),
                PtcpEvent::Connection(event) => self.events.push(event),
            }
        }
    }

    /// Questions.
    fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        match question {
            "state" => {
                let state = match self.connection()?.state() {
                    State::Established(pipes) => format!("ESTABLISHED({pipes})"),
                    state => format!("{state:?}").to_uppercase(),
                };
                same("state", state.as_str(), words.word("a state")?)
            }
            "event" | "no-event" => self.events.answer(question, words),
            "readable" => same("readable", self.connection()?.bytes_readable(), words.number("bytes")?),
            "acked" => same("acked", self.connection()?.stream_acked(), words.number("bytes")?),
            "pipes" => same("pipes", self.connection()?.pipe_count(), words.number("pipes")?),
            "cwnd" => {
                let pipe: u8 = words.number("a pipe")?;
                let found = self.connection()?.pipes().find(|metrics| metrics.pipe == pipe);
                let window = found.ok_or("no such pipe")?.tcp.engine.cwnd_bytes;
                same("congestion window", window, words.number("bytes")?)
            }
            "count" => {
                let name = words.word("a counter")?;
                same(name, self.counter(name)?, words.number("a count")?)
            }
            _ => Err("unknown step".to_owned()),
        }
    }

    fn counter(&mut self, name: &str) -> Result<u64, String> {
        let connection = self.connection()?;
        let (drops, striping) = (connection.drops(), connection.striping());
        let timeouts = || connection.pipes().map(|pipe| pipe.tcp.engine.counters.timeouts).sum();
        Ok(match name {
            "wrong_connection" => drops.wrong_connection,
            "unknown_pipe" => drops.unknown_pipe,
            "bad_token" => drops.bad_token,
            "foreign_path" => drops.foreign_path,
            "not_set_up" => drops.not_set_up,
            "bad_ack" => drops.bad_ack,
            "out_of_buffer" => drops.out_of_buffer,
            "duplicate_bytes" => drops.duplicate_bytes,
            "unbound_bytes" => striping.unbound_bytes,
            "redundant_segments" => striping.redundant_segments,
            "rebound_segments" => striping.rebound_segments,
            "void_segments" => striping.void_segments,
            "unconfirmed_bytes" => striping.unconfirmed_bytes,
            "reclaimed_bytes" => striping.reclaimed_bytes,
            "keep_alive_checks" => striping.keep_alive_checks,
            "timeouts" => timeouts(),
            _ => return Err(format!("unknown counter {name:?}")),
        })
    }
}
