//! The schedule history of a flow: which packet went where and when (`sched` in the paper's terms).
use crate::ids::LinkId;
use crate::micros::Micros;
use alloc::collections::VecDeque;
use prismux_wire::SeqNumber;

/// What is known of a recorded packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketState {
    /// Sent, nothing heard.
    InFlight,
    /// The receiver has it.
    Delivered,
    /// Declared lost and not resent yet.
    Lost,
    /// Kept until a link has room: lost, or never sent.
    Waiting,
}

const STATE_MASK: u8 = 0b0000_0011;
const SENDS_SHIFT: u8 = 2;
const SENDS_MASK: u8 = 0b0001_1100;
/// Three bits count no further.
const MAX_SENDS_COUNTED: u8 = 7;
const REPAIRED: u8 = 0b0010_0000;
const SOLE: u8 = 0b0100_0000;

/// One packet: 16 bytes, because a flow keeps one per packet in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// First sequence number.
    pub(crate) seq: SeqNumber,
    /// Position in the order of packets on its link.
    pub(crate) index: u32,
    /// When it was sent last.
    pub(crate) sent: Micros,
    /// Sequence space it takes (an IP packet cannot carry more than 16 bits' worth).
    pub(crate) length: u16,
    /// The link it went over last.
    pub(crate) link: LinkId,
    bits: u8,
}

impl Record {
    /// A packet sent for the first time.
    pub(crate) fn new(seq: SeqNumber, length: u16, link: LinkId, index: u32, sent: Micros) -> Self {
        Self { seq, index, sent, length, link, bits: PacketState::InFlight as u8 | 1 << SENDS_SHIFT | SOLE }
    }

    /// A packet that was not sent yet.
    pub(crate) fn waiting(seq: SeqNumber, length: u16, now: Micros) -> Self {
        Self { seq, index: 0, sent: now, length, link: LinkId::NONE, bits: PacketState::Waiting as u8 }
    }

    /// The sequence number after its last.
    pub(crate) fn end(&self) -> SeqNumber {
        self.seq + u32::from(self.length)
    }

    /// Its state.
    pub(crate) fn state(&self) -> PacketState {
        match self.bits & STATE_MASK {
            0 => PacketState::InFlight,
            1 => PacketState::Delivered,
            2 => PacketState::Lost,
            _ => PacketState::Waiting,
        }
    }

    /// Changes the state.
    pub(crate) fn set_state(&mut self, state: PacketState) {
        self.bits = self.bits & !STATE_MASK | state as u8;
    }

    /// How often it was sent; counts to 7 only.
    pub(crate) fn sends(&self) -> u8 {
        (self.bits & SENDS_MASK) >> SENDS_SHIFT
    }

    /// True when the proxy itself sent it last.
    pub(crate) fn is_repair(&self) -> bool {
        self.bits & REPAIRED != 0
    }

    /// True when no other copy than the newest can arrive any more: sent once, or every earlier copy proved lost by the
    /// order of its link. Its arrival says which link it came over.
    pub(crate) fn is_sole_copy(&self) -> bool {
        self.bits & SOLE != 0
    }

    /// Declared lost; `proved` when a later packet of its link has arrived, not when it was merely out for long.
    pub(crate) fn set_lost(&mut self, proved: bool) {
        self.set_state(PacketState::Lost);
        if !proved {
            self.bits &= !SOLE;
        }
    }

    /// A copy of it went out too.
    fn note_copy(&mut self) {
        let sends = (self.sends() + 1).min(MAX_SENDS_COUNTED);
        self.bits = self.bits & !(SENDS_MASK | SOLE) | sends << SENDS_SHIFT;
    }

    /// Sent once more, over `link`; `repair` when by the proxy itself.
    fn resend(&mut self, link: LinkId, index: u32, sent: Micros, repair: bool) {
        let sends = (self.sends() + 1).min(MAX_SENDS_COUNTED);
        let sole = if self.state() == PacketState::Lost { self.bits & SOLE } else { 0 };
        let repaired = if repair { REPAIRED } else { 0 };
        self.bits = PacketState::InFlight as u8 | sends << SENDS_SHIFT | repaired | sole;
        (self.link, self.index, self.sent) = (link, index, sent);
    }
}

