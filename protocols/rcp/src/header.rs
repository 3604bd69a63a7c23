//! The header of an RCP packet, as a typed value; module `wire` turns it into bytes and back.
//!
//! An RCP packet is the payload of a UDP datagram: ports and checksum are UDP's. With UDP's 8 bytes a data packet
//! without options has 20 bytes of header, as a TCP segment has.
//!
//! | bytes | field | meaning |
//! |---|---|---|
//! | 0 | version, length | version (4 bits, now 1); header length in 32-bit words (4 bits) |
//! | 1 | flags | [`RcpFlags`] |
//! | 2-3 | window | in requests SEG.DEQ, from the sender its limit; both are distances (below) |
//! | 4-7 | number | SEG.REQ in requests, SEG.SEQ in data |
//! | 8-11 | proof | in SYN-ACK: the number acknowledged; in every other packet but SYN: the upper half of the token |
//! | 12-15 | proof | with REQ only: the lower half of the token |
//! | then | options | padded to a multiple of 4 bytes |
//!
//! SEG.DEQ is the distance from SEG.REQ down to the first byte not yet here in order: what lies below may be purged.
//! The sender's limit is the distance from SEG.SEQ up to the end of what may be requested. Both are scaled, except in
//! packets with SYN.
//!
//! Options are lists of kind, length, value; kinds are TCP's where the meaning is the same: 0 end, 1 padding, 2 MSS,
//! 3 window scale, 5 request blocks, 8 timestamps, 9 token, 10 start. Unknown kinds are skipped.
mod blocks;
mod wire;

pub use blocks::{RequestBlock, RequestBlocks};
pub use wire::HeaderError;

use core::ops;
use prismux_wire::{SeqNumber, Timestamps};

/// Flags of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RcpFlags(pub u8);

impl RcpFlags {
    /// No flag: data, or news of the sender's limit.
    pub const NONE: Self = Self(0);
    /// SYN: opens a connection.
    pub const SYN: Self = Self(1);
    /// ACK: answers SYN or FIN.
    pub const ACK: Self = Self(1 << 1);
    /// From the sender: the stream ends after this packet's data. With REQ: everything has arrived, goodbye.
    pub const FIN: Self = Self(1 << 2);
    /// There is no such connection (any more).
    pub const RST: Self = Self(1 << 3);
    /// From the receiver, under the token; without SYN, FIN and RST a request.
    pub const REQ: Self = Self(1 << 4);
    /// A request for exactly the segment at SEG.REQ.
    pub const PUL: Self = Self(1 << 5);
    /// With SYN: congestion marks are understood.
    pub const ECN: Self = Self(1 << 6);

    /// All of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Any of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl ops::BitOr for RcpFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Options of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RcpOptions {
    /// Most payload of a data packet, options not deducted.
    pub mss: Option<u16>,
    /// Shift of the window fields that this end will send.
    pub window_scale: Option<u8>,
    /// The receiver's clock, and its echo in the answer.
    pub timestamps: Option<Timestamps>,
    /// The token being issued (or the room for it, zero, in a receiver's SYN).
    pub token: Option<u64>,
    /// In a receiver's SYN: the first position it will ask for (zero, the stream's first, is not sent).
    pub start: u64,
    /// What was requested before this request.
    pub blocks: RequestBlocks,
}

/// The header of an RCP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RcpHeader {
    /// What kind of packet it is.
    pub flags: RcpFlags,
    /// SEG.DEQ in requests, the sender's request limit otherwise; both as distances.
    pub window: u16,
    /// SEG.REQ in requests, SEG.SEQ in data.
    pub number: SeqNumber,
    /// What shows that the packet belongs to the connection; see [`RcpHeader::acknowledging`] and
    /// [`RcpHeader::under`]. Without REQ only the upper half travels.
    pub proof: u64,
    /// Options, where present.
    pub options: RcpOptions,
}

impl RcpHeader {
    /// The proof of a SYN-ACK: the number it acknowledges.
    pub const fn acknowledging(number: SeqNumber) -> u64 {
        (number.0 as u64) << 32
    }

    /// The proof of other packets: the token, as far as packets with `flags` carry it.
    pub const fn under(token: u64, flags: RcpFlags) -> u64 {
        if flags.contains(RcpFlags::REQ) { token } else { token >> 32 << 32 }
    }

    /// Whether the packet carries as much of `token` as its kind has to.
    pub const fn proves(&self, token: u64) -> bool {
        self.proof == Self::under(token, self.flags)
    }
}

// The simulator's packets hold a header beside 24 bytes of their own and shall fit two cache lines.
const _: () = assert!(size_of::<RcpHeader>() <= 88, "an RCP header grows past its place in a packet");
