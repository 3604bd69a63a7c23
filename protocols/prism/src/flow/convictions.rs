//! Packets that order has convicted of being lost, until it is clear whether that was true.
use crate::ids::LinkId;
use crate::micros::Micros;
use alloc::collections::VecDeque;
use prismux_units::Duration;
use prismux_wire::SeqNumber;

/// So many verdicts are remembered.
const MAX_REMEMBERED: usize = 32;

/// A packet that was declared lost because later ones of its link had arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conviction {
    /// Its first sequence number.
    seq: SeqNumber,
    /// The link that was blamed.
    pub(crate) link: LinkId,
    /// Sequence space it takes.
    pub(crate) length: u16,
    /// When the first packet that overtook it arrived.
    since: Micros,
    /// When it, or the proxy's copy, arrived.
    arrived: Option<Micros>,
}

impl Conviction {
    /// How long it was waited for since it was overtaken, until one of its copies arrived.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.arrived.map(|arrived| arrived.since(self.since))
    }
}

/// The newest verdicts of a flow.
#[derive(Debug, Default)]
pub(crate) struct Convictions {
    newest: VecDeque<Conviction>,
}

impl Convictions {
    /// The packet at `seq` is declared lost on `link`.
    pub(crate) fn note(&mut self, seq: SeqNumber, length: u16, link: LinkId, since: Micros) {
        if self.newest.len() >= MAX_REMEMBERED {
            self.newest.pop_front();
        }
        self.newest.push_back(Conviction { seq, link, length, since, arrived: None });
    }

    /// A copy of the packet at `seq` has arrived.
    pub(crate) fn on_arrival(&mut self, seq: SeqNumber, now: Micros) {
        if let Some(conviction) = self.newest.iter_mut().find(|conviction| conviction.seq == seq) {
            conviction.arrived = Some(now);
        }
    }

    /// True when there is a verdict on the packet at `seq`.
    pub(crate) fn holds(&self, seq: SeqNumber) -> bool {
        self.newest.iter().any(|conviction| conviction.seq == seq)
    }

    /// Takes the verdict on the packet at `seq`: it was false, or nothing will tell any more whether it was true.
    pub(crate) fn take(&mut self, seq: SeqNumber) -> Option<Conviction> {
        let at = self.newest.iter().position(|conviction| conviction.seq == seq)?;
        self.newest.remove(at)
    }

    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.newest.capacity() * size_of::<Conviction>()
    }
}
