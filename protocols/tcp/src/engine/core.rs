//! The engine's state and what can be read from it.
use super::config::{CongestionKind, EngineConfig, RecoveryStyle};
use super::congestion::{Congestion, OutsideControl, POLLS_PER_RTT, Stp, Window};
use super::interface::{EngineCounters, EngineMetrics, Phase};
use super::notice::Notices;
use super::ns2::Ns2;
use super::path::Path;
use super::probe::Probe;
use super::prr::Prr;
use super::rack::Rack;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::undo::Undo;
use alloc::boxed::Box;
use alloc::string::String;
use core::ops::Range;
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};

/// Loss detection, RTT estimation, recovery and congestion control of one direction of one connection.
///
/// The order of the fields matters where there are thousands of engines: what every acknowledgement touches lies together,
/// so that it takes few cache lines.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Engine {
    pub(super) config: EngineConfig,
    pub(super) rto_at: Instant,
    pub(super) reorder_at: Instant,
    pub(super) probe: Probe,
    /// First position not acknowledged (SND.UNA) and first not sent (SND.NXT).
    pub(super) acked: u64,
    pub(super) next: u64,
    pub(super) phase: Phase,
    /// RFC 6675 rule 4: a rescue retransmission was made in this recovery.
    pub(super) rescued: bool,
    /// Segments sent since the last event (`max_burst`).
    pub(super) burst: u32,
    /// Consecutive duplicate ACKs (without SACK; with it the scoreboard counts).
    pub(super) dup_acks: u32,
    pub(super) dup_threshold: u32,
    pub(super) window: Window,
    /// Recovery ends when this position is acknowledged (RFC 6675 RecoveryPoint).
    pub(super) recovery_point: u64,
    /// A retransmission due at once, whatever the window says.
    pub(super) urgent: Option<u64>,
    pub(super) last_sent: Instant,
    /// The window was the limit while this position was the next to send.
    pub(super) limited_until: u64,
    /// Bytes that duplicate ACKs without SACK say have left the network.
    pub(super) returned_bytes: u64,
    pub(super) board: Scoreboard,
    pub(super) ns2: Ns2,
    pub(super) rtt: RttEstimator,
    pub(super) congestion: Congestion,
    pub(super) notices: Notices,
    pub(super) path: Path,
    pub(super) counters: EngineCounters,
    pub(super) rack: Rack,
    pub(super) prr: Prr,
    pub(super) undo: Undo,
}

impl Engine {
    /// An engine with nothing sent; `mss` is the number of units in a full segment (TCP: payload bytes).
    pub fn new(config: &EngineConfig, mss: u32) -> Self {
        let mss = mss.max(1);
        let rack = config.rack && config.sack;
        let config = EngineConfig { rack, tlp: config.tlp && rack, ..config.clone() };
        let config = if config.congestion == CongestionKind::Stp { Stp::settle(config) } else { config };
        let cwnd = u64::from(mss) * u64::from(config.initial_window_segments.max(1));
        Self {
            board: Scoreboard::new(),
            acked: 0,
            next: 0,
            window: Window { cwnd, ssthresh: u64::MAX, mss },
            congestion: Congestion::new(&config),
            rtt: RttEstimator::new(&config),
            phase: Phase::Open,
            recovery_point: 0,
            dup_acks: 0,
            returned_bytes: 0,
            dup_threshold: config.dup_threshold.max(1),
            prr: Prr::default(),
            rack: Rack::new(),
            probe: Probe::new(),
            undo: Undo::default(),
            notices: Notices::default(),
            ns2: Ns2::default(),
            path: Path::default(),
            urgent: None,
            rescued: false,
            limited_until: 0,
            burst: 0,
            last_sent: Instant::ZERO,
            rto_at: Instant::MAX,
            reorder_at: Instant::MAX,
            counters: EngineCounters::default(),
            config,
        }
    }

    /// First position not yet acknowledged.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// First position not yet sent.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Units in a full segment.
    pub fn mss(&self) -> u32 {
        self.window.mss
    }

    /// Segments of the first window.
    pub fn initial_window_segments(&self) -> u32 {
        self.config.initial_window_segments.max(1)
    }

    /// Congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    /// Where the engine stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Units taken for lost and not sent again since, in order.
    pub fn lost(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut cursor = self.board.first_lost();
        core::iter::from_fn(move || {
            let index = cursor?;
            cursor = self.board.linked_after(index);
            Some(self.board.get(index).range())
        })
    }

