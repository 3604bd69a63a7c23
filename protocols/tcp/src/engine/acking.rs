//! An acknowledgement, phase by phase: deliver, measure, detect, decide, adjust, arm.
use super::congestion::{AckSample, CongestionControl, CongestionSignal};
use super::core::Engine;
use super::delivery::Delivery;
use super::interface::{Ack, AckOutcome, Phase};
use prismux_units::{Duration, Instant};

/// What the phases of one acknowledgement tell each other.
#[derive(Debug, Clone)]
pub(super) struct AckContext {
    pub(super) now: Instant,
    pub(super) delivery: Delivery,
    /// The cumulative position moved.
    pub(super) advanced: bool,
    /// A duplicate in the sense of RFC 5681 (with SACK: RFC 6675 section 2).
    pub(super) duplicate: bool,
    pub(super) dsack: bool,
    /// By its timestamp the ACK answers a transmission before the first retransmission of this recovery.
    pub(super) echoed_before: bool,
    /// Segments were newly found lost.
    pub(super) newly_lost: bool,
    /// Phase before this ACK.
    pub(super) phase_before: Phase,
    /// Pipe before this ACK.
    pub(super) pipe_before: u64,
    /// The window was in full use before this ACK.
    pub(super) was_limited: bool,
    pub(super) rtt: Option<Duration>,
    /// What the RTT estimator took.
    pub(super) sample: Option<Duration>,
}

