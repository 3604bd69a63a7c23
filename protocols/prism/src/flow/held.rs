//! ACKs kept back, by the number they will carry.
use crate::micros::Micros;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};

/// A pure ACK waiting for the hole below it to be filled.
#[derive(Debug, Clone)]
pub(crate) struct HeldAck<P> {
    /// The corrected number: the end of the range whose arrival caused it.
    pub(crate) number: SeqNumber,
    /// Its number as it came.
    pub(crate) original: SeqNumber,
    /// TSval as it came (0 without timestamps).
    pub(crate) tsval: u32,
    /// Order of arrival.
    pub(crate) serial: u32,
    /// When it came.
    pub(crate) arrived: Micros,
    /// Control bits.
    pub(crate) flags: TcpFlags,
    /// Came with the newest sequence number of its receiver: keep-alives and what others overtook do not.
    pub(crate) has_newest_seq: bool,
    /// Bit 7: has timestamps; bit 6: goes out with its SACK blocks; bits 0 to 5: option bytes apart from SACK.
    options: u8,
    /// Number of SACK blocks.
    pub(crate) sack_blocks: u8,
    /// The packet.
    pub(crate) packet: P,
}

impl<P> HeldAck<P> {
    /// Takes what is needed of an ACK that arrived now, to go out with `number`; its receiver has sent all below
    /// `newest_seq`.
    pub(crate) fn new(
        number: SeqNumber,
        header: &TcpHeader,
        newest_seq: Option<SeqNumber>,
        serial: u32,
        now: Micros,
        packet: P,
    ) -> Self {
        let timestamps = header.options.timestamps;
        let mut bare = header.options;
        bare.sack.truncate(0);
        Self {
            number,
            original: header.ack,
            tsval: timestamps.map_or(0, |t| t.value),
            serial,
            arrived: now,
            flags: header.flags,
            has_newest_seq: newest_seq == Some(header.seq),
            options: (u8::from(timestamps.is_some()) << 7) | bare.wire_bytes().min(40) as u8,
            sack_blocks: header.options.sack.as_slice().len() as u8,
            packet,
        }
    }

    /// TSval, if it has timestamps.
    pub(crate) fn tsval(&self) -> Option<u32> {
        (self.options & 0x80 != 0).then_some(self.tsval)
    }

    /// The same ACK, to go out with this number now.
    pub(crate) fn ready(mut self, number: SeqNumber, keep_sack: bool, now: Micros) -> Self {
        (self.number, self.arrived) = (number, now);
        self.options |= u8::from(keep_sack) << 6;
        self
    }

    /// Goes out with its SACK blocks.
    pub(crate) fn keeps_sack(&self) -> bool {
        self.options & 0x40 != 0
    }

    /// Bytes of options other than SACK.
    pub(crate) fn other_option_bytes(&self) -> usize {
        usize::from(self.options & 0x3f)
    }
}

/// Held ACKs in order of corrected number (the paper's ring of wrapped slots).
#[derive(Debug)]
pub(crate) struct HeldAcks<P> {
    ring: VecDeque<HeldAck<P>>,
    next_serial: u32,
    /// No ACK that is held arrived before this; exact after [`HeldAcks::refresh_oldest`].
    oldest: Option<Micros>,
}

impl<P> Default for HeldAcks<P> {
    fn default() -> Self {
        Self { ring: VecDeque::new(), next_serial: 0, oldest: None }
    }
}

impl<P> HeldAcks<P> {
    /// True when nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// How many are held.
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Bytes of memory held, packets apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ring.capacity() * size_of::<HeldAck<P>>()
    }

    /// The arrival number for the next ACK.
    pub(crate) fn next_serial(&mut self) -> u32 {
        self.next_serial = self.next_serial.wrapping_add(1);
        self.next_serial
    }

    /// Keeps an ACK back.
    pub(crate) fn insert(&mut self, ack: HeldAck<P>) {
        if self.ring.is_empty() {
            self.oldest = Some(ack.arrived);
        }
        if self.ring.len() == self.ring.capacity() {
            self.ring.reserve_exact((self.ring.len() / 8).max(4));
        }
        if self.ring.back().is_none_or(|last| last.number.before(ack.number)) {
            self.ring.push_back(ack);
        } else {
            let index = self.ring.partition_point(|other| !other.number.after(ack.number));
            self.ring.insert(index, ack);
        }
    }

    /// The ACK with the lowest number.
    pub(crate) fn front(&self) -> Option<&HeldAck<P>> {
        self.ring.front()
    }

    /// Takes the ACK with the lowest number if that is at most `limit`.
    pub(crate) fn pop_up_to(&mut self, limit: SeqNumber) -> Option<HeldAck<P>> {
        if self.ring.front()?.number.after(limit) { None } else { self.ring.pop_front() }
    }

    /// Takes everything, in order of arrival.
    pub(crate) fn drain_by_arrival(&mut self) -> Vec<HeldAck<P>> {
        let mut all: Vec<_> = self.ring.drain(..).collect();
        let newest = self.next_serial;
        all.sort_by_key(|ack| core::cmp::Reverse(newest.wrapping_sub(ack.serial)));
        all
    }

    /// No ACK that is held arrived before this; `None` when nothing is held.
    pub(crate) fn oldest_arrival(&self) -> Option<Micros> {
        self.oldest.filter(|_| !self.ring.is_empty())
    }

    /// Makes [`HeldAcks::oldest_arrival`] exact, by looking at all; for when a timer fires, not for every ACK.
    pub(crate) fn refresh_oldest(&mut self) {
        let earlier = |a: Micros, b: Micros| if a.after(b) { b } else { a };
        self.oldest = self.ring.iter().map(|ack| ack.arrived).reduce(earlier);
    }
}
