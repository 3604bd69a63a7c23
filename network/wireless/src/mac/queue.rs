//! The interface queue: packets that wait for the medium.
use super::config::QueueRule;
use super::{Outgoing, Priority};
use crate::HostId;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Packets in order of arrival, by priority.
#[derive(Debug)]
pub(crate) struct InterfaceQueue<P> {
    /// In the order in which they go.
    kinds: [VecDeque<Outgoing<P>>; 3],
}

impl<P> InterfaceQueue<P> {
    pub const fn new() -> Self {
        Self { kinds: [const { VecDeque::new() }; 3] }
    }

    pub fn len(&self) -> usize {
        self.kinds.iter().map(VecDeque::len).sum()
    }

    /// Takes a packet in. Answers with the packet that has no room: in a shared queue the newest of the least urgent.
    pub fn push(&mut self, packet: Outgoing<P>, limit: usize, rule: QueueRule) -> Option<Outgoing<P>> {
        let kind = match (rule, packet.priority) {
            (QueueRule::Shared, Priority::Acknowledgement) => Priority::Normal,
            (_, priority) => priority,
        };
        let waiting = match rule {
            QueueRule::Shared => self.len(),
            QueueRule::ByKind => self.kinds[kind as usize].len(),
        };
        let mut evicted = None;
        if waiting >= limit {
            if kind == Priority::Routing && rule == QueueRule::Shared {
                evicted = self.kinds[Priority::Normal as usize].pop_back();
            }
            if evicted.is_none() {
                return Some(packet);
            }
        }
        self.kinds[kind as usize].push_back(packet);
        evicted
    }

    pub fn pop(&mut self) -> Option<Outgoing<P>> {
        self.kinds.iter_mut().find_map(VecDeque::pop_front)
    }

    /// The packet for a neighbour that goes first among them.
    pub fn first_for(&self, neighbour: HostId) -> Option<&Outgoing<P>> {
        self.kinds.iter().flatten().find(|packet| packet.to == Some(neighbour))
    }

    /// Takes that packet out.
    pub fn pop_for(&mut self, neighbour: HostId) -> Option<Outgoing<P>> {
        let take = |queue: &mut VecDeque<Outgoing<P>>| {
            let at = queue.iter().position(|packet| packet.to == Some(neighbour))?;
            queue.remove(at)
        };
        self.kinds.iter_mut().find_map(take)
    }

    /// Takes out the packets for `neighbour` that `takes` says, in order.
    pub fn withdraw(&mut self, neighbour: HostId, takes: impl Fn(&P) -> bool) -> Vec<P> {
        let is_taken = |packet: &Outgoing<P>| packet.to == Some(neighbour) && takes(&packet.payload);
        let mut taken = Vec::new();
        for queue in &mut self.kinds {
            if !queue.iter().any(is_taken) {
                continue;
            }
            let (gone, kept): (VecDeque<_>, VecDeque<_>) = queue.drain(..).partition(is_taken);
            taken.extend(gone.into_iter().map(|packet| packet.payload));
            *queue = kept;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::{InterfaceQueue, Outgoing, Priority, QueueRule};
    use crate::HostId;
    use alloc::vec::Vec;

    fn packet(payload: u32, to: u32, priority: Priority) -> Outgoing<u32> {
        Outgoing { to: Some(HostId(to)), bytes: 100, priority, payload }
    }

    fn payloads(queue: &mut InterfaceQueue<u32>) -> Vec<u32> {
        core::iter::from_fn(|| queue.pop()).map(|packet| packet.payload).collect()
    }

    #[test]
    fn routing_goes_first_and_displaces_the_newest_data_when_the_queue_is_full() {
        let mut queue = InterfaceQueue::new();
        for payload in 1..=3 {
            assert!(queue.push(packet(payload, 0, Priority::Normal), 3, QueueRule::Shared).is_none());
        }
        let mut refused = |payload, priority| {
            queue.push(packet(payload, 0, priority), 3, QueueRule::Shared).map(|packet| packet.payload)
        };
        assert_eq!(refused(4, Priority::Normal), Some(4));
        assert_eq!(refused(5, Priority::Acknowledgement), Some(5));
        assert_eq!(refused(9, Priority::Routing), Some(3));
        assert_eq!(payloads(&mut queue), [9, 1, 2]);
    }

    #[test]
    fn by_kind_each_has_room_of_its_own_and_acknowledgements_go_before_data() {
        let mut queue = InterfaceQueue::new();
        let mut refused = |payload, priority| {
            queue.push(packet(payload, 0, priority), 2, QueueRule::ByKind).map(|packet| packet.payload)
        };
        for (payload, priority) in
            [(1, Priority::Normal), (2, Priority::Acknowledgement), (3, Priority::Routing)]
        {
            assert_eq!(refused(payload, priority), None);
            assert_eq!(refused(payload + 10, priority), None);
            assert_eq!(refused(payload + 20, priority), Some(payload + 20));
        }
        assert_eq!(payloads(&mut queue), [3, 13, 2, 12, 1, 11]);
    }

    #[test]
    fn packets_for_a_lost_neighbour_are_taken_out_in_order() {
        let mut queue = InterfaceQueue::new();
        for (payload, to) in [(1, 7), (2, 8), (3, 7)] {
            queue.push(packet(payload, to, Priority::Normal), 50, QueueRule::Shared);
        }
        queue.push(packet(4, 7, Priority::Routing), 50, QueueRule::Shared);
        assert_eq!(queue.withdraw(HostId(7), |_| true), [4, 1, 3]);
        assert_eq!(queue.pop().map(|p| p.payload), Some(2));
        assert_eq!(queue.len(), 0);
    }
}
