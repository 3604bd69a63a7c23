//! A receiver, packets and a bench for the proxy, shared by the tests.

pub mod world;

use core::net::{IpAddr, Ipv4Addr};
use prismux_prism::{AckRewrite, LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_units::{Instant, Rate};
use prismux_wire::{FlowKey, SackBlock, SackBlocks, SeqNumber, TcpFlags, TcpHeader, Timestamps};

/// The flow that tests use: a server's data towards a receiver.
pub fn flow() -> FlowKey {
    flow_number(5000)
}

/// One of many flows, told apart by the receiver's port.
pub fn flow_number(port: u16) -> FlowKey {
    FlowKey {
        source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        destination: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)),
        source_port: 80,
        destination_port: port,
        protocol: 6,
    }
}

pub fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A pure ACK with SACK blocks given as pairs, newest first.
pub fn ack(number: u32, blocks: &[(u32, u32)]) -> TcpHeader {
    let mut header =
        TcpHeader { ack: SeqNumber(number), flags: TcpFlags::ACK, window: 1000, ..TcpHeader::default() };
    for &(start, end) in blocks {
        header.options.sack.push(SackBlock { start: SeqNumber(start), end: SeqNumber(end) });
    }
    header
}

/// A data segment's header.
pub fn data(seq: u32) -> TcpHeader {
    TcpHeader { seq: SeqNumber(seq), flags: TcpFlags::ACK, window: 1000, ..TcpHeader::default() }
}

/// An ACK as the sender gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// What the host tagged the packet with.
    pub tag: u64,
    pub rewrite: AckRewrite,
}

/// What one call made the proxy say.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Said {
    pub forwarded: Vec<(u64, LinkId)>,
    pub released: Vec<Released>,
    pub dropped: Vec<u64>,
}

impl Said {
    pub fn numbers(&self) -> Vec<u32> {
        self.released.iter().map(|r| r.rewrite.ack.0).collect()
    }
}

/// A proxy with tagged packets.
pub struct Bench {
    pub proxy: Proxy<u64>,
}

impl Bench {
    /// Links numbered from 0 with these rates in kbit/s.
    pub fn new(config: ProxyConfig, rates_kbps: &[u64]) -> Self {
        let mut proxy = Proxy::new(config);
        for (index, &kbps) in rates_kbps.iter().enumerate() {
            let name = format!("wwan{}", index + 1);
            let link = LinkConfig { name, advertised_rate: Some(Rate::from_kbps(kbps)), round_trip: None };
            proxy.join(Instant::ZERO, LinkId(index as u8), link);
        }
        Self { proxy }
    }

    pub fn drain(&mut self) -> Said {
        let mut said = Said::default();
        while let Some(verdict) = self.proxy.poll_verdict() {
            match verdict {
                Verdict::Forward { link, packet, .. } => said.forwarded.push((packet, link)),
                Verdict::Release { packet, rewrite } => said.released.push(Released { tag: packet, rewrite }),
                Verdict::Drop { packet, .. } => said.dropped.push(packet),
            }
        }
        said
    }

    /// The handshake of a connection whose first data byte has sequence number `first`; window scale `shift`.
    pub fn handshake(&mut self, now: Instant, first: u32, shift: u8) {
        self.handshake_of(flow(), now, first, shift);
    }

    /// The same of one of several connections.
    pub fn handshake_of(&mut self, flow: FlowKey, now: Instant, first: u32, shift: u8) {
        let mut syn = TcpHeader { flags: TcpFlags::SYN, window: 65535, ..TcpHeader::default() };
        syn.options.window_scale = Some(shift);
        self.proxy.handle_reverse(now, flow, &syn, 0, 0);
        let mut syn_ack = TcpHeader {
            seq: SeqNumber(first) - 1,
            ack: SeqNumber(1),
            flags: TcpFlags::SYN | TcpFlags::ACK,
            window: 65535,
            ..TcpHeader::default()
        };
        syn_ack.options.window_scale = Some(7);
        self.proxy.handle_data(now, flow, &syn_ack, 0, 0);
        let reply = now + prismux_units::Duration::from_millis(10);
        self.proxy.handle_reverse(reply, flow, &ack(first, &[]), 0, 0);
        self.drain();
    }

    /// A data packet; the link it is sent on.
    pub fn send(&mut self, now: Instant, seq: u32, length: u32) -> Option<LinkId> {
        self.send_of(flow(), now, seq, length)
    }

    /// The same of one of several connections.
    pub fn send_of(&mut self, flow: FlowKey, now: Instant, seq: u32, length: u32) -> Option<LinkId> {
        self.proxy.handle_data(now, flow, &data(seq), length, u64::from(seq));
        self.drain().forwarded.first().map(|&(_, link)| link)
    }

    pub fn ack(&mut self, now: Instant, header: &TcpHeader, tag: u64) -> Said {
        self.proxy.handle_reverse(now, flow(), header, 0, tag);
        self.drain()
    }

    pub fn run_timers(&mut self, until: Instant) -> Said {
        let mut said = Said::default();
        let mut calls = 0;
        while let Some(deadline) = self.proxy.poll_timeout().filter(|deadline| deadline.at <= until) {
            self.proxy.handle_timeout(deadline.at);
            calls += 1;
            assert!(calls < 10_000, "timers spin at {}", deadline.at);
            let more = self.drain();
            said.forwarded.extend(more.forwarded);
            said.released.extend(more.released);
            said.dropped.extend(more.dropped);
        }
        said
    }
}

/// A TCP receiver that acknowledges every segment at once (RFC 5681, RFC 2018, RFC 2883).
pub struct Receiver {
    pub next: SeqNumber,
    /// Ranges above `next`, the one changed last first.
    ranges: Vec<(SeqNumber, SeqNumber)>,
    pub window_edge: SeqNumber,
    pub shift: u8,
    pub blocks: usize,
}

impl Receiver {
    pub fn new(first: u32) -> Self {
        Self {
            next: SeqNumber(first),
            ranges: Vec::new(),
            window_edge: SeqNumber(first) + 500_000,
            shift: 7,
            blocks: 3,
        }
    }

    /// A segment arrives; the ACK it causes, with `tsval` as its timestamp.
    pub fn receive(&mut self, seq: SeqNumber, length: u32, tsval: u32, tsecr: u32) -> TcpHeader {
        let end = seq + length;
        let duplicate =
            !end.after(self.next) || self.ranges.iter().any(|&(a, b)| !seq.before(a) && !end.after(b));
        let mut sack = SackBlocks::EMPTY;
        if duplicate {
            sack.push(SackBlock { start: seq, end });
        } else {
            let mut merged = (seq.max(self.next), end);
            self.ranges.retain(|&(a, b)| {
                let apart = b.before(merged.0) || a.after(merged.1);
                if !apart {
                    merged = (merged.0.min(a), merged.1.max(b));
                }
                apart
            });
            if merged.0 == self.next {
                self.next = merged.1;
            } else {
                self.ranges.insert(0, merged);
            }
        }
        for &(start, end) in self.ranges.iter().take(self.blocks - usize::from(duplicate)) {
            sack.push(SackBlock { start, end });
        }
        self.window_edge = self.window_edge.max(self.next + 400_000);
        let window = (self.window_edge.distance_from(self.next) >> self.shift) as u16;
        let mut header = TcpHeader { ack: self.next, flags: TcpFlags::ACK, window, ..TcpHeader::default() };
        header.options.timestamps = Some(Timestamps { value: tsval, echo: tsecr });
        header.options.sack = sack;
        header
    }
}
