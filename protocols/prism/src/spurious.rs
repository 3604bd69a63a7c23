//! Beyond the paper: what the sender sends again although the proxy has it in hand.
//!
//! While a hole is repaired the proxy keeps ACKs back, and the sender knows of none of the packets above the hole. If
//! its timer runs out, or an ACK tells it of a loss after all, it takes everything that it has no ACK for to be lost
//! and sends thousands of packets again that the receiver has, or that the proxy itself resends. They would take the
//! links' room for round trips. Such a packet ends here, as long as the proxy still expects to hear of the earlier
//! copy.
use crate::config::RpcMode;
use crate::flow::Flow;
use crate::flow::history::PacketState;
use crate::micros::Micros;
use crate::overdue;
use crate::shared::Shared;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// ACKs that have waited longer than this no longer excuse a retransmission.
const PATIENCE: Duration = Duration::from_secs(2);
/// So long where many flows wait for room: that is what keeps ACKs and packets waiting.
const PATIENCE_AMONG_MANY: Duration = Duration::from_secs(64);

/// True when the retransmission of `[start, end)` need not go to the receiver: its ACK is on its way, or the proxy
/// repairs.
pub(crate) fn is_spurious<P: Clone>(
    flow: &Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    shared: &Shared<P>,
    now: Instant,
) -> bool {
    if shared.config.rpc != RpcMode::Full || shared.config.repair_budget_packets == 0 {
        return false;
    }
    let patience = if shared.pacer.serves_many() { PATIENCE_AMONG_MANY } else { PATIENCE };
    if flow.receiver.as_ref().is_some_and(|receiver| !end.after(receiver.cumulative())) {
        // With its ACK gone already, the retransmission is how the sender asks for another.
        return flow.acks.oldest().is_some_and(|ack| Micros::at(now).since(ack.arrived) < patience)
            && flow.acks.highest().is_some_and(|highest| !end.after(highest))
            && end.after(flow.released);
    }
    let Some(at) = flow.history.find(start) else { return false };
    let record = flow.history.get(at);
    let age = Micros::at(now).since(record.sent);
    let in_time = || overdue::tail_limit(record, shared, now).is_some_and(|limit| age < limit);
    let has_copy = || flow.copies.find(start).is_some_and(|copy| copy.length == record.length);
    record.end() == end
        && match record.state() {
            PacketState::Delivered => age < patience,
            PacketState::InFlight => has_copy() && in_time(),
            PacketState::Waiting => has_copy() && age < patience,
            PacketState::Lost => false,
        }
}
