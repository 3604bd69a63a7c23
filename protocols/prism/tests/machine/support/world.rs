//! A download over two links of 1000 packets per second, with a sender of constant window and a receiver that
//! acknowledges every packet.
use super::{Bench, Receiver, Said, at, data, flow};
use prismux_endpoint::Endpoint;
use prismux_prism::{LinkState, ProxyConfig, ProxyEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::{SeqNumber, TcpHeader};
use std::collections::VecDeque;

pub const FIRST: u32 = 1000;
pub const PACKET: u32 = 1000;
/// Flight of the sender, in packets.
pub const WINDOW: u32 = 120;
/// Time a packet takes over each link and its ACK takes back, in milliseconds; links of 1000 packets per second.
pub const DELAY_MS: [u64; 2] = [20, 35];
pub const SPACING: Duration = Duration::from_millis(1);

pub struct World {
    pub bench: Bench,
    pub receiver: Receiver,
    pub now: Instant,
    /// Packets under way on each link and when they arrive; links keep order.
    pub links: [VecDeque<(Instant, u64)>; 2],
    pub alive: [bool; 2],
    /// ACKs reach the proxy.
    pub way_back: bool,
    pub next: u32,
    pub released: SeqNumber,
    /// Packets handed to the second link since the last look.
    pub second: u32,
    pub events: Vec<ProxyEvent>,
    /// Everything that the proxy decided.
    pub said: Vec<Said>,
    pub tag: u64,
    /// The sender repeats what is asked over the dead link, as soon as it has an ACK for it.
    pub repeats_probes: bool,
    /// Numbers that the sender has still to repeat.
    pub repeats: Vec<u32>,
}

impl World {
    pub fn new() -> Self {
        let mut bench = Bench::new(ProxyConfig::default(), &[8000, 8000]);
        bench.handshake(at(0), FIRST, 7);
        Self {
            bench,
            receiver: Receiver::new(FIRST),
            now: at(11),
            links: Default::default(),
            alive: [true; 2],
            way_back: true,
            next: FIRST,
            released: SeqNumber(FIRST),
            second: 0,
            events: Vec::new(),
            said: Vec::new(),
            tag: 1 << 40,
            repeats_probes: false,
            repeats: Vec::new(),
        }
    }

    fn carry_out(&mut self, said: Said) {
        self.said.push(said.clone());
        for (packet, link) in said.forwarded {
            if self.repeats_probes && link.0 == 1 {
                self.repeats.push(packet as u32);
            }
            let index = usize::from(link.0);
            self.second += u32::from(link.0 == 1);
            if self.alive[index] {
                let busy = self.links[index].back().map_or(Instant::ZERO, |&(at, _)| at + SPACING);
                let arrival = busy.max(self.now + Duration::from_millis(DELAY_MS[index]));
                self.links[index].push_back((arrival, packet));
            }
        }
        for ack in said.released {
            self.released = self.released.max(ack.rewrite.ack);
        }
        while let Some(event) = self.bench.proxy.poll_event() {
            self.events.push(event);
        }
    }

    /// One millisecond: arrivals and their ACKs, timers, what the sender may send.
    pub fn step(&mut self) {
        self.now += SPACING;
        for index in 0..2 {
            while let Some(&(at, packet)) = self.links[index].front().filter(|(at, _)| *at <= self.now) {
                self.links[index].pop_front();
                let stamp = (at.as_nanos() / 1_000_000) as u32;
                let header: TcpHeader = self.receiver.receive(SeqNumber(packet as u32), PACKET, stamp, 1);
                if !self.way_back {
                    continue;
                }
                self.tag += 1;
                let said = self.bench.ack(self.now, &header, self.tag);
                self.carry_out(said);
            }
        }
        let said = self.bench.run_timers(self.now);
        self.carry_out(said);
        let released = self.released;
        for seq in self.repeats.extract_if(.., |seq| !(SeqNumber(*seq) + PACKET).after(released)) {
            let header = data(seq);
            self.bench.proxy.handle_data(self.now, flow(), &header, PACKET, u64::from(seq));
        }
        let said = self.bench.drain();
        self.carry_out(said);
        while SeqNumber(self.next).distance_from(self.released) < (WINDOW * PACKET) as i32 {
            let header = data(self.next);
            self.bench.proxy.handle_data(self.now, flow(), &header, PACKET, u64::from(self.next));
            self.next += PACKET;
            let said = self.bench.drain();
            self.carry_out(said);
        }
    }

    pub fn run(&mut self, millis: u64) -> u32 {
        let before = self.released;
        (0..millis).for_each(|_| self.step());
        self.released.distance_from(before) as u32 / PACKET
    }

    pub fn state(&self) -> LinkState {
        self.bench.proxy.link_status()[1].state
    }
}
