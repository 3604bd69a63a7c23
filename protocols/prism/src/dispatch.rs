//! Beyond the paper: packets that fit no link wait here, and not in a queue that would overflow.
//!
//! Pacing ([`crate::pacing`]) keeps what senders have under way within the links' caps, in the mean. Three things
//! come in bursts all the same: what a link or a departed member has lost and is to be resent, a sender's whole
//! window after the proxy was started anew, and a window that opens at once. Such packets are kept as copies and
//! leave, repairs first and each kind in order of sequence, as room appears: a link takes its cap and a little more,
//! since a cap is an estimate, and no faster than it carries, because the queue that has overflowed once would
//! overflow again from repairs that came all at once.
use crate::flow::Flow;
use crate::flow::backlog::Kind;
use crate::flow::history::PacketState;
use crate::ids::LinkId;
use crate::link_table::{Link, LinkTable};
use crate::micros::Micros;
use crate::scheduler::{self, Choice, PacketView};
use crate::shared::Shared;
use crate::transmit;
use crate::verdict::{DataRewrite, Verdict};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A link is filled with repairs and with what has waited to at most this many times its cap.
const MAX_FILL: f64 = 1.5;
/// A link is filled with new data to at most this many times its cap, because a sender that overshoots for a round
/// trip is how rates are learned.
const MAX_FILL_NEW: f64 = 4.0;
/// Any link may be filled with this: the cap of a link that is hardly known yet says little.
const MIN_FILL_BYTES: f64 = 10.0 * 1448.0;

/// What waits is looked at again after this time, should no ACK come.
pub(crate) const RETRY: Duration = Duration::from_millis(100);

/// True when `bytes` more of new data would overfill the link, or come too fast for a queue that has overflowed lately.
pub(crate) fn is_overfull(now: Instant, links: &LinkTable, link: LinkId, bytes: u32) -> bool {
    let hurried = |link: &Link| link.model.has_overflowed() && link.busy_until(now).is_some();
    fills_beyond(MAX_FILL_NEW, links, link, bytes) || links.get(link).is_some_and(hurried)
}

/// True when `bytes` more would fill the link beyond `fill` times its cap; an empty link takes any packet.
fn fills_beyond(fill: f64, links: &LinkTable, link: LinkId, bytes: u32) -> bool {
    links.get(link).is_some_and(|link| {
        let most = (link.model.cap_bytes() as f64 * fill).max(MIN_FILL_BYTES);
        link.in_flight_bytes > 0 && (link.in_flight_bytes + u64::from(bytes)) as f64 > most
    })
}

/// A new packet of a flow, as schedulers see it, that leaves now or never.
pub(crate) fn view<P>(flow: &Flow<P>, seq: SeqNumber, bytes: u32) -> PacketView {
    let left = |edge: SeqNumber| edge.distance_from(seq + bytes).max(0) as u32;
    PacketView {
        flow: flow.key,
        seq,
        bytes,
        window_bytes: flow.window.edge().map(left),
        flow_in_flight_bytes: flow.bytes_out,
        deadline: None,
        retransmission: false,
        paced: false,
    }
}

/// Sends what waits while there is room, at the pace of the links.
pub(crate) fn send<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    for kind in [Kind::Repair, Kind::New] {
        while let Some((seq, length)) = flow.backlog.queue(kind).front() {
            if !send_one(flow, seq, length, shared, now) {
                break;
            }
            flow.backlog.queue(kind).pop(&mut shared.totals.backlog_bytes);
        }
    }
}

/// Sends one packet; `false` when it must wait on. Nothing is to be done for one that the sender has resent
/// meanwhile, or that the receiver has.
fn send_one<P: Clone>(
    flow: &mut Flow<P>,
    seq: SeqNumber,
    length: u16,
    shared: &mut Shared<P>,
    now: Instant,
) -> bool {
    let at = flow.history.find(seq);
    let waits = at.filter(|&at| flow.history.get(at).state() == PacketState::Waiting);
    let copy = flow.copies.find(seq).filter(|copy| copy.length == length);
    let (Some(at), Some(copy)) = (waits, copy) else { return true };
    let again = flow.history.get(at).sends() > 0;
    let waited = Micros::at(now).since(flow.history.get(at).sent);
    let left = scheduler::patience(flow.sender_rtt.timeout()).saturating_sub(waited);
    let deadline = (!again).then(|| now + left);
    let view = PacketView {
        retransmission: again,
        paced: true,
        deadline,
        ..self::view(flow, seq, u32::from(length))
    };
    let link = match (shared.scheduler.choose(now, &shared.links, &view), deadline) {
        (Choice::Over(link), _) => Some(link),
        (Choice::Wait(until), Some(deadline)) if now < deadline => {
            shared.pacer.wait_ends = shared.pacer.wait_ends.min(until.min(deadline));
            None
        }
        (Choice::Wait(_), _) => shared.links.fastest(now),
        (Choice::NoLink, _) => None,
    };
    let Some(link) = link else { return false };
    if fills_beyond(MAX_FILL, &shared.links, link, u32::from(length)) {
        return false;
    }
    let pace = shared.links.get(link).and_then(|link| link.busy_until(now));
    if let Some(until) = pace {
        shared.pacer.backlog_at = shared.pacer.backlog_at.min(until);
        return false;
    }
    let packet = copy.packet.clone();
    let position = transmit::resend(flow, at, link, again, shared, now);
    shared.counters.local_repairs += u64::from(again);
    let rewrite = DataRewrite { tsval_at_least: flow.echoed, ..DataRewrite::default() };
    shared.verdicts.push_back(Verdict::Forward { link, packet, rewrite, position });
    true
}
