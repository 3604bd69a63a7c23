//! What to send next (RFC 6675 `NextSeg`, limited transmit of RFC 3042, idle restart), and the note that it was sent.
use super::core::Engine;
use super::interface::{Phase, Send, SendKind, SendLimits};
use super::scoreboard::{Index, SegmentState};
use prismux_units::Instant;

impl Engine {
    /// The next transmission, or `None` if nothing may be sent now. Changes nothing that matters: the same call
    /// gives the same answer until [`Engine::on_sent`].
    pub fn poll_send(&mut self, now: Instant, limits: &SendLimits) -> Option<Send> {
        if self.config.max_burst.is_some_and(|most| self.burst >= most) && !self.board.is_empty() {
            return None;
        }
        if self.is_ns2() {
            return self.ns2_poll_send(limits);
        }
        if self.probe.pending
            && let Some(probe) = self.tail_probe(limits)
        {
            return Some(probe);
        }
        if let Some(send) = self.urgent_retransmission() {
            return Some(send);
        }
        if self.undo.wants_new_data() {
            if let Some(send) = self.new_data(limits, self.pipe()) {
                return Some(send);
            }
            if self.next == self.recovery_point {
                // No new data to judge the timeout by: recover in the ordinary way (RFC 5682 section 2.1 step 2b).
                self.undo.stop_watching_timeout();
            } else {
                return None;
            }
        }
        if let Some(index) = self.board.first_lost() {
            return self.next_retransmission(index);
        }
        if self.board.is_empty() && self.available(limits).is_some() {
            self.restart_after_idle(now);
        }
        let pipe = self.pipe_for_new_data();
        self.new_data(limits, pipe).or_else(|| self.rescue(limits))
    }

    /// A retransmission that does not wait for the window: the fast retransmit, a loss notice, a timeout.
    fn urgent_retransmission(&mut self) -> Option<Send> {
        let position = self.urgent?;
        let found = self.board.find(position).map(|index| *self.board.get(index));
        match found {
            Some(segment) if segment.state == SegmentState::Lost => {
                Some(Send { range: segment.range(), kind: SendKind::Retransmission })
            }
            _ => {
                self.urgent = None;
                None
            }
        }
    }

    fn next_retransmission(&mut self, index: Index) -> Option<Send> {
        let segment = *self.board.get(index);
        let pipe = self.pipe();
        let at_once = self.is_polled() && self.phase == Phase::Recovery;
        if !at_once && pipe > 0 && pipe + u64::from(segment.length) > self.window.cwnd {
            self.limited_until = self.next;
            return None;
        }
        Some(Send { range: segment.range(), kind: SendKind::Retransmission })
    }

    /// What counts against the window for new data. Limited transmit (RFC 3042) lets each of the first duplicates
    /// release a segment; without it, segments leave the pipe only once recovery has begun.
    fn pipe_for_new_data(&self) -> u64 {
        let pipe = self.pipe();
        if self.config.limited_transmit || self.phase == Phase::Recovery || self.phase == Phase::Loss {
            return pipe;
        }
        pipe + self.board.sacked().bytes + self.returned_bytes
    }

    /// New data within the peer's window and, with `pipe` in flight, the congestion window.
    pub(super) fn new_data(&mut self, limits: &SendLimits, pipe: u64) -> Option<Send> {
        let length = self.available(limits)?;
        if pipe > 0 && pipe + length > self.window.cwnd {
            self.limited_until = self.next.max(1);
            return None;
        }
        Some(Send { range: self.next..self.next + length, kind: SendKind::New })
    }

    /// Length of the next new segment that the peer's window, Nagle and silly-window avoidance allow.
    pub(super) fn available(&self, limits: &SendLimits) -> Option<u64> {
        let full = u64::from(limits.max_segment_bytes.min(self.window.mss)).max(1);
        let usable = limits.stream_end.min(limits.window_end).saturating_sub(self.next);
        if usable == 0 {
            return None;
        }
        let length = usable.min(full);
        if length < full && !self.board.is_empty() {
            let cut_by_window = limits.window_end < limits.stream_end;
            // RFC 9293 section 3.8.6.2.1: wait for a full segment's worth of window, or for Nagle's ACK.
            if cut_by_window || limits.nagle {
                return None;
            }
        }
        Some(length)
    }

    /// RFC 6675 `NextSeg` rule 4: once per recovery, when nothing else can be sent, the highest outstanding
    /// segment again, so that an ACK returns. RACK has tail probes for this.
    fn rescue(&mut self, limits: &SendLimits) -> Option<Send> {
        if self.phase != Phase::Recovery || self.rescued || self.config.rack || !self.config.sack {
            return None;
        }
        if self.notices.govern() || self.is_polled() {
            // Reports stand in for the ACK it would provoke.
            return None;
        }
        let full = u64::from(limits.max_segment_bytes);
        if self.available(limits).is_some() || self.pipe() + full > self.window.cwnd {
            return None;
        }
        let segment = *self.board.get(self.board.highest_unsacked()?);
        if segment.was_retransmitted() {
            return None;
        }
        Some(Send { range: segment.range(), kind: SendKind::Retransmission })
    }

    /// RFC 5681 section 4.1, halving per timeout of idleness instead of starting over (RFC 7661, Linux).
    fn restart_after_idle(&mut self, now: Instant) {
        if !self.config.idle_restart || self.counters.segments_sent == 0 {
            return;
        }
        let idle = now - self.last_sent;
        let rto = self.rtt.rto();
        if idle <= rto {
            return;
        }
        let restart = self.mss_bytes() * u64::from(self.config.initial_window_segments.max(1));
        let restart = restart.min(self.window.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd / 4 * 3);
        let mut left = idle;
        while left > rto && self.window.cwnd > restart {
            self.window.cwnd /= 2;
            left = left - rto;
        }
        self.window.cwnd = self.window.cwnd.max(restart);
        super::congestion::CongestionControl::on_idle(&mut self.congestion, idle);
        self.last_sent = now;
    }

    /// Records that `send` left at `now` and arms the timers.
    pub fn on_sent(&mut self, now: Instant, send: &Send) {
        let length = send.length();
        self.counters.segments_sent += 1;
        self.burst += 1;
        self.last_sent = now;
        if self.is_ns2() {
            return self.ns2_on_sent(now, send);
        }
        if send.range.start >= self.next {
            self.board.push(send.range.start, length as u32, now);
            self.next = send.range.end;
            if self.rto_at == Instant::MAX {
                self.rto_at = now + self.rtt.rto();
            }
        } else {
            self.note_retransmission(now, send);
        }
        if self.phase != Phase::Open {
            self.prr.on_sent(length);
        }
        match send.kind {
            SendKind::TailProbe => self.note_probe(now, send),
            _ => self.schedule_probe(now),
        }
    }

    pub(super) fn note_retransmission(&mut self, now: Instant, send: &Send) {
        let Some(index) = self.board.find(send.range.start) else { return };
        let segment = *self.board.get(index);
        if segment.state == SegmentState::Sacked {
            return;
        }
        self.counters.retransmitted_segments += 1;
        if self.urgent == Some(segment.start) {
            self.urgent = None;
        }
        if self.phase == Phase::Recovery && segment.state == SegmentState::InFlight {
            self.rescued = true;
        }
        self.board.retransmit(index, now);
        self.undo.on_retransmission(now);
        if self.board.head() == Some(index) || self.rto_at == Instant::MAX {
            // The timer covers the segment the receiver waits for; it has just been sent anew.
            self.rto_at = now + self.rtt.rto();
        }
    }
}
