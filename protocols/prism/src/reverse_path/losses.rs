//! Losses: by order on a link (section V-B.3), before the proxy ("No Data"), and what they lead to.
use crate::flow::history::PacketState;
use crate::flow::{Flow, PendingReport, Suspect};
use crate::ids::LinkId;
use crate::shared::{Loss, Shared};
use crate::status::ReverseState;
use prismux_units::Instant;
use prismux_wire::{LossReport, SeqNumber};

/// Packets overtaken on their own link are lost: links deliver in order.
///
/// Runs after all arrivals of this ACK are marked, so that ranges reported together do not convict one another.
pub(crate) fn detect<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    let delivered = core::mem::take(&mut shared.buffers.delivered);
    for &(link, index) in &delivered {
        overtake_suspects(flow, link, index, shared, now);
        if usize::from(link.0) >= flow.order.len() {
            continue;
        }
        while let Some(&(seq, sent_index)) = flow.order[usize::from(link.0)].sent.front() {
            if later(sent_index, index) {
                break;
            }
            flow.order[usize::from(link.0)].sent.pop_front();
            if sent_index != index && is_outstanding(flow, link, sent_index, seq) {
                if shared.config.link_dupthresh <= 1 {
                    declare(flow, seq, false, shared, now);
                } else {
                    flow.suspects.push(Suspect { link, index: sent_index, seq, overtaken: 1 });
                }
            }
        }
    }
    shared.buffers.delivered = delivered;
}

const fn later(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// True when the packet at `seq` is still out as number `index` of `link`, and not resent since.
fn is_outstanding<P: Clone>(flow: &Flow<P>, link: LinkId, index: u32, seq: SeqNumber) -> bool {
    flow.history.find(seq).is_some_and(|at| {
        let record = flow.history.get(at);
        record.link == link && record.index == index && record.state() == PacketState::InFlight
    })
}

fn overtake_suspects<P: Clone>(
    flow: &mut Flow<P>,
    link: LinkId,
    index: u32,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let mut at = 0;
    while at < flow.suspects.len() {
        let suspect = flow.suspects[at];
        if suspect.link != link || !later(index, suspect.index) {
            at += 1;
            continue;
        }
        let outstanding = is_outstanding(flow, link, suspect.index, suspect.seq);
        if outstanding && suspect.overtaken + 1 < shared.config.link_dupthresh {
            flow.suspects[at].overtaken += 1;
            at += 1;
            continue;
        }
        flow.suspects.swap_remove(at);
        if outstanding {
            declare(flow, suspect.seq, false, shared, now);
        }
    }
}

/// Declares the packet that starts at `seq` lost: its link halves its weight, and the loss joins this step's list.
pub(crate) fn declare<P: Clone>(
    flow: &mut Flow<P>,
    seq: SeqNumber,
    by_time: bool,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let Some(at) = flow.history.find(seq) else { return };
    let record = flow.history.get_mut(at);
    record.set_lost(!by_time);
    let record = *record;
    shared.counters.losses_detected += 1;
    shared.counters.losses_by_time += u64::from(by_time);
    shared.links.note_loss(now, record.link, by_time);
    let mut blamed = None;
    flow.bytes_out = flow.bytes_out.saturating_sub(u64::from(record.length));
    if let Some(link) = shared.links.get_mut(record.link) {
        let in_flight = link.in_flight_bytes;
        link.on_departed(u32::from(record.length));
        if link.up {
            blamed = Some(record.link);
            link.halve_weight(now, shared.config.weight_floor);
            if !link.is_silent() {
                link.model.on_lost(now, u32::from(record.length), in_flight);
            }
        }
    }
    shared.buffers.lost.push(Loss { start: record.seq, end: record.end(), link: blamed });
}

/// Puts the losses of this step on record: reports to carry, and LOSSDETECT if that is where they lead.
pub(crate) fn note<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>) {
    if flow.state == ReverseState::Normal {
        flow.state = ReverseState::LossDetect;
        flow.recover = shared.buffers.lost[0].end;
        shared.counters.loss_episodes += 1;
    }
    for loss in &shared.buffers.lost {
        flow.recover = flow.recover.max(loss.end);
        let Some(link) = loss.link.filter(|_| shared.config.loss_reports) else { continue };
        let keep = shared.links.keep_factor(link);
        let report = LossReport {
            lost: loss.start,
            link: link.0,
            flags: 0,
            keep_q16: libm::round(keep * 65536.0).min(65535.0) as u16,
        };
        flow.queue_report(PendingReport { report, carried: 0 });
    }
    shared.buffers.lost.clear();
}

/// Holes that were never scheduled are losses before the proxy, once something above them has arrived.
pub(crate) fn find_no_data_holes<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>) {
    if flow.unscheduled.is_empty() {
        return;
    }
    let Some(receiver) = &flow.receiver else { return };
    let (cumulative, highest) = (receiver.cumulative(), receiver.highest());
    flow.unscheduled.retain(|gap| gap.end.after(cumulative));
    for gap in &flow.unscheduled {
        let missing = gap.end.before(highest) || gap.end == highest;
        if missing && !receiver.contains(gap.start, gap.end) {
            let known = flow.state != ReverseState::Normal && !flow.recover.before(gap.end);
            if !known {
                shared.counters.no_data_holes += 1;
                shared.buffers.lost.push(Loss { start: gap.start, end: gap.end, link: None });
            }
        }
    }
}
