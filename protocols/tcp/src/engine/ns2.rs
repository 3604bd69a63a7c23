//! The senders of ns-2 as they behave, quirks included: `Agent/TCP/Sack1` and `Agent/TCP/Newreno` (2.35, drop-tail,
//! no ECN, no timestamps). They think in segments, count their pipe instead of deriving it, go back N after a
//! timeout, and time one segment per round trip.
mod newreno;
mod sack1;

use super::config::RecoveryStyle;
use super::congestion::{AckSample, CongestionControl, CongestionSignal};
use super::delivery::Delivery;
use super::interface::{Ack, AckOutcome, LossNotice, Phase, Send, SendKind, SendLimits};
use super::path::PathChange;
use super::scoreboard::SegmentState;
use super::sender::{Sender, Urgent};
use prismux_units::{Duration, Instant};

/// What the two agents keep beside the scoreboard.
#[derive(Debug, Clone, Default)]
struct Agent {
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

/// A sender of ns-2.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Ns2 {
    pub(super) sender: Sender,
    agent: Agent,
}

impl Ns2 {
    pub(super) fn new(sender: Sender) -> Self {
        Self { sender, agent: Agent::default() }
    }

    /// In flight as the agent sees it, in bytes.
    pub(super) fn pipe_bytes(&self) -> u64 {
        let segments = if self.counts_pipe() {
            self.agent.pipe.max(0) as u64
        } else if self.knows_pipe() {
            u64::from(self.sender.board.in_flight().segments)
        } else {
            self.unresolved_segments()
        };
        segments * self.sender.mss_bytes()
    }

    fn counts_pipe(&self) -> bool {
        self.sender.phase == Phase::Recovery
            && self.sender.switches.recovery == RecoveryStyle::Ns2Sack1
            && !self.sender.notices.govern()
    }

    /// In a recovery begun by a notice, duplicates and reports together say exactly what is in the network.
    fn knows_pipe(&self) -> bool {
        self.sender.phase == Phase::Recovery && self.sender.switches.sack && self.sender.notices.govern()
    }

    /// `t_seqno_ - last_ack_ - 1`: sent and not acknowledged, less what a timeout set back.
    fn unresolved_segments(&self) -> u64 {
        u64::from(self.sender.board.segments() - self.sender.board.lost().segments)
    }

    fn window_segments(&self) -> u64 {
        (self.sender.window.cwnd / self.sender.mss_bytes()).max(1)
    }

    /// `send_much` and `send_one`: the next segment, or none.
    pub(super) fn poll_send(&mut self, limits: &SendLimits) -> Option<Send> {
        if let Some(urgent) = self.sender.urgent_retransmission() {
            return Some(urgent);
        }
        let open = if self.counts_pipe() {
            self.agent.pipe < self.window_segments() as i64
        } else if self.knows_pipe() {
            u64::from(self.sender.board.in_flight().segments) < self.window_segments()
        } else {
            self.unresolved_segments() < self.allowance()
        };
        if !open {
            return None;
        }
        if let Some(index) = self.sender.board.first_lost() {
            return Some(Send {
                range: self.sender.board.get(index).range(),
                kind: SendKind::Retransmission,
            });
        }
        let length = self.sender.available(limits)?;
        Some(Send { range: self.sender.next..self.sender.next + length, kind: SendKind::New })
    }

    /// Segments that may be outstanding outside Sack1's recovery.
    fn allowance(&self) -> u64 {
        let window = self.window_segments() + self.agent.dup_window;
        let below_threshold = self.sender.dup_acks < self.sender.dup_threshold;
        let newreno = self.sender.switches.recovery == RecoveryStyle::Ns2NewReno;
        match self.sender.dup_acks {
            0 => window,
            duplicates if below_threshold && self.sender.switches.limited_transmit => {
                window + u64::from(duplicates)
            }
            _ if !below_threshold && newreno => window,
            _ => 0,
        }
    }

    pub(super) fn on_sent(&mut self, now: Instant, send: &Send) {
        let urgent = self.sender.urgent.position() == Some(send.range.start);
        if send.range.start >= self.sender.next {
            self.sender.board.push(send.range.start, send.length() as u32, now);
            self.sender.next = send.range.end;
            self.agent.timed.get_or_insert((send.range.end, now));
        } else if let Some(index) = self.sender.board.find(send.range.start)
            && self.sender.board.get(index).state != SegmentState::Sacked
        {
            self.sender.counters.retransmitted_segments += 1;
            self.sender.board.retransmit(index, now);
        }
        if urgent {
            self.sender.urgent = Urgent::NONE;
        } else if self.counts_pipe() {
            self.agent.pipe += 1;
        }
        if self.sender.rto_at == Instant::MAX {
            self.sender.rto_at = now + self.sender.rtt.rto();
        }
    }

