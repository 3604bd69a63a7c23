//! What sealing costs: processor time per packet beside that of a plain tunnel's copy, in one run, and of a handshake.
//!
//! `cargo run --release -p prismux-sealed --example seal_cost -- 200000`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core.
use prismux_endpoint::Endpoint;
use prismux_sealed::{Entropy, KeyPair, Limits, PeerId, Sessions};
use prismux_units::{Duration, Instant};
use std::hint::black_box;
use std::net::SocketAddr;

const PEER: PeerId = PeerId(0);
const PACKET_BYTES: usize = 1400;
const HEADER: [u8; 8] = [0x10, 0, 8, 0, 0, 0, 0, 1];

/// Nanoseconds that this thread has had a processor for.
fn processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(f64::NAN)
}

/// Nanoseconds of processor time that `work` takes for each of `count` rounds.
fn time(count: u64, mut work: impl FnMut()) -> f64 {
    let start = processor_ns();
    (0..count).for_each(|_| work());
    (processor_ns() - start) / count as f64
}

/// A member and a gateway, from seeds.
fn ends(member_at: SocketAddr, gateway_at: SocketAddr) -> Option<[Sessions; 2]> {
    let keys = [1, 2].map(|seed| KeyPair::generate(&mut Entropy::from_seed([seed; 32])));
    let end = |own: usize, peer: usize, at: Option<SocketAddr>| {
        let entropy = Entropy::from_seed([own as u8 + 3; 32]);
        let mut end = Sessions::new(keys[own].clone(), Limits::default(), Duration::from_secs(1), entropy);
        end.add_peer(keys[peer].public(), at).map(|_| end)
    };
    Some([end(0, 1, Some(gateway_at))?, end(1, 0, Some(member_at))?])
}

/// One whole handshake at `now`.
fn shake_hands([member, gateway]: &mut [Sessions; 2], now: Instant, at: [SocketAddr; 2]) {
    let mut opened = Vec::new();
    member.handle_input(now, PEER);
    while let Some(message) = member.poll_transmit(now) {
        let _ = gateway.open(now, at[0], &message.bytes, &mut opened);
        while let Some(answer) = gateway.poll_transmit(now) {
            let _ = member.open(now, at[1], &answer.bytes, &mut opened);
        }
    }
    while member.poll_event().is_some() || gateway.poll_event().is_some() {}
}

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let at: [SocketAddr; 2] = [([192, 0, 2, 1], 40_000).into(), ([198, 51, 100, 1], 51_820).into()];
    let Some(mut ends) = ends(at[0], at[1]) else { return };
    let mut now = Instant::ZERO;
    let handshake = time(200, || {
        now += Duration::from_millis(50);
        shake_hands(&mut ends, now, at);
    });
    let (packet, mut datagram, mut opened) = ([7; PACKET_BYTES], Vec::new(), Vec::new());
    let plain = time(count, || {
        datagram.clear();
        datagram.extend_from_slice(black_box(&HEADER));
        datagram.extend_from_slice(black_box(&packet));
        opened.clear();
        opened.extend_from_slice(black_box(&datagram));
    });
    let [member, gateway] = &mut ends;
    let seal = time(count, || {
        let _ = black_box(member.seal(now, PEER, &[&HEADER, &packet], &mut datagram));
    });
    let both = time(count, || {
        let _ = member.seal(now, PEER, &[&HEADER, &packet], &mut datagram);
        let _ = black_box(gateway.open(now, at[0], &datagram, &mut opened));
    });
    assert_eq!(opened.len(), HEADER.len() + PACKET_BYTES, "the last one arrived");
    let gbps = |ns: f64| PACKET_BYTES as f64 * 8.0 / ns;
    println!("copied at both ends:   {plain:8.0} ns per packet of {PACKET_BYTES} bytes");
    println!(
        "sealed and opened:     {both:8.0} ns ({:.0} times; {:.2} Gbit/s for both ends on one core)",
        both / plain,
        gbps(both)
    );
    println!("sealed:                {seal:8.0} ns ({:.2} Gbit/s on one core)", gbps(seal));
    println!("a handshake, both ends: {:7.0} us", handshake / 1000.0);
}
