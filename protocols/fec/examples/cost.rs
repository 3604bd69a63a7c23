//! What forward error correction costs: run under `time`, the processor time that both ends need for packets of 1400
//! bytes, of which one in each block of 16 is lost.
//!
//! `cargo run --release -p prismux-fec --example cost -- 1000000 0.01`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it prints.
use prismux_endpoint::Endpoint;
use prismux_fec::{Arrived, Decoder, Encoder, EncoderConfig, Protection, ReedSolomon, Sent, Shard};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

const BLOCK_PACKETS: u32 = 16;
/// The place of the packet that is lost in each block.
const LOST: u32 = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let packets: u32 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let loss: f64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0.01);
    let (now, inner) = (Instant::ZERO, [0x5a; 1400]);
    let mut encoder = Encoder::new(EncoderConfig::default(), ReedSolomon::default());
    let mut decoder = Decoder::new(ReedSolomon::default());
    encoder.protect(Protection::against(loss));
    let (mut number, mut repairs) = (SeqNumber(0), 0_u64);
    for packet in 0..packets {
        let bytes = Shard { protocol: 0x0800, order: None, inner: &inner }.emit();
        if packet % BLOCK_PACKETS != LOST {
            decoder.handle_input(now, Arrived::Packet { number, packet: bytes.clone() });
        }
        encoder.handle_input(now, Sent { number, packet: bytes });
        number += 1;
        while let Some(block) = encoder.poll_transmit(now) {
            for symbol in block.symbols {
                decoder.handle_input(now, Arrived::Repair { number, header: block.header, symbol });
                number += 1;
                repairs += 1;
            }
        }
        while decoder.poll_transmit(now).is_some() {}
    }
    let recovered = decoder.counters().recovered_packets;
    println!("{packets} packets, {repairs} repairs, {recovered} packets recovered");
}
