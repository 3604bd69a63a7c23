//! What to send next (RFC 6675 `NextSeg`, limited transmit of RFC 3042, idle restart), and the note that it was sent.
use super::Standard;
use crate::engine::congestion::CongestionControl;
use crate::engine::interface::{Phase, Send, SendKind, SendLimits};
use crate::engine::scoreboard::{Index, SegmentState};
use crate::engine::sender::Urgent;
use prismux_units::Instant;

impl Standard {
    pub(crate) fn poll_send(&mut self, now: Instant, limits: &SendLimits) -> Option<Send> {
        if self.probe.pending
            && let Some(probe) = self.tail_probe(limits)
        {
            return Some(probe);
        }
        if let Some(send) = self.sender.urgent_retransmission() {
            return Some(send);
        }
        if self.undo.wants_new_data() {
            if let Some(send) = self.new_data(now, limits, self.pipe()) {
                return Some(send);
            }
            if self.sender.next == self.sender.recovery_point {
                // No new data to judge the timeout by: recover in the ordinary way (RFC 5682 section 2.1 step 2b).
                self.undo.stop_watching_timeout();
            } else {
                return None;
            }
        }
        if let Some(index) = self.sender.board.first_lost() {
            return self.next_retransmission(now, index);
        }
        if self.sender.board.is_empty() && self.sender.available(limits).is_some() {
            self.restart_after_idle(now);
        }
        let pipe = self.pipe_for_new_data();
        let send = self.new_data(now, limits, pipe).or_else(|| self.rescue(limits));
        if send.is_none() && self.is_rate_based() {
            self.note_app_limit(limits);
        }
        send
    }

    fn next_retransmission(&mut self, now: Instant, index: Index) -> Option<Send> {
        let segment = *self.sender.board.get(index);
        let pipe = self.pipe();
        let at_once = self.sender.is_polled() && self.sender.phase == Phase::Recovery;
        if !at_once && pipe > 0 && pipe + u64::from(segment.length) > self.sender.window.cwnd {
            self.limited_until = self.sender.next;
            return None;
        }
        if self.is_held(now) {
            return None;
        }
        Some(Send { range: segment.range(), kind: SendKind::Retransmission })
    }

    /// What counts against the window for new data. Limited transmit (RFC 3042) lets each of the first duplicates
    /// release a segment; without it, segments leave the pipe only once recovery has begun.
    fn pipe_for_new_data(&self) -> u64 {
        let pipe = self.pipe();
        if self.sender.switches.limited_transmit
            || self.sender.phase == Phase::Recovery
            || self.sender.phase == Phase::Loss
        {
            return pipe;
        }
        pipe + self.sender.board.sacked().bytes + self.returned_bytes
    }

    /// New data within the peer's window and, with `pipe` in flight, the congestion window.
    pub(super) fn new_data(&mut self, now: Instant, limits: &SendLimits, pipe: u64) -> Option<Send> {
        let length = self.sender.available(limits)?;
        if pipe > 0 && pipe + length > self.sender.window.cwnd {
            self.note_window_limit();
            return None;
        }
        if self.is_held(now) {
            return None;
        }
        Some(Send { range: self.sender.next..self.sender.next + length, kind: SendKind::New })
    }

    /// RFC 6675 `NextSeg` rule 4: once per recovery, when nothing else can be sent, the highest outstanding
    /// segment again, so that an ACK returns. RACK has tail probes for this.
    fn rescue(&mut self, limits: &SendLimits) -> Option<Send> {
        if self.sender.phase != Phase::Recovery
            || self.rescued
            || self.sender.config.rack
            || !self.sender.switches.sack
        {
            return None;
        }
        if self.sender.notices.govern() || self.sender.is_polled() {
            // Reports stand in for the ACK it would provoke.
            return None;
        }
        let full = u64::from(limits.max_segment_bytes);
        if self.sender.available(limits).is_some() || self.pipe() + full > self.sender.window.cwnd {
            return None;
        }
        let segment = *self.sender.board.get(self.sender.board.highest_unsacked()?);
        if segment.was_retransmitted() {
            return None;
        }
        Some(Send { range: segment.range(), kind: SendKind::Retransmission })
    }

    /// RFC 5681 section 4.1, halving per timeout of idleness instead of starting over (RFC 7661, Linux).
    fn restart_after_idle(&mut self, now: Instant) {
        let idle = now - self.sender.last_sent;
        if self.is_rate_based() {
            return self.sender.congestion.on_idle(idle);
        }
        let frozen = self.sender.is_frozen(now);
        if !self.sender.config.idle_restart || self.sender.counters.segments_sent == 0 || frozen {
            return;
        }
        let rto = self.sender.rtt.rto();
        if idle <= rto {
            return;
        }
        let restart = self.sender.mss_bytes() * u64::from(self.sender.config.initial_window_segments.max(1));
        let restart = restart.min(self.sender.window.cwnd);
        self.sender.window.ssthresh = self.sender.window.ssthresh.max(self.sender.window.cwnd / 4 * 3);
        let mut left = idle;
        while left > rto && self.sender.window.cwnd > restart {
            self.sender.window.cwnd /= 2;
            left = left - rto;
        }
        self.sender.window.cwnd = self.sender.window.cwnd.max(restart);
        self.sender.congestion.on_idle(idle);
        self.sender.last_sent = now;
    }

    pub(crate) fn on_sent(&mut self, now: Instant, send: &Send) {
        let length = send.length();
        self.note_rates(now, send);
        if send.range.start >= self.sender.next {
            self.sender.board.push(send.range.start, length as u32, now);
            self.sender.next = send.range.end;
            if self.sender.rto_at == Instant::MAX {
                self.sender.rto_at = now + self.sender.rtt.rto();
            }
        } else {
            self.note_retransmission(now, send);
        }
        if self.sender.phase != Phase::Open {
            self.prr.on_sent(length);
        }
        match send.kind {
            SendKind::TailProbe => self.note_probe(now, send),
            _ => self.schedule_probe(now),
        }
    }

    pub(super) fn note_retransmission(&mut self, now: Instant, send: &Send) {
        let Some(index) = self.sender.board.find(send.range.start) else { return };
        let segment = *self.sender.board.get(index);
        if segment.state == SegmentState::Sacked {
            return;
        }
        self.sender.counters.retransmitted_segments += 1;
        if self.sender.urgent.position() == Some(segment.start) {
            self.sender.urgent = Urgent::NONE;
        }
        if self.sender.phase == Phase::Recovery && segment.state == SegmentState::InFlight {
            self.rescued = true;
        }
        self.sender.board.retransmit(index, now);
        self.undo.on_retransmission(now);
        if self.sender.board.head() == Some(index) || self.sender.rto_at == Instant::MAX {
            // The timer covers the segment the receiver waits for; it has just been sent anew.
            self.sender.rto_at = now + self.sender.rtt.rto();
        }
    }
}
