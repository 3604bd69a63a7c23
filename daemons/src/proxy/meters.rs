//! Links that are measured at their own ends: a meter for each member that writes receipts, and repairs for those who
//! make use of them.
use crate::tunnel::repairs::Repair;
use prismux_endpoint::{Deadline, Endpoint, expire};
use prismux_fec::{EncoderConfig, ProtectedLink, ReedSolomon, Shard};
use prismux_prism::LinkId;
use prismux_receipts::{LinkEstimate, LinkMeter, MeterCounters, MeterEvent, Receipt, Refusal, UnderWay};
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use std::collections::VecDeque;

/// The meters of a proxy.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    by_link: Vec<Option<Metered>>,
    /// Nothing is overdue before.
    due_from: Option<Instant>,
}

/// A link whose member writes receipts.
#[derive(Debug)]
struct Metered {
    member: String,
    meter: LinkMeter,
    /// Where repairs are of use, and wanted.
    protected: Option<ProtectedLink<ReedSolomon>>,
    /// Repairs that have their numbers.
    due: VecDeque<Repair>,
    /// Repairs that were sent.
    repairs: u64,
}

impl Metered {
    fn new(member: &str, epoch: u32, fec: bool) -> Self {
        let protected = fec.then(protected);
        let (meter, due) = (LinkMeter::new(epoch), VecDeque::new());
        Self { member: member.to_owned(), meter, protected, due, repairs: 0 }
    }

    /// When something is due.
    fn deadline(&self) -> Option<Instant> {
        let repairs = self.protected.as_ref().and_then(ProtectedLink::deadline);
        Deadline::earliest(self.meter.poll_timeout(), repairs).map(|deadline| deadline.at)
    }
}

fn protected() -> ProtectedLink<ReedSolomon> {
    ProtectedLink::new(EncoderConfig::default(), ReedSolomon::default())
}

impl Meters {
    /// The member of `link` writes receipts from now on, which name `epoch`, and gets repairs if `fec`.
    pub fn agree(&mut self, link: LinkId, member: &str, epoch: u32, fec: bool) {
        let index = usize::from(link.0);
        if self.by_link.len() <= index {
            self.by_link.resize_with(index + 1, || None);
        }
        let Some(place) = self.by_link.get_mut(index) else { return };
        match place {
            Some(metered) if metered.meter.epoch() == epoch && metered.member == member => {}
            Some(metered) if metered.member == member => {
                metered.meter.begin(epoch);
                metered.protected = fec.then(protected);
            }
            _ => *place = Some(Metered::new(member, epoch, fec)),
        }
    }

    /// `member` has joined with `link`, which may have been another's.
    pub fn joined(&mut self, link: LinkId, member: &str) {
        if let Some(place) = self.by_link.get_mut(usize::from(link.0))
            && place.as_ref().is_some_and(|metered| metered.member != member)
        {
            *place = None;
        }
    }

    /// The number of a packet that takes `bytes` on the link and that the core calls `position`; `None` where nobody
    /// writes receipts. `shard` is what repairs would give back of it.
    pub fn number(
        &mut self,
        now: Instant,
        link: LinkId,
        (bytes, position): (usize, Option<u32>),
        shard: &Shard<'_>,
    ) -> Option<SeqNumber> {
        let Metered { meter, protected, .. } = self.of(link)?;
        let number = meter.send(now, u32::try_from(bytes).unwrap_or(u32::MAX), position);
        if let Some(protected) = protected {
            protected.sent(now, meter, number, || shard.emit());
        }
        self.note_due(link);
        Some(number)
    }

    /// A link has changed, and with it when something is due there.
    fn note_due(&mut self, link: LinkId) {
        let due = self.of(link).and_then(|metered| metered.deadline());
        self.due_from = self.due_from.into_iter().chain(due).min();
    }

