//! Forward error correction of a tunnel: repair packets that stand in for lost ones.
//!
//! * [`Encoder`]: the near end. It gathers numbered packets into blocks and makes repair packets of each.
//! * [`Decoder`]: the far end. As soon as it has as many packets and repairs of a block as the block has packets, it
//!   makes those that are missing.
//! * [`ProtectedLink`]: an encoder that follows what the link's meter knows.
//! * [`Protection`]: how many repairs a block is worth, by what the link loses.
//! * [`RepairHeader`]: what stands before a repair on the wire.
//! * [`ErasureCode`]: how repairs are made of packets. [`ReedSolomon`] does it with bytes; a simulator, whose packets
//!   have none, has its own.
//!
//! A packet's number is the sequence number of its GRE header (RFC 2890), which receipts tell of too; repairs carry the
//! numbers behind those of their block. The code is systematic: packets travel as they are, and one that comes is
//! handed on at once. This is the block scheme of RFC 6363 for one tunnel, with Reed-Solomon codes as RFC 6865 has
//! them.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod code;
mod decoder;
mod encoder;
mod link;
mod protection;
mod repair;
mod shard;
mod window;

pub use code::{ErasureCode, ReceivedBlock, ReedSolomon};
pub use decoder::{Arrived, Decoder, DecoderCounters, Recovered};
pub use encoder::{Block, Encoder, EncoderConfig, Sent};
pub use link::ProtectedLink;
pub use protection::Protection;
pub use repair::{HEADER_BYTES, MAX_BLOCK_PACKETS, MAX_REPAIRS, RepairError, RepairHeader};
pub use shard::{MAX_SHARD_OVERHEAD_BYTES, Shard, ShardError};

/// Most bytes by which a repair is longer than the longest packet of its block.
pub const REPAIR_OVERHEAD_BYTES: usize = HEADER_BYTES + MAX_SHARD_OVERHEAD_BYTES;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
