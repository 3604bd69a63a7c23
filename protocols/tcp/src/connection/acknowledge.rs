//! Phase *acknowledge*: what the peer has, what it allows, and what follows for our states
//! (RFC 9293 section 3.10.7.4, fifth check).
use super::accept::Accepted;
use super::{Connection, SegmentIn, State};
use crate::engine::{Ack, AckOutcome, SackRanges};
use core::ops::Range;
use prismux_units::Instant;
use prismux_wire::{SackBlock, TcpFlags, TcpHeader};

impl Connection {
    pub(super) fn acknowledge(&mut self, now: Instant, segment: &SegmentIn, accepted: &Accepted) {
        let header = &segment.header;
        let window_changed = self.update_send_window(header.window, accepted);
        let advanced = accepted.ack > self.sending.acknowledged;
        let sack = self.agreed.sack && !header.options.sack.is_empty();
        let handoff = header.options.handoff.is_some() && self.extended;
        if !advanced && !sack && !handoff && !self.has_outstanding() {
            return;
        }
        let silent = segment.payload_bytes == 0 && !header.flags.contains(TcpFlags::FIN);
        let is_pure = silent && !window_changed && !accepted.old_ack;
        let notice = self.consult_extension(now, header);
        let echo = self.ecn.negotiated && header.flags.contains(TcpFlags::ECE);
        let mut outcome = AckOutcome::default();
        if advanced || is_pure || sack || echo || notice.is_some() {
            let ack = Ack {
                cumulative: accepted.ack,
                is_pure: is_pure && !handoff,
                untimed: handoff,
                notice,
                ..Ack::default()
            };
            outcome = self.tell_engine(now, header, ack, echo);
        }
        if advanced {
            self.advance_acknowledged(now, accepted.ack);
        }
        self.let_steer(now, |extension, view| extension.steer(header, &outcome, view));
    }

    fn tell_engine(&mut self, now: Instant, header: &TcpHeader, mut ack: Ack, echo: bool) -> AckOutcome {
        if self.agreed.sack && !header.options.sack.is_empty() {
            self.read_sack(header, &mut ack);
        }
        if let Some(timestamps) = header.options.timestamps.filter(|t| self.agreed.timestamps && t.echo != 0)
        {
            ack.rtt_from_timestamp = self.clock.elapsed(now, timestamps.echo);
        }
        ack.marked = echo;
        if echo && ack.cumulative >= self.ecn_reduced_until {
            ack.ecn_echo = true;
            self.ecn_reduced_until = self.sending.sent_end;
        }
        let outcome = self.engine.on_ack(now, &ack);
        // Whatever the reason of the reduction (RFC 3168 section 6.1.2).
        self.ecn.cwr_due |= outcome.window_reduced || ack.ecn_echo;
        outcome
    }

    fn advance_acknowledged(&mut self, now: Instant, ack: u64) {
        self.sending.acknowledged = ack;
        self.progress_at = now;
        self.events.acknowledged();
        if self.sending.fin && ack == self.stream_end() {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.start_time_wait(now),
                State::LastAck => self.enter_closed(),
                _ => {}
            }
        }
    }

    /// SND.WND: taken from newer segments, or from equally new ones that open it; a late segment must not
    /// take back what a later one allowed. Says whether the window field differs from the last one.
    fn update_send_window(&mut self, field: u16, accepted: &Accepted) -> bool {
        if accepted.old_ack {
            return false;
        }
        let sending = &mut self.sending;
        let changed = field != sending.window_field;
        let start = accepted.start.max(0) as u64;
        let window = u64::from(field) << sending.shift;
        let edge = accepted.ack + window;
        let newer = accepted.ack > sending.acknowledged || start > sending.window_from;
        if newer || (start == sending.window_from && edge > sending.window_end) {
            sending.window_from = start;
            sending.window_field = field;
            sending.window_end = edge;
            sending.largest_window = sending.largest_window.max(window);
            if edge > sending.sent_end {
                self.timers.window_opened();
            }
        }
        changed
    }

    pub(super) fn set_window_end(&mut self, window: u64) {
        self.sending.window_end = self.sending.acknowledged + window;
        self.sending.largest_window = self.sending.largest_window.max(window);
    }

    /// SACK blocks as positions. The first may be a DSACK block: below the cumulative acknowledgement or
    /// inside the second block (RFC 2883 section 4). Blocks of things never sent are ignored.
    fn read_sack(&self, header: &TcpHeader, ack: &mut Ack) {
        let blocks = header.options.sack.as_slice();
        let mut ranges = SackRanges::default();
        for (index, block) in blocks.iter().enumerate() {
            let Some(range) = self.sack_range(block) else { continue };
            let second = blocks.get(1).and_then(|block| self.sack_range(block));
            let inside = |outer: Range<u64>| outer.start <= range.start && range.end <= outer.end;
            if index == 0 && (range.end <= ack.cumulative || second.is_some_and(inside)) {
                ack.dsack = Some(range);
            } else if range.start >= ack.cumulative {
                ranges.push(range);
            }
        }
        ack.sack = ranges;
    }

    fn sack_range(&self, block: &SackBlock) -> Option<Range<u64>> {
        let origin = self.sending.initial + 1;
        let start = block.start.unwrap_near(origin, self.sending.acknowledged)?;
        let end = block.end.unwrap_near(origin, self.sending.acknowledged)?;
        (start < end && end <= self.sending.sent_end).then_some(start..end)
    }
}