    /// True when everything sent has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.board.is_empty()
    }

    /// The retransmission timeout now in force, backed off.
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// Time between two polls, if the control works with polls: a third of a round trip.
    pub fn poll_interval(&self) -> Option<Duration> {
        let round_trip = || self.rtt.srtt().unwrap_or_else(|| self.rtt.rto());
        self.is_polled().then(|| round_trip() / POLLS_PER_RTT)
    }

    /// What one poll is for, a third of the window: but two segments at least.
    pub fn poll_share_bytes(&self) -> u64 {
        let segments = self.window.cwnd / self.mss_bytes() / POLLS_PER_RTT;
        segments.max(2) * self.mss_bytes()
    }

    pub(super) fn is_polled(&self) -> bool {
        self.config.congestion == CongestionKind::Stp
    }

    /// Smoothed RTT, once there is a sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// Estimate of what is in the network: sent, less lost, less returned (RFC 6675 `pipe`).
    pub fn pipe(&self) -> u64 {
        self.board.in_flight().bytes.saturating_sub(self.returned_bytes)
    }

    /// Takes an RTT sample from outside the stream (the handshake).
    pub fn on_rtt_sample(&mut self, now: Instant, rtt: Duration) {
        self.rtt.sample(now, rtt, self.acked, self.next);
    }

    /// From now on the window takes only `share`, between 0 and 1, of the increase that congestion avoidance would give it:
    /// windows of several paths are coupled by their owner (RFC 6356 section 4). NewReno only.
    pub fn set_increase_share(&mut self, share: f64) {
        self.congestion.set_share(share.clamp(0.0, 1.0));
    }

    /// Begins anew with what both ends have agreed on; a policy from outside stays.
    pub(crate) fn renew(&mut self, config: &EngineConfig, mss: u32) {
        let mut renewed = Self::new(config, mss);
        if matches!(self.congestion, Congestion::Outside(_)) {
            core::mem::swap(&mut renewed.congestion, &mut self.congestion);
        }
        *self = renewed;
    }

    /// Hands the window to a policy from outside, in place of the one that the configuration names.
    pub fn set_congestion(&mut self, policy: Box<dyn OutsideControl>) {
        self.congestion = Congestion::Outside(policy);
    }

    /// The opening exchange needed a retransmission: start from one segment (RFC 6298 (5.7), RFC 5681 section 3.1).
    pub fn on_handshake_loss(&mut self) {
        if self.next == 0 {
            self.window.cwnd = u64::from(self.window.mss);
        }
    }

    /// The path's segment size changed. Outstanding segments that are too long are split; the window keeps its
    /// number of bytes.
    pub fn on_mss_change(&mut self, mss: u32) {
        let mss = mss.max(1);
        if mss < self.window.mss {
            self.board.split(mss);
        }
        self.window.mss = mss;
        self.window.cwnd = self.window.cwnd.max(u64::from(mss));
    }

    /// When [`Engine::on_timeout`] wants to be called: `"rto"`, `"tlp"` or `"rack-reorder"`.
    pub fn deadline(&self) -> Option<Deadline> {
        let (mut at, mut why) = (self.rto_at, "rto");
        if self.probe.at < Instant::MAX && self.probe.at <= at {
            (at, why) = (self.probe.at, "tlp");
        }
        if self.reorder_at < at {
            (at, why) = (self.reorder_at, "rack-reorder");
        }
        (at < Instant::MAX).then_some(Deadline { at, why })
    }

    /// A snapshot of everything worth plotting.
    pub fn metrics(&self) -> EngineMetrics {
        EngineMetrics {
            cwnd_bytes: self.window.cwnd,
            ssthresh_bytes: self.window.ssthresh,
            pipe_bytes: if self.is_ns2() { self.ns2_pipe() } else { self.pipe() },
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

    /// Recomputes every incremental sum from the segments and compares; for tests and checkers.
    ///
    /// # Errors
    /// The first disagreement, in words.
    pub fn audit(&self) -> Result<(), String> {
        self.board.audit(self.acked, self.next)
    }

    pub(super) fn is_ns2(&self) -> bool {
        self.config.recovery != RecoveryStyle::Standard
    }

    pub(super) fn mss_bytes(&self) -> u64 {
        u64::from(self.window.mss)
    }
}
