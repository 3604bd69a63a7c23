//! Flows through the core of the proxy, without any network: what a packet costs and what a flow keeps.
//!
//! Time goes in rounds. In each, every sender fills its window with what has been released to it, flows in turn; the
//! links take 10, 20 and 30 ms; every receiver answers each packet with an ACK of its own, with timestamps and up to
//! three SACK blocks. Flows in turn is the hard case: by the time a flow comes round again, its state has left the
//! cache.
mod flow;

pub(crate) use flow::{Flow, PAYLOAD_BYTES, WINDOW_SHIFT};

use crate::cpu::Stopwatch;
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};

/// One way over the first link; the second takes twice, the third three times as long, and so again the next three.
const DELAY: Duration = Duration::from_millis(10);
const DELAYS: u64 = 3;
/// From the receiver back.
const RETURN: Duration = Duration::from_millis(10);
/// In which a round's packets leave: short beside the delays, since ACKs are only handled when all have left.
const ROUND: Duration = Duration::from_millis(2);
/// How long the proxy is left alone after a round.
const REST: Duration = Duration::from_millis(60);

/// The proxy's packets: which flow's, and which sequence number.
pub type Handle = (u32, SeqNumber);

/// Flows between senders and receivers with a proxy between them.
#[derive(Debug)]
pub struct Traffic {
    proxy: Proxy<Handle>,
    flows: Vec<Flow>,
    now: Instant,
    /// Packets that links carry: when they arrive, whose, and which sequence number.
    under_way: Vec<(Instant, u32, SeqNumber)>,
    /// ACKs on the way to the proxy.
    acks: Vec<(Instant, u32, TcpHeader)>,
}

/// The proxy of today with room for a copy of each packet of 20,000 windows of four: what it has no room for it drops,
/// and nobody here sends that again.
pub fn roomy_config() -> ProxyConfig {
    ProxyConfig { repair_budget_packets: 1 << 18, ..ProxyConfig::default() }
}

/// What a round of [`Traffic::round`] was.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Packets sent.
    pub sent_packets: u64,
    /// CPU time of a data packet and of an ACK, in nanoseconds; `None` where there was none.
    pub costs_ns: Option<(f64, f64)>,
}

impl Traffic {
    /// `flows` connections through a proxy with three links.
    pub fn new(config: ProxyConfig, flows: u32) -> Self {
        Self::over(config, flows, DELAYS as u8)
    }

    /// `flows` connections through a proxy with so many links.
    pub fn over(config: ProxyConfig, flows: u32, links: u8) -> Self {
        let mut proxy = Proxy::new(config);
        for link in 0..links {
            let rate = Some(Rate::from_mbps(1000));
            proxy.join(
                Instant::ZERO,
                LinkId(link),
                LinkConfig { name: String::new(), advertised_rate: rate, round_trip: None },
            );
        }
        let flows = (0..flows).map(Flow::new).collect();
        Self { proxy, flows, now: Instant::ZERO, under_way: Vec::new(), acks: Vec::new() }
    }

    /// Every flow's handshake.
    pub fn open(&mut self) {
        let step = Duration::from_micros(1);
        for number in 0..self.flows.len() as u32 {
            let flow = &mut self.flows[number as usize];
            flow.open();
            let (key, header) = (flow.key, flow.syn(self.now));
            self.proxy.handle_data(self.now, key, &header, 0, (number, header.seq));
            self.drain();
            self.now += step;
        }
        self.now += RETURN + DELAY * DELAYS;
        for number in 0..self.flows.len() as u32 {
            let flow = &self.flows[number as usize];
            let (key, header) = (flow.key, flow.syn_ack(self.now));
            self.proxy.handle_reverse(self.now, key, &header, 0, (number, header.seq));
            self.drain();
            self.now += step;
        }
        self.under_way.clear();
    }

