//! A PRISM proxy between a TCP sender and a receiver that is reached over two links: how to embed `prismux-prism`, with
//! its public API alone.
//!
//! Run with `cargo run -p prismux-prism --example two_links`.
#![expect(clippy::disallowed_macros, reason = "an example prints")]

use prismux_endpoint::{Endpoint, expire};
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_tcp::{Connection, SegmentIn, TcpConfig};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber, ip::protocol};
use std::collections::VecDeque;

const BYTES: u64 = 4_000_000;

/// Packets leave one after the other, at a rate, and arrive so much later.
struct Link(Rate, Duration, Instant, VecDeque<(Instant, SegmentIn)>);

impl Link {
    fn carry(&mut self, now: Instant, packet: SegmentIn) {
        let Self(rate, delay, free_at, packets) = self;
        let with_headers = ByteCount::new(52 + u64::from(packet.payload_bytes));
        *free_at = now.max(*free_at) + rate.transmission_time(with_headers);
        packets.push_back((*free_at + *delay, packet));
    }
}

/// One download of so many bytes over both links.
pub fn main() {
    let mut now = Instant::ZERO;
    // 0 and 1 are the proxy's links. 2 leads from the sender to it, 3 from the receiver, 4 back to the sender.
    let mut links = [(6, 20), (4, 60), (100, 5), (100, 5), (100, 5)]
        .map(|(mbps, ms)| Link(Rate::from_mbps(mbps), Duration::from_millis(ms), now, VecDeque::new()));
    let mut proxy = Proxy::<SegmentIn>::new(ProxyConfig::default());
    for (number, name) in [(0, "wwan1"), (1, "wwan2")] {
        proxy.join(now, LinkId(number), LinkConfig { name: name.into(), ..LinkConfig::default() });
    }
    let [source, destination] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().expect("an address"));
    let flow =
        FlowKey { source, destination, source_port: 80, destination_port: 40_000, protocol: protocol::TCP };
    let mut receiver = Connection::connect(TcpConfig::modern(), 40_000, 80, SeqNumber(7), now);
    let syn = receiver.poll_transmit(now).expect("a connection begins with its SYN");
    let mut sender = Connection::accept(TcpConfig::modern(), &syn.header, SeqNumber(9), now);
    sender.write(BYTES);
    while receiver.bytes_received_in_order() < BYTES {
        receiver.read(BYTES);
        for (end, link) in [(&mut sender, 2), (&mut receiver, 3)] {
            while let Some(segment) = end.poll_transmit(now) {
                links[link].carry(now, segment.into());
            }
            while end.poll_event().is_some() {}
        }
        while let Some(mut verdict) = proxy.poll_verdict() {
            verdict.rewrite(|packet| Some(&mut packet.header));
            match verdict {
                Verdict::Forward { link, packet, .. } => links[usize::from(link.0)].carry(now, packet),
                Verdict::Release { packet, .. } => links[4].carry(now, packet),
                Verdict::Drop { .. } => {}
            }
        }
        let deadlines = [proxy.poll_timeout(), sender.poll_timeout(), receiver.poll_timeout()];
        let arrivals = links.iter().filter_map(|link| link.3.front()).map(|packet| packet.0);
        let due = deadlines.into_iter().flatten().map(|deadline| deadline.at).chain(arrivals);
        now = due.min().expect("something is always due").max(now);
        let arrived = links.iter().position(|link| link.3.front().is_some_and(|packet| packet.0 <= now));
        let Some((link, (_, packet))) = arrived.and_then(|link| Some((link, links[link].3.pop_front()?)))
        else {
            expire(&mut proxy, now);
            expire(&mut sender, now);
            expire(&mut receiver, now);
            continue;
        };
        let (header, payload_bytes) = (&packet.header, packet.payload_bytes);
        match link {
            2 => proxy.handle_data(now, flow, header, payload_bytes, packet),
            3 => proxy.handle_reverse(now, flow, header, payload_bytes, packet),
            4 => sender.handle_input(now, packet),
            _ => receiver.handle_input(now, packet),
        }
    }
    let goodput_mbps = BYTES as f64 * 8.0 / now.as_secs_f64() / 1e6;
    println!("{BYTES} bytes in {now}: {goodput_mbps:.2} Mbit/s over links of 6 and 4");
    assert!(goodput_mbps > 8.0, "a third more than the better link has alone");
}
