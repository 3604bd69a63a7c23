//! Units outstanding, units returned: loss detection, RTT estimation, recovery and congestion control.
//!
//! The engine knows positions in a stream of 64-bit numbers, times, and what an acknowledgement says about both;
//! it knows no headers and holds no bytes. In TCP the units are bytes sent that return as ACKs; a receiver-driven
//! transport can let them be requests that return as data.
//!
//! * [`EngineConfig`]: every switch. [`Send`], [`SendLimits`], [`Ack`], [`LossNotice`], [`AckOutcome`]: the interface.
//!   [`PathChange`], [`PathUpdate`]: starting over on another path.
//! * [`Engine`]: one of two machines, chosen by [`RecoveryStyle`]. `standard`: the sender of the RFCs. `ns2`: the
//!   senders of ns-2, copied in behaviour. Neither knows the other.
//! * What both stand on. `sender`: the state that every sender keeps, and what explicit loss notices do to it.
//!   `scoreboard`: outstanding segments. `rtt`: RTT and timeout (RFC 6298). `delivery`: what one ACK reports as
//!   arrived.
//! * [`congestion`]: NewReno (RFC 5681), CUBIC (RFC 9438), HyStart++ (RFC 9406), BBR, STP.
//!
//! Driving it: after every [`Engine::on_ack`], [`Engine::on_timeout`] or change of the limits, call
//! [`Engine::poll_send`] until it answers `None`, transmit each answer and confirm it with [`Engine::on_sent`].
mod audit;
mod config;
pub mod congestion;
mod delivery;
mod interface;
mod ns2;
mod path;
mod rtt;
mod scoreboard;
mod sender;
mod standard;

pub use config::{CongestionKind, EngineConfig, HyStartKind, RecoveryStyle, RtoStyle, WindowReduction};
pub use interface::{
    Ack, AckOutcome, EngineCounters, EngineMetrics, LossNotice, Phase, SackRanges, Send, SendKind, SendLimits,
};
pub use path::{PathChange, PathUpdate};

use alloc::boxed::Box;
use alloc::string::String;
use congestion::{Congestion, CongestionControl, CoupledTerms, CustomControl, UnscalableIncrease};
use core::ops::Range;
use ns2::Ns2;
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};
use sender::Sender;
use standard::Standard;

/// How losses are found and repaired. Which it is stands before, in one cache line with the sender's first fields.
#[derive(Debug, Clone)]
#[repr(u8)]
enum Machine {
    Standard(Standard),
    Ns2(Ns2),
}

/// Loss detection, RTT estimation, recovery and congestion control of one direction of one connection.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Engine {
    machine: Machine,
}

