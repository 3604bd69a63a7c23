//! Packets of a flow in the order they were sent on one link, and those that later ones have overtaken.
use crate::micros::Micros;
use alloc::collections::VecDeque;
use prismux_wire::SeqNumber;

/// A packet that a later one of its link has overtaken, and that is not given up yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overtaken {
    /// Its first sequence number.
    pub(crate) seq: SeqNumber,
    /// Its position on the link.
    pub(crate) index: u32,
    /// When the first packet that overtook it arrived.
    pub(crate) since: Micros,
    /// What [`LinkOrder::arrivals`] was then.
    arrivals: u32,
}

/// The order of one flow's packets on one link; entries of resent packets go stale.
#[derive(Debug, Default)]
pub(crate) struct LinkOrder {
    sent: VecDeque<(SeqNumber, u32)>,
    /// By rising position.
    overtaken: VecDeque<Overtaken>,
    /// Packets that arrived in order.
    arrivals: u32,
}

/// Most packets of a flow in the order of one link: twice what a flow records.
const MAX_ORDER: usize = 32_768;

/// True when position `a` comes after `b`.
const fn later(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl LinkOrder {
    /// The packet at `seq` goes out as number `index` of the link.
    pub(crate) fn push(&mut self, seq: SeqNumber, index: u32) {
        // Copies of one packet without end, and no answer: the oldest is stale.
        if self.sent.len() >= MAX_ORDER {
            self.sent.pop_front();
        }
        if self.sent.len() == self.sent.capacity() {
            self.sent.reserve_exact((self.sent.len() / 8).max(4));
        }
        self.sent.push_back((seq, index));
    }

    /// Packet `index` has arrived: the next one sent before it or that packet itself, oldest first.
    pub(crate) fn pop_up_to(&mut self, index: u32) -> Option<(SeqNumber, u32)> {
        let &(_, sent_index) = self.sent.front()?;
        if later(sent_index, index) { None } else { self.sent.pop_front() }
    }

    /// Packet `index` has arrived: it is in order, or the wait for it is over.
    pub(crate) fn on_arrival(&mut self, index: u32) -> Option<Overtaken> {
        let newest = self.overtaken.back().is_none_or(|last| later(index, last.index));
        if newest {
            self.arrivals = self.arrivals.wrapping_add(1);
            return None;
        }
        let place = self.overtaken.partition_point(|packet| later(index, packet.index));
        let found = self.overtaken.get(place).is_some_and(|packet| packet.index == index);
        if found { self.overtaken.remove(place) } else { None }
    }

    /// The packet at `seq`, number `index` of the link, has been overtaken.
    pub(crate) fn overtake(&mut self, seq: SeqNumber, index: u32, since: Micros) {
        self.overtaken.push_back(Overtaken { seq, index, since, arrivals: self.arrivals.wrapping_sub(1) });
    }

    /// The packet that was overtaken first.
    pub(crate) fn first_overtaken(&self) -> Option<&Overtaken> {
        self.overtaken.front()
    }

    /// How many packets have overtaken the first one that was.
    pub(crate) fn overtakers(&self) -> u32 {
        self.overtaken.front().map_or(0, |packet| self.arrivals.wrapping_sub(packet.arrivals))
    }

    /// The wait for the packet that was overtaken first is over.
    pub(crate) fn pop_overtaken(&mut self) -> Option<Overtaken> {
        self.overtaken.pop_front()
    }

    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.sent.capacity() * size_of::<(SeqNumber, u32)>()
            + self.overtaken.capacity() * size_of::<Overtaken>()
    }
}
