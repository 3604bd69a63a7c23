//! The papers' worked examples, played to the proxy itself: cases A to C of the scheduler and a loss on one link.

use crate::claims::Experiment;
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, SchedulerKind, Verdict};
use prismux_units::{Instant, Rate};
use prismux_wire::{FlowKey, SackBlock, SeqNumber, TcpFlags, TcpHeader};
use std::net::Ipv4Addr;

pub(super) const RULES: Experiment = Experiment {
    id: "R",
    title: "worked examples, played to the proxy",
    claims: &["PR-066", "PR-067", "PR-068", "PR-069"],
    lab: true,
    jobs: |_| Ok(Vec::new()),
    judge,
};

const SEGMENT_BYTES: u32 = 1000;

/// A proxy with two links, its sender and its receiver. Packets are numbered; packet n starts at byte n x 1000.
struct Stage {
    proxy: Proxy<u32>,
    next: u32,
    lost: Vec<u32>,
}

/// The download of what is played to a proxy.
pub(super) fn flow() -> FlowKey {
    FlowKey {
        source: Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: Ipv4Addr::new(10, 0, 0, 2).into(),
        source_port: 80,
        destination_port: 40_000,
        protocol: 6,
    }
}

impl Stage {
    /// Links of the given rates in kbit/s; the first packet is number `first`.
    fn new(config: ProxyConfig, rates_kbps: [u64; 2], first: u32) -> Self {
        let mut proxy = Proxy::new(config);
        for (index, kbps) in rates_kbps.into_iter().enumerate() {
            let link = LinkConfig {
                name: format!("link{}", index + 1),
                advertised_rate: Some(Rate::from_kbps(kbps)),
                round_trip: None,
            };
            proxy.join(Instant::ZERO, LinkId(index as u8), link);
        }
        Self { proxy, next: first, lost: Vec::new() }
    }

    /// Sends the next packet; the link it takes, counted from 1.
    fn send(&mut self, at_ms: u64) -> Option<f64> {
        let header = TcpHeader {
            seq: SeqNumber(self.next * SEGMENT_BYTES),
            flags: TcpFlags::ACK,
            window: 60_000,
            ..TcpHeader::default()
        };
        let now = Instant::from_millis(at_ms);
        self.proxy.handle_data(now, flow(), &header, SEGMENT_BYTES, self.next);
        self.next += 1;
        self.drain()
    }

    /// An ACK from the receiver: everything below packet `below` has arrived, and the packets of `beyond`.
    fn ack(&mut self, at_ms: u64, below: u32, beyond: std::ops::Range<u32>) {
        let mut header = TcpHeader {
            ack: SeqNumber(below * SEGMENT_BYTES),
            flags: TcpFlags::ACK,
            window: 60_000,
            ..TcpHeader::default()
        };
        if !beyond.is_empty() {
            let block = SackBlock {
                start: SeqNumber(beyond.start * SEGMENT_BYTES),
                end: SeqNumber(beyond.end * SEGMENT_BYTES),
            };
            header.options.sack.push(block);
        }
        self.proxy.handle_reverse(Instant::from_millis(at_ms), flow(), &header, 0, 0);
        self.drain();
    }

    /// Takes all verdicts: the link of a forwarded packet is returned, reported losses are noted.
    fn drain(&mut self) -> Option<f64> {
        let mut chosen = None;
        while let Some(verdict) = self.proxy.poll_verdict() {
            match verdict {
                Verdict::Forward { link, .. } => chosen = Some(f64::from(link.0 + 1)),
                Verdict::Release { rewrite, .. } => {
                    self.lost.extend(rewrite.report.map(|report| report.lost.0 / SEGMENT_BYTES));
                }
                Verdict::Drop { .. } => {}
            }
        }
        chosen
    }

    /// Links of weight 1 and 2, idle, whose round trips have been measured as given.
    fn measured(link_dupthresh: u8, slow_ms: u64, quick_ms: u64) -> Self {
        let config = ProxyConfig { link_dupthresh, ..ProxyConfig::paper() };
        let mut stage = Self::new(config, [500, 1000], 0);
        // One packet on link 1, two on link 2.
        for _ in 0..3 {
            stage.send(0);
        }
        stage.ack(quick_ms, 0, 1..3);
        stage.ack(slow_ms, 3, 0..0);
        stage
    }
}

/// p1 and p2 on link 2; the ACK of p2 comes first; where does p3 go?
fn case_a() -> Option<f64> {
    let mut stage = Stage::measured(3, 100, 60);
    let first_two = [stage.send(110), stage.send(110)];
    stage.ack(170, 3, 4..5);
    let third = stage.send(170);
    third.filter(|_| first_two == [Some(2.0); 2])
}

/// The round trip of link 2 grows beyond that of link 1; where does the next packet go?
fn case_b() -> Option<f64> {
    let mut stage = Stage::measured(3, 100, 60);
    let before = stage.send(110);
    stage.ack(410, 4, 0..0);
    let after = stage.send(410);
    after.filter(|_| before == Some(2.0))
}

/// p6: link 1 is far slower but less used. p11: a loss has halved the weight of link 2.
fn case_c() -> Option<(f64, f64)> {
    let mut stage = Stage::measured(1, 400, 60);
    let loaded = [stage.send(410), stage.send(410)];
    let sixth = stage.send(410)?;
    let more = [stage.send(410), stage.send(410)];
    // The second of the first two arrives, the first does not.
    stage.ack(470, 3, 4..5);
    let eleventh = stage.send(470)?;
    (loaded == [Some(2.0); 2] && more == [Some(2.0); 2]).then_some((sixth, eleventh))
}

/// 26 and 28 go over one link, 27 over the other; the ACK for 28 arrives: which is declared lost?
fn lost_packet() -> Option<f64> {
    let config = ProxyConfig { scheduler: SchedulerKind::RoundRobin, ..ProxyConfig::paper() };
    let mut stage = Stage::new(config, [1000, 1000], 24);
    let links: Vec<Option<f64>> = (24..29).map(|_| stage.send(0)).collect();
    stage.ack(100, 26, 0..0);
    stage.ack(110, 26, 28..29);
    let same_link = links[2].is_some() && links[2] == links[4] && links[2] != links[3];
    stage.lost.first().filter(|_| same_link).map(|number| f64::from(*number))
}

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let values = |value: Option<f64>| value.into_iter().collect::<Vec<_>>();
    let (sixth, eleventh) = case_c().unwrap_or((f64::NAN, f64::NAN));
    let findings = vec![
        Finding::values("PR-066", values(case_a())),
        Finding::values("PR-067", values(case_b())),
        Finding::shape(
            "PR-068",
            (sixth, eleventh) == (1.0, 1.0),
            format!("p6 on link {sixth}, p11 on link {eleventh}"),
        ),
        Finding::values("PR-069", values(lost_packet())),
    ];
    (findings, Vec::new())
}
