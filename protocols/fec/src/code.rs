//! Erasure codes: repairs of packets, and packets of repairs.
use crate::repair::{MAX_BLOCK_PACKETS, MAX_REPAIRS};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

/// Makes repairs of packets, and packets of repairs.
pub trait ErasureCode {
    /// A packet that is protected.
    type Packet: Clone + fmt::Debug;
    /// What a repair carries.
    type Symbol: Clone + fmt::Debug;

    /// So many repairs of the `packets` of a block; none if that cannot be done.
    fn encode(&mut self, packets: &[Self::Packet], repairs: usize) -> Vec<Self::Symbol>;

    /// The packets of a block that are missing, with their places, from as many packets and repairs as the block has
    /// packets; none where what came contradicts itself.
    fn decode(&mut self, block: &ReceivedBlock<'_, Self::Packet, Self::Symbol>)
    -> Vec<(usize, Self::Packet)>;
}

/// What came of a block.
#[derive(Debug)]
pub struct ReceivedBlock<'a, P, S> {
    /// How many packets it has.
    pub packet_count: usize,
    /// How many repairs were made of it.
    pub repair_count: usize,
    /// Packets, each with its place in the block.
    pub packets: Vec<(usize, &'a P)>,
    /// Repairs, each with its place among the block's repairs.
    pub symbols: Vec<(usize, &'a S)>,
}

/// A Reed-Solomon code over GF(2^16) with bytes for packets: any packets and repairs, as many as the block has
/// packets, give all of them. A single repair of a block is the sum of its packets (exclusive or), which has the same
/// property and costs a hundredth of it where something is missing.
#[derive(Default)]
pub struct ReedSolomon {
    encoder: Option<ReedSolomonEncoder>,
    decoder: Option<ReedSolomonDecoder>,
}

impl fmt::Debug for ReedSolomon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReedSolomon")
    }
}

impl ErasureCode for ReedSolomon {
    type Packet = Vec<u8>;
    type Symbol = Vec<u8>;

    fn encode(&mut self, packets: &[Vec<u8>], repairs: usize) -> Vec<Vec<u8>> {
        let symbols = self.try_encode(packets, repairs);
        if symbols.is_none() {
            // What failed to be set up anew is of no use any more.
            self.encoder = None;
        }
        symbols.unwrap_or_default()
    }

    fn decode(&mut self, block: &ReceivedBlock<'_, Vec<u8>, Vec<u8>>) -> Vec<(usize, Vec<u8>)> {
        let found = self.try_decode(block);
        if found.is_none() {
            self.decoder = None;
        }
        found.unwrap_or_default()
    }
}

impl ReedSolomon {
    fn try_encode(&mut self, packets: &[Vec<u8>], repairs: usize) -> Option<Vec<Vec<u8>>> {
        let is_possible = (1..=MAX_BLOCK_PACKETS).contains(&packets.len()) && repairs <= MAX_REPAIRS;
        let longest = packets.iter().map(Vec::len).max().filter(|_| is_possible)?;
        let shard_bytes = longest.next_multiple_of(2);
        if repairs == 1 {
            return Some(vec![sum(packets.iter().map(Vec::as_slice), vec![0; shard_bytes])?]);
        }
        let encoder = match &mut self.encoder {
            Some(encoder) => {
                encoder.reset(packets.len(), repairs, shard_bytes).ok()?;
                encoder
            }
            none => none.insert(ReedSolomonEncoder::new(packets.len(), repairs, shard_bytes).ok()?),
        };
        let mut padded = Vec::with_capacity(shard_bytes);
        for packet in packets {
            encoder.add_original_shard(pad(packet, shard_bytes, &mut padded)?).ok()?;
        }
        Some(encoder.encode().ok()?.recovery_iter().map(<[u8]>::to_vec).collect())
    }

    fn try_decode(&mut self, block: &ReceivedBlock<'_, Vec<u8>, Vec<u8>>) -> Option<Vec<(usize, Vec<u8>)>> {
        let (packets, repairs) = (block.packet_count, block.repair_count);
        if packets > MAX_BLOCK_PACKETS || repairs > MAX_REPAIRS {
            return None;
        }
        let (_, symbol) = block.symbols.first()?;
        if repairs == 1 {
            let missing = (0..packets).find(|place| block.packets.iter().all(|(known, _)| known != place))?;
            let present = block.packets.iter().map(|(_, packet)| packet.as_slice());
            return Some(vec![(missing, sum(present, symbol.to_vec())?)]);
        }
        let shard_bytes = symbol.len();
        let decoder = match &mut self.decoder {
            Some(decoder) => {
                decoder.reset(packets, repairs, shard_bytes).ok()?;
                decoder
            }
            none => none.insert(ReedSolomonDecoder::new(packets, repairs, shard_bytes).ok()?),
        };
        let mut padded = Vec::with_capacity(shard_bytes);
        for (place, packet) in &block.packets {
            decoder.add_original_shard(*place, pad(packet, shard_bytes, &mut padded)?).ok()?;
        }
        for (place, symbol) in &block.symbols {
            decoder.add_recovery_shard(*place, symbol).ok()?;
        }
        let decoded = decoder.decode().ok()?;
        Some(decoded.restored_original_iter().map(|(place, bytes)| (place, bytes.to_vec())).collect())
    }
}

/// `sum` and all `packets`, byte by byte without carry; `None` if one is longer.
fn sum<'a>(packets: impl Iterator<Item = &'a [u8]>, mut sum: Vec<u8>) -> Option<Vec<u8>> {
    for packet in packets {
        for (byte, other) in sum.get_mut(..packet.len())?.iter_mut().zip(packet) {
            *byte ^= other;
        }
    }
    Some(sum)
}

/// `packet` with zeros behind it; `None` if it is longer than the block's longest.
fn pad<'a>(packet: &'a [u8], bytes: usize, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if packet.len() == bytes {
        return Some(packet);
    }
    if packet.len() > bytes {
        return None;
    }
    room.clear();
    room.extend_from_slice(packet);
    room.resize(bytes, 0);
    Some(room)
}
