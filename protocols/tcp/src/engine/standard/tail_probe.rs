//! Tail loss probes: when to send one, what, and what its acknowledgement proves (RFC 8985 section 7).
use super::Standard;
use super::ack_context::AckContext;
use crate::engine::congestion::CongestionSignal;
use crate::engine::interface::{Phase, Send, SendKind, SendLimits};
use prismux_units::{Duration, Instant};

impl Standard {
    /// Section 7.2: a probe two round trips from now, while nothing is known to be missing.
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        self.probe.at = Instant::MAX;
        if !self.sender.config.tlp
            || self.sender.phase != Phase::Open
            || self.probe.outstanding.is_some()
            || self.sender.board.is_empty()
            || self.sender.board.sacked().segments > 0
            || self.sender.board.lost().segments > 0
            || self.sender.rtt.is_backed_off()
        {
            return;
        }
        let Some(srtt) = self.sender.rtt.srtt() else { return };
        let delayed =
            if self.sender.board.segments() == 1 { self.sender.config.max_ack_delay } else { Duration::ZERO };
        self.probe.at = (now + srtt * 2 + delayed).min(self.sender.rto_at);
    }

    /// Section 7.3: new data if the peer's window allows, else the highest outstanding segment.
    pub(super) fn tail_probe(&mut self, limits: &SendLimits) -> Option<Send> {
        let range = match self.sender.available(limits) {
            Some(length) => self.sender.next..self.sender.next + length,
            None => match self.sender.board.highest_unsacked() {
                Some(index) => self.sender.board.get(index).range(),
                None => {
                    self.probe.pending = false;
                    return None;
                }
            },
        };
        Some(Send { range, kind: SendKind::TailProbe })
    }

    /// The probe left; `self.sender.next` already includes it.
    pub(super) fn note_probe(&mut self, now: Instant, send: &Send) {
        self.sender.counters.tail_probes += 1;
        self.probe.pending = false;
        self.probe.at = Instant::MAX;
        let again = self
            .sender
            .board
            .find(send.range.start)
            .is_some_and(|i| self.sender.board.get(i).was_retransmitted());
        self.probe.outstanding = Some((self.sender.next, again));
        self.sender.rto_at = now + self.sender.rtt.rto();
    }

    /// Section 7.4: did the probe repair a loss that nothing else would have shown? Then the window has to fall.
    pub(super) fn conclude_probe(&mut self, context: &AckContext) -> bool {
        let Some((end, again)) = self.probe.outstanding else { return false };
        if self.sender.acked < end {
            return false;
        }
        if !again || context.dsack {
            // It carried new data, or the original had arrived too.
            self.probe.outstanding = None;
            return false;
        }
        if self.sender.acked == end {
            // Either copy may have arrived. A duplicate without news answers the second one.
            if !context.advanced && !context.duplicate {
                self.probe.outstanding = None;
            }
            return false;
        }
        self.probe.outstanding = None;
        if self.sender.phase != Phase::Open || self.sender.is_frozen(context.now) {
            return false;
        }
        self.begin_reduction(context.now, CongestionSignal::Loss, context.pipe_before);
        true
    }
}
