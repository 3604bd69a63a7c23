//! What forward error correction costs: `cargo run --release -p prismux-fec --example cost`.
use prismux_endpoint::Endpoint;
use prismux_fec::{Arrived, Decoder, Encoder, EncoderConfig, Protection, ReedSolomon, Sent, Shard};
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use std::time::Instant as Clock;

const BLOCKS: u32 = 20_000;

fn main() {
    println!("for each packet of 1400 bytes, in nanoseconds; a block is 16 packets");
    println!("loss    repairs  near end  far end, nothing lost  far end, one lost of each block");
    for loss in [0.001, 0.01, 0.02, 0.05] {
        let protection = Protection::against(loss);
        let (near, _) = run(protection, None);
        let (_, whole) = run(protection, Some(false));
        let (_, holed) = run(protection, Some(true));
        let (percent, repairs) = (loss * 100.0, protection.repairs(16));
        println!("{percent:>4.1} %  {repairs:>7}  {near:>8.0}  {whole:>21.0}  {holed:>31.0}");
    }
}

/// Nanoseconds for each packet at the near end, and at the far end if packets are to be received.
fn run(protection: Protection, is_holed: Option<bool>) -> (f64, f64) {
    let (now, inner) = (Instant::ZERO, [0x5a; 1400]);
    let mut encoder = Encoder::new(EncoderConfig::default(), ReedSolomon::default());
    let mut decoder = Decoder::new(ReedSolomon::default());
    encoder.protect(protection);
    let (mut near, mut far, mut number) = (0, 0, SeqNumber(0));
    for _ in 0..BLOCKS {
        let first = number;
        let clock = Clock::now();
        let mut sent = Vec::new();
        for _ in 0..16 {
            let packet = Shard { protocol: 0x0800, order: None, inner: &inner }.emit();
            if is_holed.is_some() {
                sent.push(packet.clone());
            }
            encoder.handle_input(now, Sent { number, packet });
            number += 1;
        }
        let block = encoder.poll_transmit(now);
        near += clock.elapsed().as_nanos();
        let Some(block) = block else { continue };
        let clock = Clock::now();
        let lost = if is_holed == Some(true) { 5 } else { usize::MAX };
        for (place, packet) in sent.into_iter().enumerate() {
            if place != lost {
                decoder.handle_input(now, Arrived::Packet { number: first + place as u32, packet });
            }
        }
        for symbol in block.symbols {
            decoder.handle_input(now, Arrived::Repair { number, header: block.header, symbol });
            number += 1;
        }
        while decoder.poll_transmit(now).is_some() {}
        far += clock.elapsed().as_nanos();
    }
    let each = |nanos: u128| nanos as f64 / f64::from(16 * BLOCKS);
    (each(near), each(far))
}