    pub(super) fn on_ack(&mut self, now: Instant, ack: &Ack) -> AckOutcome {
        if ack.cumulative < self.sender.acked {
            // Ignored silently, as in the original; what it reports is not old for that.
            let window_reduced = ack.notice.is_some_and(|notice| self.on_notice(now, &notice));
            return AckOutcome { window_reduced, ..AckOutcome::default() };
        }
        let acked_before = self.sender.acked;
        self.agent.sample = None;
        if ack.untimed {
            self.agent.timed = None;
        }
        let mut delivery = Delivery::new(self.sender.recovery_point);
        let advanced = ack.cumulative > self.sender.acked;
        if advanced {
            self.sender.board.acknowledge(ack.cumulative, &mut delivery);
            self.sender.acked = ack.cumulative;
        }
        if self.sender.switches.sack && self.sender.phase != Phase::Loss {
            let sent = self.selective_limit();
            for range in ack.sack.iter() {
                self.sender.board.sack(range.start..range.end.min(sent), &mut delivery);
            }
        }
        self.sender.congestion.on_delivered(delivery.bytes, ack.marked);
        if ack.dsack.is_some()
            && self.sender.counters.spurious_retransmissions < self.sender.counters.retransmitted_segments
        {
            self.sender.counters.spurious_retransmissions += 1;
        }
        let acked_segments = (self.sender.acked - acked_before).div_ceil(self.sender.mss_bytes());
        let reductions = self.sender.counters.fast_recoveries;
        match (self.sender.switches.recovery, self.sender.phase) {
            (RecoveryStyle::Ns2Sack1, Phase::Recovery) => self.sack1_in_recovery(now, advanced),
            _ if advanced => self.on_new_ack(now, acked_segments),
            _ if self.sender.board.is_empty() || ack.waits_for_error(advanced) => {}
            (RecoveryStyle::Ns2Sack1, Phase::Loss) => {}
            (RecoveryStyle::Ns2Sack1, _) => self.sack1_duplicate(now, delivery.sacked_segments > 0),
            _ => self.newreno_duplicate(now, ack.is_pure),
        }
        let mut reduced = self.sender.counters.fast_recoveries > reductions;
        if let Some(notice) = &ack.notice {
            reduced |= self.on_notice(now, notice);
        }
        if self.sender.board.is_empty() {
            self.sender.rto_at = Instant::MAX;
        }
        AckOutcome {
            newly_acked: self.sender.acked - acked_before,
            newly_delivered: delivery.bytes,
            window_reduced: reduced,
            rtt_sample: self.agent.sample,
            ..AckOutcome::default()
        }
    }

    /// Selective information is believed up to here. While going back N it is not used at all for what has not been
    /// sent anew: the original clears its scoreboard with every new ACK then.
    fn selective_limit(&self) -> u64 {
        match self.sender.board.first_lost() {
            Some(index) if self.sender.phase == Phase::Open => self.sender.board.get(index).start,
            _ => self.sender.next,
        }
    }

    /// `recv_newack_helper`, with Newreno's way through and out of fast recovery.
    fn on_new_ack(&mut self, now: Instant, acked_segments: u64) {
        if self.sender.phase == Phase::Recovery {
            if self.sender.acked < self.sender.recovery_point {
                return self.newreno_partial(now, acked_segments);
            }
            self.newreno_exit();
        }
        self.sender.dup_acks = 0;
        if self.sender.phase == Phase::Loss {
            self.sender.phase = Phase::Open;
        }
        self.take_timed_sample(now, true);
        self.restart_timer(now);
        self.open_window(now);
    }

    /// `opencwnd`: one segment per ACK, or one per window.
    fn open_window(&mut self, now: Instant) {
        if self.sender.is_window_frozen(now) {
            return;
        }
        let sample = AckSample {
            now,
            bytes: self.sender.mss_bytes(),
            acked: self.sender.acked,
            next: self.sender.next,
            rtt: None,
            srtt: self.sender.rtt.srtt(),
        };
        self.sender.congestion.on_ack(&sample, &mut self.sender.window);
    }

