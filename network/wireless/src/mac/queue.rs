//! The interface queue: packets that wait for the medium.
use super::Outgoing;
use crate::HostId;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Packets in order of arrival; those of routing protocols go before all others.
#[derive(Debug)]
pub(crate) struct InterfaceQueue<P> {
    urgent: VecDeque<Outgoing<P>>,
    normal: VecDeque<Outgoing<P>>,
}

impl<P> InterfaceQueue<P> {
    pub const fn new() -> Self {
        Self { urgent: VecDeque::new(), normal: VecDeque::new() }
    }

    pub fn len(&self) -> usize {
        self.urgent.len() + self.normal.len()
    }

    /// Takes a packet in. Answers with the packet that has no room: the newest of the least urgent.
    pub fn push(&mut self, packet: Outgoing<P>, limit: usize) -> Option<Outgoing<P>> {
        let full = self.len() >= limit;
        if packet.urgent {
            let evicted = if full { self.normal.pop_back() } else { None };
            if full && evicted.is_none() {
                return Some(packet);
            }
            self.urgent.push_back(packet);
            return evicted;
        }
        if full {
            return Some(packet);
        }
        self.normal.push_back(packet);
        None
    }

    pub fn pop(&mut self) -> Option<Outgoing<P>> {
        self.urgent.pop_front().or_else(|| self.normal.pop_front())
    }

    /// Takes out all packets for `neighbour`, in order.
    pub fn withdraw(&mut self, neighbour: HostId) -> Vec<P> {
        let mut taken = Vec::new();
        for queue in [&mut self.urgent, &mut self.normal] {
            let kept = queue.drain(..).filter_map(|packet| match packet.to {
                Some(to) if to == neighbour => {
                    taken.push(packet.payload);
                    None
                }
                _ => Some(packet),
            });
            *queue = kept.collect();
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::{InterfaceQueue, Outgoing};
    use crate::HostId;
    use alloc::vec::Vec;

    fn packet(payload: u32, to: u32, urgent: bool) -> Outgoing<u32> {
        Outgoing { to: Some(HostId(to)), bytes: 100, urgent, payload }
    }

    #[test]
    fn routing_goes_first_and_displaces_the_newest_data_when_the_queue_is_full() {
        let mut queue = InterfaceQueue::new();
        for payload in 1..=3 {
            assert!(queue.push(packet(payload, 0, false), 3).is_none());
        }
        assert_eq!(queue.push(packet(4, 0, false), 3).map(|p| p.payload), Some(4));
        assert_eq!(queue.push(packet(9, 0, true), 3).map(|p| p.payload), Some(3));
        let order: Vec<u32> = core::iter::from_fn(|| queue.pop()).map(|p| p.payload).collect();
        assert_eq!(order, [9, 1, 2]);
    }

    #[test]
    fn packets_for_a_lost_neighbour_are_taken_out_in_order() {
        let mut queue = InterfaceQueue::new();
        for (payload, to) in [(1, 7), (2, 8), (3, 7)] {
            queue.push(packet(payload, to, false), 50);
        }
        queue.push(packet(4, 7, true), 50);
        assert_eq!(queue.withdraw(HostId(7)), [4, 1, 3]);
        assert_eq!(queue.pop().map(|p| p.payload), Some(2));
        assert_eq!(queue.len(), 0);
    }
}
