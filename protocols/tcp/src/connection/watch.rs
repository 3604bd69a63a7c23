//! The order in which segments leave and arrive, for a watch that compares the two (TCP-DOOR).
use super::receive_window::shift_for;
use super::{AckNeed, Connection, SegmentIn, State};
use crate::order::{OrderView, OrderWatch};
use alloc::boxed::Box;
use core::any::Any;
use prismux_units::Instant;
use prismux_wire::TcpFlags;

/// How far below the next number expected a late segment may lie, whatever the window.
const LEAST_REACH: i64 = 0xffff;

impl Connection {
    /// Lets `watch` mark what leaves and judge what arrives. To be called before the first transmit.
    pub fn set_order_watch(&mut self, watch: Box<dyn OrderWatch>) {
        self.engine.remember_reductions();
        self.order = Some(watch);
        if self.state == State::SynReceived {
            self.settle_order();
            let scaled = self.agreed.window_scaling;
            let shift = if scaled { shift_for(self.config.receive_buffer.as_u64()) } else { 0 };
            self.fit_engine(shift);
        }
    }

    /// The watch, if it is a `T`: for its counters.
    pub fn order_watch<T: OrderWatch>(&self) -> Option<&T> {
        let any: &dyn Any = self.order.as_deref()?;
        any.downcast_ref()
    }

    /// Both SYNs are known: marks take their place out of every data segment.
    pub(super) fn settle_order(&mut self) {
        if let Some(order) = &mut self.order {
            self.sending.segment_bytes -= order.settle(self.agreed.peer_marks_order);
        }
    }

    /// Shows a segment to the watch, before anything else judges it.
    pub(super) fn watch_order(&mut self, now: Instant, segment: &SegmentIn) {
        if !self.belongs_to_stream(segment) {
            return;
        }
        let view = OrderView { now, has_sent: self.sending.sent_end > 0, engine: &self.engine };
        let Some(order) = &mut self.order else { return };
        let response = order.on_arrival(segment, &view);
        if response.acknowledge && self.state.can_receive() {
            self.acking.need = AckNeed::Now;
        }
        if let Some(since) = response.restore_since {
            self.engine.restore(now, since);
        }
        if let Some(until) = response.freeze_until {
            self.engine.freeze(now, until, response.grows_while_frozen);
        }
    }

    /// A late segment lies below the window, and a timestamp test refuses it: the bounds here are wider, but still so
    /// narrow that a blind attacker has to guess both numbers.
    fn belongs_to_stream(&self, segment: &SegmentIn) -> bool {
        let header = &segment.header;
        let unusual = TcpFlags::RST | TcpFlags::SYN;
        if !header.flags.contains(TcpFlags::ACK) || header.flags.intersects(unusual) {
            return false;
        }
        let distance = i64::from(header.seq.distance_from(self.receiving.next_sequence()));
        let reach = LEAST_REACH.max(self.config.receive_buffer.as_u64() as i64);
        let ahead = self.receiving.window.advertised().saturating_sub(self.receiving.next());
        let reference = self.sending.initial + 1 + (self.sending.acknowledged as u32);
        let acked = i64::from(header.ack.distance_from(reference));
        let outstanding = self.sending.sent_end - self.sending.acknowledged;
        (-reach..=ahead as i64).contains(&distance)
            && (-(self.sending.largest_window as i64)..=outstanding as i64).contains(&acked)
    }
}
