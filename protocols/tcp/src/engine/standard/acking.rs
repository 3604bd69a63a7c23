//! An acknowledgement, phase by phase: deliver, measure, detect, decide, adjust, arm.
use super::Standard;
use super::ack_context::AckContext;
use super::rate_based::News;
use crate::engine::congestion::{AckSample, CongestionControl, CongestionSignal};
use crate::engine::delivery::Delivery;
use crate::engine::interface::{Ack, AckOutcome, Phase};
use prismux_units::{Duration, Instant};

impl Standard {
    pub(crate) fn on_ack(&mut self, now: Instant, ack: &Ack) -> AckOutcome {
        let acked_before = self.sender.acked;
        let mut context = self.deliver(now, ack);
        self.measure(ack, &mut context);
        self.note_duplicates(ack, &mut context);
        self.sender.congestion.on_delivered(context.delivery.bytes, ack.marked);
        let mut outcome = AckOutcome {
            newly_acked: self.sender.acked - acked_before,
            newly_delivered: context.delivery.bytes,
            rtt_sample: context.sample,
            ..AckOutcome::default()
        };
        let undone_before = self.sender.counters.undone_reductions;
        if let Some(notice) = &ack.notice {
            outcome.window_reduced |= self.on_notice(now, notice);
        }
        self.undo_spurious(&context);
        context.newly_lost = self.detect_losses(&context);
        outcome.window_reduced |= self.decide(ack, &context);
        outcome.undone = self.sender.counters.undone_reductions > undone_before;
        self.adjust_window(&context);
        self.arm(&context);
        outcome
    }

