//! One end of a connection as the subject of scripts.
use crate::config::{self, Setup};
use crate::packet::{self, RECEIVER_INITIAL, SENDER_INITIAL, TOKEN};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_rcp::{PacketIn, RcpEvent, Receiver, Sender};
use prismux_script::{Events, Packet, Subject, Words, same};
use prismux_units::Instant;

/// The end that is played.
enum End {
    None,
    Receiver(Box<Receiver>),
    Sender(Box<Sender>),
}

/// One end, and what it has told its host.
pub struct Machine {
    setup: Setup,
    end: End,
    /// The far end's limit, as said last.
    limit: u16,
    events: Events,
    purged: u64,
    start: Instant,
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] =
        &["state", "event", "no-event", "received", "purged", "cwnd", "ssthresh", "deadline", "count"];

    fn new(config: &mut Words<'_>) -> Result<Self, String> {
        let setup = config::read(config)?;
        let limit = setup.limit;
        let mut machine =
            Self { setup, end: End::None, limit, events: Events::default(), purged: 0, start: Instant::ZERO };
        if machine.setup.is_opened {
            machine.open()?;
        }
        Ok(machine)
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "<" => {
                let packet = packet::read(words, self.setup.is_sender, &mut self.limit)?;
                self.receive(now, packet);
            }
            "connect" => self.connect(now),
            "write" => self.sender()?.write(words.number("bytes")?),
            "finish" => self.sender()?.finish(),
            "read" => self.receiver()?.read(words.number("bytes")?),
            "freeze" => self.receiver()?.freeze(),
            "thaw" => self.receiver()?.thaw(now),
            "lost-by-link" => {
                let positions = words.range("positions")?;
                self.receiver()?.lost_by_link(now, positions);
            }
            "damaged" => {
                let packet = packet::read(words, false, &mut self.limit)?;
                self.receiver()?.damaged(now, &packet);
            }
            "abort" => match &mut self.end {
                End::None => return Err("no connection yet".to_owned()),
                End::Receiver(end) => end.abort(),
                End::Sender(end) => end.abort(),
            },
            word => self.answer(word, words)?,
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let packet = match &mut self.end {
            End::None => None,
            End::Receiver(end) => {
                let packet = end.poll_transmit(now);
                end.pipe().engine().audit().expect("the engine's books are in order");
                packet
            }
            End::Sender(end) => end.poll_transmit(now),
        };
        self.take_events();
        packet.map(|packet| packet::write(&packet, ""))
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_deadline().map(|deadline| deadline.at)
    }

    fn wake(&mut self, now: Instant) {
        match &mut self.end {
            End::None => {}
            End::Receiver(end) => end.handle_timeout(now),
            End::Sender(end) => end.handle_timeout(now),
        }
        self.take_events();
    }

    fn start(&self) -> Instant {
        self.start
    }
}

impl Machine {
    fn receiver(&mut self) -> Result<&mut Receiver, String> {
        match &mut self.end {
            End::Receiver(end) => Ok(end),
            _ => Err("no receiver is played".to_owned()),
        }
    }

    fn sender(&mut self) -> Result<&mut Sender, String> {
        match &mut self.end {
            End::Sender(end) => Ok(end),
            _ => Err("no sender is played".to_owned()),
        }
    }

    fn connect(&mut self, now: Instant) {
        let config = self.setup.config.clone();
        if self.setup.is_sender {
            self.end = End::Sender(Box::new(Sender::connect(config, SENDER_INITIAL, TOKEN, now)));
            self.fill();
        } else {
            self.end = End::Receiver(Box::new(Receiver::connect(config, RECEIVER_INITIAL, now)));
        }
    }

    fn receive(&mut self, now: Instant, packet: PacketIn) {
        match &mut self.end {
            End::Receiver(end) => end.handle_input(now, packet),
            End::Sender(end) => end.handle_input(now, packet),
            End::None => self.accept(now, &packet),
        }
    }

    fn accept(&mut self, now: Instant, syn: &PacketIn) {
        let config = self.setup.config.clone();
        if self.setup.is_sender {
            self.end = End::Sender(Box::new(Sender::accept(config, &syn.header, SENDER_INITIAL, TOKEN, now)));
            self.fill();
        } else {
            self.end = End::Receiver(Box::new(Receiver::accept(config, &syn.header, RECEIVER_INITIAL, now)));
        }
    }

