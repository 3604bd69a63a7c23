//! FQ-CoDel: a queue and a CoDel for every flow, sparse flows first (RFC 8290).
use super::codel::{CoDel, CoDelState};
use super::{Fifo, Waiter};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_units::Instant;

/// Parameters of FQ-CoDel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FqCoDel {
    /// CoDel of every queue.
    pub codel: CoDel,
    /// Bytes that a flow may send in one turn.
    pub quantum_bytes: u32,
    /// Queues that flows are hashed to.
    pub queues: u32,
}

impl FqCoDel {
    /// As section 5.2 has them.
    pub const DEFAULT: Self = Self { codel: CoDel::DEFAULT, quantum_bytes: 1514, queues: 1024 };
}

/// A flow's queue.
#[derive(Debug, Clone)]
struct FlowQueue<P> {
    fifo: Fifo<P>,
    codel: CoDelState,
    deficit: i64,
    /// It is in one of the two lists.
    listed: bool,
}

/// All flows, and whose turn it is.
#[derive(Debug, Clone)]
pub(super) struct FlowQueues<P> {
    config: FqCoDel,
    queues: Vec<FlowQueue<P>>,
    /// Queues that have just begun to be used, and those that have had a turn.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

impl<P> FlowQueues<P> {
    pub(super) fn new(config: FqCoDel) -> Self {
        let queue = |_| FlowQueue {
            fifo: Fifo::default(),
            codel: CoDelState::new(config.codel),
            deficit: 0,
            listed: false,
        };
        let queues = (0..config.queues.max(1)).map(queue).collect();
        Self { config, queues, new: VecDeque::new(), old: VecDeque::new(), packets: 0, bytes: 0 }
    }

    pub(super) fn waiting(&self) -> (usize, u64) {
        (self.packets, self.bytes)
    }

    /// Section 4.1: a queue that was not in use is new, with a quantum to send.
    pub(super) fn push(&mut self, waiter: Waiter<P>) {
        let index = waiter.kind.flow as usize % self.queues.len();
        self.packets += 1;
        self.bytes += u64::from(waiter.size_bytes);
        let queue = &mut self.queues[index];
        queue.fifo.push(waiter);
        if !queue.listed {
            (queue.listed, queue.deficit) = (true, i64::from(self.config.quantum_bytes));
            self.new.push_back(index);
        }
    }

    fn account(&mut self, gone: &Waiter<P>) {
        self.packets -= 1;
        self.bytes -= u64::from(gone.size_bytes);
    }

    /// Section 4.1: a full queue loses a packet from the head of the longest, in bytes.
    pub(super) fn drop_from_longest(&mut self) -> Option<Waiter<P>> {
        let longest = self.queues.iter_mut().max_by_key(|queue| queue.fifo.bytes)?;
        let gone = longest.fifo.pop()?;
        self.account(&gone);
        Some(gone)
    }

    /// Section 4.2: turns by deficit, new queues before old ones.
    pub(super) fn pop(&mut self, now: Instant, dropped: &mut dyn FnMut(Waiter<P>)) -> Option<Waiter<P>> {
        loop {
            let from_new = !self.new.is_empty();
            let index = *if from_new { self.new.front() } else { self.old.front() }?;
            let queue = &mut self.queues[index];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.config.quantum_bytes);
                self.unlist(from_new);
                self.old.push_back(index);
                continue;
            }
            let (mut packets, mut bytes) = (0, 0);
            let next = queue.codel.pop(now, &mut queue.fifo, &mut |gone| {
                (packets, bytes) = (packets + 1, bytes + u64::from(gone.size_bytes));
                dropped(gone);
            });
            if let Some(waiter) = &next {
                queue.deficit -= i64::from(waiter.size_bytes);
                (packets, bytes) = (packets + 1, bytes + u64::from(waiter.size_bytes));
            }
            (self.packets, self.bytes) = (self.packets - packets, self.bytes - bytes);
            if next.is_some() {
                return next;
            }
            self.unlist(from_new);
            if from_new && !self.old.is_empty() {
                // An empty new queue waits for the end of the old ones, so that it cannot be new all the time.
                self.old.push_back(index);
            } else {
                self.queues[index].listed = false;
            }
        }
    }

    fn unlist(&mut self, from_new: bool) {
        if from_new {
            self.new.pop_front();
        } else {
            self.old.pop_front();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiter<P>> {
        self.queues.iter().flat_map(|queue| queue.fifo.list.iter())
    }

    pub(super) fn drain(&mut self) -> Vec<Waiter<P>> {
        let mut all = Vec::new();
        for queue in &mut self.queues {
            while let Some(waiter) = queue.fifo.pop() {
                all.push(waiter);
            }
        }
        (self.packets, self.bytes) = (0, 0);
        all
    }
}
