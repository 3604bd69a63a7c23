//! What every sender keeps, and the arithmetic on it: what is outstanding, the window, the retransmission timer.
mod freeze;
mod heed;
mod notices;
mod switches;
mod urgent;

pub(super) use freeze::Freeze;
pub(super) use notices::{Heeded, Notices};
pub(super) use switches::Switches;
pub(super) use urgent::Urgent;

use super::config::{CongestionKind, EngineConfig};
use super::congestion::{Bbr, Congestion, CongestionControl, Stp, Window};
use super::interface::{EngineCounters, EngineMetrics, Phase, Send, SendKind, SendLimits};
use super::path::{PathChange, PathUpdate};
use super::rtt::RttEstimator;
use super::scoreboard::{Scoreboard, SegmentState};
use alloc::boxed::Box;
use core::ops::Range;
use prismux_units::{Duration, Instant};

/// The state that does not depend on how losses are found and repaired.
///
/// The order of the fields matters where there are thousands of engines: what every acknowledgement touches lies
/// together, so that it takes few cache lines.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Sender {
    // With what stands before, one cache line: all that a receiver asks of its engine, and a sender most often.
    pub(super) rto_at: Instant,
    /// First position not acknowledged (SND.UNA).
    pub(super) acked: u64,
    /// First position not sent (SND.NXT).
    pub(super) next: u64,
    pub(super) window: Window,
    pub(super) phase: Phase,
    /// The congestion control works with polls.
    polled: bool,
    /// Segments sent since the last event (`max_burst`).
    pub(super) burst: u32,
    /// Consecutive duplicate ACKs (without SACK; with it the scoreboard counts).
    pub(super) dup_acks: u32,
    pub(super) dup_threshold: u32,
    /// Recovery ends when this position is acknowledged (RFC 6675 RecoveryPoint).
    pub(super) recovery_point: u64,
    /// A retransmission due at once, whatever the window says.
    pub(super) urgent: Urgent,
    pub(super) last_sent: Instant,
    pub(super) switches: Switches,
    // Two lines and a half, and with the estimate's first fields three.
    pub(super) board: Scoreboard,
    pub(super) rtt: RttEstimator,
    pub(super) notices: Notices,
    pub(super) config: EngineConfig,
    pub(super) congestion: Congestion,
    pub(super) counters: EngineCounters,
    /// For a host that freezes congestion control and takes back reductions.
    freeze: Option<Box<Freeze>>,
}

impl Sender {
    pub(super) fn new(config: &EngineConfig, mss: u32) -> Self {
        let mss = mss.max(1);
        let rack = config.rack && config.sack;
        let config = EngineConfig { rack, tlp: config.tlp && rack, ..config.clone() };
        let config = match config.congestion {
            CongestionKind::Stp => Stp::settle(config),
            CongestionKind::Bbr | CongestionKind::Bbr3 => Bbr::settle(config),
            CongestionKind::NewReno | CongestionKind::Cubic => config,
        };
        let cwnd = u64::from(mss) * u64::from(config.initial_window_segments.max(1));
        Self {
            rto_at: Instant::MAX,
            acked: 0,
            next: 0,
            phase: Phase::Open,
            polled: config.congestion == CongestionKind::Stp,
            burst: 0,
            dup_acks: 0,
            dup_threshold: config.dup_threshold.max(1),
            window: Window { cwnd, ssthresh: u64::MAX, mss },
            recovery_point: 0,
            urgent: Urgent::NONE,
            last_sent: Instant::ZERO,
            switches: Switches::of(&config),
            board: Scoreboard::new(),
            rtt: RttEstimator::new(&config),
            congestion: Congestion::new(&config),
            notices: Notices::default(),
            counters: EngineCounters::default(),
            freeze: None,
            config,
        }
    }

    pub(super) fn mss_bytes(&self) -> u64 {
        u64::from(self.window.mss)
    }

    #[inline]
    pub(super) fn is_polled(&self) -> bool {
        self.polled
    }

    /// Time between two polls, if the control works with polls: by default a third of a round trip.
    pub(super) fn poll_interval(&self) -> Option<Duration> {
        let round_trip = || self.rtt.srtt().unwrap_or_else(|| self.rtt.rto());
        self.is_polled().then(|| round_trip() / u64::from(self.config.polls_per_rtt.max(1)))
    }

    /// What one poll is for, by default a third of the window: but two segments at least.
    pub(super) fn poll_share_bytes(&self) -> u64 {
        let segments = self.window.cwnd / self.mss_bytes() / u64::from(self.config.polls_per_rtt.max(1));
        segments.max(2) * self.mss_bytes()
    }

