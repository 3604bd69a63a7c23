//! The senders of ns-2 as they behave, quirks included: `Agent/TCP/Sack1` and `Agent/TCP/Newreno` (2.35, drop-tail,
//! no ECN, no timestamps). They think in segments, count their pipe instead of deriving it, go back N after a
//! timeout, and time one segment per round trip.
use super::config::RecoveryStyle;
use super::congestion::{AckSample, CongestionControl, CongestionSignal};
use super::core::Engine;
use super::delivery::Delivery;
use super::interface::{Ack, AckOutcome, Phase, Send, SendKind, SendLimits};
use super::scoreboard::SegmentState;
use prismux_units::{Duration, Instant};

/// What the two agents keep beside the scoreboard.
#[derive(Debug, Clone, Default)]
pub(super) struct Ns2 {
    /// Sack1 `pipe_`, in segments; meaningful in recovery.
    pipe: i64,
    /// Newreno `dupwnd_`, in segments.
    dup_window: u64,
    /// Newreno: a partial ACK has restarted the timer in this recovery.
    first_partial_seen: bool,
    /// `rtt_seq_` and `rtt_ts_`: end of the timed segment and when it left.
    timed: Option<(u64, Instant)>,
    /// What the RTT estimator took from the ACK being handled.
    sample: Option<Duration>,
}

impl Engine {
    /// In flight as the agent sees it, in bytes.
    pub(super) fn ns2_pipe(&self) -> u64 {
        let segments = if self.counts_pipe() {
            self.ns2.pipe.max(0) as u64
        } else if self.knows_pipe() {
            u64::from(self.board.in_flight().segments)
        } else {
            self.unresolved_segments()
        };
        segments * self.mss_bytes()
    }

    fn counts_pipe(&self) -> bool {
        self.phase == Phase::Recovery
            && self.config.recovery == RecoveryStyle::Ns2Sack1
            && !self.notices.govern()
    }

    /// In a recovery begun by a notice, duplicates and reports together say exactly what is in the network.
    fn knows_pipe(&self) -> bool {
        self.phase == Phase::Recovery && self.config.sack && self.notices.govern()
    }

    /// `t_seqno_ - last_ack_ - 1`: sent and not acknowledged, less what a timeout set back.
    fn unresolved_segments(&self) -> u64 {
        u64::from(self.board.segments() - self.board.lost().segments)
    }

    fn window_segments(&self) -> u64 {
        (self.window.cwnd / self.mss_bytes()).max(1)
    }

    /// `send_much` and `send_one`: the next segment, or none.
    pub(super) fn ns2_poll_send(&mut self, limits: &SendLimits) -> Option<Send> {
        if let Some(position) = self.urgent {
            match self.board.find(position).map(|index| *self.board.get(index)) {
                Some(segment) if segment.state == SegmentState::Lost => {
                    return Some(Send { range: segment.range(), kind: SendKind::Retransmission });
                }
                _ => self.urgent = None,
            }
        }
        let open = if self.counts_pipe() {
            self.ns2.pipe < self.window_segments() as i64
        } else if self.knows_pipe() {
            u64::from(self.board.in_flight().segments) < self.window_segments()
        } else {
            self.unresolved_segments() < self.allowance()
        };
        if !open {
            return None;
        }
        if let Some(index) = self.board.first_lost() {
            return Some(Send { range: self.board.get(index).range(), kind: SendKind::Retransmission });
        }
        let length = self.available(limits)?;
        Some(Send { range: self.next..self.next + length, kind: SendKind::New })
    }

    /// Segments that may be outstanding outside Sack1's recovery.
    fn allowance(&self) -> u64 {
        let window = self.window_segments() + self.ns2.dup_window;
        let below_threshold = self.dup_acks < self.dup_threshold;
        let newreno = self.config.recovery == RecoveryStyle::Ns2NewReno;
        match self.dup_acks {
            0 => window,
            duplicates if below_threshold && self.config.limited_transmit => window + u64::from(duplicates),
            _ if !below_threshold && newreno => window,
            _ => 0,
        }
    }

    pub(super) fn ns2_on_sent(&mut self, now: Instant, send: &Send) {
        let urgent = self.urgent == Some(send.range.start);
        if send.range.start >= self.next {
            self.board.push(send.range.start, send.length() as u32, now);
            self.next = send.range.end;
            self.ns2.timed.get_or_insert((send.range.end, now));
        } else if let Some(index) = self.board.find(send.range.start)
            && self.board.get(index).state != SegmentState::Sacked
        {
            self.counters.retransmitted_segments += 1;
            self.board.retransmit(index, now);
        }
        if urgent {
            self.urgent = None;
        } else if self.counts_pipe() {
            self.ns2.pipe += 1;
        }
        if self.rto_at == Instant::MAX {
            self.rto_at = now + self.rtt.rto();
        }
    }

