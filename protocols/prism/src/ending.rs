//! The end of a connection: what it has in flight is in flight no longer, and what is kept of it goes nowhere.
use crate::flow::Flow;
use crate::flow::history::PacketState;
use crate::shared::Shared;
use crate::verdict::{DropReason, Verdict};
use prismux_units::Instant;

/// The connection has been reset: nothing of it is repaired any more, and what it has in flight is in flight no
/// longer. No link has lost it.
pub(crate) fn reset<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    renew(flow, shared, now);
    flow.finished.reset = Some(now);
}

/// Another connection begins with the same addresses and ports, and knows nothing of this one.
pub(crate) fn renew<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    settle(flow, shared);
    flow.renew(now);
    if shared.has_state_per_flow() {
        shared.links.renew_variables();
    }
}

/// Takes everything this flow has in flight off the links' books; the ACKs that it keeps go nowhere any more.
pub(crate) fn settle<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>) {
    discard_acks(flow, shared);
    for record in flow.history.iter().filter(|record| record.state() == PacketState::InFlight) {
        shared.links.settle(record.link, u32::from(record.length));
    }
    flow.copies.clear(&mut shared.totals.copies);
    flow.backlog.clear(&mut shared.totals.backlog_bytes);
    flow.acks.close(&mut shared.totals.expected);
    shared.totals.flight = shared.totals.flight.saturating_sub(u64::from(flow.flight));
    shared.totals.senders -= u32::from(flow.flight > 0);
    flow.flight = 0;
}

/// The ACKs that a connection keeps say nothing to anybody once it is over.
fn discard_acks<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>) {
    let mut serial = None;
    for ack in flow.held.drain_by_arrival() {
        // Copies of one ACK, made because it stood for several ranges, are one packet.
        if serial.replace(ack.serial) != Some(ack.serial) {
            shared.verdicts.push_back(Verdict::Drop { packet: ack.packet, reason: DropReason::StaleAck });
        }
    }
    while let Some(ack) = flow.acks.pop() {
        shared.verdicts.push_back(Verdict::Drop { packet: ack.packet, reason: DropReason::StaleAck });
    }
}
