//! What stands in the proxy's place to compare it with: one link behind a queue of a router.
use crate::traffic::Handle;
use std::collections::{BTreeSet, VecDeque};

/// Which packets of a full queue are lost, and which leave first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// First in, first out; what finds it full is lost.
    Fifo,
    /// Of each flow a packet in turn; when it is full the newest of the flow with the most is lost.
    Fair,
}

/// A queue of so many packets at most.
#[derive(Debug)]
pub(super) struct PlainQueue {
    discipline: Discipline,
    most: usize,
    length: usize,
    /// Packets of each flow; of all flows in the first for [`Discipline::Fifo`].
    queues: Vec<VecDeque<Handle>>,
    /// Places of those that hold something, in turn, and by how much they hold.
    turns: VecDeque<usize>,
    by_length: BTreeSet<(usize, usize)>,
}

impl PlainQueue {
    pub(super) fn new(discipline: Discipline, most: usize, flows: u32) -> Self {
        let count = if discipline == Discipline::Fair { flows as usize } else { 1 };
        let queues = (0..count).map(|_| VecDeque::new()).collect();
        Self { discipline, most, length: 0, queues, turns: VecDeque::new(), by_length: BTreeSet::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A packet comes; says whether one is lost.
    pub(super) fn push(&mut self, packet: Handle) -> bool {
        let place = if self.discipline == Discipline::Fair { packet.0 as usize } else { 0 };
        let is_full = self.length >= self.most;
        let longest = self.by_length.last().filter(|(length, _)| *length > 1).map(|(_, place)| *place);
        if is_full && (self.discipline == Discipline::Fifo || longest.is_none()) {
            return true;
        }
        if self.queues[place].is_empty() {
            self.turns.push_back(place);
        }
        self.change(place, |queue| queue.push_back(packet));
        if is_full && let Some(longest) = longest {
            self.change(longest, VecDeque::pop_back);
        }
        is_full
    }

    /// The packet that leaves next.
    pub(super) fn pop(&mut self) -> Option<Handle> {
        let place = self.turns.pop_front()?;
        let packet = self.change(place, VecDeque::pop_front)?;
        if !self.queues[place].is_empty() {
            self.turns.push_back(place);
        }
        Some(packet)
    }

    fn change<R>(&mut self, place: usize, act: impl FnOnce(&mut VecDeque<Handle>) -> R) -> R {
        let queue = &mut self.queues[place];
        let before = queue.len();
        let result = act(queue);
        self.by_length.remove(&(before, place));
        if !queue.is_empty() {
            self.by_length.insert((queue.len(), place));
        }
        self.length = self.length + queue.len() - before;
        result
    }
}