    /// A repair that is due to the member of `link`, whose tunnel adds `overhead_bytes`, the number included.
    pub fn poll_repair(&mut self, now: Instant, link: LinkId, overhead_bytes: usize) -> Option<Repair> {
        let Metered { meter, protected: Some(protected), due, repairs, .. } = self.of(link)? else {
            return None;
        };
        if due.is_empty()
            && let Some(block) = protected.poll(now, meter)
        {
            let count = block.symbols.len();
            for symbol in block.symbols {
                let bytes = [&block.header.emit()[..], &symbol].concat();
                let number = meter.send(now, (bytes.len() + overhead_bytes) as u32, None);
                due.push_back(Repair { number, bytes });
                *repairs += 1;
            }
            protected.repaired(meter, count);
        }
        due.pop_front()
    }

    /// Links to which repairs are due.
    pub fn to_repair(&self, now: Instant) -> Vec<LinkId> {
        if self.due_from.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let is_due = |metered: &Option<Metered>| {
            let protected = metered.as_ref().and_then(|metered| metered.protected.as_ref());
            protected.is_some_and(|protected| protected.is_due(now))
        };
        let links = (0..=u8::MAX).map(LinkId).zip(&self.by_link);
        links.filter(|(_, metered)| is_due(metered)).map(|(link, _)| link).collect()
    }

    /// A receipt from the member of `link`; returns the positions of packets that are lost.
    ///
    /// # Errors
    /// [`Refusal`]: it cannot be true, or nobody has asked for it.
    pub fn receipt(&mut self, now: Instant, link: LinkId, receipt: &Receipt) -> Result<Vec<u32>, Refusal> {
        let Metered { meter, protected, .. } = self.of(link).ok_or(Refusal::OtherEpoch)?;
        meter.handle_input(now, receipt);
        if let Some(protected) = protected {
            let estimate = meter.estimate(now);
            protected.measured(meter, &estimate);
        }
        let lost = drain(meter);
        self.note_due(link);
        lost
    }

    /// When [`Meters::to_repair`] and then [`Meters::expire`] are to be called; they may have nothing to do then.
    pub fn deadline(&self) -> Option<Instant> {
        self.due_from
    }

    /// Packets of which nothing is heard for too long are lost: returns links and positions.
    pub fn expire(&mut self, now: Instant) -> Vec<(LinkId, u32)> {
        let mut lost = Vec::new();
        if self.due_from.is_none_or(|at| at > now) {
            return lost;
        }
        for (link, metered) in (0..=u8::MAX).zip(&mut self.by_link) {
            let Some(metered) = metered else { continue };
            if !expire(&mut metered.meter, now) {
                continue;
            }
            // Silence is no receipt: there is nothing to refuse.
            let positions = drain(&mut metered.meter).unwrap_or_default();
            lost.extend(positions.into_iter().map(|position| (LinkId(link), position)));
        }
        self.due_from = self.by_link.iter().flatten().filter_map(Metered::deadline).min();
        lost
    }

    /// What is known of a link by receipts.
    pub fn estimate(&self, now: Instant, link: LinkId) -> Option<(LinkEstimate, MeterCounters)> {
        let metered = self.by_link.get(usize::from(link.0))?.as_ref()?;
        Some((metered.meter.estimate(now), *metered.meter.counters()))
    }

    /// What no receipt of a link has told of; `None` while nothing is under way, or nobody writes receipts.
    pub fn under_way(&self, link: LinkId) -> Option<UnderWay> {
        self.by_link.get(usize::from(link.0))?.as_ref()?.meter.under_way()
    }

    /// Repairs that were sent over a link.
    pub fn repairs(&self, link: LinkId) -> u64 {
        self.by_link.get(usize::from(link.0)).and_then(Option::as_ref).map_or(0, |metered| metered.repairs)
    }

    fn of(&mut self, link: LinkId) -> Option<&mut Metered> {
        self.by_link.get_mut(usize::from(link.0))?.as_mut()
    }
}

/// What the meter told of a receipt: positions of packets that are lost, or why it was refused.
fn drain(meter: &mut LinkMeter) -> Result<Vec<u32>, Refusal> {
    let (mut lost, mut refused) = (Vec::new(), None);
    while let Some(event) = meter.poll_event() {
        match event {
            MeterEvent::Refused(refusal) => refused = Some(refusal),
            MeterEvent::Lost { tag, .. } => lost.extend(tag),
            MeterEvent::LossUndone { .. } => {}
        }
    }
    refused.map_or(Ok(lost), Err)
}
