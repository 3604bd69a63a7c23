//! Tail loss probes (RFC 8985 section 7): when the end of a flight is silent, one segment provokes an ACK that lets
//! losses be repaired without waiting for the timeout.
use super::acking::AckContext;
use super::congestion::CongestionSignal;
use super::core::Engine;
use super::interface::{Phase, Send, SendKind, SendLimits};
use prismux_units::{Duration, Instant};

/// Section 7.1 variables.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    /// When the next probe is due.
    pub(super) at: Instant,
    /// The timer fired; the probe waits to be sent.
    pub(super) pending: bool,
    /// TLP.end_seq and TLP.is_retrans of the probe under way.
    outstanding: Option<(u64, bool)>,
}

impl Probe {
    pub(super) fn new() -> Self {
        Self { at: Instant::MAX, pending: false, outstanding: None }
    }
}

impl Engine {
    /// Section 7.2: a probe two round trips from now, while nothing is known to be missing.
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        self.probe.at = Instant::MAX;
        if !self.config.tlp
            || self.phase != Phase::Open
            || self.probe.outstanding.is_some()
            || self.board.is_empty()
            || self.board.sacked().segments > 0
            || self.board.lost().segments > 0
            || self.rtt.is_backed_off()
        {
            return;
        }
        let Some(srtt) = self.rtt.srtt() else { return };
        let delayed = if self.board.segments() == 1 { self.config.max_ack_delay } else { Duration::ZERO };
        self.probe.at = (now + srtt * 2 + delayed).min(self.rto_at);
    }

    pub(super) fn cancel_probe(&mut self) {
        self.probe.at = Instant::MAX;
        self.probe.pending = false;
    }

    /// Section 7.3: new data if the peer's window allows, else the highest outstanding segment.
    pub(super) fn tail_probe(&mut self, limits: &SendLimits) -> Option<Send> {
        let range = match self.available(limits) {
            Some(length) => self.next..self.next + length,
            None => match self.board.highest_unsacked() {
                Some(index) => self.board.get(index).range(),
                None => {
                    self.probe.pending = false;
                    return None;
                }
            },
        };
        Some(Send { range, kind: SendKind::TailProbe })
    }

    /// The probe left; `self.next` already includes it.
    pub(super) fn note_probe(&mut self, now: Instant, send: &Send) {
        self.counters.tail_probes += 1;
        self.probe.pending = false;
        self.probe.at = Instant::MAX;
        let again = self.board.find(send.range.start).is_some_and(|i| self.board.get(i).was_retransmitted());
        self.probe.outstanding = Some((self.next, again));
        self.rto_at = now + self.rtt.rto();
    }

    /// Section 7.4: did the probe repair a loss that nothing else would have shown? Then the window has to fall.
    pub(super) fn conclude_probe(&mut self, context: &AckContext) -> bool {
        let Some((end, again)) = self.probe.outstanding else { return false };
        if self.acked < end {
            return false;
        }
        if !again || context.dsack {
            // It carried new data, or the original had arrived too.
            self.probe.outstanding = None;
            return false;
        }
        if self.acked == end {
            // Either copy may have arrived. A duplicate without news answers the second one.
            if !context.advanced && !context.duplicate {
                self.probe.outstanding = None;
            }
            return false;
        }
        self.probe.outstanding = None;
        if self.phase != Phase::Open {
            return false;
        }
        self.begin_reduction(CongestionSignal::Loss, context.pipe_before);
        true
    }

    /// A timeout makes the probe's outcome irrelevant.
    pub(super) fn forget_probe(&mut self) {
        self.probe.outstanding = None;
    }
}
