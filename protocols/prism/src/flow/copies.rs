//! Packets kept as they went out, so that the proxy can send them again and measure links with them.
use alloc::collections::VecDeque;
use prismux_wire::SeqNumber;

/// Delivered packets of a flow that are kept for probing other links,
const MAX_PROBES: usize = 6;
/// and of all flows: beyond, a flow keeps its newest alone. With many members some link waits to be measured at any
/// time, and six packets of each of 20,000 flows would be a hundred times as much as what is in flight.
const MAX_ALL_PROBES: u32 = 4096;

/// Copies that all flows keep.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CopyCounts {
    /// Of packets in flight.
    pub(crate) in_flight: u32,
    /// Of delivered ones.
    pub(crate) delivered: u32,
}

/// A packet as it went out.
#[derive(Debug, Clone)]
pub(crate) struct Copy<P> {
    pub(crate) seq: SeqNumber,
    pub(crate) length: u16,
    /// It went out more than once: a report of a duplicate may mean any of its copies.
    pub(crate) repeated: bool,
    pub(crate) packet: P,
}

/// Copies of one flow's packets, by rising sequence number.
#[derive(Debug)]
pub(crate) struct Copies<P> {
    in_flight: VecDeque<Copy<P>>,
    /// Packets that the receiver has: their arrival over another link measures that link and changes nothing else.
    delivered: VecDeque<Copy<P>>,
}

impl<P> Default for Copies<P> {
    fn default() -> Self {
        Self { in_flight: VecDeque::new(), delivered: VecDeque::new() }
    }
}

impl<P: Clone> Copies<P> {
    /// True when [`Copies::keep`] would keep a copy of the packet that starts at `seq`: a flow has no more of the
    /// budget than is left, so that many flows share it alike, however much each asks for.
    pub(crate) fn takes(&self, seq: SeqNumber, counts: CopyCounts, budget: u32) -> bool {
        (self.in_flight.len() as u32) < budget.saturating_sub(counts.in_flight)
            && self.in_flight.back().is_none_or(|last| last.seq.before(seq))
    }

    /// Keeps a copy of a packet that follows all others.
    pub(crate) fn keep(
        &mut self,
        seq: SeqNumber,
        length: u16,
        packet: &P,
        counts: &mut CopyCounts,
        budget: u32,
    ) {
        if self.takes(seq, *counts, budget) {
            counts.in_flight += 1;
            self.in_flight.push_back(Copy { seq, length, repeated: false, packet: packet.clone() });
        }
    }

    /// The receiver has the packet that starts at `seq`, though not all before it: nothing will ask for its copy.
    pub(crate) fn give_up(&mut self, seq: SeqNumber, counts: &mut CopyCounts) {
        if let Ok(at) = self.in_flight.binary_search_by(|copy| copy.seq.distance_from(seq).cmp(&0)) {
            self.in_flight.remove(at);
            counts.in_flight = counts.in_flight.saturating_sub(1);
        }
    }

    /// The copy of the packet that starts at `seq`.
    ///
    /// Packets of a bulk flow have one size, so the guess by division nearly always hits; otherwise a binary search.
    pub(crate) fn find(&self, seq: SeqNumber) -> Option<&Copy<P>> {
        let first = self.in_flight.front()?;
        let offset = seq.distance_from(first.seq);
        if offset <= 0 {
            return (offset == 0).then_some(first);
        }
        let guess = offset as usize / usize::from(first.length.max(1));
        if let Some(copy) = self.in_flight.get(guess).filter(|copy| copy.seq == seq) {
            return Some(copy);
        }
        let at = self.in_flight.partition_point(|copy| copy.seq.before(seq));
        self.in_flight.get(at).filter(|copy| copy.seq == seq)
    }

    /// True when there is a copy of the packet that starts at `seq`.
    pub(crate) fn has(&self, seq: SeqNumber) -> bool {
        self.find(seq).is_some()
    }

    /// Drops the copies that the cumulative ACK covers; the newest few remain as probes if `keep_probes`.
    pub(crate) fn trim(&mut self, cumulative: SeqNumber, keep_probes: bool, counts: &mut CopyCounts) {
        while self.in_flight.front().is_some_and(|c| !(c.seq + u32::from(c.length)).after(cumulative)) {
            let copy = self.in_flight.pop_front();
            counts.in_flight = counts.in_flight.saturating_sub(1);
            if keep_probes && let Some(copy) = copy.filter(|copy| copy.length > 1 && !copy.repeated) {
                let most = if counts.delivered < MAX_ALL_PROBES { MAX_PROBES } else { 1 };
                while self.delivered.len() >= most {
                    self.take_oldest(counts);
                }
                self.delivered.push_back(copy);
                counts.delivered += 1;
            }
        }
        if !keep_probes {
            self.clear_delivered(counts);
        }
    }

    fn take_oldest(&mut self, counts: &mut CopyCounts) {
        let gone = self.delivered.pop_front();
        counts.delivered = counts.delivered.saturating_sub(u32::from(gone.is_some()));
    }

    fn clear_delivered(&mut self, counts: &mut CopyCounts) {
        counts.delivered = counts.delivered.saturating_sub(self.delivered.len() as u32);
        self.delivered.clear();
    }

    /// Packets within `[start, end)` go out once more: they are no good as probes.
    pub(crate) fn note_repeated(&mut self, start: SeqNumber, end: SeqNumber, counts: &mut CopyCounts) {
        let before = self.delivered.len();
        self.delivered.retain(|copy| copy.seq.before(start) || !copy.seq.before(end));
        counts.delivered = counts.delivered.saturating_sub((before - self.delivered.len()) as u32);
        let first = self.in_flight.partition_point(|copy| copy.seq.before(start));
        for copy in self.in_flight.range_mut(first..).take_while(|copy| copy.seq.before(end)) {
            copy.repeated = true;
        }
    }

    /// True when there is a delivered packet to probe with.
    pub(crate) fn has_probe(&self) -> bool {
        !self.delivered.is_empty()
    }

    /// Takes a delivered packet to probe with, the newest.
    pub(crate) fn take_probe(&mut self, counts: &mut CopyCounts) -> Option<Copy<P>> {
        let copy = self.delivered.pop_back()?;
        counts.delivered = counts.delivered.saturating_sub(1);
        Some(copy)
    }

    /// Gives everything back to the budget.
    pub(crate) fn clear(&mut self, counts: &mut CopyCounts) {
        counts.in_flight = counts.in_flight.saturating_sub(self.in_flight.len() as u32);
        self.in_flight.clear();
        self.clear_delivered(counts);
    }

    /// Bytes of memory, packets themselves apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        (self.in_flight.capacity() + self.delivered.capacity()) * size_of::<Copy<P>>()
    }
}

#[cfg(test)]
mod tests;
