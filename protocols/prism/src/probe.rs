//! Beyond the paper: measuring a link that carries nothing.
//!
//! A packet that the receiver already has is sent once more over the link. The receiver answers a duplicate at once
//! and names it (DSACK, RFC 2883): the time between is the link's round trip, and no data waits for it.
use crate::flow::Flow;
use crate::ids::LinkId;
use crate::link_table::{LinkTable, Probe};
use crate::shared::Shared;
use crate::verdict::{DataRewrite, Verdict};
use prismux_units::{Duration, Instant};
use prismux_wire::{SackBlock, SeqNumber};

/// A known but unused link is measured this often.
const REFRESH: Duration = Duration::from_millis(2000);
/// A link that seems dead is asked this often, so that it is not missed long when it is back.
const REVIVAL: Duration = Duration::from_millis(500);
/// An unanswered probe is given up after this time.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Sends probes to the links that want one, if this flow has packets for it.
pub(crate) fn send<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    if now < shared.links.probes_from || !flow.copies.has_probe() {
        return;
    }
    let mut next = Instant::MAX;
    for index in 0..shared.links.up_count() {
        let Some(id) = shared.links.up_id(index) else { return };
        let Some(link) = shared.links.get(id) else { continue };
        if link.usable && link.model.min_rtt().is_some() {
            continue;
        }
        if now < link.probe.next {
            next = next.min(link.probe.next);
            continue;
        }
        let Some(copy) = flow.copies.take_probe(&mut shared.totals.copies) else { return };
        let Some(link) = shared.links.get_mut(id) else { continue };
        if link.probe.open.take().is_some() {
            link.probe.unanswered = link.probe.unanswered.saturating_add(1);
        }
        let pause = match link.model.min_rtt() {
            Some(_) if link.is_silent() => REVIVAL,
            Some(_) => REFRESH,
            None => PATIENCE,
        };
        link.probe.open = Some(Probe { flow: flow.number, seq: copy.seq, sent: now });
        link.probe.next = now + pause;
        next = next.min(link.probe.next);
        shared.counters.probe_copies += 1;
        shared.verdicts.push_back(Verdict::Forward {
            link: id,
            packet: copy.packet,
            rewrite: DataRewrite::default(),
            position: None,
        });
    }
    shared.links.probes_from = next;
}

/// Data within `[start, end)` that the receiver has goes to it once more: reports of duplicates there say nothing
/// about links.
pub(crate) fn on_repeated<P: Clone>(
    flow: &mut Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    shared: &mut Shared<P>,
) {
    flow.copies.note_repeated(start, end, &mut shared.totals.copies);
    flow.convictions.take(start);
    let number = flow.number;
    let is_spoilt = |probe: &Probe| probe.flow == number && !probe.seq.before(start) && probe.seq.before(end);
    while let Some((id, _)) = open(&shared.links, is_spoilt) {
        let Some(link) = shared.links.get_mut(id) else { return };
        link.probe.open = None;
    }
}

/// A duplicate was reported: is it the answer to a probe?
pub(crate) fn on_dsack<P>(
    flow: u32,
    block: SackBlock,
    shared: &mut Shared<P>,
    now: Instant,
) -> Option<LinkId> {
    let (id, probe) = open(&shared.links, |probe| probe.flow == flow && probe.seq == block.start)?;
    let link = shared.links.get_mut(id)?;
    let rtt = now.saturating_since(probe.sent);
    link.probe.open = None;
    link.probe.unanswered = 0;
    link.on_alive();
    link.on_rtt(now, rtt, shared.config.rtt_gain);
    link.model.on_probe(now, rtt);
    Some(id)
}

/// The first link with an open probe of which this holds, and the probe.
fn open(links: &LinkTable, holds: impl Fn(&Probe) -> bool) -> Option<(LinkId, Probe)> {
    links.up().find_map(|(id, link)| Some((id, link.probe.open.filter(|probe| holds(probe))?)))
}
