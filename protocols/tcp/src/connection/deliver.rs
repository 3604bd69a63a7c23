//! Phase *deliver*: payload, the peer's FIN, and whether to acknowledge at once
//! (RFC 9293 section 3.10.7.4, seventh and eighth check; RFC 5681 section 4.2).
use super::reassembly::Insertion;
use super::{AckNeed, Connection, Control, SegmentIn, State};
use crate::config::EcnEcho;
use prismux_units::Instant;
use prismux_wire::{Ecn, TcpFlags};

impl Connection {
    pub(super) fn deliver(&mut self, now: Instant, segment: &SegmentIn, start: i64) {
        if !self.state.can_receive() {
            // The peer sends beyond its FIN, or FIN again.
            self.acking.need = AckNeed::Now;
            return;
        }
        self.note_congestion(segment);
        if segment.payload_bytes > 0 {
            self.deliver_payload(now, segment, start);
        }
        if segment.header.flags.contains(TcpFlags::FIN) {
            self.note_fin(start + i64::from(segment.payload_bytes));
        }
        if self.receiving.fin_at() == Some(self.receiving.reassembly.next()) {
            self.receive_fin(now);
        }
    }

    /// CE is echoed until the sender says that it has reduced (RFC 3168 section 6.1.3), or segment by segment.
    fn note_congestion(&mut self, segment: &SegmentIn) {
        if !self.ecn.negotiated {
            return;
        }
        if self.config.ecn_echo == EcnEcho::EachSegment {
            return self.echo_each(segment);
        }
        let before = self.ecn.echo;
        if segment.header.flags.contains(TcpFlags::CWR) {
            self.ecn.echo = false;
        }
        if segment.ecn == Ecn::Ce {
            self.ecn.echo = true;
        }
        if before != self.ecn.echo {
            self.acking.need = AckNeed::Now;
        }
    }

    /// Where marks begin or end, what waits for its acknowledgement gets one of its own (RFC 8257 section 3.2).
    fn echo_each(&mut self, segment: &SegmentIn) {
        let marked = segment.ecn == Ecn::Ce;
        if segment.payload_bytes == 0 || marked == self.ecn.echo {
            return;
        }
        if self.acking.need == AckNeed::Delayed && self.control.is_none() {
            let ack = self.receiving.next_sequence();
            self.control = Some(Control::Echo { ack, marked: self.ecn.echo });
            (self.acking.need, self.acking.segments) = (AckNeed::None, 0);
            self.delayed_ack = Instant::MAX;
        }
        self.ecn.echo = marked;
    }

    fn deliver_payload(&mut self, now: Instant, segment: &SegmentIn, start: i64) {
        let end = start + i64::from(segment.payload_bytes);
        let asked_before = self.acking.need;
        let receiving = &mut self.receiving;
        let limit = receiving.fin_at().unwrap_or(u64::MAX).min(receiving.window.limit());
        let next = receiving.reassembly.next();
        // The accept phase lets in only what ends beyond `next`, so both are non-negative from here on.
        let (first, last) = (start.max(next as i64) as u64, (end.max(0) as u64).min(limit));
        if first > start.max(0) as u64 {
            receiving.reassembly.note_duplicate(&(start.max(0) as u64..first));
            self.counters.duplicate_bytes_received += first - start.max(0) as u64;
        }
        if first >= last {
            self.acking.need = AckNeed::Now;
            return;
        }
        let opens_gap = first > receiving.reassembly.highest().max(next);
        let insertion = receiving.reassembly.insert(first..last);
        if insertion == Insertion::Overflow {
            self.counters.drops.store_full += 1;
            self.acking.need = AckNeed::Now;
            return;
        }
        if insertion != Insertion::Duplicate {
            self.events.accepted((first as i64 - start) as u32, first, (last - first) as u32);
        }
        self.after_insertion(now, insertion, last - first);
        if self.is_polled()
            && matches!(insertion, Insertion::Advanced { .. } | Insertion::OutOfOrder)
            && !opens_gap
        {
            self.acking.need = asked_before;
            self.await_poll(now);
        }
    }

    fn after_insertion(&mut self, now: Instant, insertion: Insertion, bytes: u64) {
        match insertion {
            Insertion::Advanced { filled_gap } => {
                let next = self.receiving.reassembly.next();
                self.events.readable();
                if self.config.consume_on_arrival {
                    self.receiving.window.set_read(next);
                }
                if filled_gap {
                    self.acking.need = AckNeed::Now;
                } else {
                    self.schedule_ack(now);
                }
            }
            Insertion::OutOfOrder => {
                self.counters.out_of_order_segments += 1;
                self.acking.need = AckNeed::Now;
            }
            Insertion::Duplicate | Insertion::Overflow => {
                self.counters.duplicate_bytes_received += bytes;
                self.acking.need = AckNeed::Now;
            }
        }
    }

    /// An in-order segment: at least every second one is acknowledged at once.
    fn schedule_ack(&mut self, now: Instant) {
        let acking = &mut self.acking;
        acking.segments = acking.segments.saturating_add(1);
        match self.config.delayed_ack {
            Some(delay) if acking.quick == 0 && acking.segments < 2 => {
                if acking.need == AckNeed::None {
                    acking.need = AckNeed::Delayed;
                    self.delayed_ack = now + delay;
                }
            }
            _ => {
                acking.quick = acking.quick.saturating_sub(1);
                acking.need = AckNeed::Now;
            }
        }
    }

    /// Remembers where the peer's stream ends; a FIN below data that already arrived is a lie.
    fn note_fin(&mut self, position: i64) {
        let Ok(position) = u64::try_from(position) else { return };
        let plausible = position >= self.receiving.reassembly.highest()
            && position <= self.receiving.window.advertised().max(self.receiving.reassembly.next());
        if !self.receiving.fin_seen && plausible {
            (self.receiving.fin_seen, self.receiving.fin_position) = (true, position);
        }
        self.acking.need = AckNeed::Now;
    }

    fn receive_fin(&mut self, now: Instant) {
        self.receiving.closed = true;
        self.acking.need = AckNeed::Now;
        self.events.peer_closed();
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.start_time_wait(now),
            _ => {}
        }
    }
}
