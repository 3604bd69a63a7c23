//! Phase *choose*: what the next segment is for.
use super::{AckNeed, Connection, SegmentOut, State};
use crate::engine::{Send, SendLimits};
use prismux_units::Instant;

impl Connection {
    pub(super) fn choose(&mut self, now: Instant) -> Option<SegmentOut> {
        if let Some(control) = self.control.take() {
            return Some(self.build_control(now, control));
        }
        let acknowledges = self.acking.need == AckNeed::Now;
        if acknowledges && self.receiving.reassembly.has_news() {
            // Gaps and duplicates are reported by ACKs without data: they count as duplicate ACKs at the
            // peer, and data segments keep their size.
            return Some(self.build_ack(now));
        }
        if self.state.may_transmit_data() {
            if let Some(poll) = self.poll_between(now) {
                return Some(poll);
            }
            if let Some(send) = self.choose_data(now) {
                return Some(self.build_data(now, &send));
            }
            if let Some(poll) = self.poll_peer(now) {
                return Some(poll);
            }
            self.guard_closed_window(now);
        }
        (acknowledges && self.state != State::Closed).then(|| self.build_ack(now))
    }

    fn choose_data(&mut self, now: Instant) -> Option<Send> {
        let stream_end = self.stream_end();
        let idle = !self.has_outstanding();
        if idle && self.sending.sent_end == stream_end {
            return None;
        }
        let limits = SendLimits {
            stream_end,
            window_end: self.sensible_window_end(stream_end),
            max_segment_bytes: self.sending.segment_bytes,
            nagle: self.config.nagle && !self.sending.fin,
        };
        let send = self.engine.poll_send(now, &limits)?;
        self.engine.on_sent(now, &send);
        if self.is_polled() {
            self.polling.data_left(send.length());
        }
        if idle {
            self.progress_at = now;
        }
        self.sending.override_silly = false;
        self.sending.sent_end = self.sending.sent_end.max(send.range.end);
        Some(send)
    }

    /// The right edge as far as it is worth using (RFC 9293 section 3.8.6.2.1): room for less than a full
    /// segment is left alone unless it takes all there is or half of the largest window ever offered.
    fn sensible_window_end(&self, stream_end: u64) -> u64 {
        let sending = &self.sending;
        let usable = sending.window_end.saturating_sub(sending.sent_end);
        let unsent = stream_end - sending.sent_end;
        let silly = usable < unsent
            && usable < u64::from(sending.segment_bytes)
            && usable < sending.largest_window / 2;
        if silly && !sending.override_silly {
            sending.window_end.min(sending.sent_end)
        } else {
            sending.window_end
        }
    }

    /// Nothing is on the way, something waits, and the window does not let it go: only a probe can tell
    /// when it opens (RFC 9293 section 3.8.6.1).
    fn guard_closed_window(&mut self, now: Instant) {
        let waiting = !self.has_outstanding() && self.sending.sent_end < self.stream_end();
        if waiting && self.timers.persist() == Instant::MAX {
            self.start_persist(now);
        }
    }
}
