//! A connection as the subject of scripts.
use crate::packet::{self, RECEIVER_INITIAL};
use crate::setup::{self, Setup};
use prismux_endpoint::Endpoint;
use prismux_r2cp::policy::Cost;
use prismux_r2cp::{Connection, PipeId, R2cpEvent};
use prismux_rcp::PacketIn;
use prismux_script::{Events, Packet, Subject, Words, same};
use prismux_units::Instant;

/// A connection, and what it has told its host.
pub struct Machine {
    connection: Connection,
    setup: Setup,
    /// The limit that each pipe's server told last.
    limits: Vec<u16>,
    events: Events,
    start: Instant,
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] = &["state", "event", "no-event", "received", "count"];

    fn new(config: &mut Words<'_>) -> Result<Self, String> {
        let setup = setup::read(config)?;
        let connection = Connection::new(setup.config.clone(), Instant::ZERO);
        let start = Instant::ZERO;
        let mut machine = Self { connection, setup, limits: Vec::new(), events: Events::default(), start };
        machine.open_pipes()?;
        Ok(machine)
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "<" => self.receive(now, words)?,
            "open" => {
                let cost = if words.skip("cost") { Cost(words.number("a cost")?) } else { Cost(0) };
                self.open(now, cost);
            }
            "close-pipe" => {
                let id = pipe(words)?;
                self.connection.close_pipe(id);
            }
            "drop-pipe" => {
                let id = pipe(words)?;
                self.connection.drop_pipe(id);
            }
            "freeze" => {
                let id = pipe(words)?;
                self.connection.freeze(id);
            }
            "thaw" => {
                let id = pipe(words)?;
                self.connection.thaw(now, id);
            }
            "lost-by-link" => {
                let (id, positions) = (pipe(words)?, words.range("positions")?);
                self.connection.lost_by_link(now, id, &positions);
            }
            "damaged" => {
                let (id, packet) = self.packet(words)?;
                self.connection.damaged(now, id, &packet);
            }
            "read" => self.connection.read(words.number("bytes")?),
            "already-here" => self.connection.already_here(&words.range("positions")?),
            "abort" => self.connection.abort(),
            word => self.answer(word, words)?,
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let (id, packet) = self.connection.poll_transmit(now)?;
        self.take_events();
        Some(packet::write(&packet, &format!("pipe {}", id.0)))
    }

    fn deadline(&self) -> Option<Instant> {
        self.connection.poll_timeout().map(|deadline| deadline.at)
    }

    fn wake(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
        self.take_events();
    }

    fn start(&self) -> Instant {
        self.start
    }
}

fn pipe(words: &mut Words<'_>) -> Result<PipeId, String> {
    words.number("a pipe").map(PipeId)
}

impl Machine {
    fn open(&mut self, now: Instant, cost: Cost) {
        let congestion = self.setup.congestion(self.limits.len());
        self.connection.open_with(now, RECEIVER_INITIAL, cost, congestion);
        self.limits.push(self.setup.limits.get(self.limits.len()).copied().unwrap_or(60_000));
    }

    /// Opens every pipe at once, before the script begins, each in its round trip. The first requests are the script's.
    fn open_pipes(&mut self) -> Result<(), String> {
        let round_trips = self.setup.round_trips.clone();
        for index in 0..round_trips.len() {
            self.open(Instant::ZERO, self.setup.cost(index));
        }
        while self.connection.poll_transmit(Instant::ZERO).is_some() {}
        let mut order: Vec<usize> = (0..round_trips.len()).collect();
        order.sort_by_key(|&index| round_trips[index]);
        for index in order {
            self.start = Instant::ZERO + round_trips[index];
            self.receive(self.start, &mut Words::of(&format!("pipe {index} SYN-ACK")))?;
        }
        self.take_events();
        self.events = Events::default();
        Ok(())
    }

    fn receive(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        let (id, packet) = self.packet(words)?;
        self.connection.handle_input(now, (id, packet));
        Ok(())
    }

    fn packet(&mut self, words: &mut Words<'_>) -> Result<(PipeId, PacketIn), String> {
        if !words.skip("pipe") {
            return Err("a packet begins with its pipe".to_owned());
        }
        let id = pipe(words)?;
        let limit = self.limits.get_mut(id.0).ok_or("no such pipe")?;
        Ok((id, packet::read(words, false, limit)?))
    }

    fn take_events(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                R2cpEvent::Stream(event) => self.events.push(event),
                event => self.events.push(event),
            }
        }
    }

    /// Questions.
    fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        match question {
            "state" => {
                let id = pipe(words)?;
                let state = self.connection.pipe_metrics(id).ok_or("no such pipe")?.state;
                same("state", format!("{state:?}").to_uppercase().as_str(), words.word("a state")?)
            }
            "event" | "no-event" => self.events.answer(question, words),
            "received" => same("received", self.connection.bytes_received_in_order(), words.number("bytes")?),
            "count" => {
                let metrics = self.connection.metrics();
                let name = words.word("a counter")?;
                let found = match name {
                    "duplicate_bytes" => metrics.duplicate_bytes,
                    "unrequested" => metrics.unrequested,
                    "found_buffer_nearly_full" => metrics.found_buffer_nearly_full,
                    _ => return Err(format!("unknown counter {name:?}")),
                };
                same(name, found, words.number("a count")?)
            }
            _ => Err("unknown step".to_owned()),
        }
    }
}