    fn take_timed_sample(&mut self, now: Instant, use_it: bool) {
        if let Some((end, sent_at)) = self.agent.timed
            && self.sender.acked >= end
        {
            self.agent.timed = None;
            if use_it {
                let taken = self.sender.take_rtt_sample(now, now - sent_at);
                self.agent.sample = taken.then_some(now - sent_at);
            } else {
                self.sender.reset_backoff(now);
            }
        }
    }

    fn restart_timer(&mut self, now: Instant) {
        self.sender.rto_at =
            if self.sender.board.is_empty() { Instant::MAX } else { now + self.sender.rtt.rto() };
    }

    /// `slowdown(CLOSE_SSTHRESH_HALF | ...)`: the threshold in whole segments, the window exact.
    fn slow_down(&mut self, now: Instant, signal: CongestionSignal) {
        if self.sender.leaves_out_reduction(now) {
            return;
        }
        self.sender.note_reduction(now);
        let mss = self.sender.mss_bytes();
        let half = (self.sender.window.cwnd + self.agent.dup_window * mss) / 2;
        self.sender.congestion.threshold(signal, &self.sender.window);
        self.sender.window.ssthresh = (half / mss * mss).max(2 * mss);
        self.sender.window.cwnd = if signal == CongestionSignal::Timeout { mss } else { half.max(mss) };
    }

    /// `dupack_action` is refused for duplicates of what a timeout or an earlier recovery sent (`bug_fix_`).
    fn may_act_on_duplicates(&self) -> bool {
        self.sender.recovery_point == 0 || self.sender.acked > self.sender.recovery_point
    }

    fn enter_fast_recovery(&mut self, now: Instant) {
        self.sender.counters.fast_recoveries += 1;
        self.sender.recovery_point = self.sender.next;
        self.slow_down(now, CongestionSignal::Loss);
        self.sender.phase = Phase::Recovery;
        self.agent.timed = None;
        self.sender.rto_at = Instant::MAX;
        self.sender.resend_first();
    }

    fn on_notice(&mut self, now: Instant, notice: &LossNotice) -> bool {
        if notice.keep.is_none() {
            self.sender.repair_error(notice.position);
            return false;
        }
        let was_open = self.sender.phase == Phase::Open;
        let notices = self.sender.counters.loss_notices;
        let heeded = self.sender.heed(now, notice);
        if was_open && self.sender.phase == Phase::Recovery {
            self.agent.timed = None;
        }
        if self.sender.counters.loss_notices > notices && notice.position == self.sender.acked {
            // The timer covers the segment the receiver waits for; it goes out anew.
            self.restart_timer(now);
        }
        heeded.reduced_from.is_some()
    }

    /// `timeout`: scoreboard cleared, back to the last acknowledged, window of one.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        if now < self.sender.rto_at {
            return;
        }
        self.sender.burst = 0;
        if self.sender.board.is_empty() {
            self.sender.rto_at = Instant::MAX;
            return;
        }
        self.sender.counters.timeouts += 1;
        if self.sender.leaves_out_reduction(now) {
            self.sender.resend_first();
            self.sender.rto_at = now + self.sender.rtt.rto();
            return;
        }
        self.agent = Agent::default();
        self.slow_down(now, CongestionSignal::Timeout);
        self.sender.recovery_point = self.sender.next;
        self.sender.phase = Phase::Loss;
        self.sender.dup_acks = 0;
        self.sender.urgent = Urgent::NONE;
        self.sender.notices.on_timeout(self.sender.next);
        self.sender.board.mark_all_lost(true);
        self.sender.rtt.back_off();
        self.sender.rto_at = now + self.sender.rtt.rto();
    }

    /// Starts over on another path.
    pub(super) fn change_path(&mut self, now: Instant, change: &PathChange) {
        self.agent = Agent::default();
        self.sender.change_path(now, change, true);
    }

    /// A recovery under way ends as if it were complete.
    pub(super) fn write_off(&mut self) {
        match (self.sender.switches.recovery, self.sender.phase) {
            (RecoveryStyle::Ns2NewReno, Phase::Recovery) => self.newreno_exit(),
            _ => {
                self.sender.phase = Phase::Open;
                self.sender.notices.end_recovery();
            }
        }
        self.agent = Agent::default();
        self.sender.write_off();
    }
}