    /// Moves segments to acknowledged or sacked.
    fn deliver(&mut self, now: Instant, ack: &Ack) -> AckContext {
        let mut delivery = Delivery::new(self.sender.recovery_point);
        let pipe_before = self.pipe();
        let was_limited = !self.sender.config.window_validation || self.sender.acked < self.limited_until;
        let advanced = ack.cumulative > self.sender.acked;
        if advanced {
            self.sender.board.acknowledge(ack.cumulative, &mut delivery);
            self.sender.acked = ack.cumulative;
        }
        if self.sender.switches.sack && !ack.sack.is_empty() {
            let sent = self.sender.next;
            for range in ack.sack.iter().filter(|range| range.end <= sent && range.end > ack.cumulative) {
                self.sender.board.sack(range, &mut delivery);
            }
        }
        AckContext {
            now,
            delivery,
            advanced,
            duplicate: false,
            dsack: ack.dsack.is_some(),
            is_marked: ack.marked,
            echoed_before: false,
            newly_lost: false,
            phase_before: self.sender.phase,
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
        let tick = self.sender.config.timestamp_granularity;
        let echoed = ack.rtt_from_timestamp.filter(|&rtt| self.is_of_this_path(now - rtt, tick));
        let of_this_path = |sent_at: &Instant| self.is_of_this_path(*sent_at, Duration::ZERO);
        let (first_sent, last_sent) =
            (delivery.first_sent.filter(of_this_path), delivery.last_sent.filter(of_this_path));
        if let Some(rtt) = ack.rtt_from_timestamp {
            context.echoed_before =
                self.undo.was_sent_before(now - rtt, self.sender.config.timestamp_granularity);
        }
        if let Some(sent_at) = last_sent {
            self.sender.rtt.note_minimum(now, now - sent_at);
            context.rtt = Some(now - sent_at);
        }
        // Karn: nothing sent twice is timed, except by timestamp (RFC 7323 section 4.1 asks for an ACK of new data).
        // Between polls nothing is acknowledged: how long the oldest waited says little, the newest left just before
        // the poll.
        let timing = if self.sender.is_polled() { last_sent } else { first_sent };
        let timed = match timing {
            Some(sent_at) if !delivery.retransmitted => Some(now - sent_at),
            _ if context.advanced => echoed,
            _ => None,
        };
        context.sample = timed;
        if let Some(rtt) = timed
            && !self.sender.take_rtt_sample(now, rtt)
        {
            context.sample = None;
        }
        if let Some(newest) = &delivery.newest
            && !(newest.retransmitted && (self.sender.notices.several_paths() || self.repairs_old_path()))
            && self.is_of_this_path(newest.sent_at, Duration::ZERO)
        {
            let min_rtt = self.sender.rtt.min_rtt();
            self.rack.update(now, newest, min_rtt, context.echoed_before);
        }
        if let Some(from) = delivery.reordered_from {
            self.on_reordering(from);
        }
    }

    /// Counts duplicate ACKs for a sender without SACK: each means a segment has left the network.
    fn note_duplicates(&mut self, ack: &Ack, context: &mut AckContext) {
        if context.advanced {
            self.sender.dup_acks = 0;
            if self.returned_bytes > 0 {
                // One segment fills the hole; the rest are those the duplicates stood for, delivered already.
                let acked = context.delivery.bytes;
                context.delivery.bytes =
                    acked.saturating_sub(self.returned_bytes).max(self.sender.mss_bytes());
                self.returned_bytes =
                    self.returned_bytes.saturating_sub(acked.saturating_sub(self.sender.mss_bytes()));
            }
            if self.sender.acked >= self.sender.recovery_point || self.sender.board.is_empty() {
                self.returned_bytes = 0;
            }
            return;
        }
        context.duplicate = if self.sender.switches.sack {
            context.delivery.sacked_segments > 0
        } else {
            ack.is_pure
                && !ack.waits_for_error(context.advanced)
                && ack.cumulative == self.sender.acked
                && !self.sender.board.is_empty()
                && !context.dsack
        };
        if context.duplicate {
            self.sender.dup_acks += 1;
            if !self.sender.switches.sack && self.sender.phase != Phase::Loss {
                let in_flight = self.sender.board.in_flight().bytes;
                self.returned_bytes = (self.returned_bytes + self.sender.mss_bytes()).min(in_flight);
                context.delivery.bytes += self.sender.mss_bytes();
            }
        }
    }

    /// Changes of phase. Returns whether the window was reduced.
    fn decide(&mut self, ack: &Ack, context: &AckContext) -> bool {
        if self.sender.phase == Phase::Loss {
            self.continue_after_timeout(context);
        }
        if self.sender.phase != Phase::Open && self.sender.acked >= self.sender.recovery_point {
            self.end_recovery();
        }
        let mut reduced = self.conclude_probe(context);
        if context.newly_lost || (self.sender.board.lost().segments > 0 && self.sender.phase == Phase::Open) {
            reduced |= self.on_losses(context);
        }
        if ack.ecn_echo && self.repairs_old_path() {
            self.sender.counters.ecn_reductions += 1;
            reduced |= self.reduce_on_new_path(context, CongestionSignal::EcnMark);
        } else if ack.ecn_echo {
            reduced |= self.heed_mark(context);
        }
        reduced
    }

    /// An ECN mark, once per window (RFC 3168 section 6.1.2). Returns whether the window was reduced.
    fn heed_mark(&mut self, context: &AckContext) -> bool {
        let repairs = self.sender.phase == Phase::Recovery && self.sender.recovers_unreduced();
        self.sender.thaw();
        if self.sender.phase != Phase::Open && !repairs {
            return false;
        }
        self.sender.counters.ecn_reductions += 1;
        self.begin_reduction(context.now, CongestionSignal::EcnMark, context.pipe_before);
        self.sender.thaw();
        if repairs {
            self.sender.phase = Phase::Recovery;
        }
        true
    }

    /// The window after this ACK: down in recovery, up otherwise.
    fn adjust_window(&mut self, context: &AckContext) {
        if self.is_rate_based() {
            let Delivery { bytes, newest, .. } = context.delivery;
            let news = News {
                now: context.now,
                bytes,
                newest,
                rtt: context.rtt,
                pipe_before: context.pipe_before,
                was_limited: context.was_limited,
                is_marked: context.is_marked,
            };
            let window = self.sender.window;
            self.follow_model(news);
            if self.sender.is_window_frozen(context.now) {
                self.sender.window = window;
            }
            return;
        }
        match self.sender.phase {
            Phase::Recovery | Phase::Reducing => self.reduce_window(context),
            // The ACK that ends a reduction has done its work.
            Phase::Open if matches!(context.phase_before, Phase::Recovery | Phase::Reducing) => {}
            Phase::Open | Phase::Loss => {
                let delivered = context.delivery.bytes;
                let frozen = self.sender.is_window_frozen(context.now);
                if delivered == 0 || !context.was_limited || !context.advanced || frozen {
                    return;
                }
                let sample = AckSample {
                    now: context.now,
                    bytes: delivered,
                    acked: self.sender.acked,
                    next: self.sender.next,
                    rtt: context.rtt,
                    srtt: self.sender.rtt.srtt(),
                };
                self.sender.congestion.on_ack(&sample, &mut self.sender.window);
            }
        }
    }

    /// Timers after an ACK (RFC 6298 (5.2), (5.3)).
    fn arm(&mut self, context: &AckContext) {
        if self.sender.board.is_empty() {
            self.sender.rto_at = Instant::MAX;
            self.reorder_at = Instant::MAX;
            self.probe.cancel();
            return;
        }
        if context.advanced || self.sender.is_polled() {
            self.sender.rto_at = context.now + self.sender.rtt.rto();
            self.schedule_probe(context.now);
        } else if self.sender.board.sacked().segments > 0 {
            // RFC 8985 section 7.2: no probe while anything is selectively acknowledged.
            self.probe.cancel();
        }
    }
}
