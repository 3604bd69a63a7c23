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
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A link is filled with repairs and with what has waited to at most this many times its cap.
const MAX_FILL: f64 = 1.5;
/// A link is filled with new data to at most this many times its cap, because a sender that overshoots for a round
/// trip is how rates are learned.
const MAX_FILL_NEW: f64 = 4.0;
/// Any link may be filled with this: the cap of a link that is hardly known yet says little.
const MIN_FILL_BYTES: f64 = 10.0 * 1448.0;

/// A connection with less than this share of what one that waits has under way or waiting, in the mean, is modest: what
/// little of it waits does not stand in line behind all the others'.
const MODEST_SHARE: f64 = 0.25;
/// With more packets waiting no connection is modest.
const MODEST_PACKETS: usize = 2;

/// What waits is looked at again after this time, should no ACK come; and after this one where many wait, each of which
/// gets its turn by the pacer.
const RETRY: Duration = Duration::from_millis(100);
/// See [`RETRY`].
const RETRY_AMONG_MANY: Duration = Duration::from_secs(1);

/// When what waits is looked at again, should no ACK come.
pub(crate) fn retry_at<P>(shared: &Shared<P>, now: Instant) -> Instant {
    now + if shared.pacer.serves_many() { RETRY_AMONG_MANY } else { RETRY }
}

/// True when `bytes` more of new data would overfill the link, or come too fast for a queue that has overflowed lately.
pub(crate) fn is_overfull(now: Instant, links: &LinkTable, link: LinkId, bytes: u32) -> bool {
    let hurried = |link: &Link| link.model.has_overflowed() && link.busy_until(now).is_some();
    fills_beyond(MAX_FILL_NEW, links, link, bytes) || links.get(link).is_some_and(hurried)
}

/// True when `bytes` more would fill the link beyond what it takes of repairs.
pub(crate) fn is_filled(links: &LinkTable, link: LinkId, bytes: u32) -> bool {
    fills_beyond(MAX_FILL, links, link, bytes)
}

/// True when `bytes` more would fill the link beyond `fill` times its cap; an empty link takes any packet.
fn fills_beyond(fill: f64, links: &LinkTable, link: LinkId, bytes: u32) -> bool {
    links.get(link).is_some_and(|link| {
        let most = (link.model.cap_bytes() as f64 * fill).max(MIN_FILL_BYTES);
        link.variables.in_flight_bytes > 0
            && (link.variables.in_flight_bytes + u64::from(bytes)) as f64 > most
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
            match send_one(flow, seq, length, shared, now) {
                Outcome::Done => flow.backlog.queue(kind).pop(&mut shared.totals.backlog_bytes),
                Outcome::WaitsFor(link) if kind == Kind::Repair => {
                    send_past(flow, link, shared, now);
                    break;
                }
                Outcome::WaitsFor(_) | Outcome::Waits => break,
            }
        }
    }
}

/// What became of a packet that waited.
enum Outcome {
    /// It went out, or need not.
    Done,
    /// It waits for this link.
    WaitsFor(LinkId),
    /// It waits for any.
    Waits,
}

/// Sends one packet, if there is room. Nothing is to be done for one that the sender has resent meanwhile, or that the
/// receiver has.
fn send_one<P: Clone>(
    flow: &mut Flow<P>,
    seq: SeqNumber,
    length: u16,
    shared: &mut Shared<P>,
    now: Instant,
) -> Outcome {
    let Some(at) = waiting(flow, seq, length) else { return Outcome::Done };
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
    let Some(link) = link else { return Outcome::Waits };
    let modest = is_modest(flow, length, shared);
    if modest && fills_beyond(MAX_FILL_NEW, &shared.links, link, u32::from(length))
        || !modest && !takes(link, length, shared, now)
    {
        return Outcome::WaitsFor(link);
    }
    put_out(flow, at, link, shared, now);
    Outcome::Done
}

