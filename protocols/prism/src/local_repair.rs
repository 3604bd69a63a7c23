//! Beyond the paper: the proxy resends what a link lost.
//!
//! A copy of every packet in flight is kept while the budget lasts. When the order on its link, or age, shows that a
//! packet is lost, the copy goes out over the best link and its ACKs stay held: the sender sees a little delay and no
//! loss. After five repairs of one packet, or without a copy, the paper's way is taken and the sender learns of the
//! loss.
use crate::dispatch;
use crate::flow::Flow;
use crate::flow::history::PacketState;
use crate::shared::{Loss, Shared};
use prismux_units::Instant;

/// How often one packet is sent at most, the first time included, before the sender is told.
const MAX_SENDS: u8 = 6;

/// Has resent what can be resent of the losses found in this step, as the links have room; the others stay on the list.
pub(crate) fn repair<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    if shared.config.repair_budget_packets == 0 {
        return;
    }
    let mut lost = core::mem::take(&mut shared.buffers.lost);
    lost.retain(|loss| !keep_for_repair(flow, loss, shared));
    shared.buffers.lost = lost;
    dispatch::send(flow, shared, now);
}

fn keep_for_repair<P: Clone>(flow: &mut Flow<P>, loss: &Loss, shared: &mut Shared<P>) -> bool {
    let Some(at) = flow.history.find(loss.start) else { return false };
    let record = *flow.history.get(at);
    if record.state() != PacketState::Lost || record.sends() >= MAX_SENDS {
        return false;
    }
    if flow.copies.find(record.seq).is_none_or(|copy| copy.length != record.length) {
        return false;
    }
    flow.history.get_mut(at).set_state(PacketState::Waiting);
    flow.backlog.insert_repair(record.seq, record.length, &mut shared.totals.backlog_bytes);
    true
}