    /// Every sender fills its window of `window` packets: the data packets that this makes.
    pub fn send(&mut self, window: u32) -> u64 {
        let budget: Vec<u32> = self.flows.iter().map(|flow| flow.room(window)).collect();
        let most = budget.iter().copied().max().unwrap_or(0);
        let total: u64 = budget.iter().map(|&packets| u64::from(packets)).sum();
        let step = Duration::from_nanos(ROUND.as_nanos() / total.max(1));
        for turn in 0..most {
            for number in 0..self.flows.len() as u32 {
                if budget[number as usize] <= turn {
                    continue;
                }
                let flow = &mut self.flows[number as usize];
                let key = flow.key;
                let header = flow.header(self.now, TcpFlags::ACK);
                flow.next = SeqNumber(flow.next.0.wrapping_add(PAYLOAD_BYTES));
                self.fire();
                self.proxy.handle_data(self.now, key, &header, PAYLOAD_BYTES, (number, header.seq));
                self.drain();
                self.now += step;
            }
        }
        total
    }

    /// What was sent reaches the receivers, in order of arrival, and they make ACKs of it.
    pub fn receive(&mut self) {
        let mut arrivals = std::mem::take(&mut self.under_way);
        arrivals.sort_by_key(|&(at, _, _)| at);
        for &(at, number, seq) in &arrivals {
            let flow = &mut self.flows[number as usize];
            flow.arrived(seq);
            let header = flow.ack(at);
            self.acks.push((at + RETURN, number, header));
        }
        arrivals.clear();
        self.under_way = arrivals;
    }

    /// The ACKs reach the proxy; then it is left alone until it has nothing more to do within a round.
    pub fn acknowledge(&mut self) -> u64 {
        let acks = std::mem::take(&mut self.acks);
        for &(at, number, header) in &acks {
            self.now = self.now.max(at);
            self.fire();
            let key = self.flows[number as usize].key;
            self.proxy.handle_reverse(self.now, key, &header, 0, (number, header.seq));
            self.drain();
        }
        let until = self.now + REST;
        while let Some(deadline) = self.proxy.poll_timeout().filter(|deadline| deadline.at <= until) {
            self.now = self.now.max(deadline.at);
            self.proxy.handle_timeout(self.now);
            self.drain();
        }
        let count = acks.len() as u64;
        self.acks = acks;
        self.acks.clear();
        count
    }

    /// Everybody sends up to `window` packets, which arrive and are acknowledged, on a stopwatch.
    pub fn round(&mut self, window: u32) -> Round {
        let clock = Stopwatch::start();
        let sent_packets = self.send(window);
        let data_s = clock.seconds();
        self.receive();
        let clock = Stopwatch::start();
        let acks = self.acknowledge();
        let ack_s = clock.seconds();
        let per = |seconds: f64, count: u64| (count > 0).then(|| seconds * 1e9 / count as f64);
        Round { sent_packets, costs_ns: per(data_s, sent_packets).zip(per(ack_s, acks)) }
    }

    /// Packets sent and not released to their senders, all flows together.
    pub fn outstanding(&self) -> u64 {
        let of = |flow: &Flow| u64::from(flow.next.0.wrapping_sub(flow.released.0) / PAYLOAD_BYTES);
        self.flows.iter().map(of).sum()
    }

    /// Heap that this driver, not the proxy, has taken since [`Traffic::new`].
    pub fn driver_bytes(&self) -> u64 {
        let beyond: usize = self.flows.iter().map(Flow::heap_bytes).sum();
        let under_way = self.under_way.capacity() * size_of::<(Instant, u32, SeqNumber)>();
        let acks = self.acks.capacity() * size_of::<(Instant, u32, TcpHeader)>();
        (beyond + under_way + acks) as u64
    }

    /// The proxy.
    pub fn proxy(&self) -> &Proxy<Handle> {
        &self.proxy
    }

    fn fire(&mut self) {
        while self.proxy.poll_timeout().is_some_and(|deadline| deadline.at <= self.now) {
            self.proxy.handle_timeout(self.now);
            self.drain();
        }
    }

    /// Carries out the proxy's verdicts.
    fn drain(&mut self) {
        while let Some(verdict) = self.proxy.poll_verdict() {
            match verdict {
                Verdict::Forward { link, packet: (number, seq), .. } => {
                    let delay = Duration::from_nanos(DELAY.as_nanos() * (u64::from(link.0) % DELAYS + 1));
                    self.under_way.push((self.now + delay, number, seq));
                }
                Verdict::Release { packet: (number, _), rewrite } => {
                    let flow = &mut self.flows[number as usize];
                    if rewrite.ack.after(flow.released) {
                        flow.released = rewrite.ack;
                    }
                }
                Verdict::Drop { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
