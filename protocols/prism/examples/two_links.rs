//! A PRISM proxy between a TCP sender and a receiver that is reached over two links: how to embed `prismux-prism`, with
//! its public API alone.
//!
//! Run with `cargo run -p prismux-prism --example two_links`.
#![expect(clippy::disallowed_macros, reason = "an example prints")]

use prismux_endpoint::{Endpoint, expire};
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_tcp::{Connection, SegmentIn, TcpConfig};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::{Ecn, FlowKey, SeqNumber, ip::protocol};
use std::collections::BTreeMap;

const BYTES: u64 = 4_000_000;
/// One way, for everything but the two links.
const ELSEWHERE: Duration = Duration::from_millis(5);
/// IP and TCP headers, by and large.
const HEADER_BYTES: u64 = 52;

struct Link {
    rate: Rate,
    delay: Duration,
    free_at: Instant,
    carried_bytes: u64,
}

impl Link {
    fn new(mbps: u64, delay_ms: u64) -> Self {
        let (rate, delay) = (Rate::from_mbps(mbps), Duration::from_millis(delay_ms));
        Self { rate, delay, free_at: Instant::ZERO, carried_bytes: 0 }
    }

    /// Takes a packet behind those that wait; when it will arrive.
    fn carry(&mut self, now: Instant, payload_bytes: u32) -> Instant {
        let bytes = u64::from(payload_bytes) + HEADER_BYTES;
        self.carried_bytes += bytes;
        self.free_at = self.free_at.max(now) + self.rate.transmission_time(ByteCount::new(bytes));
        self.free_at + self.delay
    }
}

/// Who gets a packet next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Sender,
    ProxyForward,
    Receiver,
    ProxyReverse,
}

/// What is under way, by the time of its arrival; packets of one time in the order of their sending.
#[derive(Default)]
struct UnderWay {
    packets: BTreeMap<(Instant, u64), (Place, SegmentIn)>,
    sent: u64,
}

impl UnderWay {
    fn send(&mut self, arrival: Instant, to: Place, packet: SegmentIn) {
        self.sent += 1;
        self.packets.insert((arrival, self.sent), (to, packet));
    }

    /// After every mutation of a TCP end: what it sends goes to the proxy.
    fn drain(&mut self, end: &mut Connection, now: Instant, to: Place) {
        while let Some(out) = end.poll_transmit(now) {
            let packet = SegmentIn { header: out.header, payload_bytes: out.payload_bytes, ecn: Ecn::NotEct };
            self.send(now + ELSEWHERE, to, packet);
        }
        while end.poll_event().is_some() {}
    }
}

/// After every mutation of the proxy: its verdicts are carried out.
fn carry_out(proxy: &mut Proxy<SegmentIn>, now: Instant, links: &mut [Link], under_way: &mut UnderWay) {
    while let Some(verdict) = proxy.poll_verdict() {
        match verdict {
            Verdict::Forward { link, mut packet, rewrite } => {
                rewrite.apply(&mut packet.header);
                let arrival = links[usize::from(link.0)].carry(now, packet.payload_bytes);
                under_way.send(arrival, Place::Receiver, packet);
            }
            Verdict::Release { mut packet, rewrite } => {
                rewrite.apply(&mut packet.header);
                under_way.send(now + ELSEWHERE, Place::Sender, packet);
            }
            Verdict::Drop { .. } => {}
        }
    }
}

/// One download of so many bytes over both links.
pub fn main() {
    let (mut now, mut under_way) = (Instant::ZERO, UnderWay::default());
    let mut links = [Link::new(6, 20), Link::new(4, 60)];
    let mut proxy = Proxy::new(ProxyConfig::default());
    for (number, name) in [(0, "wwan1"), (1, "wwan2")] {
        proxy.join(now, LinkId(number), LinkConfig { name: name.into(), ..LinkConfig::default() });
    }
    let [source, destination] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().expect("an address"));
    let flow =
        FlowKey { source, destination, source_port: 80, destination_port: 40_000, protocol: protocol::TCP };
    let mut sender = Connection::connect(TcpConfig::modern(), 80, 40_000, SeqNumber(7), now);
    sender.write(BYTES);
    // Made by the first packet that arrives, the SYN.
    let mut receiver: Option<Connection> = None;
    while receiver.as_ref().is_none_or(|end| end.bytes_received_in_order() < BYTES) {
        carry_out(&mut proxy, now, &mut links, &mut under_way);
        under_way.drain(&mut sender, now, Place::ProxyForward);
        if let Some(end) = &mut receiver {
            end.read(BYTES);
            under_way.drain(end, now, Place::ProxyReverse);
        }
        let receivers = receiver.as_ref().and_then(Endpoint::poll_timeout);
        let deadlines = [proxy.poll_timeout(), sender.poll_timeout(), receivers];
        let arrival = under_way.packets.keys().next().map(|&(at, _)| at);
        let due = deadlines.into_iter().flatten().map(|deadline| deadline.at).chain(arrival);
        now = due.min().expect("something is always due").max(now);
        let first = under_way.packets.first_entry().filter(|first| first.key().0 <= now);
        match first.map(|first| first.remove()) {
            Some((Place::ProxyForward, packet)) => {
                proxy.handle_data(now, flow, &packet.header.clone(), packet.payload_bytes, packet);
            }
            Some((Place::ProxyReverse, packet)) => {
                proxy.handle_reverse(now, flow, &packet.header.clone(), packet.payload_bytes, packet);
            }
            Some((Place::Sender, packet)) => sender.handle_input(now, packet),
            Some((Place::Receiver, packet)) => match &mut receiver {
                Some(end) => end.handle_input(now, packet),
                None => {
                    let (config, own) = (TcpConfig::modern(), SeqNumber(9));
                    receiver = Some(Connection::accept(config, &packet.header, own, now));
                }
            },
            None => {
                expire(&mut proxy, now);
                expire(&mut sender, now);
                receiver.as_mut().map(|end| expire(end, now));
            }
        }
    }
    let goodput_mbps = BYTES as f64 * 8.0 / now.as_secs_f64() / 1e6;
    let carried = links.map(|link| link.carried_bytes);
    println!("{BYTES} bytes in {now}: {goodput_mbps:.2} Mbit/s; carried by link: {carried:?} bytes");
    assert!(goodput_mbps > 8.0, "a third more than the better link, of 6 Mbit/s, has alone");
}
