//! Packets of a flow in the order they were sent on one link, and those that later ones have overtaken.
use crate::ids::LinkId;
use crate::micros::Micros;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
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
struct LinkOrder {
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
    fn is_idle(&self) -> bool {
        self.sent.is_empty() && self.overtaken.is_empty()
    }

    /// Forgets entries of packets that the receiver has.
    fn trim(&mut self, cumulative: SeqNumber) {
        while self.sent.front().is_some_and(|(seq, _)| seq.before(cumulative)) {
            self.sent.pop_front();
        }
    }

    /// The packet at `seq` goes out as number `index` of the link.
    fn push(&mut self, seq: SeqNumber, index: u32) {
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
    fn pop_up_to(&mut self, index: u32) -> Option<(SeqNumber, u32)> {
        let &(_, sent_index) = self.sent.front()?;
        if later(sent_index, index) { None } else { self.sent.pop_front() }
    }

    /// Packet `index` has arrived: it is in order, or the wait for it is over.
    fn on_arrival(&mut self, index: u32) -> Option<Overtaken> {
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
    fn overtake(&mut self, seq: SeqNumber, index: u32, since: Micros) {
        self.overtaken.push_back(Overtaken { seq, index, since, arrivals: self.arrivals.wrapping_sub(1) });
    }

    /// The packet that was overtaken first.
    fn first_overtaken(&self) -> Option<&Overtaken> {
        self.overtaken.front()
    }

    /// How many packets have overtaken the first one that was.
    fn overtakers(&self) -> u32 {
        self.overtaken.front().map_or(0, |packet| self.arrivals.wrapping_sub(packet.arrivals))
    }

    /// The wait for the packet that was overtaken first is over.
    fn pop_overtaken(&mut self) -> Option<Overtaken> {
        self.overtaken.pop_front()
    }

    /// Bytes of memory held.
    fn memory_bytes(&self) -> usize {
        self.sent.capacity() * size_of::<(SeqNumber, u32)>()
            + self.overtaken.capacity() * size_of::<Overtaken>()
    }
}

/// The orders of one flow's packets on the links that it uses: as many as it has packets under way, and no more because
/// there are more links.
#[derive(Debug, Default)]
pub(crate) struct LinkOrders {
    /// Whose order is at the same place; one without entries is there for the next link.
    links: Vec<LinkId>,
    orders: Vec<LinkOrder>,
    /// Entries of all orders that have been overtaken.
    overtaken: usize,
}

/// With so many orders it is worth looking for entries that mean nothing any more.
const MANY: usize = 8;

impl LinkOrders {
    fn get(&self, link: LinkId) -> Option<&LinkOrder> {
        self.orders.get(self.links.iter().position(|&other| other == link)?)
    }

    fn get_mut(&mut self, link: LinkId) -> Option<&mut LinkOrder> {
        self.orders.get_mut(self.links.iter().position(|&other| other == link)?)
    }

    /// The packet at `seq` goes out as number `index` of `link`; the receiver has everything below `cumulative`.
    pub(crate) fn push(&mut self, link: LinkId, seq: SeqNumber, index: u32, cumulative: SeqNumber) {
        if let Some(order) = self.get_mut(link) {
            return order.push(seq, index);
        }
        if self.orders.len() >= MANY {
            self.orders.iter_mut().for_each(|order| order.trim(cumulative));
        }
        if let Some(place) = self.orders.iter().position(LinkOrder::is_idle) {
            self.links.get_mut(place).into_iter().for_each(|owner| *owner = link);
            self.orders.get_mut(place).into_iter().for_each(|order| order.push(seq, index));
            return;
        }
        if self.orders.len() == self.orders.capacity() {
            let more = (self.orders.len() / 8).max(1);
            self.orders.reserve_exact(more);
            self.links.reserve_exact(more);
        }
        let mut order = LinkOrder::default();
        order.push(seq, index);
        self.orders.push(order);
        self.links.push(link);
    }

    /// As [`LinkOrder::on_arrival`].
    pub(crate) fn on_arrival(&mut self, link: LinkId, index: u32) -> Option<Overtaken> {
        let ended = self.get_mut(link)?.on_arrival(index);
        self.overtaken -= usize::from(ended.is_some());
        ended
    }

    /// As [`LinkOrder::pop_up_to`].
    pub(crate) fn pop_up_to(&mut self, link: LinkId, index: u32) -> Option<(SeqNumber, u32)> {
        self.get_mut(link)?.pop_up_to(index)
    }

    /// As [`LinkOrder::overtake`].
    pub(crate) fn overtake(&mut self, link: LinkId, seq: SeqNumber, index: u32, since: Micros) {
        if let Some(order) = self.get_mut(link) {
            order.overtake(seq, index, since);
            self.overtaken += 1;
        }
    }

    /// The packet of a link that was overtaken first, and how many packets have overtaken it.
    pub(crate) fn first_overtaken(&self, link: LinkId) -> Option<(Overtaken, u32)> {
        let order = self.get(link).filter(|_| self.overtaken > 0)?;
        Some((*order.first_overtaken()?, order.overtakers()))
    }

    /// As [`LinkOrder::pop_overtaken`].
    pub(crate) fn pop_overtaken(&mut self, link: LinkId) {
        let popped = self.get_mut(link).and_then(LinkOrder::pop_overtaken);
        self.overtaken -= usize::from(popped.is_some());
    }

    /// The packet of each link that was overtaken first, in any order.
    pub(crate) fn overtaken(&self) -> impl Iterator<Item = (LinkId, &Overtaken)> {
        let orders = self.links.iter().zip(&self.orders).filter(|_| self.overtaken > 0);
        orders.filter_map(|(&link, order)| Some((link, order.first_overtaken()?)))
    }

    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.links.capacity() * size_of::<LinkId>()
            + self.orders.capacity() * size_of::<LinkOrder>()
            + self.orders.iter().map(LinkOrder::memory_bytes).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