impl Engine {
    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack) -> AckOutcome {
        if ack.cumulative > self.next {
            return AckOutcome { beyond_sent: true, ..AckOutcome::default() };
        }
        self.burst = 0;
        if self.is_ns2() {
            return self.ns2_on_ack(now, ack);
        }
        let acked_before = self.acked;
        let mut context = self.deliver(now, ack);
        self.measure(ack, &mut context);
        self.note_duplicates(ack, &mut context);
        let mut outcome = AckOutcome {
            newly_acked: self.acked - acked_before,
            newly_delivered: context.delivery.bytes,
            rtt_sample: context.sample,
            ..AckOutcome::default()
        };
        let undone_before = self.counters.undone_reductions;
        if let Some(notice) = &ack.notice {
            outcome.window_reduced |= self.on_notice(now, notice);
        }
        self.undo_spurious(&context);
        context.newly_lost = self.detect_losses(&context);
        outcome.window_reduced |= self.decide(ack, &context);
        outcome.undone = self.counters.undone_reductions > undone_before;
        self.adjust_window(&context);
        self.arm(&context);
        outcome
    }

    /// Moves segments to acknowledged or sacked.
    fn deliver(&mut self, now: Instant, ack: &Ack) -> AckContext {
        let mut delivery = Delivery::new(self.recovery_point);
        let pipe_before = self.pipe();
        let was_limited = !self.config.window_validation || self.acked < self.limited_until;
        let advanced = ack.cumulative > self.acked;
        if advanced {
            self.board.acknowledge(ack.cumulative, &mut delivery);
            self.acked = ack.cumulative;
        }
        if self.config.sack && !ack.sack.is_empty() {
            let sent = self.next;
            for range in ack.sack.iter().filter(|range| range.end <= sent && range.end > ack.cumulative) {
                self.board.sack(range, &mut delivery);
            }
        }
        AckContext {
            now,
            delivery,
            advanced,
            duplicate: false,
            dsack: ack.dsack.is_some(),
            echoed_before: false,
            newly_lost: false,
            phase_before: self.phase,
            pipe_before,
            was_limited,
            rtt: None,
            sample: None,
        }
    }

    /// RTT, the newest delivery of RACK, reordering.
    fn measure(&mut self, ack: &Ack, context: &mut AckContext) {
        let now = context.now;
        let delivery = &context.delivery;
        if let Some(range) = &ack.dsack {
            self.on_dsack(range);
        }
        if ack.untimed {
            return;
        }
        let tick = self.config.timestamp_granularity;
        let echoed = ack.rtt_from_timestamp.filter(|&rtt| self.is_of_this_path(now - rtt, tick));
        let of_this_path = |sent_at: &Instant| self.is_of_this_path(*sent_at, Duration::ZERO);
        let (first_sent, last_sent) =
            (delivery.first_sent.filter(of_this_path), delivery.last_sent.filter(of_this_path));
        if let Some(rtt) = ack.rtt_from_timestamp {
            context.echoed_before = self.undo.was_sent_before(now - rtt, self.config.timestamp_granularity);
        }
        if let Some(sent_at) = last_sent {
            self.rtt.note_minimum(now, now - sent_at);
            context.rtt = Some(now - sent_at);
        }
        // Karn: nothing sent twice is timed, except by timestamp (RFC 7323 section 4.1 asks for an ACK of new data).
        // Between polls nothing is acknowledged: how long the oldest waited says little, the newest left just before the poll.
        let timing = if self.is_polled() { last_sent } else { first_sent };
        let timed = match timing {
            Some(sent_at) if !delivery.retransmitted => Some(now - sent_at),
            _ if context.advanced => echoed,
            _ => None,
        };
        context.sample = timed;
        if let Some(rtt) = timed {
            self.rtt.sample(now, rtt, self.acked, self.next);
        }
        if let Some(newest) = &delivery.newest
            && !(newest.retransmitted && (self.notices.several_paths() || self.repairs_old_path()))
            && self.is_of_this_path(newest.sent_at, Duration::ZERO)
        {
            let min_rtt = self.rtt.min_rtt();
            self.rack.update(now, newest, min_rtt, context.echoed_before);
        }
        if let Some(from) = delivery.reordered_from {
            self.on_reordering(from);
        }
    }

    /// Counts duplicate ACKs for a sender without SACK: each means a segment has left the network.
    fn note_duplicates(&mut self, ack: &Ack, context: &mut AckContext) {
        if context.advanced {
            self.dup_acks = 0;
            if self.returned_bytes > 0 {
                // One segment fills the hole; the rest are those the duplicates stood for, delivered already.
                let acked = context.delivery.bytes;
                context.delivery.bytes = acked.saturating_sub(self.returned_bytes).max(self.mss_bytes());
                self.returned_bytes =
                    self.returned_bytes.saturating_sub(acked.saturating_sub(self.mss_bytes()));
            }
            if self.acked >= self.recovery_point || self.board.is_empty() {
                self.returned_bytes = 0;
            }
            return;
        }
        context.duplicate = if self.config.sack {
            context.delivery.sacked_segments > 0
        } else {
            ack.is_pure && ack.cumulative == self.acked && !self.board.is_empty() && !context.dsack
        };
        if context.duplicate {
            self.dup_acks += 1;
            if !self.config.sack && self.phase != Phase::Loss {
                let in_flight = self.board.in_flight().bytes;
                self.returned_bytes = (self.returned_bytes + self.mss_bytes()).min(in_flight);
                context.delivery.bytes += self.mss_bytes();
            }
        }
    }

    /// Changes of phase. Returns whether the window was reduced.
    fn decide(&mut self, ack: &Ack, context: &AckContext) -> bool {
        if self.phase == Phase::Loss {
            self.continue_after_timeout(context);
        }
        if self.phase != Phase::Open && self.acked >= self.recovery_point {
            self.end_recovery();
        }
        let mut reduced = self.conclude_probe(context);
        if context.newly_lost || (self.board.lost().segments > 0 && self.phase == Phase::Open) {
            reduced |= self.on_losses(context);
        }
        if ack.ecn_echo && self.repairs_old_path() {
            self.counters.ecn_reductions += 1;
            reduced |= self.reduce_on_new_path(context, CongestionSignal::EcnMark);
        } else if ack.ecn_echo && self.phase == Phase::Open {
            self.counters.ecn_reductions += 1;
            self.begin_reduction(CongestionSignal::EcnMark, context.pipe_before);
            reduced = true;
        }
        reduced
    }

    /// The window after this ACK: down in recovery, up otherwise.
    fn adjust_window(&mut self, context: &AckContext) {
        match self.phase {
            Phase::Recovery | Phase::Reducing => self.reduce_window(context),
            // The ACK that ends a reduction has done its work.
            Phase::Open if matches!(context.phase_before, Phase::Recovery | Phase::Reducing) => {}
            Phase::Open | Phase::Loss => {
                let delivered = context.delivery.bytes;
                if delivered == 0 || !context.was_limited || !context.advanced {
                    return;
                }
                let sample = AckSample {
                    now: context.now,
                    bytes: delivered,
                    acked: self.acked,
                    next: self.next,
                    rtt: context.rtt,
                    srtt: self.rtt.srtt(),
                };
                self.congestion.on_ack(&sample, &mut self.window);
            }
        }
    }

    /// Timers after an ACK (RFC 6298 (5.2), (5.3)).
    fn arm(&mut self, context: &AckContext) {
        if self.board.is_empty() {
            self.rto_at = Instant::MAX;
            self.reorder_at = Instant::MAX;
            self.cancel_probe();
            return;
        }
        if context.advanced || self.is_polled() {
            self.rto_at = context.now + self.rtt.rto();
            self.schedule_probe(context.now);
        } else if self.board.sacked().segments > 0 {
            // RFC 8985 section 7.2: no probe while anything is selectively acknowledged.
            self.cancel_probe();
        }
    }
}
