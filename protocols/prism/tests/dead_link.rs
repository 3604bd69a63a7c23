//! A member that dies without a word: its link takes no more data after a few overdue packets, is probed, and comes back when
//! an answer does.
mod support;

use prismux_endpoint::Endpoint;
use prismux_prism::{LinkId, LinkState, ProxyConfig, ProxyEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::{SeqNumber, TcpHeader};
use std::collections::VecDeque;
use support::{Bench, Receiver, Said, at, flow};

const FIRST: u32 = 1000;
const PACKET: u32 = 1000;
/// Flight of the sender, in packets.
const WINDOW: u32 = 120;
/// Time a packet takes over each link and its ACK takes back, in milliseconds; links of 1000 packets per second.
const DELAY_MS: [u64; 2] = [20, 35];
const SPACING: Duration = Duration::from_millis(1);

struct World {
    bench: Bench,
    receiver: Receiver,
    now: Instant,
    /// Packets under way on each link and when they arrive; links keep order.
    links: [VecDeque<(Instant, u64)>; 2],
    alive: [bool; 2],
    next: u32,
    released: SeqNumber,
    /// Packets handed to the second link since the last look.
    second: u32,
    events: Vec<ProxyEvent>,
    tag: u64,
    /// The sender repeats what is asked over the dead link, as soon as it has an ACK for it ...
    repeats_probes: bool,
    /// ... and these are still to be repeated.
    repeats: Vec<u32>,
}

impl World {
    fn new() -> Self {
        let mut bench = Bench::new(ProxyConfig::default(), &[8000, 8000]);
        bench.handshake(at(0), FIRST, 7);
        Self {
            bench,
            receiver: Receiver::new(FIRST),
            now: at(11),
            links: Default::default(),
            alive: [true; 2],
            next: FIRST,
            released: SeqNumber(FIRST),
            second: 0,
            events: Vec::new(),
            tag: 1 << 40,
            repeats_probes: false,
            repeats: Vec::new(),
        }
    }

    fn carry_out(&mut self, said: Said) {
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
    fn step(&mut self) {
        self.now += SPACING;
        for index in 0..2 {
            while let Some(&(at, packet)) = self.links[index].front().filter(|(at, _)| *at <= self.now) {
                self.links[index].pop_front();
                let stamp = (at.as_nanos() / 1_000_000) as u32;
                let header: TcpHeader = self.receiver.receive(SeqNumber(packet as u32), PACKET, stamp, 1);
                self.tag += 1;
                let said = self.bench.ack(self.now, &header, self.tag);
                self.carry_out(said);
            }
        }
        let said = self.bench.run_timers(self.now);
        self.carry_out(said);
        let released = self.released;
        for seq in self.repeats.extract_if(.., |seq| !(SeqNumber(*seq) + PACKET).after(released)) {
            let header = support::data(seq);
            self.bench.proxy.handle_data(self.now, flow(), &header, PACKET, PACKET + 40, u64::from(seq));
        }
        let said = self.bench.drain();
        self.carry_out(said);
        while SeqNumber(self.next).distance_from(self.released) < (WINDOW * PACKET) as i32 {
            let header = support::data(self.next);
            self.bench.proxy.handle_data(
                self.now,
                flow(),
                &header,
                PACKET,
                PACKET + 40,
                u64::from(self.next),
            );
            self.next += PACKET;
            let said = self.bench.drain();
            self.carry_out(said);
        }
    }

    fn run(&mut self, millis: u64) -> u32 {
        let before = self.released;
        (0..millis).for_each(|_| self.step());
        self.released.distance_from(before) as u32 / PACKET
    }

    fn state(&self) -> LinkState {
        self.bench.proxy.link_status(self.now)[1].state
    }
}

#[test]
fn a_dead_link_gets_no_data_until_a_probe_is_answered() {
    let mut world = World::new();
    let both = world.run(3000);
    assert_eq!(world.state(), LinkState::Active);
    assert!(world.second > 300, "{} packets over the second link", world.second);

    world.alive[1] = false;
    world.links[1].clear();
    let dying = world.run(1000);
    assert_eq!(world.state(), LinkState::Silent);
    assert!(world.events.contains(&ProxyEvent::LinkSilent { link: LinkId(1) }), "{:?}", world.events);
    assert!(dying > 300, "{dying} packets acknowledged in the second in which a link died");
    assert!(
        world.events.iter().any(|event| matches!(event, ProxyEvent::PacketRepaired { link } if link.0 == 0)),
        "what it had is resent over the other"
    );

    world.second = 0;
    let one = world.run(3000);
    assert!(world.second <= 8, "{} packets over a dead link: probes only", world.second);
    assert!(u64::from(one) > 3000 / 2, "{one} packets over the link that is left, {both} before");

    world.alive[1] = true;
    world.events.clear();
    world.run(1500);
    assert!(world.events.contains(&ProxyEvent::LinkResumed { link: LinkId(1) }), "{:?}", world.events);
    world.second = 0;
    world.run(2000);
    assert_eq!(world.state(), LinkState::Active);
    assert!(world.second > 200, "{} packets over the link that is back", world.second);
}

#[test]
fn a_few_losses_among_arrivals_do_not_make_a_link_silent() {
    let mut world = World::new();
    world.run(2000);
    world.events.clear();
    for _ in 0..10 {
        // Everything under way on the second link is lost at once, then it goes on.
        world.links[1].clear();
        world.run(300);
    }
    assert_ne!(world.state(), LinkState::Silent);
    let lost = world.events.iter().filter(|event| matches!(event, ProxyEvent::PacketLost { .. })).count();
    assert!(lost > 10, "{lost} losses noted");
}

/// The duplicate that the receiver reports is the sender's own, which came over the living link.
#[test]
fn a_needless_retransmission_is_no_answer_to_a_probe() {
    let mut world = World::new();
    world.run(3000);
    world.alive[1] = false;
    world.links[1].clear();
    world.run(1000);
    assert_eq!(world.state(), LinkState::Silent);
    (world.repeats_probes, world.second) = (true, 0);
    let answers = world.bench.proxy.counters().dsacks;
    world.run(3000);
    assert!(world.second > 2, "{} probes", world.second);
    assert!(world.bench.proxy.counters().dsacks > answers, "the receiver reports duplicates");
    assert_eq!(world.state(), LinkState::Silent);
}
