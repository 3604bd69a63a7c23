//! DSDV's one message: routes with their hops and sequence numbers.
//!
//! The paper names the fields and no format. Here an entry has 12 bytes, as many as ns-2 counts for one: address,
//! metric and sequence number, each a 32-bit word in network order. The message fills the packet.
use alloc::vec::Vec;
use core::fmt;
use core::net::Ipv4Addr;
use prismux_routing::Header;
use prismux_wire::SeqNumber;

/// The metric of a destination that is out of reach; that of ns-2.
pub const INFINITE_METRIC: u32 = 250;
/// Bytes of an entry.
const ENTRY_BYTES: usize = 12;

/// A route that is told: how far a destination is, and the number under which that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advertised {
    /// Whom the route leads to.
    pub destination: Ipv4Addr,
    /// Hops from the teller; [`INFINITE_METRIC`] and above for none.
    pub metric: u32,
    /// The destination's sequence number: even when the destination issued it, odd when somebody found the route
    /// broken.
    pub seq: SeqNumber,
}

/// What DSDV puts between the IP header and the payload: nothing for data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DsdvHeader {
    /// A packet of the layer above.
    #[default]
    Data,
    /// Routes that the sender has.
    Update(Vec<Advertised>),
}

/// Why bytes are no update, or an update cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpdateError {
    /// The bytes are no whole number of entries, or none at all.
    Length,
    /// The buffer is too small.
    NoRoom,
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "a DSDV update is a whole number of entries of 12 bytes",
            Self::NoRoom => "the DSDV update does not fit",
        })
    }
}

impl core::error::Error for UpdateError {}

impl DsdvHeader {
    /// Reads an update from the bytes behind the IP header.
    ///
    /// # Errors
    /// When their number is not that of whole entries.
    pub fn parse(bytes: &[u8]) -> Result<Self, UpdateError> {
        if bytes.is_empty() || !bytes.len().is_multiple_of(ENTRY_BYTES) {
            return Err(UpdateError::Length);
        }
        let word = |entry: &[u8], at: usize| {
            u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
        };
        let entries = bytes.chunks_exact(ENTRY_BYTES).map(|entry| Advertised {
            destination: Ipv4Addr::from_bits(word(entry, 0)),
            metric: word(entry, 4),
            seq: SeqNumber(word(entry, 8)),
        });
        Ok(Self::Update(entries.collect()))
    }

    /// Writes an update to the front of `out` and returns its length; nothing for data.
    ///
    /// # Errors
    /// [`UpdateError::NoRoom`] when `out` is too short.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, UpdateError> {
        let length = self.wire_bytes();
        let out = out.get_mut(..length).ok_or(UpdateError::NoRoom)?;
        if let Self::Update(entries) = self {
            for (place, entry) in out.chunks_exact_mut(ENTRY_BYTES).zip(entries) {
                place[..4].copy_from_slice(&entry.destination.octets());
                place[4..8].copy_from_slice(&entry.metric.to_be_bytes());
                place[8..].copy_from_slice(&entry.seq.0.to_be_bytes());
            }
        }
        Ok(length)
    }
}

impl Header for DsdvHeader {
    /// The protocol has no number of its own: one for experiments (RFC 3692).
    const PROTOCOL: u8 = 253;

    fn wire_bytes(&self) -> usize {
        match self {
            Self::Data => 0,
            Self::Update(entries) => ENTRY_BYTES * entries.len(),
        }
    }

    fn write(&self, _: u8, out: &mut Vec<u8>) {
        let mut bytes = alloc::vec![0; self.wire_bytes()];
        if self.emit(&mut bytes).is_ok() {
            out.extend(bytes);
        }
    }
}
