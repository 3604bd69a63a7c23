//! A gateway at work, in virtual time: many downloads at once over many links of finite rate.
//!
//! Senders have data without end; their windows grow as in slow start up to a megabyte, and no further than they are
//! allowed. Each link has a rate, a delay and a queue that overflows. Every receiver answers each packet. What a link
//! loses the proxy repairs; where it does not, its sender does, after a timeout.
mod cost;
mod line;
mod plain;
mod receipts;
mod sender;
mod senders;

pub use cost::{Cost, Costs};
pub use plain::Discipline;

use crate::traffic::{Flow, Handle, PAYLOAD_BYTES};
use cost::clock_seconds;
use line::Line;
use plain::PlainQueue;
use prismux_prism::{AckRewrite, LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{SeqNumber, TcpHeader};
use receipts::{Receipts, Told};
use sender::Sender;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// From a sender's hearing of an ACK to the proxy's seeing what it sends then.
const UPSTREAM: Duration = Duration::from_millis(20);
/// From a receiver back to the proxy.
const RETURN: Duration = Duration::from_millis(10);
/// A sender's largest window.
const LARGEST_WINDOW_BYTES: u32 = 1 << 20;
/// A sender sends again what was not acknowledged for so long, beside twice what ACKs took of late; twice as long after
/// each timeout, so many times at most.
const TIMEOUT: Duration = Duration::from_millis(1000);
const MAX_DOUBLINGS: u32 = 6;
/// How often senders look at that.
const TICK: Duration = Duration::from_millis(100);

/// A link of a gateway.
#[derive(Debug, Clone, Copy)]
pub struct LineConfig {
    /// What it carries.
    pub rate: Rate,
    /// From the proxy to the receiver.
    pub delay: Duration,
}

/// Flows between senders and receivers, a proxy and links between them.
#[derive(Debug)]
pub struct Gateway {
    proxy: Proxy<Handle>,
    lines: Vec<Line>,
    flows: Vec<(Flow, Sender)>,
    /// Everything goes over the first link, past the proxy.
    is_plain: bool,
    heeds_windows: bool,
    /// Where members write them.
    receipts: Option<Receipts>,
    now: Instant,
    /// Flows that have begun.
    begun: usize,
    begin_every: Duration,
    /// When the next packet arrives over each link that has any under way.
    arrivals: BinaryHeap<Reverse<(Instant, usize)>>,
    /// ACKs on the way to the proxy, what it released on the way to the senders and back, both in order of time.
    acks: VecDeque<(Instant, u32, TcpHeader)>,
    answers: VecDeque<(Instant, u32, AckRewrite)>,
    tick_at: Instant,
    timeouts: u64,
    costs: Costs,
    /// CPU seconds that reading the clock takes.
    clock_s: f64,
}

impl Gateway {
    /// So many downloads over these links, which begin one after the other within `begin_within`.
    pub fn new(config: ProxyConfig, flows: u32, lines: &[LineConfig], begin_within: Duration) -> Self {
        let mut proxy = Proxy::new(config);
        for link in (0..lines.len()).map(|number| LinkId(number as u8)) {
            proxy.join(Instant::ZERO, link, LinkConfig::default());
        }
        Self {
            proxy,
            lines: lines.iter().map(|&config| Line::new(config)).collect(),
            flows: (0..flows).map(|number| (Flow::new(number), Sender::default())).collect(),
            is_plain: false,
            heeds_windows: true,
            receipts: None,
            now: Instant::ZERO,
            begun: 0,
            begin_every: begin_within / u64::from(flows.max(1)),
            arrivals: BinaryHeap::new(),
            acks: VecDeque::new(),
            answers: VecDeque::new(),
            tick_at: Instant::ZERO + TICK,
            timeouts: 0,
            costs: Costs::default(),
            clock_s: clock_seconds(),
        }
    }

    /// The same downloads over one link behind a queue of so many packets, without a proxy.
    pub fn plain(
        (discipline, queue_packets): (Discipline, u32),
        flows: u32,
        line: LineConfig,
        begin_within: Duration,
    ) -> Self {
        let mut gateway = Self::new(ProxyConfig::default(), flows, &[], begin_within);
        let queue = PlainQueue::new(discipline, queue_packets as usize, flows);
        gateway.lines.push(Line::behind(line, queue));
        gateway.is_plain = true;
        gateway
    }

    /// From now on senders send whatever window they are shown.
    pub fn ignore_windows(&mut self) {
        self.heeds_windows = false;
    }

    /// Members write receipts, from the beginning.
    pub fn with_receipts(mut self) -> Self {
        self.receipts = Some(Receipts::new(self.lines.len()));
        self
    }

    /// The proxy.
    pub fn proxy(&self) -> &Proxy<Handle> {
        &self.proxy
    }

    /// What was timed since the last call.
    pub fn take_costs(&mut self) -> Costs {
        std::mem::take(&mut self.costs)
    }

    /// Bytes that reached the receiver of each flow, each once, since the last call.
    pub fn take_delivered(&mut self) -> Vec<u64> {
        self.flows.iter_mut().map(|(_, sender)| std::mem::take(&mut sender.delivered_bytes)).collect()
    }

    /// Packets that each link has carried to its end since the last call.
    pub fn take_carried(&mut self) -> Vec<u64> {
        self.lines.iter_mut().map(Line::take_carried).collect()
    }

    /// Packets that queues of links had no room for, so far.
    pub fn overflows(&self) -> u64 {
        self.lines.iter().map(Line::overflows).sum()
    }

    /// Timeouts of senders, so far.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// Bytes that this driver, not the proxy, keeps on the heap now.
    pub fn driver_bytes(&self) -> u64 {
        let queues = self.acks.capacity() * size_of::<(Instant, u32, TcpHeader)>()
            + self.answers.capacity() * size_of::<(Instant, u32, AckRewrite)>()
            + self.arrivals.capacity() * size_of::<Reverse<(Instant, usize)>>();
        let lines: usize = self.lines.iter().map(Line::heap_bytes).sum();
        (self.flows.iter().map(|(flow, _)| flow.heap_bytes()).sum::<usize>() + queues + lines) as u64
    }

    /// From now on nothing comes out of this link.
    pub fn kill(&mut self, link: LinkId) {
        if let Some(line) = self.lines.get_mut(usize::from(link.0)) {
            line.kill();
        }
    }

    /// The member of this link goes away.
    pub fn leave(&mut self, link: LinkId) {
        self.kill(link);
        self.proxy.leave(self.now, link);
        self.drain();
    }

    /// Lets so much time pass.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(at) = self.next().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.step();
        }
        self.now = end;
    }

    fn next(&self) -> Option<Instant> {
        let begins = (self.begun < self.flows.len()).then(|| self.begins_at());
        let arrives = self.arrivals.peek().map(|Reverse((at, _))| *at);
        let acks = self.acks.front().map(|(at, ..)| *at);
        let answers = self.answers.front().map(|(at, ..)| *at);
        let proxy = self.proxy.poll_timeout().map(|deadline| deadline.at);
        let receipts = self.receipts.as_ref().map(Receipts::next);
        [begins, arrives, acks, answers, proxy, receipts, Some(self.tick_at)].into_iter().flatten().min()
    }

    /// Does what is due.
    fn step(&mut self) {
        let now = self.now;
        if self.begun < self.flows.len() && self.begins_at() <= now {
            self.begin();
        }
        while let Some(&Reverse((_, number))) = self.arrivals.peek().filter(|Reverse((at, _))| *at <= now) {
            self.arrivals.pop();
            self.arrive(number);
        }
        while let Some((number, header)) = pop_due(&mut self.acks, now) {
            self.acknowledge(number, &header);
        }
        while let Some((number, rewrite)) = pop_due(&mut self.answers, now) {
            self.answer(number, &rewrite);
        }
        self.take_receipts();
        if self.proxy.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
            let proxy = &mut self.proxy;
            self.costs.timeouts.time(self.clock_s, || proxy.handle_timeout(now));
            self.drain();
        }
        if self.tick_at <= now {
            self.tick_at = now + TICK;
            (0..self.begun as u32).for_each(|number| self.expire(number));
        }
    }

    /// Receipts are written, arrive, or have been missing for too long.
    fn take_receipts(&mut self) {
        let now = self.now;
        let Some(receipts) = self.receipts.as_mut().filter(|receipts| receipts.next() <= now) else { return };
        receipts.write_due(now);
        while let Some((link, receipt)) = receipts.take(now) {
            let proxy = &mut self.proxy;
            self.costs.receipts.time(self.clock_s, || {
                tell(proxy, now, &receipts.read(now, link, &receipt));
            });
        }
        for told in receipts.expire(now) {
            tell(&mut self.proxy, now, &told);
        }
        self.drain();
    }

    /// The next packet of a link reaches its receiver.
    fn arrive(&mut self, line: usize) {
        let Some((at, ((number, seq), place))) = self.lines[line].pop() else { return };
        if let Some(next) = self.lines[line].next() {
            self.arrivals.push(Reverse((next, line)));
        }
        if let Some(receipts) = &mut self.receipts {
            receipts.arrived(at, line, place);
        }
        let (flow, sender) = &mut self.flows[number as usize];
        // What is no whole packet from the end is the SYN.
        let header = if seq + 1 == flow.next {
            flow.syn_ack(at)
        } else if flow.arrived(seq) {
            sender.delivered_bytes += u64::from(PAYLOAD_BYTES);
            flow.ack(at)
        } else {
            flow.ack_of_duplicate(at, seq)
        };
        self.acks.push_back((at + RETURN, number, header));
    }

    fn acknowledge(&mut self, number: u32, header: &TcpHeader) {
        let key = self.flows[number as usize].0.key;
        let (now, proxy) = (self.now, &mut self.proxy);
        if self.is_plain {
            return self.answers.push_back((now + UPSTREAM, number, AckRewrite::identity(header)));
        }
        self.costs.acks.time(self.clock_s, || {
            proxy.handle_reverse(now, key, header, 0, (number, header.seq));
        });
        self.drain();
    }

    fn forward(&mut self, line: usize, packet: Handle, position: Option<u32>) {
        let was_empty = self.lines[line].next().is_none();
        let receipts = self.receipts.as_mut();
        let number = receipts.map_or(SeqNumber(0), |receipts| receipts.number(self.now, line, position));
        self.lines[line].push(self.now, packet, number);
        if let Some(at) = self.lines[line].next().filter(|_| was_empty) {
            self.arrivals.push(Reverse((at, line)));
        }
    }

    /// Carries out the proxy's verdicts.
    fn drain(&mut self) {
        while let Some(verdict) = self.proxy.poll_verdict() {
            match verdict {
                Verdict::Forward { link, packet, position, .. } => {
                    self.forward(usize::from(link.0), packet, position);
                }
                Verdict::Release { packet: (number, _), rewrite } => {
                    self.answers.push_back((self.now + UPSTREAM, number, rewrite));
                }
                Verdict::Drop { .. } => {}
            }
        }
    }
}

/// The proxy hears what a receipt has told.
fn tell(proxy: &mut Proxy<Handle>, now: Instant, told: &Told) {
    let link = LinkId(told.link as u8);
    proxy.handle_estimate(now, link, &told.estimate, 0);
    for &position in &told.lost {
        proxy.handle_lost(now, link, position);
    }
}

/// The first entry, if its time has come.
fn pop_due<T>(queue: &mut VecDeque<(Instant, u32, T)>, now: Instant) -> Option<(u32, T)> {
    queue.front().filter(|(at, ..)| *at <= now)?;
    queue.pop_front().map(|(_, number, entry)| (number, entry))
}

#[cfg(test)]
mod tests;
