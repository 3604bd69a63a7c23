//! What waits where.
use super::ground::Ground;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// A packet on its way.
#[derive(Debug)]
pub(super) struct Packet<P> {
    pub flow: usize,
    /// The slot in which its source wrote it.
    pub born: u64,
    pub bytes: u32,
    pub payload: P,
}

/// The sources' backlogs, and the output queue of every place.
#[derive(Debug)]
pub(super) struct Packets<P> {
    /// By flow.
    backlog: Vec<VecDeque<Packet<P>>>,
    /// By place.
    queues: Vec<VecDeque<Packet<P>>>,
}

impl<P> Packets<P> {
    pub fn new(places: usize) -> Self {
        Self { backlog: Vec::new(), queues: (0..places).map(|_| VecDeque::new()).collect() }
    }

    /// One flow more.
    pub fn open(&mut self) {
        self.backlog.push(VecDeque::new());
    }

    /// A packet is written at its source.
    pub fn write(&mut self, packet: Packet<P>) {
        if let Some(backlog) = self.backlog.get_mut(packet.flow) {
            backlog.push_back(packet);
        }
    }

    /// Packets of `flow` at its source.
    pub fn waiting(&self, flow: usize) -> usize {
        self.backlog.get(flow).map_or(0, VecDeque::len)
    }

    /// The next packet of `flow` leaves its source.
    pub fn leave(&mut self, flow: usize) -> Option<Packet<P>> {
        self.backlog.get_mut(flow)?.pop_front()
    }

    /// A lost packet goes back to its source.
    pub fn give_back(&mut self, packet: Packet<P>) {
        if let Some(backlog) = self.backlog.get_mut(packet.flow) {
            backlog.push_front(packet);
        }
    }

    pub fn queue(&mut self, place: usize) -> &mut VecDeque<Packet<P>> {
        &mut self.queues[place]
    }

    /// Takes the first packet at `place` that `wanted` agrees to: selective dequeue.
    pub fn take(&mut self, place: usize, wanted: impl Fn(&Packet<P>) -> bool) -> Option<Packet<P>> {
        let queue = &mut self.queues[place];
        let index = queue.iter().position(wanted)?;
        queue.remove(index)
    }

    /// All packets in backlogs and queues.
    pub fn count(&self) -> usize {
        self.backlog.iter().chain(&self.queues).map(VecDeque::len).sum()
    }

    /// Those at each place.
    pub fn by_place(&self, ground: &Ground) -> Vec<usize> {
        let mut waiting = vec![0; self.queues.len()];
        for (flow, backlog) in self.backlog.iter().enumerate() {
            if let Some(waiting) = waiting.get_mut(ground.source(flow)) {
                *waiting += backlog.len();
            }
        }
        for (waiting, queue) in waiting.iter_mut().zip(&self.queues) {
            *waiting += queue.len();
        }
        waiting
    }
}
