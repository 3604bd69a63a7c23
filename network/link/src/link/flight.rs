//! The first packets under way, in place.
use super::InFlight;
use alloc::collections::VecDeque;

/// Packets beside the head that need no memory of their own.
const ROOM: usize = 4;

/// A queue of packets under way in order of arrival: the head, a few in place, the rest elsewhere. Special links keep
/// all but the head elsewhere, where their order can be changed.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Flight<P> {
    head: Option<InFlight<P>>,
    /// Packets in a queue elsewhere, behind those in `ring`.
    beyond: u32,
    /// Where the ring begins, and how many it holds.
    first: u8,
    held: u8,
    ring: [Option<InFlight<P>>; ROOM],
}

impl<P> Flight<P> {
    pub fn new() -> Self {
        Self { head: None, beyond: 0, first: 0, held: 0, ring: [const { None }; ROOM] }
    }

    /// The next packet to arrive.
    #[inline]
    pub fn head(&self) -> Option<&InFlight<P>> {
        self.head.as_ref()
    }

    pub fn head_mut(&mut self) -> Option<&mut InFlight<P>> {
        self.head.as_mut()
    }

    /// Makes `entry` the head of a link that has none.
    pub fn set_head(&mut self, entry: InFlight<P>) {
        self.head = Some(entry);
    }

    /// Appends a packet; hands it back when it belongs into the queue elsewhere.
    #[inline]
    pub fn push(&mut self, entry: InFlight<P>) -> Result<(), InFlight<P>> {
        if self.head.is_none() {
            self.head = Some(entry);
        } else if self.beyond == 0 && usize::from(self.held) < ROOM {
            self.ring[(usize::from(self.first) + usize::from(self.held)) % ROOM] = Some(entry);
            self.held += 1;
        } else {
            return Err(entry);
        }
        Ok(())
    }

    /// A packet has been put into the queue elsewhere.
    #[inline]
    pub fn note_beyond(&mut self) {
        self.beyond += 1;
    }

    /// Takes the head; the next one, maybe from the queue elsewhere, moves up.
    #[inline]
    pub fn pop(&mut self, elsewhere: &mut VecDeque<InFlight<P>>) -> Option<InFlight<P>> {
        let head = self.head.take();
        if self.held > 0 {
            self.head = self.ring[usize::from(self.first) % ROOM].take();
            self.first = (self.first + 1) % ROOM as u8;
            self.held -= 1;
        } else if self.beyond > 0 {
            self.head = elsewhere.pop_front();
            self.beyond -= 1;
        }
        head
    }

    /// Packets under way.
    pub fn len(&self) -> usize {
        usize::from(self.head.is_some()) + usize::from(self.held) + self.beyond as usize
    }

    /// The packets held here, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &InFlight<P>> {
        let ring = (0..usize::from(self.held)).map(|at| (usize::from(self.first) + at) % ROOM);
        self.head.iter().chain(ring.filter_map(|at| self.ring[at].as_ref()))
    }
}
