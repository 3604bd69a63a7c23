//! Queues that drop or mark before they are full (active queue management).
//!
//! A link with one keeps what waits in [`ManagedQueue`] and takes a packet out when the serialiser is free, so that a
//! packet can be judged by the time it has waited. The disciplines: [`red`] judges packets that come, [`pie`] too, by
//! the delay of those that leave; [`codel`] judges packets that leave; [`fq_codel`] does so flow by flow.
mod codel;
mod fq_codel;
mod pie;
mod red;

pub use codel::CoDel;
pub use fq_codel::FqCoDel;
pub use pie::Pie;
pub use red::Red;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use codel::CoDelState;
use fq_codel::FlowQueues;
use pie::PieState;
use prismux_endpoint::random::RandomStream;
use prismux_units::Instant;
use red::{Found, RedState};

/// Which discipline, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Management {
    /// Random early detection.
    Red(Red),
    /// Controlled delay (RFC 8289).
    CoDel(CoDel),
    /// Controlled delay for every flow, and turns among them (RFC 8290).
    FqCoDel(FqCoDel),
    /// Proportional integral controller enhanced (RFC 8033).
    Pie(Pie),
}

/// What a discipline has to know of a packet beside its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PacketKind {
    /// It may be marked instead of dropped: its sender understands explicit congestion notification (RFC 3168).
    pub ecn_capable: bool,
    /// A hash of its flow.
    pub flow: u32,
}

/// A packet that waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiter<P> {
    pub packet: P,
    pub order: u32,
    pub size_bytes: u32,
    pub kind: PacketKind,
    pub arrived: Instant,
    /// It leaves with the mark of congestion.
    pub marked: bool,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Mark,
    Drop,
}

/// Packets in order, and their bytes.
#[derive(Debug, Clone)]
pub(crate) struct Fifo<P> {
    list: VecDeque<Waiter<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { list: VecDeque::new(), bytes: 0 }
    }
}

impl<P> Fifo<P> {
    fn push(&mut self, waiter: Waiter<P>) {
        self.bytes += u64::from(waiter.size_bytes);
        self.list.push_back(waiter);
    }

    fn pop(&mut self) -> Option<Waiter<P>> {
        let first = self.list.pop_front()?;
        self.bytes -= u64::from(first.size_bytes);
        Some(first)
    }
}

/// The discipline with its memory.
#[derive(Debug, Clone)]
enum Discipline<P> {
    Red(Box<RedState>),
    CoDel(CoDelState),
    FqCoDel(Box<FlowQueues<P>>),
    Pie(Box<PieState>),
}

/// What waits at a managed link.
#[derive(Debug, Clone)]
pub(crate) struct ManagedQueue<P> {
    /// Empty where flows have queues of their own.
    fifo: Fifo<P>,
    discipline: Discipline<P>,
}

impl<P> ManagedQueue<P> {
    pub fn new(management: &Management, random: RandomStream) -> Self {
        let discipline = match *management {
            Management::Red(red) => Discipline::Red(Box::new(RedState::new(red, random))),
            Management::CoDel(codel) => Discipline::CoDel(CoDelState::new(codel)),
            Management::FqCoDel(config) => Discipline::FqCoDel(Box::new(FlowQueues::new(config))),
            Management::Pie(pie) => Discipline::Pie(Box::new(PieState::new(pie, random))),
        };
        Self { fifo: Fifo::default(), discipline }
    }

    /// Packets and bytes that wait.
    pub fn waiting(&self) -> (usize, u64) {
        match &self.discipline {
            Discipline::FqCoDel(flows) => flows.waiting(),
            _ => (self.fifo.list.len(), self.fifo.bytes),
        }
    }

    /// Whether a packet of `size_bytes` that comes may wait, as far as the discipline judges that. `time_s` is how long
    /// it takes on an idle link.
    pub fn judge(&mut self, now: Instant, kind: PacketKind, size_bytes: u32, time_s: f64) -> Verdict {
        let (packets, bytes) = (self.fifo.list.len(), self.fifo.bytes);
        match &mut self.discipline {
            Discipline::Red(red) => red.judge(now, Found { packets, bytes, size_bytes, time_s }, kind),
            Discipline::Pie(pie) => pie.judge(now, bytes, kind),
            Discipline::CoDel(_) | Discipline::FqCoDel(_) => Verdict::Pass,
        }
    }

    /// A packet waits.
    pub fn push(&mut self, waiter: Waiter<P>) {
        match &mut self.discipline {
            Discipline::FqCoDel(flows) => flows.push(waiter),
            _ => self.fifo.push(waiter),
        }
    }

    /// Takes out the packet that makes room for another when the queue is full; none where it is the newcomer that has
    /// to go.
    pub fn make_room(&mut self) -> Option<Waiter<P>> {
        match &mut self.discipline {
            Discipline::FqCoDel(flows) => flows.drop_from_longest(),
            _ => None,
        }
    }

    /// The next packet to send at `now`; tells `dropped` of those that have waited too long.
    pub fn pop(&mut self, now: Instant, dropped: &mut dyn FnMut(Waiter<P>)) -> Option<Waiter<P>> {
        let next = match &mut self.discipline {
            Discipline::Red(_) | Discipline::Pie(_) => self.fifo.pop(),
            Discipline::CoDel(codel) => codel.pop(now, &mut self.fifo, dropped),
            Discipline::FqCoDel(flows) => flows.pop(now, dropped),
        };
        if let Discipline::Pie(pie) = &mut self.discipline {
            let delay = next.as_ref().map(|waiter| now - waiter.arrived);
            pie.observe(now, delay, self.fifo.list.is_empty());
        }
        next
    }

    /// The last packet taken out will have been sent at `at`, and the link is idle from then on if nothing comes.
    pub fn sends_until(&mut self, at: Instant) {
        if let Discipline::Red(red) = &mut self.discipline {
            red.sends_until(at);
        }
    }

    /// Everything that waits, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Waiter<P>> {
        let flows = match &self.discipline {
            Discipline::FqCoDel(flows) => Some(flows.iter()),
            _ => None,
        };
        self.fifo.list.iter().chain(flows.into_iter().flatten())
    }

    /// Takes everything out.
    pub fn drain(&mut self) -> alloc::vec::Vec<Waiter<P>> {
        let mut all: alloc::vec::Vec<_> = self.fifo.list.drain(..).collect();
        self.fifo.bytes = 0;
        if let Discipline::FqCoDel(flows) = &mut self.discipline {
            all.append(&mut flows.drain());
        }
        all
    }
}

#[cfg(test)]
mod tests;
