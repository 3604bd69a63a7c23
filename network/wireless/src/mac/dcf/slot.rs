//! A host that sends in its own slots alone.
use super::Dcf;
use crate::mac::Outgoing;
use crate::mac::config::Mac;
use crate::mac::slots::{OwnSlots, SlotConfig};
use alloc::vec::Vec;
use prismux_units::Instant;

impl<P: Copy> Dcf<P> {
    /// The host sends in these slots of a frame.
    pub fn own(&mut self, numbers: Vec<u32>) {
        self.own_slots = OwnSlots::new(numbers);
    }

    /// The timetable, for a host that keeps to it.
    pub(super) fn slots<'m>(&self, mac: &'m Mac) -> Option<&'m SlotConfig> {
        mac.slots.as_ref().filter(|_| self.in_slots)
    }

    /// Whether a packet can ever be sent.
    pub(super) fn has_slot_for(&self, packet: &Outgoing<P>, mac: &Mac) -> bool {
        let airtime = || mac.data(packet.bytes, self.data_rate(packet.to, mac));
        self.slots(mac).is_none_or(|slots| self.own_slots.fits(slots, airtime()))
    }

    /// The current packet goes in the next slot that has room for it.
    pub(super) fn wait_for_slot(&mut self, now: Instant, slots: &SlotConfig, mac: &Mac) {
        let packet = self.current.as_ref().map(|current| current.packet);
        let airtime = packet.map(|packet| mac.data(packet.bytes, self.data_rate(packet.to, mac)));
        match airtime.and_then(|airtime| self.own_slots.start(slots, now, airtime)) {
            Some(begins) => self.contention.at_once(begins),
            None => self.contention.stop(),
        }
    }
}
