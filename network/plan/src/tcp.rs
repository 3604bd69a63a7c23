//! TCP's switches: a profile, and what a flow changes in it.
use prismux_tcp::engine::{CongestionKind, EngineConfig, HyStartKind, RecoveryStyle};
use prismux_tcp::{EcnEcho, TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration};

/// A congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Congestion {
    /// NewReno (RFC 5681, RFC 6582).
    NewReno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR: version 1, or the kernel's where the sender is a kernel.
    Bbr,
    /// BBR, version 3.
    Bbr3,
    /// The Satellite Transport Protocol's (STP).
    Stp,
}

impl Congestion {
    /// The congestion control as our own TCP has it.
    pub const fn kind(self) -> CongestionKind {
        match self {
            Self::NewReno => CongestionKind::NewReno,
            Self::Cubic => CongestionKind::Cubic,
            Self::Bbr => CongestionKind::Bbr,
            Self::Bbr3 => CongestionKind::Bbr3,
            Self::Stp => CongestionKind::Stp,
        }
    }
}

/// A TCP profile and what a flow changes in it; `None` keeps the profile's value.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpSettings {
    /// The set of switches to begin with.
    pub profile: TcpProfile,
    /// Congestion control of the sender.
    pub congestion: Option<Congestion>,
    /// Maximum segment size in bytes.
    pub mss: Option<u16>,
    /// What ends slow start before a loss does; `Some(None)` for nothing.
    pub hystart: Option<Option<HyStartKind>>,
    /// Receive buffer, which bounds the window.
    pub window: Option<ByteCount>,
    /// Initial window in segments.
    pub initial_window: Option<u32>,
    /// Selective acknowledgements (RFC 2018).
    pub sack: Option<bool>,
    /// A timeout forgets what was acknowledged selectively (RFC 2018 section 8).
    pub forget_sacks: Option<bool>,
    /// With SACK: recovery as RFC 6675 has it, in place of ns-2's agent, forward acknowledgement and RACK.
    pub rfc6675: Option<bool>,
    /// Reports that STP asks for in a round trip.
    pub polls_per_rtt: Option<u32>,
    /// Timestamps (RFC 7323).
    pub timestamps: Option<bool>,
    /// Longest delay of an ACK; zero acknowledges every segment.
    pub delayed_ack: Option<Duration>,
    /// Minimum retransmission timeout (RTO).
    pub min_rto: Option<Duration>,
    /// Longest RTO, backed off.
    pub max_rto: Option<Duration>,
    /// Tick of the retransmission timer.
    pub clock_granularity: Option<Duration>,
    /// Duplicate ACKs that mean a loss.
    pub dup_threshold: Option<u32>,
    /// RACK loss detection (RFC 8985).
    pub rack: Option<bool>,
    /// Tail loss probes (RFC 8985).
    pub tlp: Option<bool>,
    /// Undo of spurious window reductions.
    pub undo: Option<bool>,
    /// Nagle's algorithm (RFC 9293 section 3.7.4).
    pub nagle: Option<bool>,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: Option<bool>,
    /// How a receiver echoes marks.
    pub ecn_echo: Option<EcnEcho>,
    /// Least time between probes of a closed window.
    pub min_persist: Option<Duration>,
    /// Whether SYN-ACK is sent again by itself.
    pub repeat_syn_ack: Option<bool>,
    /// Whether a SYN without an answer is a timeout as any other.
    pub syn_loss_is_timeout: Option<bool>,
}

impl Default for TcpSettings {
    /// A current kernel's TCP.
    fn default() -> Self {
        Self::profile(TcpProfile::Modern)
    }
}

impl TcpSettings {
    /// A profile as it is.
    pub const fn profile(profile: TcpProfile) -> Self {
        Self {
            profile,
            congestion: None,
            hystart: None,
            mss: None,
            window: None,
            initial_window: None,
            sack: None,
            forget_sacks: None,
            rfc6675: None,
            polls_per_rtt: None,
            timestamps: None,
            delayed_ack: None,
            min_rto: None,
            max_rto: None,
            clock_granularity: None,
            dup_threshold: None,
            rack: None,
            tlp: None,
            undo: None,
            nagle: None,
            ecn: None,
            ecn_echo: None,
            min_persist: None,
            repeat_syn_ack: None,
            syn_loss_is_timeout: None,
        }
    }

    /// Profile and single switches as our own TCP understands them.
    pub fn config(&self) -> TcpConfig {
        let mut config = self.profile.config();
        if let Some(congestion) = self.congestion {
            config.engine.congestion = congestion.kind();
        }
        self.apply_to_engine(&mut config.engine);
        self.apply_to_connection(&mut config);
        config
    }

    fn apply_to_engine(&self, engine: &mut EngineConfig) {
        if self.sack == Some(false) {
            if self.profile == TcpProfile::Ns2_2002 {
                // Without SACK the agent of that simulator is another one.
                engine.recovery = EngineConfig::ns2_newreno().recovery;
            }
            // All of these build on SACK.
            (engine.sack, engine.fack, engine.rack, engine.tlp) = (false, false, false, false);
        } else if self.rfc6675 == Some(true) {
            engine.recovery = RecoveryStyle::Standard;
            (engine.fack, engine.rack, engine.tlp) = (false, false, false);
        }
        put(&mut engine.initial_window_segments, self.initial_window);
        put(&mut engine.hystart, self.hystart);
        put(&mut engine.forget_sacks, self.forget_sacks);
        put(&mut engine.polls_per_rtt, self.polls_per_rtt);
        put(&mut engine.min_rto, self.min_rto);
        put(&mut engine.max_rto, self.max_rto);
        put(&mut engine.clock_granularity, self.clock_granularity);
        put(&mut engine.dup_threshold, self.dup_threshold);
        put(&mut engine.rack, self.rack);
        put(&mut engine.tlp, self.tlp);
        if let Some(undo) = self.undo {
            (engine.undo, engine.frto) = (undo, undo);
        }
    }

    fn apply_to_connection(&self, config: &mut TcpConfig) {
        put(&mut config.mss, self.mss);
        put(&mut config.receive_buffer, self.window);
        put(&mut config.timestamps, self.timestamps);
        put(&mut config.nagle, self.nagle);
        put(&mut config.ecn, self.ecn);
        put(&mut config.ecn_echo, self.ecn_echo);
        put(&mut config.min_persist, self.min_persist);
        put(&mut config.repeat_syn_ack, self.repeat_syn_ack);
        put(&mut config.syn_loss_is_timeout, self.syn_loss_is_timeout);
        if let Some(sack) = self.sack {
            (config.sack, config.dsack) = (sack, sack && config.dsack);
        }
        if let Some(delay) = self.delayed_ack {
            config.delayed_ack = Some(delay).filter(|delay| *delay > Duration::ZERO);
        }
        // Sinks read at once: a window above the offered scale's reach needs scaling.
        if config.receive_buffer.as_u64() > MAX_UNSCALED_WINDOW_BYTES {
            config.window_scaling = true;
        }
    }
}

/// The largest window that a TCP header can tell without the window scale option (RFC 7323 section 2).
const MAX_UNSCALED_WINDOW_BYTES: u64 = 65_535;

fn put<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}
