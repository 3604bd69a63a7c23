//! Repair packets in tunnels: forward error correction of what carries numbers.
//!
//! A repair is a GRE packet of protocol type [`PROTOCOL_TYPE`] with a sequence number, like the packets that it is made
//! of. It is sent to ends that have said that they can use it (see [`super::control`]).
use prismux_fec::{Decoder, ReedSolomon};
use prismux_wire::{GreHeader, SeqNumber};

/// The EtherType that IEEE 802 reserves for private use, "Local Experimental Ethertype 2".
pub const PROTOCOL_TYPE: u16 = 0x88b6;

/// The far end of a tunnel whose packets are repaired.
pub(crate) type Recovery = Decoder<ReedSolomon>;

/// A repair that is due, with its number.
#[derive(Debug)]
pub(crate) struct Repair {
    pub number: SeqNumber,
    /// Header and symbol.
    pub bytes: Vec<u8>,
}

impl Repair {
    /// The header that it travels behind.
    pub const fn gre(&self) -> GreHeader {
        GreHeader { sequence: Some(self.number.0), ..GreHeader::plain(PROTOCOL_TYPE) }
    }
}
