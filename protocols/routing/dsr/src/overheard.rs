//! Which packets a host has overheard.
use crate::constants::MAX_OVERHEARD_PACKETS;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

/// The packets that were overheard last, by source and identification. Each has one place, where it stays until another
/// of the same place comes by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overheard {
    places: Vec<Option<(Ipv4Addr, u16)>>,
}

impl Overheard {
    /// Notes a packet; says whether it is one that is not known.
    pub(crate) fn is_new(&mut self, source: Ipv4Addr, identification: u16) -> bool {
        if self.places.is_empty() {
            self.places = vec![None; MAX_OVERHEARD_PACKETS];
        }
        // An odd factor spreads sources whose addresses lie side by side.
        let spread = source.to_bits().wrapping_mul(0x9e37_79b1) >> 16;
        let place = spread.wrapping_add(u32::from(identification)) as usize % MAX_OVERHEARD_PACKETS;
        self.places[place].replace((source, identification)) != Some((source, identification))
    }
}