/// Records in order of sequence number, from the lowest that is not covered by the receiver's
/// cumulative acknowledgement.
#[derive(Debug, Default)]
pub(crate) struct History {
    ring: VecDeque<Record>,
    /// Nothing below this is in flight; `None` when nothing is known.
    low: Option<SeqNumber>,
}

impl History {
    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ring.capacity() * size_of::<Record>()
    }

    /// The record at `index`.
    #[expect(
        clippy::indexing_slicing,
        reason = "an index into this history comes from one of its own searches"
    )]
    pub(crate) fn get(&self, index: usize) -> &Record {
        &self.ring[index]
    }

    /// The record at `index`, to change.
    #[expect(
        clippy::indexing_slicing,
        reason = "an index into this history comes from one of its own searches"
    )]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Record {
        &mut self.ring[index]
    }

    /// The records in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.ring.iter()
    }

    /// Index of the first record that ends after `seq`: the one that holds `seq`, or the next above it.
    ///
    /// Packets of a bulk flow have one size, so the guess by division nearly always hits; otherwise a binary search.
    pub(crate) fn first_ending_after(&self, seq: SeqNumber) -> usize {
        let Some(front) = self.ring.front() else { return 0 };
        let offset = seq.distance_from(front.seq);
        if offset < i32::from(front.length) {
            return 0;
        }
        let guess = offset as usize / usize::from(front.length.max(1));
        if let Some(record) = self.ring.get(guess)
            && !record.seq.after(seq)
            && record.end().after(seq)
        {
            return guess;
        }
        self.ring.partition_point(|record| !record.end().after(seq))
    }

    /// The record that starts at `seq`.
    pub(crate) fn find(&self, seq: SeqNumber) -> Option<usize> {
        let index = self.first_ending_after(seq);
        self.ring.get(index).filter(|record| record.seq == seq).map(|_| index)
    }

    /// The lowest packet that is in flight. Remembers where it was: while many packets wait to be sent again, it is
    /// far up.
    pub(crate) fn lowest_in_flight(&mut self) -> Option<Record> {
        if let Some(front) = self.ring.front().filter(|front| front.state() == PacketState::InFlight) {
            self.low = Some(front.seq);
            return Some(*front);
        }
        let from = self.low.map_or(0, |seq| self.first_ending_after(seq));
        let found =
            self.ring.iter().skip(from).find(|record| record.state() == PacketState::InFlight).copied();
        self.low = match found {
            Some(record) => Some(record.seq),
            None => self.ring.back().map(Record::end),
        };
        found
    }

    /// The packet at `index` goes out once more: see [`Record::resend`].
    pub(crate) fn resend(&mut self, index: usize, link: LinkId, position: u32, sent: Micros, repair: bool) {
        let record = self.get_mut(index);
        record.resend(link, position, sent, repair);
        let seq = record.seq;
        self.low = self.low.map(|low| low.min(seq));
    }

    /// A copy of the packet that starts at `seq` goes out beside it: which of them arrives will not be known.
    pub(crate) fn note_copy(&mut self, seq: SeqNumber) {
        if let Some(index) = self.find(seq) {
            self.get_mut(index).note_copy();
        }
    }

    /// Adds a record at its place. Ranges already recorded must not overlap it.
    pub(crate) fn insert(&mut self, record: Record) {
        self.low = self.low.map(|low| low.min(record.seq));
        if self.ring.len() == self.ring.capacity() {
            // Grow by an eighth, not by doubling: memory per flow is promised to be small.
            self.ring.reserve_exact((self.ring.len() / 8).max(8));
        }
        if self.ring.back().is_none_or(|last| !last.end().after(record.seq)) {
            self.ring.push_back(record);
        } else {
            let index = self.ring.partition_point(|other| other.seq.before(record.seq));
            self.ring.insert(index, record);
        }
    }

    /// Forgets records that end at or below `cumulative`; the caller has accounted for them.
    pub(crate) fn trim(&mut self, cumulative: SeqNumber) {
        while self.ring.front().is_some_and(|record| !record.end().after(cumulative)) {
            self.ring.pop_front();
        }
        if self.ring.is_empty() {
            self.low = None;
        }
    }
}
