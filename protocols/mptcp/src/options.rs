//! MPTCP's options (TCP option kind 30, RFC 8684 section 3), between typed form and bytes.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod wire;

pub use wire::{OptionError, emit, parse};

use alloc::boxed::Box;
use core::net::IpAddr;

/// MP_CAPABLE (section 3.1): a connection may have several paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capable {
    /// Flag A: data sequence mappings have checksums.
    pub checksum_required: bool,
    /// The sender's key; not yet in the first SYN.
    pub key: Option<u64>,
    /// The receiver's key, repeated to it in the third segment.
    pub peer_key: Option<u64>,
    /// Length of the payload, which is the first of the stream: the mapping of the first data.
    pub data_bytes: Option<u16>,
}

/// MP_JOIN (section 3.2): a subflow joins a connection, in three segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Join {
    /// In the SYN.
    Syn {
        /// Use this subflow only when no other works.
        backup: bool,
        /// The address that the SYN comes from.
        address_id: u8,
        /// Names the connection.
        token: u32,
        /// A random number for the proof.
        nonce: u32,
    },
    /// In the SYN-ACK.
    SynAck {
        /// Use this subflow only when no other works.
        backup: bool,
        /// The address that the SYN-ACK comes from.
        address_id: u8,
        /// Proves knowledge of both keys.
        proof: u64,
        /// A random number for the proof.
        nonce: u32,
    },
    /// In the third segment, repeated until something comes back.
    Ack {
        /// Proves knowledge of both keys.
        proof: [u8; 20],
    },
}

/// A number of the data sequence space, whole or its last 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataSequence {
    /// The last 32 bits.
    Low(u32),
    /// All 64 bits.
    Full(u64),
}

impl DataSequence {
    /// The position whose number this is, where position 0 has the number `origin`: for one cut short, the nearest to
    /// the position `near`. `None` for a number before the origin.
    pub fn position(self, origin: u64, near: u64) -> Option<u64> {
        match self {
            Self::Low(low) => {
                let distance = low.wrapping_sub(origin.wrapping_add(near) as u32) as i32;
                near.checked_add_signed(i64::from(distance))
            }
            // Streams are shorter than half of the space.
            Self::Full(full) => u64::try_from(full.wrapping_sub(origin) as i64).ok(),
        }
    }
}

/// Which bytes of the data sequence a stretch of the subflow carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mapping {
    /// Number of the first byte.
    pub data: DataSequence,
    /// Its place in the subflow, counted from the subflow's SYN.
    pub subflow: u32,
    /// Length; a DATA_FIN counts one. Zero maps everything from here on, without an end: MPTCP is over.
    pub bytes: u16,
}

/// DSS, the data sequence signal (section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Dss {
    /// DATA_ACK: everything before this number has arrived.
    pub ack: Option<DataSequence>,
    /// Where the payload belongs.
    pub mapping: Option<Mapping>,
    /// DATA_FIN: the mapping ends with the end of the stream.
    pub fin: bool,
}

/// ADD_ADDR (section 3.4.1): the sender has another address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddAddress {
    /// Its number at the sender.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port, if not that of the first subflow.
    pub port: Option<u16>,
    /// The proof; `None` in an echo, which says that the announcement has arrived.
    pub proof: Option<u64>,
}

/// The options of MPTCP in one segment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MptcpOptions {
    /// MP_CAPABLE.
    pub capable: Option<Capable>,
    /// MP_JOIN.
    pub join: Option<Join>,
    /// DSS.
    pub dss: Option<Dss>,
    /// What few segments have.
    pub rare: Option<Box<RareOptions>>,
}

/// Options that few segments have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RareOptions {
    /// ADD_ADDR.
    pub add_address: Option<AddAddress>,
    /// REMOVE_ADDR (section 3.4.2): the sender no longer has the address with this number.
    pub remove_address: Option<u8>,
    /// MP_PRIO (section 3.3.8): whether the sender wants this subflow as a backup from now on.
    pub backup: Option<bool>,
    /// MP_FAIL (section 3.7): from this data sequence number on the checksum was wrong.
    pub fail: Option<u64>,
    /// MP_FASTCLOSE (section 3.5): the receiver's key; the whole connection is reset.
    pub fast_close: Option<u64>,
    /// MP_TCPRST (section 3.6): why this subflow is reset.
    pub reset: Option<u8>,
}

/// Reasons of MP_TCPRST that this implementation gives (section 3.6).
pub mod reset_reason {
    /// Not said.
    pub const UNSPECIFIED: u8 = 0;
    /// The proof of MP_JOIN is wrong, or the options needed are missing.
    pub const MPTCP_SPECIFIC: u8 = 1;
    /// The host wants no further subflow.
    pub const PROHIBITED: u8 = 3;
    /// Payload without a mapping.
    pub const MIDDLEBOX: u8 = 6;
}

impl MptcpOptions {
    /// The rare options, to be filled in.
    pub(crate) fn rare_mut(&mut self) -> &mut RareOptions {
        self.rare.get_or_insert_with(Box::default)
    }
}
