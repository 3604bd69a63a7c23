//! One host's DSDV as the subject of scripts.
use prismux_adhoc::{host, letter, on_grid, told};
use prismux_dsdv::{Advertised, Dsdv, DsdvConfig, DsdvHeader, DsdvPacket, INFINITE_METRIC};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_routing::{DATA_HOP_LIMIT, Header, Input, NextHop, RoutingEndpoint};
use prismux_script::{Events, Packet, Subject, Words, number, same};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use std::net::Ipv4Addr;

/// One host, and what it has told.
pub struct Machine {
    dsdv: Dsdv<u32>,
    events: Events,
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] = &["event", "no-event", "route", "count"];

    fn new(words: &mut Words<'_>) -> Result<Self, String> {
        let mut config =
            DsdvConfig { startup_jitter: Duration::ZERO, link_layer_feedback: true, ..DsdvConfig::ns2() };
        let mut address = host("B")?;
        for (key, value) in words.switches()? {
            match key {
                "host" => address = host(value)?,
                "sq" => config.trigger_on_sequence_number = value == "on",
                "new-number-delays" => config.new_number_delays = value == "on",
                "feedback" => config.link_layer_feedback = value == "on",
                "interval" => config.update_interval = Duration::from_secs(number(value)?),
                _ => return Err(format!("unknown switch {key}={value}")),
            }
        }
        let dsdv = Dsdv::new(Instant::ZERO, address, config, Seed(1).stream("script"));
        Ok(Self { dsdv, events: Events::default() })
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "send" => {
                let destination = host(words.word("a destination")?)?;
                let payload = words.number("a packet's number")?;
                self.dsdv.handle_input(now, Input::Send { destination, payload });
            }
            "<" => {
                let from = host(words.word("a neighbour")?)?;
                let packet = read(words, from)?;
                self.dsdv.handle_input(now, Input::Received { from, packet });
            }
            "fail" => {
                let neighbour = host(words.word("a neighbour")?)?;
                let packet = read(words, self.dsdv.address())?;
                self.dsdv.handle_input(now, Input::LinkFailure { neighbour, packet });
            }
            "flush" => {
                let neighbour = host(words.word("a neighbour")?)?;
                let packet = read(words, self.dsdv.address())?;
                self.dsdv.handle_input(now, Input::Flushed { neighbour, packet });
            }
            word => self.answer(word, words)?,
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let frame = self.dsdv.poll_transmit(now)?;
        self.take_events();
        let to = match frame.next_hop {
            NextHop::Neighbour(neighbour) => letter(neighbour),
            NextHop::Broadcast => "*".to_owned(),
        };
        survives_the_wire(&frame.packet.header);
        Some(write(&to, &frame.packet))
    }

    fn deadline(&self) -> Option<Instant> {
        self.dsdv.poll_timeout().map(|deadline| on_grid(deadline.at))
    }

    fn wake(&mut self, now: Instant) {
        self.dsdv.handle_timeout(now);
        self.take_events();
    }
}

impl Machine {
    fn take_events(&mut self) {
        while let Some(event) = self.dsdv.poll_event() {
            self.events.push(told(&event));
        }
    }

    /// Questions.
    fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        match question {
            "event" | "no-event" => self.events.answer(question, words),
            "route" => {
                let destination = host(words.word("a destination")?)?;
                let next = self.dsdv.next_hop(destination).map_or("-".to_owned(), letter);
                same("next hop", next.as_str(), words.word("a next hop")?)?;
                match self.dsdv.metric(destination) {
                    Some(metric) => same("hops", metric, words.number("hops")?),
                    None => Ok(()),
                }
            }
            "count" => {
                let name = words.word("a counter")?;
                let statistics = self.dsdv.statistics();
                let found = match name {
                    "forwarded" => statistics.forwarded_packets,
                    "buffered" => self.dsdv.buffered_packets() as u64,
                    _ => return Err(format!("unknown counter {name:?}")),
                };
                same(name, found, words.number("a count")?)
            }
            _ => Err("unknown step".to_owned()),
        }
    }
}

fn entry(text: &str) -> Result<Advertised, String> {
    let words: Vec<&str> = text.split('/').collect();
    let [destination, metric, seq] = words.as_slice() else { return Err(format!("{text:?} is not C/0/4")) };
    Ok(Advertised {
        destination: host(destination)?,
        metric: if *metric == "-" { INFINITE_METRIC } else { number(metric)? },
        seq: SeqNumber(number(seq)?),
    })
}

/// Reads a packet of `source`.
fn read(words: &mut Words<'_>, source: Ipv4Addr) -> Result<DsdvPacket<u32>, String> {
    let mut packet = DsdvPacket {
        source,
        destination: Ipv4Addr::BROADCAST,
        identification: 0,
        hop_limit: 1,
        header: DsdvHeader::Data,
        payload: None,
    };
    match words.word("a kind of packet")? {
        "DATA" => {
            packet.payload = Some(words.number("a packet's number")?);
            let ends = words.word("the ends")?;
            let (from, to) = ends.split_once('>').ok_or(format!("{ends:?} is not A>B"))?;
            (packet.source, packet.destination) = (host(from)?, host(to)?);
            packet.hop_limit = if words.skip("ttl") { words.number("hops")? } else { DATA_HOP_LIMIT };
        }
        "UPDATE" => {
            let entries: Result<Vec<_>, _> = words.word("entries")?.split(',').map(entry).collect();
            packet.header = DsdvHeader::Update(entries?);
        }
        kind => return Err(format!("unknown kind of packet {kind:?}")),
    }
    Ok(packet)
}

/// A packet that leaves for `to`, in words.
fn write(to: &str, packet: &DsdvPacket<u32>) -> Packet {
    match &packet.header {
        DsdvHeader::Data => {
            let ends = format!("{}>{}", letter(packet.source), letter(packet.destination));
            Packet::new(format!("{to} DATA {} {ends}", packet.payload.unwrap_or_default()))
                .with("ttl", packet.hop_limit)
        }
        DsdvHeader::Update(entries) => {
            let write = |entry: &Advertised| {
                let metric =
                    if entry.metric < INFINITE_METRIC { entry.metric.to_string() } else { "-".to_owned() };
                format!("{}/{metric}/{}", letter(entry.destination), entry.seq.0)
            };
            let entries: Vec<String> = entries.iter().map(write).collect();
            Packet::new(format!("{to} UPDATE {}", entries.join(",")))
        }
    }
}

/// Holds that an update that leaves can be written as bytes and read again.
fn survives_the_wire(header: &DsdvHeader) {
    if *header != DsdvHeader::Data {
        let mut bytes = vec![0; header.wire_bytes()];
        assert_eq!(header.emit(&mut bytes), Ok(bytes.len()));
        assert_eq!(DsdvHeader::parse(&bytes).as_ref(), Ok(header));
    }
}
