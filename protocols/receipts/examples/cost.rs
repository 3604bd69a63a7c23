//! What receipts cost: their share of the bytes of a full link of 100 Mbit/s and 20 ms, and, run under `time`, the
//! processor time that both ends need for a packet.
//!
//! `cargo run --release -p prismux-receipts --example cost -- 5000000`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it prints.
use prismux_endpoint::Endpoint;
use prismux_receipts::{Arrived, LinkMeter, Receipt, ReceiptWriter, WriterConfig};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber};
use std::collections::VecDeque;

/// One way.
const DELAY: Duration = Duration::from_millis(20);
/// Between two packets.
const GAP: Duration = Duration::from_micros(120);
const PACKET_BYTES: u32 = 1500;

/// The first of the queue, when its time has come.
fn due<T>(queue: &mut VecDeque<(Instant, T)>, now: Instant) -> Option<(Instant, T)> {
    queue.front().is_some_and(|(at, _)| *at <= now).then(|| queue.pop_front())?
}

fn main() {
    let packets: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let mut meter = LinkMeter::new(1);
    let mut writer = ReceiptWriter::new(WriterConfig::default(), 1, Instant::ZERO);
    let mut there: VecDeque<(Instant, SeqNumber)> = VecDeque::new();
    let mut back: VecDeque<(Instant, Receipt)> = VecDeque::new();
    for packet in 0..packets {
        let now = Instant::ZERO + GAP * packet;
        there.push_back((now + DELAY, meter.send(now, PACKET_BYTES, None)));
        while let Some((_, number)) = due(&mut there, now) {
            writer.handle_input(now, Arrived { number, bytes: PACKET_BYTES, ecn: Ecn::NotEct });
            while let Some(receipt) = writer.poll_transmit(now) {
                back.push_back((now + DELAY, receipt));
            }
        }
        while let Some((_, receipt)) = due(&mut back, now) {
            meter.handle_input(now, &receipt);
            while meter.poll_event().is_some() {}
        }
    }
    let (near, far) = (meter.counters(), writer.counters());
    let share = far.receipt_bytes as f64 / far.bytes as f64;
    println!(
        "{} packets, {} receipts, {:.3} % of the bytes",
        near.delivered_packets,
        far.receipts,
        share * 100.0
    );
}