/// Where on record a packet that still waits is.
fn waiting<P: Clone>(flow: &Flow<P>, seq: SeqNumber, length: u16) -> Option<usize> {
    let at = flow.history.find(seq).filter(|&at| flow.history.get(at).state() == PacketState::Waiting)?;
    flow.copies.find(seq).filter(|copy| copy.length == length).map(|_| at)
}

/// True when the flow asks for little beside the others that wait. Such a flow's turn would come when those before it
/// have taken all room, again and again: a key that is typed while a link's whole load goes out again would wait for
/// all of that.
fn is_modest<P: Clone>(flow: &Flow<P>, length: u16, shared: &Shared<P>) -> bool {
    let waiting = flow.backlog.len();
    let own = flow.bytes_out + (waiting * usize::from(length)) as u64;
    let all = shared.links.in_flight_bytes() + shared.totals.backlog_bytes;
    let flows = shared.pacer.waiting.len().max(1) as f64;
    waiting <= MODEST_PACKETS && (own as f64) < MODEST_SHARE * all as f64 / flows
}

/// Whether the link has room for a packet now; if it only has to wait for its pace, the pacer will come back.
fn takes<P>(link: LinkId, length: u16, shared: &mut Shared<P>, now: Instant) -> bool {
    if fills_beyond(MAX_FILL, &shared.links, link, u32::from(length)) {
        return false;
    }
    let pace = shared.links.get(link).and_then(|link| link.busy_until(now));
    if let Some(until) = pace {
        shared.pacer.backlog_at = shared.pacer.backlog_at.min(until);
    }
    pace.is_none()
}

/// The packet at `at` on record leaves over `link`.
fn put_out<P: Clone>(flow: &mut Flow<P>, at: usize, link: LinkId, shared: &mut Shared<P>, now: Instant) {
    let record = *flow.history.get(at);
    let Some(packet) = flow.copies.find(record.seq).map(|copy| copy.packet.clone()) else { return };
    let again = record.sends() > 0;
    let position = transmit::resend(flow, at, link, again, shared, now);
    shared.counters.local_repairs += u64::from(again);
    let rewrite = DataRewrite { tsval_at_least: flow.echoed, ..DataRewrite::default() };
    shared.verdicts.push_back(Verdict::Forward { link, packet, rewrite, position });
}

/// The first of the repairs waits for `near`, where it comes earliest; those far behind it come earlier over another
/// link than after all that are before them.
fn send_past<P: Clone>(flow: &mut Flow<P>, near: LinkId, shared: &mut Shared<P>, now: Instant) {
    let others: Vec<LinkId> = shared.links.usable().map(|(id, _)| id).filter(|&id| id != near).collect();
    for other in others {
        while let Some(behind) = first_behind(flow, near, other, shared, now) {
            let Some((seq, length)) = flow.backlog.queue(Kind::Repair).get(behind) else { break };
            if let Some(at) = waiting(flow, seq, length) {
                if !takes(other, length, shared, now) {
                    break;
                }
                put_out(flow, at, other, shared, now);
            }
            flow.backlog.queue(Kind::Repair).remove(behind, &mut shared.totals.backlog_bytes);
        }
    }
}

/// How many repairs must be ahead of one on `near` for it to come earlier over `other`.
fn first_behind<P: Clone>(
    flow: &mut Flow<P>,
    near: LinkId,
    other: LinkId,
    shared: &Shared<P>,
    now: Instant,
) -> Option<usize> {
    let (_, length) = flow.backlog.queue(Kind::Repair).front()?;
    let bytes = u64::from(length);
    let (near, other) = (shared.links.get(near)?, shared.links.get(other)?);
    if !near.model.is_measured() || !other.model.is_measured() {
        return None;
    }
    let arrival = |link: &Link| {
        link.model.expected_arrival(now, bytes, link.variables.in_flight_bytes, link.hrtt(now)).as_secs_f64()
    };
    let each = near.model.sending_time(bytes);
    (each > 0.0).then(|| ((arrival(other) - arrival(near)) / each).max(0.0) as usize + 1)
}
