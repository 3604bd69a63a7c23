//! One host's AODV as the subject of scripts.
use crate::packet;
use prismux_adhoc::{host, letter, on_grid, told};
use prismux_aodv::{Aodv, AodvConfig, AodvPacket};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_routing::{Input, NextHop, RoutingEndpoint};
use prismux_script::{Events, Packet, Subject, Words, number, same};
use prismux_units::Instant;
use std::net::Ipv4Addr;

/// One host, and what it has told.
pub struct Machine {
    aodv: Aodv<u32>,
    address: Ipv4Addr,
    events: Events,
    now: Instant,
}

fn config(words: &mut Words<'_>) -> Result<(Ipv4Addr, AodvConfig), String> {
    let mut config = match words.word("a profile")? {
        "rfc" => AodvConfig { gratuitous: false, ..AodvConfig::rfc3561() },
        "ns2" => AodvConfig::ns2(),
        profile => return Err(format!("unknown profile {profile:?}")),
    };
    let mut address = host("B")?;
    for (key, value) in words.switches()? {
        let is_on = value == "on";
        match key {
            "host" => address = host(value)?,
            "hello" => config.hello = is_on,
            "gratuitous" => config.gratuitous = is_on,
            "destination_only" => config.destination_only = is_on,
            "ack_replies" => config.ack_replies = is_on,
            "max_repair_ttl" => config.max_repair_ttl = number(value)?,
            "ttl_start" => config.ttl_start = number(value)?,
            "buffer" => config.buffer_packets = number(value)?,
            _ => return Err(format!("unknown switch {key}={value}")),
        }
    }
    Ok((address, config))
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] = &["event", "no-event", "next", "count"];

    fn new(words: &mut Words<'_>) -> Result<Self, String> {
        let (address, config) = config(words)?;
        let aodv = Aodv::new(address, config, Seed(1).stream("script"));
        Ok(Self { aodv, address, events: Events::default(), now: Instant::ZERO })
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        self.now = now;
        match words.word("a step")? {
            "send" => {
                let destination = host(words.word("a destination")?)?;
                let payload = words.number("a packet's number")?;
                self.aodv.handle_input(now, Input::Send { destination, payload });
            }
            "<" => {
                let (from, packet) = self.packet(words, true)?;
                self.aodv.handle_input(now, Input::Received { from, packet });
            }
            "fail" => {
                let (neighbour, packet) = self.packet(words, false)?;
                self.aodv.handle_input(now, Input::LinkFailure { neighbour, packet });
            }
            "flush" => {
                let (neighbour, packet) = self.packet(words, false)?;
                self.aodv.handle_input(now, Input::Flushed { neighbour, packet });
            }
            word => self.answer(word, words)?,
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let frame = self.aodv.poll_transmit(now)?;
        self.take_events();
        let to = match frame.next_hop {
            NextHop::Neighbour(neighbour) => letter(neighbour),
            NextHop::Broadcast => "*".to_owned(),
        };
        packet::survives_the_wire(&frame.packet.header);
        Some(packet::write(&to, &frame.packet))
    }

    fn deadline(&self) -> Option<Instant> {
        self.aodv.poll_timeout().map(|deadline| on_grid(deadline.at))
    }

    fn wake(&mut self, now: Instant) {
        self.now = now;
        self.aodv.handle_timeout(now);
        self.take_events();
    }
}

impl Machine {
    /// A neighbour, and a packet that came from it or was for it.
    fn packet(&self, words: &mut Words<'_>, came: bool) -> Result<(Ipv4Addr, AodvPacket<u32>), String> {
        let neighbour = host(words.word("a neighbour")?)?;
        let (from, to) = if came { (neighbour, self.address) } else { (self.address, neighbour) };
        Ok((neighbour, packet::read(words, from, to)?))
    }

    fn take_events(&mut self) {
        while let Some(event) = self.aodv.poll_event() {
            self.events.push(told(&event));
        }
    }

    /// Questions.
    fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        match question {
            "event" | "no-event" => self.events.answer(question, words),
            "next" => {
                let destination = host(words.word("a destination")?)?;
                let next = self.aodv.next_hop(self.now, destination).map_or("-".to_owned(), letter);
                same("next hop", next.as_str(), words.word("a next hop")?)
            }
            "count" => {
                let name = words.word("a counter")?;
                let statistics = self.aodv.statistics();
                let found = match name {
                    "forwarded" => statistics.forwarded_packets,
                    "discoveries" => statistics.discoveries,
                    "answered" => statistics.discoveries_answered,
                    "repaired" => statistics.salvaged_packets,
                    "buffered" => self.aodv.buffered_packets() as u64,
                    _ => return Err(format!("unknown counter {name:?}")),
                };
                same(name, found, words.number("a count")?)
            }
            _ => Err("unknown step".to_owned()),
        }
    }
}
