//! A packet as the bytes that a repair is made of.
//!
//! | field | bytes |
//! |---|---|
//! | bytes of all that follows but the padding | 2 |
//! | EtherType of the packet | 2 |
//! | bit 0: an order follows; the others are zero | 1 |
//! | the order that the packet carries, if any | 4 |
//! | the packet | |
//!
//! Zeros fill it up to the length of the block's longest.
use alloc::vec::Vec;
use core::fmt;
const LENGTH_BYTES: usize = 2;
const HAS_ORDER: u8 = 1;

/// Most bytes that a shard has beside its packet: length, type, flags, order, and one to make their sum even.
pub const MAX_SHARD_OVERHEAD_BYTES: usize = LENGTH_BYTES + 2 + 1 + 4 + 1;

/// A packet with what stands beside it in a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard<'a> {
    /// EtherType of the packet.
    pub protocol: u16,
    /// The order that it carries.
    pub order: Option<u32>,
    /// The packet.
    pub inner: &'a [u8],
}

/// A recovered shard that cannot be what was sent: a repair was not of these packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardError;

impl fmt::Display for ShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the repair is not of these packets")
    }
}

impl core::error::Error for ShardError {}

impl<'a> Shard<'a> {
    /// As bytes, without padding. Of a packet beyond 65,528 bytes nothing is to be had back.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(MAX_SHARD_OVERHEAD_BYTES + self.inner.len());
        let order = self.order.map(u32::to_be_bytes);
        let length = 3 + order.map_or(0, |order| order.len()) + self.inner.len();
        out.extend_from_slice(&u16::try_from(length).unwrap_or(0).to_be_bytes());
        out.extend_from_slice(&self.protocol.to_be_bytes());
        out.push(if order.is_some() { HAS_ORDER } else { 0 });
        out.extend(order.into_iter().flatten());
        out.extend_from_slice(self.inner);
        out
    }

    /// Reads a shard, padded or not.
    ///
    /// # Errors
    /// [`ShardError`]: it was made of other packets.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ShardError> {
        let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>().ok_or(ShardError)?;
        let (body, padding) =
            rest.split_at_checked(usize::from(u16::from_be_bytes(*length))).ok_or(ShardError)?;
        let (&[high, low, flags], mut inner) = body.split_first_chunk::<3>().ok_or(ShardError)?;
        if flags & !HAS_ORDER != 0 || padding.iter().any(|&byte| byte != 0) {
            return Err(ShardError);
        }
        let mut order = None;
        if flags & HAS_ORDER != 0 {
            let (bytes, rest) = inner.split_first_chunk::<4>().ok_or(ShardError)?;
            (order, inner) = (Some(u32::from_be_bytes(*bytes)), rest);
        }
        Ok(Self { protocol: u16::from_be_bytes([high, low]), order, inner })
    }
}
