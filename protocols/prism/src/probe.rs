//! Beyond the paper: measuring a link that carries nothing.
//!
//! A packet that the receiver already has is sent once more over the link. The receiver answers a duplicate at once and names it
//! (DSACK, RFC 2883): the time between is the link's round trip, and nobody waits for anything.
use crate::flow::Flow;
use crate::link_table::LinkId;
use crate::reverse_path::Context;
use crate::verdict::{DataRewrite, Verdict};
use prismux_units::{Duration, Instant};
use prismux_wire::{SackBlock, SeqNumber};

/// A known but unused link is measured this often.
const REFRESH: Duration = Duration::from_millis(2000);
/// A link that seems dead is asked this often, so that it is not missed long when it is back.
const REVIVAL: Duration = Duration::from_millis(500);
/// An unanswered probe is given up after this time.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Unanswered probes in a row after which the link is tried with new data instead.
pub(crate) const MOST_UNANSWERED: u8 = 4;

/// The open question to one link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    flow: u32,
    seq: SeqNumber,
    sent: Instant,
}

/// What a link remembers of its probes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProbeState {
    open: Option<Probe>,
    next: Instant,
    pub(crate) unanswered: u8,
}

/// Sends probes to the links that want one, if this flow has packets for it.
pub(crate) fn send<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    for index in 0..context.links.up_count() {
        let Some(id) = context.links.up_id(index) else { return };
        let now = context.now;
        let Some(link) = context.links.get_mut(id) else { continue };
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
        link.probe.open = Some(Probe { flow: context.number, seq: copy.seq, sent: now });
        link.probe.next = now + pause;
        context.counters.probe_copies += 1;
        context.out.push_back(Verdict::Forward {
            link: id,
            packet: copy.packet,
            rewrite: DataRewrite::default(),
        });
    }
}

/// Data within `[start, end)` that the receiver has goes to it once more: reports of duplicates there say nothing about links.
pub(crate) fn on_repeated<P: Clone>(
    flow: &mut Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    context: &mut Context<'_, P>,
) {
    flow.copies.note_repeated(start, end);
    for index in 0..context.links.up_count() {
        let link = context.links.up_id(index).and_then(|id| context.links.get_mut(id));
        let Some(link) = link else { return };
        let spoilt =
            |probe: &Probe| probe.flow == context.number && !probe.seq.before(start) && probe.seq.before(end);
        link.probe.open = link.probe.open.filter(|probe| !spoilt(probe));
    }
}

/// A duplicate was reported: is it the answer to a probe?
pub(crate) fn on_dsack<P: Clone>(block: SackBlock, context: &mut Context<'_, P>) -> Option<LinkId> {
    for index in 0..context.links.up_count() {
        let id = context.links.up_id(index)?;
        let link = context.links.get_mut(id)?;
        let Some(probe) = link.probe.open.filter(|p| p.flow == context.number && p.seq == block.start) else {
            continue;
        };
        let rtt = context.now.saturating_since(probe.sent);
        link.probe.open = None;
        link.probe.unanswered = 0;
        link.on_alive();
        link.on_rtt(context.now, rtt, context.config.rtt_gain);
        link.model.on_probe(context.now, rtt);
        return Some(id);
    }
    None
}
