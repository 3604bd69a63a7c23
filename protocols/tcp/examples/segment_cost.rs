//! What a segment costs: a bulk transfer between two connections over a lossless pipe of constant delay, in
//! CPU time per data segment (its build, its delivery, its share of the ACKs and their handling).
//!
//! Run with `cargo run --release -p prismux-tcp --example segment_cost`.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_macros,
    reason = "measures by the wall clock and prints"
)]

use prismux_endpoint::Endpoint;
use prismux_tcp::{Connection, SegmentIn, SegmentOut, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::SeqNumber;
use std::collections::VecDeque;

const SEGMENTS: u64 = 3_000_000;
const ONE_WAY: Duration = Duration::from_millis(10);
/// Time between arrivals at the receiver: a bottleneck of 1000-byte packets at 100 Mbit/s.
const SPACING: Duration = Duration::from_micros(80);

fn arriving(segment: &SegmentOut) -> SegmentIn {
    SegmentIn { header: segment.header, payload_bytes: segment.payload_bytes, ecn: segment.ecn }
}

fn main() {
    println!(
        "Connection: {} bytes, engine {} of them",
        size_of::<Connection>(),
        size_of::<prismux_tcp::engine::Engine>()
    );
    for profile in TcpProfile::ALL {
        let mut config = profile.config();
        config.receive_buffer = ByteCount::new(400_000);
        config.consume_on_arrival = true;
        let start = std::time::Instant::now();
        let (data, acks) = transfer(config);
        let nanos = start.elapsed().as_nanos() as f64;
        println!(
            "{profile}: {:.0} ns per data segment; {data} data segments, {acks} ACKs",
            nanos / data as f64
        );
    }
}

fn transfer(config: prismux_tcp::TcpConfig) -> (u64, u64) {
    let mut now = Instant::ZERO;
    let mut sender = Connection::connect(config.clone(), 1, 2, SeqNumber(7), now);
    let syn = sender.poll_transmit(now).expect("SYN");
    let mut receiver = Connection::accept(config, &syn.header, SeqNumber(9), now);
    let bytes = SEGMENTS * u64::from(sender.segment_bytes());
    sender.write(now, bytes);
    let (mut forward, mut backward) = (VecDeque::new(), VecDeque::new());
    let (mut data, mut acks, mut link_free) = (0, 0, Instant::ZERO);
    loop {
        while let Some(segment) = sender.poll_transmit(now) {
            link_free = link_free.max(now) + SPACING;
            forward.push_back((link_free + ONE_WAY, arriving(&segment)));
            data += u64::from(segment.payload_bytes > 0);
        }
        while sender.poll_event().is_some() {}
        while let Some(segment) = receiver.poll_transmit(now) {
            backward.push_back((now + ONE_WAY, arriving(&segment)));
            acks += 1;
        }
        while receiver.poll_event().is_some() {}
        if sender.stream_acked() == bytes {
            return (data, acks);
        }
        let timers = [sender.poll_timeout(), receiver.poll_timeout()];
        let arrivals = [forward.front().map(|x| x.0), backward.front().map(|x| x.0)];
        let next = timers.into_iter().flatten().map(|d| d.at).chain(arrivals.into_iter().flatten()).min();
        now = next.expect("something is always pending");
        if arrivals[0] == Some(now) {
            receiver.handle_input(now, forward.pop_front().expect("just seen").1);
        } else if arrivals[1] == Some(now) {
            sender.handle_input(now, backward.pop_front().expect("just seen").1);
        } else {
            sender.handle_timeout(now);
            receiver.handle_timeout(now);
        }
    }
}
