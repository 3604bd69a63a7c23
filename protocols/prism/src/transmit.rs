//! A packet goes out over a link: what the flow and the link remember of it.
use crate::flow::Flow;
use crate::flow::history::{PacketState, Record};
use crate::ids::LinkId;
use crate::micros::Micros;
use crate::shared::Shared;
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// Most packets on record, all flows together: at about 36 bytes each they take 38 MB.
const MAX_RECORDED_PACKETS: usize = 1 << 20;

/// `[start, end)` goes out over `link` for the first time; where a flow, or all of them, have too many packets on
/// record it is carried unrecorded. Returns its position on the link.
pub(crate) fn add<P: Clone>(
    flow: &mut Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    link: LinkId,
    shared: &mut Shared<P>,
    now: Instant,
) -> Option<u32> {
    let is_full = flow.history.len() >= shared.config.max_packets_per_flow as usize;
    if is_full || shared.totals.recorded_packets >= MAX_RECORDED_PACKETS {
        flow.add_unscheduled(start, end);
        return None;
    }
    let length = end.distance_from(start) as u32;
    let index = shared.links.send(now, link, length, (flow.number, start))?;
    flow.bytes_out += u64::from(length);
    let sent = Micros::at(now);
    flow.history.insert(Record::new(start, length as u16, link, index, sent));
    flow.note_order(link, start, index);
    Some(index)
}

/// The packet at `index` of the history goes out once more; returns its position on the link.
pub(crate) fn resend<P: Clone>(
    flow: &mut Flow<P>,
    index: usize,
    link: LinkId,
    repair: bool,
    shared: &mut Shared<P>,
    now: Instant,
) -> Option<u32> {
    let sent = Micros::at(now);
    let record = *flow.history.get(index);
    let length = u32::from(record.length);
    if record.state() == PacketState::Delivered {
        return None;
    }
    if record.state() == PacketState::InFlight {
        shared.links.settle(record.link, length);
    } else {
        flow.bytes_out += u64::from(length);
    }
    if record.sends() > 1 {
        // With a third copy under way, a duplicate no longer says that the first was not lost.
        flow.convictions.take(record.seq);
    }
    if record.sends() > 0 {
        flow.copies.note_repeated(record.seq, record.end(), &mut shared.totals.copies);
    }
    let position = shared.links.send(now, link, length, (flow.number, record.seq))?;
    flow.history.resend(index, link, position, sent, repair);
    flow.note_order(link, record.seq, position);
    Some(position)
}
