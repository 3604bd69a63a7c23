//! How the time that ADAS takes for a packet grows with the number of links (PR-052).

use crate::claims::verdict::Finding;
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_units::{Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber, TcpFlags, TcpHeader};
use std::net::Ipv4Addr;

const SEGMENT_BYTES: u32 = 1000;
const WINDOW_SEGMENTS: u32 = 64;
const ROUNDS: u32 = 400;
/// The quickest of so many repetitions counts: whatever else runs on the machine only adds.
const REPETITIONS: usize = 7;

/// The claim is a bound, judged by growth: eight times the links may cost log(16) / log(2) times the time.
pub(super) fn judge() -> Finding {
    let (few, many) = (best_ns(2), best_ns(16));
    let figures = format!("ns per packet and its ACK, over 2 links {few:.0}, over 16 links {many:.0}");
    Finding::shape("PR-052", many <= 4.0 * few, figures).because(
        "O(log n) judged as at most log 16 / log 2 = 4 times the time; our scheduler looks at every link, which \
            is quicker \
         than a heap for the handful of links that a community has",
    )
}

fn best_ns(links: u8) -> f64 {
    (0..REPETITIONS).map(|_| once_ns(links)).fold(f64::MAX, f64::min)
}

/// Time for one data packet and its ACK at a proxy with so many links.
fn once_ns(links: u8) -> f64 {
    let mut proxy: Proxy<u32> = Proxy::new(ProxyConfig::paper());
    for link in 0..links {
        let rate = Rate::from_kbps(400 + 100 * u64::from(link));
        let config =
            LinkConfig { name: format!("link{link}"), advertised_rate: Some(rate), round_trip: None };
        proxy.join(Instant::ZERO, LinkId(link), config);
    }
    let started = std::time::Instant::now();
    for round in 0..ROUNDS {
        let at = Instant::from_millis(u64::from(round) * 100);
        for packet in 0..WINDOW_SEGMENTS {
            let seq = SeqNumber((round * WINDOW_SEGMENTS + packet) * SEGMENT_BYTES);
            let header = TcpHeader { seq, flags: TcpFlags::ACK, window: 60_000, ..TcpHeader::default() };
            proxy.handle_data(at, flow(), &header, SEGMENT_BYTES, 0);
            drain(&mut proxy);
        }
        for packet in 0..WINDOW_SEGMENTS {
            let ack = SeqNumber((round * WINDOW_SEGMENTS + packet + 1) * SEGMENT_BYTES);
            let header = TcpHeader { ack, flags: TcpFlags::ACK, window: 60_000, ..TcpHeader::default() };
            proxy.handle_reverse(at, flow(), &header, 0, 0);
            drain(&mut proxy);
        }
    }
    started.elapsed().as_nanos() as f64 / f64::from(ROUNDS * WINDOW_SEGMENTS)
}

fn drain(proxy: &mut Proxy<u32>) {
    while let Some(verdict) = proxy.poll_verdict() {
        std::hint::black_box::<Verdict<u32>>(verdict);
    }
}

fn flow() -> FlowKey {
    FlowKey {
        source: Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: Ipv4Addr::new(10, 0, 0, 2).into(),
        source_port: 80,
        destination_port: 40_000,
        protocol: 6,
    }
}
