//! Beyond the paper: the proxy resends what a link lost.
//!
//! A copy of every packet in flight is kept while the budget lasts. When the order on its link, or age, shows that a packet is
//! lost, the copy goes out over the best link and its ACKs stay held: the sender sees a little delay and no loss. After five
//! repairs of one packet, or without a copy, the paper's way is taken and the sender learns of the loss.
use crate::backlog;
use crate::flow::Flow;
use crate::flow::history::PacketState;
use crate::reverse_path::{Context, Loss};
use alloc::collections::VecDeque;
use prismux_wire::SeqNumber;

/// How often one packet is sent at most, the first time included, before the sender is told.
const MOST_SENDS: u8 = 6;
/// Delivered packets kept for probing other links.
const MOST_PROBES: usize = 6;

/// A packet as it went out.
#[derive(Debug, Clone)]
pub(crate) struct Copy<P> {
    pub(crate) seq: SeqNumber,
    pub(crate) length: u16,
    /// It went out more than once: whoever reports it as a duplicate may mean any of its copies.
    pub(crate) repeated: bool,
    pub(crate) packet: P,
}

/// Copies of one flow's packets, by rising sequence number.
#[derive(Debug)]
pub(crate) struct Copies<P> {
    in_flight: VecDeque<Copy<P>>,
    /// Packets that the receiver has: their arrival over another link measures that link and changes nothing else.
    delivered: VecDeque<Copy<P>>,
}

impl<P> Default for Copies<P> {
    fn default() -> Self {
        Self { in_flight: VecDeque::new(), delivered: VecDeque::new() }
    }
}

impl<P: Clone> Copies<P> {
    /// True when [`Copies::keep`] would keep a copy of the packet that starts at `seq`.
    pub(crate) fn takes(&self, seq: SeqNumber, used: u32, budget: u32) -> bool {
        used < budget && self.in_flight.back().is_none_or(|last| last.seq.before(seq))
    }

    /// Keeps a copy of a packet that follows all others; counts it in `used`.
    pub(crate) fn keep(&mut self, seq: SeqNumber, length: u16, packet: &P, used: &mut u32, budget: u32) {
        if self.takes(seq, *used, budget) {
            *used += 1;
            self.in_flight.push_back(Copy { seq, length, repeated: false, packet: packet.clone() });
        }
    }

    /// The copy of the packet that starts at `seq`.
    pub(crate) fn find(&self, seq: SeqNumber) -> Option<&Copy<P>> {
        let at = self.in_flight.partition_point(|copy| copy.seq.before(seq));
        self.in_flight.get(at).filter(|copy| copy.seq == seq)
    }

    /// True when there is a copy of the packet that starts at `seq`.
    pub(crate) fn has(&self, seq: SeqNumber) -> bool {
        self.find(seq).is_some()
    }

    /// Drops the copies that the cumulative ACK covers; the newest few remain as probes if `keep_probes`.
    pub(crate) fn trim(&mut self, cumulative: SeqNumber, keep_probes: bool, used: &mut u32) {
        while self.in_flight.front().is_some_and(|c| !(c.seq + u32::from(c.length)).after(cumulative)) {
            let copy = self.in_flight.pop_front();
            *used = used.saturating_sub(1);
            if keep_probes && let Some(copy) = copy.filter(|copy| copy.length > 1 && !copy.repeated) {
                if self.delivered.len() >= MOST_PROBES {
                    self.delivered.pop_front();
                }
                self.delivered.push_back(copy);
            }
        }
        if !keep_probes {
            self.delivered.clear();
        }
    }

    /// Packets within `[start, end)` go out once more: they are no good as probes.
    pub(crate) fn note_repeated(&mut self, start: SeqNumber, end: SeqNumber) {
        self.delivered.retain(|copy| copy.seq.before(start) || !copy.seq.before(end));
        let first = self.in_flight.partition_point(|copy| copy.seq.before(start));
        for copy in self.in_flight.range_mut(first..).take_while(|copy| copy.seq.before(end)) {
            copy.repeated = true;
        }
    }

    /// Takes a delivered packet to probe with, the newest.
    pub(crate) fn take_probe(&mut self) -> Option<Copy<P>> {
        self.delivered.pop_back()
    }

    /// Gives everything back to the budget.
    pub(crate) fn clear(&mut self, used: &mut u32) {
        *used = used.saturating_sub(self.in_flight.len() as u32);
        self.in_flight.clear();
        self.delivered.clear();
    }

    /// Bytes of memory, packets themselves apart.
    pub(crate) fn memory_bytes(&self) -> usize {
        (self.in_flight.capacity() + self.delivered.capacity()) * size_of::<Copy<P>>()
    }
}

/// Has resent what can be resent of the losses found in this step, as the links have room; the others stay on the list.
pub(crate) fn repair<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    if context.config.repair_budget_packets == 0 {
        return;
    }
    let mut lost = core::mem::take(&mut context.scratch.lost);
    lost.retain(|loss| !keep_for_repair(flow, loss, context));
    context.scratch.lost = lost;
    backlog::send(flow, context);
}

fn keep_for_repair<P: Clone>(flow: &mut Flow<P>, loss: &Loss, context: &mut Context<'_, P>) -> bool {
    let Some(at) = flow.history.find(loss.start) else { return false };
    let record = *flow.history.get(at);
    if record.state() != PacketState::Lost || record.sends() >= MOST_SENDS {
        return false;
    }
    if flow.copies.find(record.seq).is_none_or(|copy| copy.length != record.length) {
        return false;
    }
    flow.history.get_mut(at).set_state(PacketState::Waiting);
    flow.backlog.insert_repair(record.seq, record.length, &mut context.valve.kept);
    true
}
