//! Which packet is which on a link: receipts speak of positions, flows of sequence numbers.
use super::Link;
use alloc::collections::VecDeque;
use prismux_wire::SeqNumber;

/// Of a link with little in flight at least so many of the latest packets are remembered.
const MIN_REMEMBERED: usize = 256;

/// The latest packets of a link that returns receipts, by rising position without gaps.
#[derive(Debug, Clone, Default)]
pub(super) struct Outstanding {
    /// Flow and first sequence number.
    packets: VecDeque<(u32, SeqNumber)>,
    /// Position of the first.
    first: u32,
}

impl Link {
    /// The packet at `position`, just sent, belongs to `flow` and starts at `seq`.
    pub(crate) fn remember(&mut self, position: u32, flow: u32, seq: SeqNumber) {
        if !self.model.is_measured() {
            return self.outstanding.packets.clear();
        }
        let Outstanding { packets, first } = &mut self.outstanding;
        if first.wrapping_add(packets.len() as u32) != position {
            packets.clear();
        }
        if packets.is_empty() {
            *first = position;
        }
        packets.push_back((flow, seq));
        let most = (self.variables.in_flight_packets as usize * 2).max(MIN_REMEMBERED);
        while packets.len() > most {
            packets.pop_front();
            *first = first.wrapping_add(1);
        }
    }

    /// Flow and first sequence number of the packet at `position`, if it is remembered.
    pub(crate) fn packet_at(&self, position: u32) -> Option<(u32, SeqNumber)> {
        let index = position.wrapping_sub(self.outstanding.first) as usize;
        self.outstanding.packets.get(index).copied()
    }
}
