//! Changing single fields of an IP header in place.
use super::{put, v4, v6, word16};
use crate::checksum::{Sum, update};
use crate::ecn::Ecn;
use crate::error::{Layer, WireError};
use core::fmt;

/// Why [`decrement_hop_limit`] refuses a packet: it has made its last hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Expired;

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the packet has made its last hop")
    }
}

impl core::error::Error for Expired {}

/// Sets the congestion bits of the IP packet in `packet`.
///
/// # Errors
/// When there is no IP header.
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) -> Result<(), WireError> {
    match packet.first().map(|b| b >> 4) {
        Some(4) if packet.len() >= v4::HEADER_BYTES => {
            edit_v4(packet, 0, |word| word & 0xfffc | u16::from(ecn.bits()));
            Ok(())
        }
        Some(6) => {
            let header = v6_header(packet)?;
            header[1] = header[1] & 0b1100_1111 | ecn.bits() << 4;
            Ok(())
        }
        Some(version) if version != 4 && version != 6 => Err(WireError::Version(Layer::Ipv4, version)),
        _ => Err(WireError::Truncated(Layer::Ipv4)),
    }
}

/// What a router does: one hop less. `Ok(Err(Expired))` leaves the packet as it is: it must not be forwarded.
///
/// # Errors
/// When there is no IP header.
pub fn decrement_hop_limit(packet: &mut [u8]) -> Result<Result<(), Expired>, WireError> {
    match packet.first().map(|b| b >> 4) {
        Some(4) if packet.len() >= v4::HEADER_BYTES => {
            if word16(packet, 8) < 0x0200 {
                return Ok(Err(Expired));
            }
            edit_v4(packet, 8, |word| word - 0x0100);
            Ok(Ok(()))
        }
        Some(6) => {
            let header = v6_header(packet)?;
            if header[7] <= 1 {
                return Ok(Err(Expired));
            }
            header[7] -= 1;
            Ok(Ok(()))
        }
        Some(version) if version != 4 && version != 6 => Err(WireError::Version(Layer::Ipv4, version)),
        _ => Err(WireError::Truncated(Layer::Ipv4)),
    }
}

fn v6_header(packet: &mut [u8]) -> Result<&mut [u8; v6::HEADER_BYTES], WireError> {
    packet.first_chunk_mut().ok_or(WireError::Truncated(Layer::Ipv4))
}

/// Changes the 16-bit word at `at` of an IPv4 header and keeps its checksum.
pub(crate) fn edit_v4(packet: &mut [u8], at: usize, change: impl FnOnce(u16) -> u16) {
    let old = word16(packet, at);
    let new = change(old);
    let sum = update(word16(packet, 10), Sum::ZERO.add_u16(old), Sum::ZERO.add_u16(new));
    put(packet, at, &new.to_be_bytes());
    put(packet, 10, &sum.to_be_bytes());
}
