//! A PRISM proxy between a TCP sender and a receiver that is reached over two links: how to embed `prismux-prism`, with
//! its public API alone. Run it with `cargo run -p prismux-prism --example two_links`.
#![expect(clippy::disallowed_macros, reason = "an example prints")]

use prismux_endpoint::{Endpoint, expire};
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_tcp::{Connection, SegmentIn, TcpConfig};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber, ip::protocol};
use std::collections::BTreeMap;

const BYTES: u64 = 4_000_000;
/// Mbit/s and ms. 0 and 1 are the proxy's; 2 leads from the sender to it, 3 from the receiver, 4 back to the sender.
const LINKS: [(u64, u64); 5] = [(6, 20), (4, 60), (100, 5), (100, 5), (100, 5)];

/// When each link is free again; what they carry, by time of arrival and link.
type Network = ([Instant; 5], BTreeMap<(Instant, usize), SegmentIn>);

fn carry((free_at, under_way): &mut Network, now: Instant, link: usize, packet: SegmentIn) {
    let (rate, delay) = (Rate::from_mbps(LINKS[link].0), Duration::from_millis(LINKS[link].1));
    let takes = rate.transmission_time(ByteCount::new(52 + u64::from(packet.payload_bytes)));
    free_at[link] = now.max(free_at[link]) + takes;
    under_way.insert((free_at[link] + delay, link), packet);
}

/// One download of so many bytes over both links.
pub fn main() {
    let (mut now, mut network) = (Instant::ZERO, Network::default());
    let mut proxy = Proxy::<SegmentIn>::new(ProxyConfig::default());
    [LinkId(0), LinkId(1)].into_iter().for_each(|link| proxy.join(now, link, LinkConfig::default()));
    let (source, destination) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
    let (source_port, destination_port) = (80, 40_000);
    let flow = FlowKey { source, destination, source_port, destination_port, protocol: protocol::TCP };
    let mut receiver = Connection::connect(TcpConfig::modern(), 40_000, 80, SeqNumber(7), now);
    let syn = receiver.poll_transmit(now).expect("a connection begins with its SYN");
    let mut sender = Connection::accept(TcpConfig::modern(), &syn.header, SeqNumber(9), now);
    sender.write(BYTES);
    while receiver.bytes_received_in_order() < BYTES {
        receiver.read(BYTES);
        for (end, link) in [(&mut sender, 2), (&mut receiver, 3)] {
            while let Some(segment) = end.poll_transmit(now) {
                carry(&mut network, now, link, segment.into());
            }
            while end.poll_event().is_some() {}
        }
        while let Some(mut verdict) = proxy.poll_verdict() {
            verdict.rewrite(|packet| Some(&mut packet.header));
            match verdict {
                Verdict::Forward { link, packet, .. } => carry(&mut network, now, link.0.into(), packet),
                Verdict::Release { packet, .. } => carry(&mut network, now, 4, packet),
                Verdict::Drop { .. } => {}
            }
        }
        let Some(arrival) = network.1.first_entry().filter(|next| next.key().0 <= now) else {
            now += Duration::from_micros(100);
            let _ = (expire(&mut proxy, now), expire(&mut sender, now), expire(&mut receiver, now));
            continue;
        };
        let ((_, link), packet) = arrival.remove_entry();
        match (link, packet.payload_bytes) {
            (2, bytes) => proxy.handle_data(now, flow, &packet.header, bytes, packet),
            (3, bytes) => proxy.handle_reverse(now, flow, &packet.header, bytes, packet),
            (4, _) => sender.handle_input(now, packet),
            (_, _) => receiver.handle_input(now, packet),
        }
    }
    let goodput_mbps = BYTES as f64 * 8.0 / now.as_secs_f64() / 1e6;
    println!("{goodput_mbps:.2} Mbit/s over links of 6 and 4");
    assert!(goodput_mbps > 8.0, "a third more than the better link has alone");
}