/// The acts: what the two machines do differently.
impl Engine {
    /// An engine with nothing sent; `mss` is the number of units in a full segment (TCP: payload bytes).
    pub fn new(config: &EngineConfig, mss: u32) -> Self {
        let sender = Sender::new(config, mss);
        let machine = match sender.config.recovery {
            RecoveryStyle::Standard => Machine::Standard(Standard::new(sender)),
            RecoveryStyle::Ns2Sack1 | RecoveryStyle::Ns2NewReno => Machine::Ns2(Ns2::new(sender)),
        };
        Self { machine }
    }

    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack) -> AckOutcome {
        let sender = self.sender_mut();
        if ack.cumulative > sender.next {
            return AckOutcome { beyond_sent: true, ..AckOutcome::default() };
        }
        sender.burst = 0;
        match &mut self.machine {
            Machine::Standard(standard) => standard.on_ack(now, ack),
            Machine::Ns2(ns2) => ns2.on_ack(now, ack),
        }
    }

    /// The next transmission, or `None` if nothing may be sent now. Changes nothing that matters: the same call
    /// gives the same answer until [`Engine::on_sent`].
    pub fn poll_send(&mut self, now: Instant, limits: &SendLimits) -> Option<Send> {
        if self.sender().burst_is_spent() {
            return None;
        }
        match &mut self.machine {
            Machine::Standard(standard) => standard.poll_send(now, limits),
            Machine::Ns2(ns2) => ns2.poll_send(limits),
        }
    }

    /// Records that `send` left at `now` and arms the timers.
    pub fn on_sent(&mut self, now: Instant, send: &Send) {
        self.sender_mut().note_sent(now);
        match &mut self.machine {
            Machine::Standard(standard) => standard.on_sent(now, send),
            Machine::Ns2(ns2) => ns2.on_sent(now, send),
        }
    }

    /// Time has reached the [`Engine::deadline`]. Too early a call does nothing.
    pub fn on_timeout(&mut self, now: Instant) {
        match &mut self.machine {
            Machine::Standard(standard) => standard.on_timeout(now),
            Machine::Ns2(ns2) => ns2.on_timeout(now),
        }
    }

    /// When [`Engine::on_timeout`] wants to be called: `"rto"`, `"tlp"`, `"rack-reorder"` or `"pacing"`.
    pub fn deadline(&self) -> Option<Deadline> {
        let first = self.first_timer();
        (first.at < Instant::MAX).then_some(first)
    }

    /// The deadline, at [`Instant::MAX`] if there is none.
    #[inline]
    pub(crate) fn first_timer(&self) -> Deadline {
        match &self.machine {
            Machine::Standard(standard) => standard.first_timer(),
            Machine::Ns2(ns2) => Deadline { at: ns2.sender.rto_at, why: "rto" },
        }
    }

    /// Starts over on another path: window and threshold as `change` says; RTT, back-off and loss detection without
    /// memory; everything outstanding and not selectively acknowledged is lost and the first of it due at once.
    pub fn change_path(&mut self, now: Instant, change: &PathChange) {
        match &mut self.machine {
            Machine::Standard(standard) => standard.change_path(now, change),
            Machine::Ns2(ns2) => ns2.change_path(now, change),
        }
    }

    /// Forgets everything outstanding: it counts neither as delivered nor as lost, and the timers stop. Window and RTT
    /// estimates stay; a recovery under way ends as if it were complete.
    ///
    /// For a host that stopped listening by its own choice (a radio put to sleep): what was under way then is gone, and
    /// the path is not to blame. The units must not be reported as returned afterwards.
    pub fn write_off(&mut self) {
        match &mut self.machine {
            Machine::Standard(standard) => standard.write_off(),
            Machine::Ns2(ns2) => ns2.write_off(),
        }
    }

    /// Estimate of what is in the network: sent, less lost, less returned (RFC 6675 `pipe`).
    pub fn pipe(&self) -> u64 {
        match &self.machine {
            Machine::Standard(standard) => standard.pipe(),
            Machine::Ns2(ns2) => ns2.sender.board.in_flight().bytes,
        }
    }

    /// A snapshot of everything worth plotting.
    pub fn metrics(&self) -> EngineMetrics {
        match &self.machine {
            Machine::Standard(standard) => standard.sender.metrics(standard.pipe()),
            Machine::Ns2(ns2) => ns2.sender.metrics(ns2.pipe_bytes()),
        }
    }

    #[inline]
    fn sender(&self) -> &Sender {
        match &self.machine {
            Machine::Standard(standard) => &standard.sender,
            Machine::Ns2(ns2) => &ns2.sender,
        }
    }

    #[inline]
    fn sender_mut(&mut self) -> &mut Sender {
        match &mut self.machine {
            Machine::Standard(standard) => &mut standard.sender,
            Machine::Ns2(ns2) => &mut ns2.sender,
        }
    }
}

/// What every sender has in common.
impl Engine {
    /// First position not yet acknowledged.
    pub fn acked(&self) -> u64 {
        self.sender().acked
    }

    /// First position not yet sent.
    pub fn next(&self) -> u64 {
        self.sender().next
    }

    /// Units in a full segment.
    pub fn mss(&self) -> u32 {
        self.sender().window.mss
    }

    /// Segments of the first window.
    pub fn initial_window_segments(&self) -> u32 {
        self.sender().config.initial_window_segments.max(1)
    }

