//! Beyond the paper: a tail loss probe (RFC 8985 section 7), sent by the proxy.
//!
//! When nothing at all has been heard from the receiver for longer than what is in flight can take, either everything
//! under way was lost or the way back is dead. Nothing speaks against any one link then, and no packet is declared
//! lost. The lowest packet in flight goes out once more over every link, of many over some, now and then, until the
//! receiver answers: its ACK tells the rest.
use crate::flow::Flow;
use crate::flow::history::Record;
use crate::micros::Micros;
use crate::overdue;
use crate::shared::Shared;
use crate::verdict::{DataRewrite, Verdict};
use prismux_units::{Duration, Instant};

/// The second probe follows the first after this time; the time doubles from probe to probe ...
const FIRST_INTERVAL: Duration = Duration::from_millis(250);
/// Probes are at most this far apart.
const MAX_INTERVAL: Duration = Duration::from_secs(1);
/// A probe goes over at most so many links, others each time: of two hundred each flow would ask each, and all at once
/// when the way back is dead.
const MAX_LINKS: usize = 8;
/// A probe of one of many flows that wait for room goes over one link, and the time between two doubles on: what they
/// all have in flight is late when links are overfull, and probes would keep them so.
/// A sender that has been quiet for longer than this has given up, and so does the proxy.
const SENDER_PATIENCE: Duration = Duration::from_secs(64);

/// When the next probe is due; `None` when nothing is in flight that could be sent again. `lowest` is the lowest packet
/// in flight, `limit` its [`overdue::tail_limit`].
pub(crate) fn deadline<P: Clone>(
    flow: &Flow<P>,
    lowest: &Record,
    limit: Option<Duration>,
    now: Instant,
) -> Option<Instant> {
    if !flow.evidence.confirmed {
        // A SYN that nobody answers is the sender's affair.
        return None;
    }
    if now.saturating_since(flow.last_activity) > SENDER_PATIENCE || !flow.copies.has(lowest.seq) {
        return None;
    }
    if let Some((sent, interval)) = flow.tail_probe.sent {
        return Some(sent + interval);
    }
    let quiet_since = if flow.heard.after(lowest.sent) { flow.heard } else { lowest.sent };
    Some(now + limit?.saturating_sub(Micros::at(now).since(quiet_since)))
}

/// Sends a probe if one is due.
pub(crate) fn send<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    let Some(lowest) = flow.history.lowest_in_flight() else { return };
    let limit = overdue::tail_limit(&lowest, shared, now);
    if deadline(flow, &lowest, limit, now).is_none_or(|at| at > now) {
        return;
    }
    let Some(copy) = flow.copies.find(lowest.seq) else { return };
    let rewrite = DataRewrite { tsval_at_least: flow.echoed, ..DataRewrite::default() };
    let count = shared.links.up_count();
    // Beginning anywhere when there are many.
    let turn = now.as_nanos() / FIRST_INTERVAL.as_nanos() * MAX_LINKS as u64 + u64::from(flow.number);
    let first = if count > MAX_LINKS { (turn % count as u64) as usize } else { 0 };
    let many = shared.pacer.serves_many();
    let most = if many { 1 } else { MAX_LINKS };
    let places = (first..count).chain(0..first).take(most);
    for link in places.filter_map(|place| shared.links.up_id(place)) {
        shared.counters.probe_copies += 1;
        shared.verdicts.push_back(Verdict::Forward {
            link,
            packet: copy.packet.clone(),
            rewrite,
            position: None,
        });
    }
    flow.copies.note_repeated(lowest.seq, lowest.end(), &mut shared.totals.copies);
    flow.history.note_copy(lowest.seq);
    flow.convictions.take(lowest.seq);
    let longest = if many { SENDER_PATIENCE } else { MAX_INTERVAL };
    let interval = flow.tail_probe.sent.map_or(FIRST_INTERVAL, |(_, last)| (last * 2).min(longest));
    flow.tail_probe.sent = Some((now, interval));
}