    /// As many segments have left since the last event as may.
    pub(super) fn burst_is_spent(&self) -> bool {
        self.burst >= self.switches.max_burst && !self.board.is_empty()
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

    /// A retransmission that does not wait for the window: the fast retransmit, a loss notice, a timeout.
    pub(super) fn urgent_retransmission(&mut self) -> Option<Send> {
        let position = self.urgent.position()?;
        let found = self.board.find(position).map(|index| *self.board.get(index));
        match found {
            Some(segment)
                if segment.state == SegmentState::Lost
                    || segment.state == SegmentState::InFlight && self.notices.was_error(segment.start) =>
            {
                Some(Send { range: segment.range(), kind: SendKind::Retransmission })
            }
            _ => {
                self.urgent = Urgent::NONE;
                None
            }
        }
    }

    /// The first outstanding segment is lost and due at once.
    pub(super) fn resend_first(&mut self) {
        let Some(head) = self.board.head() else { return };
        if self.board.get(head).state == SegmentState::Sacked {
            // The receiver has thrown it away (RFC 2018 section 8).
            self.board.mark_all_lost(true);
        }
        self.board.mark_lost(head);
        self.urgent = Urgent::at(self.board.get(head).start);
    }

    /// A transmission leaves at `now`, whatever it carries.
    pub(super) fn note_sent(&mut self, now: Instant) {
        self.counters.segments_sent += 1;
        self.burst += 1;
        self.last_sent = now;
    }

    /// Units taken for lost and not sent again since, in order.
    pub(super) fn lost(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut cursor = self.board.first_lost();
        core::iter::from_fn(move || {
            let index = cursor?;
            cursor = self.board.linked_after(index);
            Some(self.board.get(index).range())
        })
    }

    /// The segment size changed: outstanding segments that are too long are split; the window keeps its number of
    /// bytes.
    pub(super) fn on_mss_change(&mut self, mss: u32) {
        let mss = mss.max(1);
        if mss < self.window.mss {
            self.board.split(mss);
        }
        self.window.mss = mss;
        self.window.cwnd = self.window.cwnd.max(u64::from(mss));
    }

    /// Halves window and threshold, for a reason of the host's.
    pub(super) fn penalise(&mut self) {
        let before = self.window;
        self.window.ssthresh = (before.cwnd / 2).max(before.min_threshold());
        self.window.cwnd = self.window.ssthresh;
        self.congestion.on_external_reduction(&before, &self.window);
    }

    /// Starts over on another path. What was selectively acknowledged counts as lost too if `sacked_too`.
    pub(super) fn change_path(&mut self, now: Instant, change: &PathChange, sacked_too: bool) {
        self.window.cwnd = change.window_bytes.max(self.mss_bytes());
        if let Some(threshold) = change.threshold_bytes {
            self.window.ssthresh = threshold.max(self.window.min_threshold());
        }
        self.congestion.restart(&self.config);
        self.rtt.forget(change.min_rto);
        self.notices.end_recovery();
        self.thaw();
        self.dup_acks = 0;
        self.dup_threshold = self.config.dup_threshold.max(1);
        self.burst = 0;
        if self.board.is_empty() {
            self.phase = Phase::Open;
            self.urgent = Urgent::NONE;
            self.rto_at = Instant::MAX;
            // Not idle: the pause was the old path's.
            self.last_sent = now;
            return;
        }
        self.phase = Phase::Loss;
        self.recovery_point = self.next;
        self.board.mark_all_lost(sacked_too);
        self.urgent = self.board.first_lost().map(|index| self.board.get(index).start).into();
        self.rto_at = now + self.rtt.rto();
    }

    /// Takes in what became known about the path.
    pub(super) fn update_path(&mut self, update: &PathUpdate) {
        if let Some(threshold) = update.threshold_bytes {
            self.window.ssthresh = threshold.max(self.window.min_threshold());
        }
        if update.settled {
            self.rtt.release_floor();
        }
    }

    /// Forgets everything outstanding, as neither delivered nor lost; a recovery under way must have been ended.
    pub(super) fn write_off(&mut self) {
        self.board = Scoreboard::new();
        self.acked = self.next;
        self.recovery_point = self.next;
        self.urgent = Urgent::NONE;
        self.dup_acks = 0;
        self.rto_at = Instant::MAX;
    }

    /// A snapshot, with `pipe_bytes` in the network.
    pub(super) fn metrics(&self, pipe_bytes: u64) -> EngineMetrics {
        EngineMetrics {
            cwnd_bytes: self.window.cwnd,
            ssthresh_bytes: self.window.ssthresh,
            pipe_bytes,
            outstanding_bytes: self.next - self.acked,
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            rto: self.rtt.rto(),
            min_rtt: self.rtt.min_rtt(),
            dup_threshold: self.dup_threshold,
            phase: self.phase,
            last_sent: self.last_sent,
            counters: self.counters,
        }
    }
}
