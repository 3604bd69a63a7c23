//! Packets of one flow that wait until the links have room.
use alloc::collections::VecDeque;
use prismux_wire::SeqNumber;

/// Packets of one kind that wait, by rising sequence number: where each starts, and its length.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: VecDeque<(SeqNumber, u16)>,
}

impl Queue {
    fn insert(&mut self, seq: SeqNumber, length: u16, kept: &mut u64) {
        let at = match self.entries.back() {
            Some((last, _)) if !last.before(seq) => {
                self.entries.partition_point(|(other, _)| other.before(seq))
            }
            _ => self.entries.len(),
        };
        if self.entries.get(at).is_none_or(|(other, _)| *other != seq) {
            self.entries.insert(at, (seq, length));
            *kept += u64::from(length);
        }
    }

    /// The lowest packet: where it starts, and its length.
    pub(crate) fn front(&self) -> Option<(SeqNumber, u16)> {
        self.entries.front().copied()
    }

    /// The packet with so many before it.
    pub(crate) fn get(&self, index: usize) -> Option<(SeqNumber, u16)> {
        self.entries.get(index).copied()
    }

    /// Takes the packet with so many before it out.
    pub(crate) fn remove(&mut self, index: usize, kept: &mut u64) {
        if let Some((_, length)) = self.entries.remove(index) {
            *kept = kept.saturating_sub(u64::from(length));
        }
    }

    fn trim(&mut self, cumulative: SeqNumber, kept: &mut u64) {
        while self.entries.front().is_some_and(|(seq, length)| !(*seq + u32::from(*length)).after(cumulative))
        {
            self.pop(kept);
        }
    }

    /// Takes the lowest packet off.
    pub(crate) fn pop(&mut self, kept: &mut u64) {
        if let Some((_, length)) = self.entries.pop_front() {
            *kept = kept.saturating_sub(u64::from(length));
        }
    }
}

/// The two kinds of packets that wait. A repair may have to wait for its link while new data finds another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Repair,
    New,
}

/// Packets of one flow that wait.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// In the pacer's queue of flows with packets that wait.
    pub(crate) queued: bool,
    repairs: Queue,
    new: Queue,
}

impl Backlog {
    /// True when nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.repairs.entries.is_empty() && self.new.entries.is_empty()
    }

    /// How many packets wait.
    pub(crate) fn len(&self) -> usize {
        self.repairs.entries.len() + self.new.entries.len()
    }

    /// Bytes of memory, packets apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        (self.repairs.entries.capacity() + self.new.entries.capacity()) * size_of::<(SeqNumber, u16)>()
    }

    /// Adds a packet that was not sent yet; counts its bytes in `kept`.
    pub(crate) fn insert_new(&mut self, seq: SeqNumber, length: u16, kept: &mut u64) {
        self.new.insert(seq, length, kept);
    }

    /// Adds a packet that was lost; counts its bytes in `kept`.
    pub(crate) fn insert_repair(&mut self, seq: SeqNumber, length: u16, kept: &mut u64) {
        self.repairs.insert(seq, length, kept);
    }

    /// Forgets what the cumulative ACK covers.
    pub(crate) fn trim(&mut self, cumulative: SeqNumber, kept: &mut u64) {
        self.repairs.trim(cumulative, kept);
        self.new.trim(cumulative, kept);
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self, kept: &mut u64) {
        for queue in [&mut self.repairs, &mut self.new] {
            while !queue.entries.is_empty() {
                queue.pop(kept);
            }
        }
    }

    /// The queue of one kind.
    pub(crate) fn queue(&mut self, kind: Kind) -> &mut Queue {
        match kind {
            Kind::Repair => &mut self.repairs,
            Kind::New => &mut self.new,
        }
    }
}

#[cfg(test)]
mod tests;