    pub(super) fn ns2_on_ack(&mut self, now: Instant, ack: &Ack) -> AckOutcome {
        if ack.cumulative < self.acked {
            // Ignored silently, as in the original; what it reports is not old for that.
            let window_reduced = ack.notice.is_some_and(|notice| self.ns2_on_notice(now, &notice));
            return AckOutcome { window_reduced, ..AckOutcome::default() };
        }
        let acked_before = self.acked;
        self.ns2.sample = None;
        if ack.untimed {
            self.ns2.timed = None;
        }
        let mut delivery = Delivery::new(self.recovery_point);
        let advanced = ack.cumulative > self.acked;
        if advanced {
            self.board.acknowledge(ack.cumulative, &mut delivery);
            self.acked = ack.cumulative;
        }
        if self.config.sack && self.phase != Phase::Loss {
            let sent = self.selective_limit();
            for range in ack.sack.iter() {
                self.board.sack(range.start..range.end.min(sent), &mut delivery);
            }
        }
        if ack.dsack.is_some()
            && self.counters.spurious_retransmissions < self.counters.retransmitted_segments
        {
            self.counters.spurious_retransmissions += 1;
        }
        let acked_segments = (self.acked - acked_before).div_ceil(self.mss_bytes());
        let reductions = self.counters.fast_recoveries;
        match (self.config.recovery, self.phase) {
            (RecoveryStyle::Ns2Sack1, Phase::Recovery) => self.sack1_in_recovery(now, advanced),
            _ if advanced => self.ns2_new_ack(now, acked_segments),
            _ if self.board.is_empty() => {}
            (RecoveryStyle::Ns2Sack1, Phase::Loss) => {}
            (RecoveryStyle::Ns2Sack1, _) => self.sack1_duplicate(delivery.sacked_segments > 0),
            _ => self.newreno_duplicate(now, ack.is_pure),
        }
        let mut reduced = self.counters.fast_recoveries > reductions;
        if let Some(notice) = &ack.notice {
            reduced |= self.ns2_on_notice(now, notice);
        }
        if self.board.is_empty() {
            self.rto_at = Instant::MAX;
        }
        AckOutcome {
            newly_acked: self.acked - acked_before,
            newly_delivered: delivery.bytes,
            window_reduced: reduced,
            rtt_sample: self.ns2.sample,
            ..AckOutcome::default()
        }
    }

    /// Selective information is believed up to here. While going back N it is not used at all for what has not been
    /// sent anew: the original clears its scoreboard with every new ACK then.
    fn selective_limit(&self) -> u64 {
        match self.board.first_lost() {
            Some(index) if self.phase == Phase::Open => self.board.get(index).start,
            _ => self.next,
        }
    }

    /// `recv_newack_helper`, with Newreno's way through and out of fast recovery.
    fn ns2_new_ack(&mut self, now: Instant, acked_segments: u64) {
        if self.phase == Phase::Recovery {
            if self.acked < self.recovery_point {
                return self.newreno_partial(now, acked_segments);
            }
            self.newreno_exit();
        }
        self.dup_acks = 0;
        if self.phase == Phase::Loss {
            self.phase = Phase::Open;
        }
        self.take_timed_sample(now, true);
        self.restart_timer(now);
        self.open_window(now);
    }

    /// `opencwnd`: one segment per ACK, or one per window.
    fn open_window(&mut self, now: Instant) {
        let sample = AckSample {
            now,
            bytes: self.mss_bytes(),
            acked: self.acked,
            next: self.next,
            rtt: None,
            srtt: self.rtt.srtt(),
        };
        self.congestion.on_ack(&sample, &mut self.window);
    }

    fn take_timed_sample(&mut self, now: Instant, use_it: bool) {
        if let Some((end, sent_at)) = self.ns2.timed
            && self.acked >= end
        {
            self.ns2.timed = None;
            if use_it {
                self.rtt.sample(now, now - sent_at, self.acked, self.next);
                self.ns2.sample = Some(now - sent_at);
            } else {
                self.rtt.reset_backoff();
            }
        }
    }

    fn restart_timer(&mut self, now: Instant) {
        self.rto_at = if self.board.is_empty() { Instant::MAX } else { now + self.rtt.rto() };
    }

    /// `slowdown(CLOSE_SSTHRESH_HALF | ...)`: the threshold in whole segments, the window exact.
    fn slow_down(&mut self, signal: CongestionSignal) {
        let mss = self.mss_bytes();
        let half = (self.window.cwnd + self.ns2.dup_window * mss) / 2;
        self.congestion.threshold(signal, &self.window);
        self.window.ssthresh = (half / mss * mss).max(2 * mss);
        self.window.cwnd = if signal == CongestionSignal::Timeout { mss } else { half.max(mss) };
    }

    /// `dupack_action` is refused for duplicates of what a timeout or an earlier recovery sent (`bug_fix_`).
    fn may_act_on_duplicates(&self) -> bool {
        self.recovery_point == 0 || self.acked > self.recovery_point
    }

