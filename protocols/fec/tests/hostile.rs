//! Repairs of any content: refused, or nothing comes of them.
use prismux_endpoint::Endpoint;
use prismux_fec::{Arrived, Decoder, HEADER_BYTES, ReedSolomon, RepairHeader, Shard};
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_bytes_are_a_repair_or_refused(number in any::<u32>(), bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let number = SeqNumber(number);
        if let Ok((header, symbol)) = RepairHeader::parse(number, &bytes) {
            prop_assert_eq!(&header.emit()[..], &bytes[..HEADER_BYTES]);
            prop_assert_eq!(symbol, &bytes[HEADER_BYTES..]);
            prop_assert!(header.index_of(number).is_some());
        }
    }

    #[test]
    fn any_bytes_are_a_shard_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(shard) = Shard::parse(&bytes) {
            let again = shard.emit();
            prop_assert_eq!(Shard::parse(&again), Ok(shard));
        }
    }

    /// Whoever may send into a plain tunnel may send repairs of anything: none of that ends the use of true ones.
    #[test]
    fn forged_repairs_and_packets_do_not_stop_the_decoder(
        forged in prop::collection::vec((any::<u32>(), any::<bool>(), 1..33_u8, 1..17_u8, 0..40_usize), 0..300),
    ) {
        let mut decoder = Decoder::new(ReedSolomon::default());
        for (number, is_repair, packets, repairs, bytes) in forged {
            let number = SeqNumber(number);
            let packet = vec![7; bytes];
            let arrived = match is_repair {
                true => {
                    let header = RepairHeader { first: number - u32::from(packets), packets, repairs };
                    Arrived::Repair { number, header, symbol: packet }
                }
                false => Arrived::Packet { number, packet },
            };
            decoder.handle_input(Instant::ZERO, arrived);
            while decoder.poll_transmit(Instant::ZERO).is_some() {}
        }
        // One packet in blocks of one is lost in 100, after what it takes to believe the numbers again.
        let mut recovered = 0;
        for index in 0..200_u32 {
            let first = SeqNumber(5_000_000 + 2 * index);
            let packet = Shard { protocol: 0x0800, order: None, inner: &[index as u8; 20] }.emit();
            let header = RepairHeader { first, packets: 1, repairs: 1 };
            if index % 100 != 99 {
                decoder.handle_input(Instant::ZERO, Arrived::Packet { number: first, packet: packet.clone() });
            }
            // The repair of a block of one is the packet itself, made even.
            let symbol = if packet.len().is_multiple_of(2) { packet } else { [packet, vec![0]].concat() };
            decoder.handle_input(Instant::ZERO, Arrived::Repair { number: first + 1, header, symbol });
            while let Some(found) = decoder.poll_transmit(Instant::ZERO) {
                recovered += u32::from(found.number == first);
            }
        }
        prop_assert!(recovered >= 1, "{recovered}");
    }
}
