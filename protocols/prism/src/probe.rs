//! Beyond the paper: measuring a link that carries nothing.
//!
//! A packet that the receiver already has is sent once more over the link. The receiver answers a duplicate at once
//! and names it (DSACK, RFC 2883): the time between is the link's round trip, and no data waits for it.
use crate::flow::Flow;
use crate::ids::LinkId;
use crate::link_table::Probe;
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
    for index in 0..shared.links.up_count() {
        let Some(id) = shared.links.up_id(index) else { return };
        let Some(link) = shared.links.get_mut(id) else { continue };
        if link.usable && link.model.min_rtt().is_some() || now < link.probe.next {
            continue;
        }
        let Some(copy) = flow.copies.take_probe() else { return };
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
        shared.counters.probe_copies += 1;
        shared.verdicts.push_back(Verdict::Forward {
            link: id,
            packet: copy.packet,
            rewrite: DataRewrite::default(),
            position: None,
        });
    }
}

/// Data within `[start, end)` that the receiver has goes to it once more: reports of duplicates there say nothing
/// about links.
pub(crate) fn on_repeated<P: Clone>(
    flow: &mut Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    shared: &mut Shared<P>,
) {
    flow.copies.note_repeated(start, end);
    flow.convictions.take(start);
    for index in 0..shared.links.up_count() {
        let link = shared.links.up_id(index).and_then(|id| shared.links.get_mut(id));
        let Some(link) = link else { return };
        let spoilt =
            |probe: &Probe| probe.flow == flow.number && !probe.seq.before(start) && probe.seq.before(end);
        link.probe.open = link.probe.open.filter(|probe| !spoilt(probe));
    }
}

/// A duplicate was reported: is it the answer to a probe?
pub(crate) fn on_dsack<P>(
    flow: u32,
    block: SackBlock,
    shared: &mut Shared<P>,
    now: Instant,
) -> Option<LinkId> {
    for index in 0..shared.links.up_count() {
        let id = shared.links.up_id(index)?;
        let link = shared.links.get_mut(id)?;
        let Some(probe) = link.probe.open.filter(|p| p.flow == flow && p.seq == block.start) else {
            continue;
        };
        let rtt = now.saturating_since(probe.sent);
        link.probe.open = None;
        link.probe.unanswered = 0;
        link.on_alive();
        link.on_rtt(now, rtt, shared.config.rtt_gain);
        link.model.on_probe(now, rtt);
        return Some(id);
    }
    None
}
