//! Links that are measured at their own ends: a meter for each member that writes receipts.
use prismux_endpoint::{Endpoint, expire};
use prismux_prism::LinkId;
use prismux_receipts::{LinkEstimate, LinkMeter, MeterCounters, MeterEvent, Receipt, Refusal, UnderWay};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

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
}

impl Meters {
    /// The member of `link` writes receipts from now on, which name `epoch`.
    pub fn agree(&mut self, link: LinkId, member: &str, epoch: u32) {
        let index = usize::from(link.0);
        if self.by_link.len() <= index {
            self.by_link.resize_with(index + 1, || None);
        }
        let Some(place) = self.by_link.get_mut(index) else { return };
        match place {
            Some(metered) if metered.meter.epoch() == epoch && metered.member == member => {}
            Some(metered) if metered.member == member => metered.meter.begin(epoch),
            _ => *place = Some(Metered { member: member.to_owned(), meter: LinkMeter::new(epoch) }),
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
    /// writes receipts.
    pub fn number(
        &mut self,
        now: Instant,
        link: LinkId,
        bytes: usize,
        position: Option<u32>,
    ) -> Option<SeqNumber> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let number = self.of(link).map(|meter| meter.send(now, bytes, position));
        self.note_due(link);
        number
    }

    /// A meter has changed, and with it when something is overdue there.
    fn note_due(&mut self, link: LinkId) {
        let due = self.of(link).and_then(|meter| meter.poll_timeout()).map(|deadline| deadline.at);
        self.due_from = self.due_from.into_iter().chain(due).min();
    }

    /// A receipt from the member of `link`; returns the positions of packets that are lost.
    ///
    /// # Errors
    /// [`Refusal`]: it cannot be true, or nobody has asked for it.
    pub fn receipt(&mut self, now: Instant, link: LinkId, receipt: &Receipt) -> Result<Vec<u32>, Refusal> {
        let meter = self.of(link).ok_or(Refusal::OtherEpoch)?;
        meter.handle_input(now, receipt);
        let lost = drain(meter);
        self.note_due(link);
        lost
    }

    /// When [`Meters::expire`] is to be called; it may have nothing to do then.
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
        self.due_from = self.all().filter_map(|meter| meter.poll_timeout()).map(|deadline| deadline.at).min();
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

    fn of(&mut self, link: LinkId) -> Option<&mut LinkMeter> {
        let metered = self.by_link.get_mut(usize::from(link.0))?.as_mut()?;
        Some(&mut metered.meter)
    }

    fn all(&self) -> impl Iterator<Item = &LinkMeter> {
        self.by_link.iter().flatten().map(|metered| &metered.meter)
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
