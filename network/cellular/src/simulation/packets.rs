//! What waits where.
use super::Setup;
use super::traffic::Source;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use prismux_endpoint::random::Seed;

/// A packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet {
    pub flow: usize,
    /// The slot in which its source wrote it.
    pub born: u64,
}

/// The sources' backlogs, and the output queue of every host.
#[derive(Debug)]
pub(super) struct Packets {
    sources: Vec<Source>,
    /// For each flow the slots in which what waits at its source was written.
    backlog: Vec<VecDeque<u64>>,
    queues: Vec<VecDeque<Packet>>,
}

impl Packets {
    pub fn new(setup: &Setup, seed: Seed) -> Self {
        let source = |flow: usize| {
            let random = seed.stream(&alloc::format!("cell/traffic/{flow}"));
            Source::new(setup.traffic, setup.packet, setup.slot(), random)
        };
        let flows = setup.flows.len();
        Self {
            sources: (0..flows).map(source).collect(),
            backlog: vec![VecDeque::new(); flows],
            queues: vec![VecDeque::new(); setup.cell.places.len() + setup.stations.len()],
        }
    }

    /// What the sources write in `slot`.
    pub fn arrive(&mut self, slot: u64) {
        for (source, backlog) in self.sources.iter_mut().zip(&mut self.backlog) {
            for _ in 0..source.written(slot, backlog.len()) {
                backlog.push_back(slot);
            }
        }
    }

    /// Packets of `flow` at its source.
    pub fn waiting(&self, flow: usize) -> usize {
        self.backlog.get(flow).map_or(0, VecDeque::len)
    }

    /// The next packet of `flow` leaves its source.
    pub fn leave(&mut self, flow: usize) -> Option<Packet> {
        let born = self.backlog.get_mut(flow)?.pop_front()?;
        Some(Packet { flow, born })
    }

    /// A lost packet goes back to its source.
    pub fn give_back(&mut self, packet: Packet) {
        if let Some(backlog) = self.backlog.get_mut(packet.flow) {
            backlog.push_front(packet.born);
        }
    }

    pub fn queue(&mut self, host: usize) -> &mut VecDeque<Packet> {
        &mut self.queues[host]
    }

    /// Takes the first packet at `host` that `wanted` agrees to: selective dequeue.
    pub fn take(&mut self, host: usize, wanted: impl Fn(&Packet) -> bool) -> Option<Packet> {
        let queue = &mut self.queues[host];
        let index = queue.iter().position(wanted)?;
        queue.remove(index)
    }
}
