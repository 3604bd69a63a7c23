//! One host's DSR as the subject of scripts.
use crate::packet;
use prismux_adhoc::{host, letter, on_grid, told};
use prismux_dsr::{CacheKind, Dsr, DsrConfig, DsrPacket};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_routing::{Input, NextHop, RoutingEndpoint};
use prismux_script::{Events, Packet, Subject, Words, number, same};
use prismux_units::Instant;
use std::net::Ipv4Addr;

/// One host, and what it has told.
pub struct Machine {
    dsr: Dsr<u32>,
    events: Events,
}

fn config(words: &mut Words<'_>) -> Result<(Ipv4Addr, DsrConfig), String> {
    let mut config = match words.word("a profile")? {
        "rfc" => DsrConfig::rfc4728(),
        "ns2" => DsrConfig::ns2(),
        "strict" => DsrConfig::ns2_strict(),
        "off" => DsrConfig::cache_off(),
        "off-flood" => DsrConfig::cache_off_flood(),
        profile => return Err(format!("unknown profile {profile:?}")),
    };
    let mut address = host("B")?;
    for (key, value) in words.switches()? {
        let is_on = value == "on";
        match key {
            "host" => address = host(value)?,
            "cache" if value == "path" => config.cache = DsrConfig::ns2().cache,
            "cache" if value == "link" => config.cache = DsrConfig::rfc4728().cache,
            "cache" if value == "off" => config.cache = CacheKind::Off,
            "reply_from_cache" => config.reply_from_cache = is_on,
            "snoop" => config.snoop = is_on,
            "snoop_reverse" => config.snoop_reverse = is_on,
            "salvage" => config.salvage = is_on,
            "gratuitous" => config.gratuitous_replies = is_on,
            "spread_errors" => config.spread_errors = is_on,
            "nonpropagating" => config.nonpropagating_first = is_on,
            "blacklist" => config.blacklist = is_on,
            "max_route_hops" => config.max_route_hops = number(value)?,
            _ => return Err(format!("unknown switch {key}={value}")),
        }
    }
    Ok((address, config))
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] = &["event", "no-event", "cached", "count"];

    fn new(words: &mut Words<'_>) -> Result<Self, String> {
        let (address, config) = config(words)?;
        let dsr = Dsr::new(address, config, Seed(1).stream("script"));
        Ok(Self { dsr, events: Events::default() })
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "send" => {
                let destination = host(words.word("a destination")?)?;
                let payload = words.number("a packet's number")?;
                self.dsr.handle_input(now, Input::Send { destination, payload });
            }
            "<" => {
                let from = host(words.word("a neighbour")?)?;
                let packet = packet::read(words)?;
                self.dsr.handle_input(now, Input::Received { from, packet });
            }
            "hear" => {
                let (from, to) = packet::ends(words.word("two neighbours")?)?;
                let packet = &packet::read(words)?;
                self.dsr.handle_input(now, Input::Overheard { from, to, packet });
            }
            "fail" => {
                let (neighbour, packet) = returned(words)?;
                self.dsr.handle_input(now, Input::LinkFailure { neighbour, packet });
            }
            "flush" => {
                let (neighbour, packet) = returned(words)?;
                self.dsr.handle_input(now, Input::Flushed { neighbour, packet });
            }
            "serve" => self.dsr.serve(host(words.word("an address")?)?, true),
            "refuse" => self.dsr.serve(host(words.word("an address")?)?, false),
            word => self.answer(word, words)?,
        }
        self.take_events();
        Ok(())
    }

    fn sent(&mut self, now: Instant) -> Option<Packet> {
        let frame = self.dsr.poll_transmit(now)?;
        self.take_events();
        let to = match frame.next_hop {
            NextHop::Neighbour(neighbour) => letter(neighbour),
            NextHop::Broadcast => "*".to_owned(),
        };
        packet::survives_the_wire(&frame.packet.header);
        Some(packet::write(&to, &frame.packet))
    }

    fn deadline(&self) -> Option<Instant> {
        self.dsr.poll_timeout().map(|deadline| on_grid(deadline.at))
    }

    fn wake(&mut self, now: Instant) {
        self.dsr.handle_timeout(now);
        self.take_events();
    }
}

fn returned(words: &mut Words<'_>) -> Result<(Ipv4Addr, DsrPacket<u32>), String> {
    Ok((host(words.word("a neighbour")?)?, packet::read(words)?))
}

impl Machine {
    fn take_events(&mut self) {
        while let Some(event) = self.dsr.poll_event() {
            self.events.push(told(&event));
        }
    }

    /// Questions.
    fn answer(&mut self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        match question {
            "event" | "no-event" => self.events.answer(question, words),
            "cached" => same("cached", self.dsr.cached_routes(), words.number("a number")?),
            "count" => {
                let name = words.word("a counter")?;
                let statistics = self.dsr.statistics();
                let found = match name {
                    "refused" => statistics.refused_packets,
                    "forwarded" => statistics.forwarded_packets,
                    "salvaged" => statistics.salvaged_packets,
                    "discoveries" => statistics.discoveries,
                    "answered" => statistics.discoveries_answered,
                    "buffered" => self.dsr.buffered_packets() as u64,
                    _ => return Err(format!("unknown counter {name:?}")),
                };
                same(name, found, words.number("a count")?)
            }
            _ => Err("unknown step".to_owned()),
        }
    }
}