    /// Congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.sender().window.cwnd
    }

    /// Where the engine stands.
    pub fn phase(&self) -> Phase {
        self.sender().phase
    }

    /// Units taken for lost and not sent again since, in order.
    pub fn lost(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.sender().lost()
    }

    /// True when everything sent has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.sender().board.is_empty()
    }

    /// The retransmission timeout now in force, backed off.
    pub fn rto(&self) -> Duration {
        self.sender().rtt.rto()
    }

    /// The timeout without floor and back-off: what RTT samples alone make of it.
    pub fn base_rto(&self) -> Duration {
        self.sender().rtt.base_rto()
    }

    /// From now on reductions are remembered, for [`Engine::restore`] and [`Engine::freeze`], which do nothing before.
    pub fn remember_reductions(&mut self) {
        self.sender_mut().remember_reductions();
    }

    /// Congestion control stands still until `until`: window, threshold and timeout keep their values, whatever is lost
    /// or acknowledged; losses are repaired within that window. An ECN mark ends it and has its ordinary effect. Where
    /// the window `grows`, acknowledgements open it all the same, and only reductions are left out.
    pub fn freeze(&mut self, now: Instant, until: Instant, grows: bool) {
        self.sender_mut().freeze_until(now, until, grows);
    }

    /// Whether congestion control stands still.
    pub fn is_frozen(&self, now: Instant) -> bool {
        self.sender().is_frozen(now)
    }

    /// Takes back all reductions for losses from `since` on: window, threshold and back-off are again what they were
    /// before the oldest of them. What is lost stays lost and is repaired, except with a sender that undoes spurious
    /// reductions ([`EngineConfig::undo`]): it takes nothing for lost any more, and finds again what is. Says whether
    /// there were any.
    pub fn restore(&mut self, now: Instant, since: Instant) -> bool {
        match &mut self.machine {
            Machine::Standard(standard) => standard.restore(now, since),
            Machine::Ns2(ns2) => ns2.sender.restore(now, since),
        }
    }

    /// Smoothed RTT, once there is a sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender().rtt.srtt()
    }

    /// Whether the congestion control works with polls (STP).
    #[inline]
    pub fn is_polled(&self) -> bool {
        self.sender().is_polled()
    }

    /// Time between two polls, if the control works with polls: a third of a round trip.
    pub fn poll_interval(&self) -> Option<Duration> {
        self.sender().poll_interval()
    }

    /// What one poll is for, a third of the window: but two segments at least.
    pub fn poll_share_bytes(&self) -> u64 {
        self.sender().poll_share_bytes()
    }

    /// What the window has room for waits for its time, not for data: the window is in use (RFC 7661), and may grow.
    pub fn on_room_spread(&mut self) {
        if let Machine::Standard(standard) = &mut self.machine {
            standard.note_window_limit();
        }
    }

    /// Takes an RTT sample from outside the stream (the handshake).
    pub fn on_rtt_sample(&mut self, now: Instant, rtt: Duration) {
        let sender = self.sender_mut();
        sender.rtt.sample(now, rtt, sender.acked, sender.next);
        sender.congestion.on_first_rtt(rtt, &sender.window);
    }

    /// The opening exchange needed a retransmission: start from one segment (RFC 6298 (5.7), RFC 5681 section 3.1).
    pub fn on_handshake_loss(&mut self) {
        let sender = self.sender_mut();
        if sender.next == 0 {
            sender.window.cwnd = sender.mss_bytes();
        }
    }

    /// The opening exchange timed out, which counts as any other timeout.
    pub fn on_syn_timeout(&mut self) {
        let sender = self.sender_mut();
        sender.counters.timeouts += 1;
        sender.window.ssthresh = sender.window.min_threshold();
        sender.rtt.back_off();
    }

    /// The path's segment size changed. Outstanding segments that are too long are split; the window keeps its
    /// number of bytes.
    pub fn on_mss_change(&mut self, mss: u32) {
        self.sender_mut().on_mss_change(mss);
    }

    /// Takes in what became known about the path.
    pub fn update_path(&mut self, update: &PathUpdate) {
        self.sender_mut().update_path(update);
    }

    /// From now on the window takes only `share`, between 0 and 1, of the increase that congestion avoidance would
    /// give it: windows of several paths are coupled by their owner (RFC 6356 section 4).
    ///
    /// # Errors
    /// The congestion control has no such increase (BBR).
    pub fn set_increase_share(&mut self, share: f64) -> Result<(), UnscalableIncrease> {
        self.sender_mut().congestion.set_increase_share(share.clamp(0.0, 1.0))
    }

    /// Tells the congestion control what other windows of its connection mean for it.
    pub fn set_coupling(&mut self, terms: &CoupledTerms) {
        self.sender_mut().congestion.set_coupling(terms);
    }

    /// Halves the window, and the threshold with it, for a reason of the host's: this path holds the others up.
    pub fn penalise(&mut self) {
        self.sender_mut().penalise();
    }

    /// Hands the window to a policy from outside, in place of the one that the configuration names. To be called before
    /// anything is sent. A rate-based policy needs the machine of the RFCs, whatever the configuration says.
    pub fn set_congestion(&mut self, policy: Box<dyn CustomControl>) {
        if policy.is_rate_based()
            && let Machine::Ns2(ns2) = &self.machine
        {
            self.machine = Machine::Standard(Standard::new(ns2.sender.clone()));
        }
        match &mut self.machine {
            Machine::Standard(standard) => standard.set_congestion(policy),
            Machine::Ns2(ns2) => ns2.sender.congestion = Congestion::Custom(policy),
        }
    }

    /// Begins anew with what both ends have agreed on; a policy from outside stays.
    pub(crate) fn renew(&mut self, config: &EngineConfig, mss: u32) {
        let mut renewed = Self::new(config, mss);
        if let Congestion::Custom(policy) = &self.sender().congestion {
            renewed.set_congestion(policy.clone());
        }
        if self.sender().remembers_reductions() {
            renewed.remember_reductions();
        }
        *self = renewed;
    }

    /// Recomputes every incremental sum from the segments and compares; for tests and checkers.
    ///
    /// # Errors
    /// The first disagreement, in words.
    pub fn audit(&self) -> Result<(), String> {
        let sender = self.sender();
        sender.board.audit(sender.acked, sender.next)
    }
}

#[cfg(test)]
mod tests;