    /// The application of a sender has something to send at once.
    fn fill(&mut self) {
        let (bytes, is_finished) = (self.setup.bytes, self.setup.is_finished);
        if let End::Sender(end) = &mut self.end {
            end.write(bytes);
            if is_finished {
                end.finish();
            }
        }
    }

    /// The handshake: the receiver opens, and has its answer after 100 ms.
    fn open(&mut self) -> Result<(), String> {
        if self.setup.is_sender {
            let syn = packet::read(&mut Words::of("SYN"), true, &mut self.limit)?;
            self.accept(Instant::ZERO, &syn);
            while self.sent(Instant::ZERO).is_some() {}
            return Ok(());
        }
        self.connect(Instant::ZERO);
        while self.sent(Instant::ZERO).is_some() {}
        self.start = Instant::from_millis(100);
        let answer = packet::read(&mut Words::of("SYN-ACK"), false, &mut self.limit)?;
        self.receive(self.start, answer);
        Ok(())
    }

    fn next_deadline(&self) -> Option<Deadline> {
        match &self.end {
            End::None => None,
            End::Receiver(end) => end.poll_timeout(),
            End::Sender(end) => end.poll_timeout(),
        }
    }

    fn take_events(&mut self) {
        loop {
            let event = match &mut self.end {
                End::None => None,
                End::Receiver(end) => end.poll_event(),
                End::Sender(end) => end.poll_event(),
            };
            let Some(event) = event else { return };
            if let RcpEvent::Purged { up_to } = event {
                self.purged = up_to;
            }
            match event {
                RcpEvent::Stream(event) => self.events.push(event),
                event => self.events.push(event),
            }
        }
    }

    /// Questions.
    fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        match question {
            "state" => {
                let state = match &self.end {
                    End::None => "none".to_owned(),
                    End::Receiver(end) => format!("{:?}", end.metrics().state),
                    End::Sender(end) => format!("{:?}", end.state()),
                };
                same("state", in_capitals(&state).as_str(), words.word("a state")?)
            }
            "event" | "no-event" => self.events.answer(question, words),
            "received" => {
                same("received", self.receiver()?.bytes_received_in_order(), words.number("bytes")?)
            }
            "purged" => same("purged", self.purged, words.number("a position")?),
            "cwnd" => {
                let window = self.receiver()?.pipe().engine().cwnd();
                same("congestion window", window, words.number("bytes")?)
            }
            "ssthresh" => {
                let threshold = self.receiver()?.metrics().engine.ssthresh_bytes;
                same("slow start threshold", threshold, words.number("bytes")?)
            }
            "deadline" => {
                let why = self.next_deadline().map_or("none", |deadline| deadline.why);
                same("deadline", why, words.word("a reason")?)
            }
            "count" => {
                let name = words.word("a counter")?;
                same(name, self.counter(name)?, words.number("a count")?)
            }
            _ => Err("unknown step".to_owned()),
        }
    }

    fn counter(&mut self, name: &str) -> Result<u64, String> {
        let unknown = || format!("unknown counter {name:?}");
        Ok(match &self.end {
            End::None => return Err("no connection yet".to_owned()),
            End::Sender(end) => {
                let metrics = end.metrics();
                match name {
                    "pulls" => metrics.pulls,
                    "recovered_pulls" => metrics.recovered_pulls,
                    "repeated_bytes" => metrics.repeated_bytes,
                    "forged" => metrics.drops.forged,
                    "below_purge" => metrics.drops.below_purge,
                    "beyond_limit" => metrics.drops.beyond_limit,
                    "crowded" => metrics.drops.crowded,
                    _ => return Err(unknown()),
                }
            }
            End::Receiver(end) => {
                let metrics = end.metrics();
                match name {
                    "fast_recoveries" => metrics.engine.counters.fast_recoveries,
                    "timeouts" => metrics.engine.counters.timeouts,
                    "ecn_reductions" => metrics.engine.counters.ecn_reductions,
                    "unrequested" => metrics.unrequested,
                    "duplicate_bytes" => metrics.duplicate_bytes,
                    "forged" => metrics.pipe.forged,
                    "link_losses" => metrics.pipe.link_losses,
                    _ => return Err(unknown()),
                }
            }
        })
    }
}

/// `SynSent` as `SYN-SENT`.
fn in_capitals(name: &str) -> String {
    let mut capitals = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !capitals.is_empty() {
            capitals.push('-');
        }
        capitals.push(letter.to_ascii_uppercase());
    }
    capitals
}
