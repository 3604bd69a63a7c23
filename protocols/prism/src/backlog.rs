//! Beyond the paper: packets that fit no link wait here, and not in a queue that would overflow.
//!
//! The valve ([`crate::window_control`]) keeps what senders have under way within the links' caps, in the mean. Three things come in
//! bursts all the same: what a link or a departed member has lost and is to be resent, a sender's whole window after the proxy was
//! started anew, and a window that opens at once. Such packets are kept as copies and leave, repairs first and each kind in order of
//! sequence, as room appears: a link takes its cap and a little more, since a cap is an estimate, and no faster than
//! it carries, because the queue that has overflowed once would overflow again from repairs that came all at once.
use crate::flow::Flow;
use crate::flow::history::PacketState;
use crate::forward;
use crate::link_table::{Link, LinkId, LinkTable};
use crate::reverse_path::Context;
use crate::scheduler::PacketView;
use crate::verdict::{DataRewrite, Verdict};
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A link is filled to at most this many times its cap, ...
const MOST_FILL: f64 = 1.5;
/// ... with new data this many times, because a sender that overshoots for a round trip is how rates are learned, ...
const MOST_FILL_NEW: f64 = 4.0;
/// ... and with this in any case: the cap of a link that is hardly known yet says little.
const LEAST_FILL_BYTES: f64 = 10.0 * 1448.0;

/// What waits is looked at again after this time, should no ACK come.
pub(crate) const RETRY: Duration = Duration::from_millis(100);

/// Packets of one kind that wait, by rising sequence number: where each starts, and its length.
#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<(SeqNumber, u16)>,
}

impl Queue {
    fn insert(&mut self, seq: SeqNumber, length: u16, kept: &mut u64) {
        let at = match self.entries.back() {
            Some((last, _)) if !last.before(seq) => {
                self.entries.partition_point(|(other, _)| other.before(seq))
            }
            _ => self.entries.len(),
        };
        if self.entries.get(at).is_none_or(|(other, _)| *other != seq) {
            self.entries.insert(at, (seq, length));
            *kept += u64::from(length);
        }
    }

    fn trim(&mut self, cumulative: SeqNumber, kept: &mut u64) {
        while self.entries.front().is_some_and(|(seq, length)| !(*seq + u32::from(*length)).after(cumulative))
        {
            self.pop(kept);
        }
    }

    fn pop(&mut self, kept: &mut u64) {
        if let Some((_, length)) = self.entries.pop_front() {
            *kept = kept.saturating_sub(u64::from(length));
        }
    }
}

/// The two kinds of packets that wait. A repair may have to wait for its link while new data finds another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Repair,
    New,
}

/// Packets of one flow that wait.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    repairs: Queue,
    new: Queue,
}

impl Backlog {
    /// True when nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.repairs.entries.is_empty() && self.new.entries.is_empty()
    }

    /// Bytes of memory, packets apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        (self.repairs.entries.capacity() + self.new.entries.capacity()) * size_of::<(SeqNumber, u16)>()
    }

    /// Adds a packet that was not sent yet; counts its bytes in `kept`.
    pub(crate) fn insert_new(&mut self, seq: SeqNumber, length: u16, kept: &mut u64) {
        self.new.insert(seq, length, kept);
    }

    /// Adds a packet that was lost; counts its bytes in `kept`.
    pub(crate) fn insert_repair(&mut self, seq: SeqNumber, length: u16, kept: &mut u64) {
        self.repairs.insert(seq, length, kept);
    }

    /// Forgets what the cumulative ACK covers.
    pub(crate) fn trim(&mut self, cumulative: SeqNumber, kept: &mut u64) {
        self.repairs.trim(cumulative, kept);
        self.new.trim(cumulative, kept);
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self, kept: &mut u64) {
        for queue in [&mut self.repairs, &mut self.new] {
            while !queue.entries.is_empty() {
                queue.pop(kept);
            }
        }
    }

    fn queue(&mut self, kind: Kind) -> &mut Queue {
        match kind {
            Kind::Repair => &mut self.repairs,
            Kind::New => &mut self.new,
        }
    }
}

/// True when `bytes` more of new data would overfill the link, or come too fast for a queue that has overflowed lately.
pub(crate) fn is_overfull(now: Instant, links: &LinkTable, link: LinkId, bytes: u32) -> bool {
    let hurried = |link: &Link| link.model.has_overflowed() && link.busy_until(now).is_some();
    fills_beyond(MOST_FILL_NEW, links, link, bytes) || links.get(link).is_some_and(hurried)
}

/// True when `bytes` more would fill the link beyond `fill` times its cap; an empty link takes any packet.
fn fills_beyond(fill: f64, links: &LinkTable, link: LinkId, bytes: u32) -> bool {
    links.get(link).is_some_and(|link| {
        let most = (link.model.cap_bytes() as f64 * fill).max(LEAST_FILL_BYTES);
        link.in_flight_bytes > 0 && (link.in_flight_bytes + u64::from(bytes)) as f64 > most
    })
}

/// Sends what waits while there is room, at the pace of the links.
pub(crate) fn send<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    for kind in [Kind::Repair, Kind::New] {
        while let Some(&(seq, length)) = flow.backlog.queue(kind).entries.front() {
            if !send_one(flow, seq, length, context) {
                break;
            }
            flow.backlog.queue(kind).pop(&mut context.valve.kept);
        }
    }
}

/// Sends one packet; `false` when it must wait on. Nothing is to be done for one that the sender has resent meanwhile, or
/// that the receiver has.
fn send_one<P: Clone>(flow: &mut Flow<P>, seq: SeqNumber, length: u16, context: &mut Context<'_, P>) -> bool {
    let at = flow.history.find(seq);
    let waits = at.filter(|&at| flow.history.get(at).state() == PacketState::Waiting);
    let copy = flow.copies.find(seq).filter(|copy| copy.length == length);
    let (Some(at), Some(copy)) = (waits, copy) else { return true };
    let again = flow.history.get(at).sends() > 0;
    let view = PacketView { bytes: u32::from(length), retransmission: again, paced: true };
    let Some(link) = context.scheduler.choose(context.now, context.links, view) else { return false };
    if fills_beyond(MOST_FILL, context.links, link, u32::from(length)) {
        return false;
    }
    let pace = context.links.get(link).and_then(|link| link.busy_until(context.now));
    if let Some(until) = pace {
        context.valve.serve_backlog_at = context.valve.serve_backlog_at.min(until);
        return false;
    }
    let packet = copy.packet.clone();
    forward::resend(flow, at, link, again, context);
    context.counters.local_repairs += u64::from(again);
    let rewrite = DataRewrite { tsval_at_least: flow.echoed, ..DataRewrite::default() };
    context.out.push_back(Verdict::Forward { link, packet, rewrite });
    true
}

#[cfg(test)]
mod tests;
