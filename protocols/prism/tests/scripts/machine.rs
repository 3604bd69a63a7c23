//! A proxy as the subject of scripts; the script is sender, receiver and members.
use crate::config::{self, Setup};
use crate::segment::{self, Segment};
use core::net::{IpAddr, Ipv4Addr};
use prismux_prism::{LinkConfig, LinkId, Proxy, Verdict};
use prismux_script::{Packet, Subject, Words, same};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::FlowKey;
use std::collections::VecDeque;

/// How long a handshake takes between proxy and receiver.
const HANDSHAKE: Duration = Duration::from_millis(10);
/// Payload of the packets that `packets` sends.
const PACKET: u32 = 1000;

/// A proxy, and what it has decided and the script has not been shown yet.
pub struct Machine {
    proxy: Proxy<Segment>,
    sent: VecDeque<Packet>,
}

/// The one flow of a script, by the direction of its data.
fn flow() -> FlowKey {
    FlowKey {
        source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        destination: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)),
        source_port: 80,
        destination_port: 5000,
        protocol: 6,
    }
}

impl Subject for Machine {
    const QUESTIONS: &'static [&'static str] =
        &["state", "held", "flows", "in-flight", "weight", "link", "hrtt", "count"];

    fn new(words: &mut Words<'_>) -> Result<Self, String> {
        let Setup { config, rates_kbps } = config::read(words)?;
        let mut machine = Self { proxy: Proxy::new(config), sent: VecDeque::new() };
        for (number, kbps) in (0..).zip(rates_kbps) {
            machine.join(Instant::ZERO, number, kbps);
        }
        Ok(machine)
    }

    fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        let quietly = words.skip("quietly");
        match words.word("a step")? {
            "<" => self.receive(now, words)?,
            "open" => self.open(now),
            "packets" => {
                let range = words.range("sequence numbers")?;
                for start in range.step_by(PACKET as usize) {
                    self.sender_sends(now, segment::data(start as u32, PACKET));
                }
            }
            "join" => {
                let number = words.number("a link")?;
                self.join(now, number, words.number("a rate")?);
            }
            "leave" => self.proxy.leave(now, LinkId(words.number("a link")?)),
            question => self.answer(question, words)?,
        }
        if quietly {
            while self.proxy.poll_verdict().is_some() {}
        }
        self.collect();
        Ok(())
    }

    fn sent(&mut self, _now: Instant) -> Option<Packet> {
        self.collect();
        self.sent.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        self.proxy.poll_timeout().map(|deadline| deadline.at)
    }

    fn wake(&mut self, now: Instant) {
        self.proxy.handle_timeout(now);
    }
}

impl Machine {
    fn collect(&mut self) {
        while let Some(verdict) = self.proxy.poll_verdict() {
            self.sent.push_back(match verdict {
                Verdict::Forward { link, packet, rewrite, .. } => {
                    segment::forwarded(packet, link.0, &rewrite)
                }
                Verdict::Release { packet, rewrite } => segment::released(packet, &rewrite),
                Verdict::Drop { reason, .. } => Packet::new(format!("drop {}", reason.name())),
            });
        }
    }

    fn join(&mut self, now: Instant, number: u8, kbps: u64) {
        let name = format!("wwan{number}");
        let rate = Some(Rate::from_kbps(kbps));
        self.proxy.join(now, LinkId(number), LinkConfig { name, advertised_rate: rate, round_trip: None });
    }

    fn sender_sends(&mut self, now: Instant, segment: Segment) {
        let header = segment.header;
        self.proxy.handle_data(now, flow(), &header, segment.payload_bytes, segment);
    }

    fn receiver_sends(&mut self, now: Instant, segment: Segment) {
        let header = segment.header;
        self.proxy.handle_reverse(now, flow(), &header, segment.payload_bytes, segment);
    }

    fn receive(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("sender or receiver")? {
            "sender" => self.sender_sends(now, segment::read_sender(words)?),
            "receiver" => self.receiver_sends(now, segment::read_receiver(words)?),
            other => return Err(format!("{other:?} is neither sender nor receiver")),
        }
        Ok(())
    }

    fn open(&mut self, now: Instant) {
        let [syn, syn_ack, ack] = segment::handshake();
        self.receiver_sends(now, syn);
        self.sender_sends(now, syn_ack);
        self.receiver_sends(now + HANDSHAKE, ack);
        while self.proxy.poll_verdict().is_some() {}
    }

    fn answer(&self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        let status = self.proxy.flow_status(&flow());
        match question {
            "state" => {
                let state = status.ok_or("no flow")?.state.name();
                same("state", state, words.word("a state")?)
            }
            "held" => same("held", status.ok_or("no flow")?.held_acks, words.number("ACKs")?),
            "flows" => same("flows", self.proxy.flow_count(), words.number("flows")?),
            "count" => {
                let name = words.word("a counter")?;
                same(name, self.counter(name)?, words.number("a count")?)
            }
            _ => self.answer_of_link(question, words),
        }
    }

    fn answer_of_link(&self, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        let number = words.number("a link")?;
        let link = self.proxy.links().get(LinkId(number)).ok_or("no such link")?;
        match question {
            "in-flight" => same("in flight", link.variables.in_flight_packets, words.number("packets")?),
            "weight" => same("weight", link.variables.weight, words.number("a weight")?),
            "hrtt" => same("hRTT", link.smoothed_rtt(), Some(words.duration()?)),
            "link" => {
                let status = self.proxy.link_status();
                let state =
                    status.iter().find(|status| status.id.0 == number).map(|status| status.state.name());
                same("link", state, Some(words.word("a state")?))
            }
            _ => Err("unknown step".to_owned()),
        }
    }

    fn counter(&self, name: &str) -> Result<u64, String> {
        let counters = self.proxy.counters();
        Ok(match name {
            "retransmissions" => counters.retransmissions,
            "losses" => counters.losses_detected,
            "losses_by_time" => counters.losses_by_time,
            "false_losses" => counters.false_losses,
            "no_data_holes" => counters.no_data_holes,
            "reports" => counters.reports_sent,
            "episodes" => counters.loss_episodes,
            "dsacks" => counters.dsacks,
            "repairs" => counters.local_repairs,
            "probes" => counters.probe_copies,
            "implausible_acks" => counters.implausible_acks,
            "implausible_data" => counters.implausible_data,
            "opaque" => counters.opaque_packets,
            _ => return Err(format!("unknown counter {name:?}")),
        })
    }
}