    fn enter_fast_recovery(&mut self) {
        self.counters.fast_recoveries += 1;
        self.recovery_point = self.next;
        self.slow_down(CongestionSignal::Loss);
        self.phase = Phase::Recovery;
        self.ns2.timed = None;
        self.rto_at = Instant::MAX;
        self.resend_head();
    }

    fn resend_head(&mut self) {
        if let Some(head) = self.board.head() {
            self.board.mark_lost(head);
            self.urgent = Some(self.board.get(head).start);
        }
    }

    // --- Sack1 ---

    /// A duplicate outside recovery counts only with new selective information.
    fn sack1_duplicate(&mut self, new_information: bool) {
        if !new_information {
            return;
        }
        self.dup_acks += 1;
        if self.dup_acks == self.dup_threshold && self.may_act_on_duplicates() {
            self.ns2.pipe = self.unresolved_segments() as i64 - i64::from(self.dup_threshold);
            self.enter_fast_recovery();
            self.mark_holes();
        }
    }

    /// In recovery every hole below the highest selective acknowledgement is eligible once; in one that a notice
    /// began, only what is reported.
    fn mark_holes(&mut self) {
        if !self.notices.govern() {
            self.board.judge(1, false, self.recovery_point);
        }
    }

    fn sack1_in_recovery(&mut self, now: Instant, advanced: bool) {
        self.ns2.pipe -= 1;
        if self.acked >= self.recovery_point {
            self.recovery_point = 0;
            self.phase = Phase::Open;
            self.dup_acks = 0;
            self.notices.end_recovery();
            self.take_timed_sample(now, true);
            self.restart_timer(now);
            return;
        }
        if advanced {
            self.ns2.pipe -= 1;
            self.rtt.reset_backoff();
            self.restart_timer(now);
        }
        self.mark_holes();
    }

    // --- Newreno ---

    fn newreno_duplicate(&mut self, now: Instant, is_pure: bool) {
        if !is_pure {
            return;
        }
        self.dup_acks += 1;
        if self.dup_acks == self.dup_threshold {
            if self.may_act_on_duplicates() {
                self.enter_fast_recovery();
                self.rto_at = now + self.rtt.rto();
                self.ns2.first_partial_seen = false;
                self.ns2.dup_window = u64::from(self.dup_threshold);
            }
        } else if self.dup_acks > self.dup_threshold && self.phase == Phase::Recovery {
            self.ns2.dup_window += 1;
        }
    }

    /// `partialnewack_helper`: deflate, restart the timer on the first only, resend.
    fn newreno_partial(&mut self, now: Instant, acked_segments: u64) {
        if !self.ns2.first_partial_seen {
            self.ns2.first_partial_seen = true;
            self.restart_timer(now);
        }
        if self.ns2.dup_window > acked_segments {
            self.ns2.dup_window -= acked_segments.saturating_sub(1);
        } else {
            let mss = self.mss_bytes();
            let less = (acked_segments - self.ns2.dup_window) * mss;
            self.window.cwnd = self.window.cwnd.saturating_sub(less).max(mss);
        }
        self.take_timed_sample(now, false);
        self.resend_head();
    }

    /// `exit_recovery_fix_`: the window no larger than what is outstanding.
    fn newreno_exit(&mut self) {
        let outstanding = (self.unresolved_segments() + 1) * self.mss_bytes();
        self.window.cwnd = self.window.ssthresh.min(outstanding);
        self.ns2.dup_window = 0;
        self.phase = Phase::Open;
        self.notices.end_recovery();
    }

    // --- both ---

    fn ns2_on_notice(&mut self, now: Instant, notice: &super::interface::LossNotice) -> bool {
        let was_open = self.phase == Phase::Open;
        let heeded = self.counters.loss_notices;
        let reduced = self.on_notice(now, notice);
        if was_open && self.phase == Phase::Recovery {
            self.ns2.timed = None;
        }
        if self.counters.loss_notices > heeded && notice.position == self.acked {
            // The timer covers the segment the receiver waits for; it goes out anew.
            self.restart_timer(now);
        }
        reduced
    }

    /// `timeout`: scoreboard cleared, back to the last acknowledged, window of one.
    pub(super) fn ns2_on_timeout(&mut self, now: Instant) {
        if self.board.is_empty() {
            self.rto_at = Instant::MAX;
            return;
        }
        self.counters.timeouts += 1;
        self.ns2 = Ns2::default();
        self.slow_down(CongestionSignal::Timeout);
        self.recovery_point = self.next;
        self.phase = Phase::Loss;
        self.dup_acks = 0;
        self.urgent = None;
        self.notices.on_timeout(self.next);
        self.board.mark_all_lost(true);
        self.rtt.back_off();
        self.rto_at = now + self.rtt.rto();
    }
}
