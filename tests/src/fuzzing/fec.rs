//! Packets and repairs of any content, and a decoder fed with them.
use prismux_endpoint::Endpoint;
use prismux_fec::{
    Arrived, Decoder, Encoder, EncoderConfig, Protection, ReedSolomon, RepairHeader, Sent, Shard,
};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// A repair, and nothing else, has this bit before it.
const REPAIR: u8 = 0x80;

/// Packets and repairs, each behind its length and how far its number is above the one before, fed to a decoder. It
/// must not panic; what it gives back has a number near those that came, and is a shard or refused.
pub fn repair(data: &[u8]) {
    let mut decoder = Decoder::new(ReedSolomon::default());
    let (mut number, mut rest) = (SeqNumber(0), data);
    while let [length, step, tail @ ..] = rest {
        let (bytes, next) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = next;
        number += u32::from(*step & !REPAIR);
        let arrived = if *step & REPAIR == 0 {
            Arrived::Packet { number, packet: bytes.to_vec() }
        } else {
            let Ok((header, symbol)) = RepairHeader::parse(number, bytes) else { continue };
            assert_eq!(RepairHeader::parse(number, &[&header.emit(), symbol].concat()), Ok((header, symbol)));
            Arrived::Repair { number, header, symbol: symbol.to_vec() }
        };
        decoder.handle_input(Instant::ZERO, arrived);
        while let Some(recovered) = decoder.poll_transmit(Instant::ZERO) {
            assert!(number.distance_from(recovered.number).unsigned_abs() < 256, "{recovered:?} at {number}");
            if let Ok(shard) = Shard::parse(&recovered.packet) {
                assert_eq!(Shard::parse(&shard.emit()), Ok(shard));
            }
        }
    }
}

/// Blocks of packets without one of them, and with their repairs.
pub fn repair_seeds() -> Vec<Vec<u8>> {
    let step = |length: usize, step: u8, bytes: &[u8]| [&[length as u8, step], bytes].concat();
    let block = |lost: u8| {
        let config = EncoderConfig { block_packets: 5, ..EncoderConfig::default() };
        let mut encoder = Encoder::new(config, ReedSolomon::default());
        encoder.protect(Protection::against(0.02));
        let (mut out, mut above) = (Vec::new(), 1);
        for place in 1..=5_u8 {
            let packet = Shard { protocol: 0x0800, order: Some(7), inner: &[place; 20] }.emit();
            let number = SeqNumber(place.into());
            encoder.handle_input(Instant::ZERO, Sent { number, packet: packet.clone() });
            if place == lost {
                above = 2;
            } else {
                out.extend(step(packet.len(), above, &packet));
                above = 1;
            }
        }
        let block = encoder.poll_transmit(Instant::ZERO).expect("five packets are a block");
        for symbol in block.symbols {
            let bytes = [&block.header.emit()[..], &symbol].concat();
            out.extend(step(bytes.len(), REPAIR | 1, &bytes));
        }
        out
    };
    vec![block(0), block(1), block(4)]
}
