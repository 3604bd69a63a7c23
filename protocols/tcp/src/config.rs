//! Every switch of a connection, and the named sets of switches.
use crate::engine::EngineConfig;
use core::{fmt, str};
use prismux_units::{ByteCount, Duration};

/// Keep-alive probing of an idle connection (RFC 9293 section 3.8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepAlive {
    /// Idle time before the first probe; the RFC asks for at least two hours by default.
    pub idle: Duration,
    /// Time between unanswered probes.
    pub interval: Duration,
    /// Unanswered probes after which the connection is given up.
    pub probes: u8,
}

/// How a [`Connection`](crate::Connection) behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpConfig {
    /// Loss detection, timers and congestion control.
    pub engine: EngineConfig,
    /// The MSS option we send: packet size less 40 bytes, options not deducted (RFC 6691).
    pub mss: u16,
    /// Offer window scaling (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Offer timestamps (RFC 7323 section 3).
    pub timestamps: bool,
    /// Added to the millisecond clock to give TSval, so that two hosts' clocks need not look alike.
    pub timestamp_offset: u32,
    /// Offer selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Report duplicates by DSACK (RFC 2883); needs [`TcpConfig::sack`].
    pub dsack: bool,
    /// The most SACK blocks in one segment (4, less where options leave no room).
    pub max_sack_blocks: u8,
    /// Longest delay of an acknowledgement; `None` acknowledges every segment (RFC 5681 section 4.2).
    pub delayed_ack: Option<Duration>,
    /// Segments from the start that are acknowledged at once although ACKs are delayed.
    pub quick_ack_segments: u8,
    /// Nagle's algorithm (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// The largest receive window we offer.
    pub receive_buffer: ByteCount,
    /// Bytes count as read when they arrive in order: the window never closes (simulated sinks).
    pub consume_on_arrival: bool,
    /// The most disjoint out-of-order ranges held; segments that would need one more are dropped.
    pub max_out_of_order_ranges: u32,
    /// Probe idle connections.
    pub keep_alive: Option<KeepAlive>,
    /// Offer ECN (RFC 3168).
    pub ecn: bool,
    /// How marks are echoed.
    pub ecn_echo: EcnEcho,
    /// Retransmissions of SYN or SYN-ACK before the attempt is given up.
    pub syn_retries: u8,
    /// Whether SYN-ACK is sent again when nothing answers it (RFC 6298 section 5.7); without, only another SYN brings
    /// another one, as at ns-2's sinks.
    pub repeat_syn_ack: bool,
    /// Whether a SYN that nothing answers is a timeout as any other: counted, with the threshold down to two segments
    /// and a back-off that lasts until there is an RTT sample. So it is in ns-2, whose first packet is data. By RFC
    /// 6298 (5.7) and RFC 5681 the connection begins with one segment instead, and with the initial timeout.
    pub syn_loss_is_timeout: bool,
    /// Without any progress or answer for this long, outstanding data or probes end the connection
    /// (R2 of RFC 9293 section 3.8.3); [`Duration::MAX`] never does.
    pub give_up_after: Duration,
    /// Time spent in TIME-WAIT: twice the maximum segment lifetime.
    pub time_wait: Duration,
    /// Intervals between probes of a closed window follow the RTO and its doubling, from at least this (old stacks: 5
    /// s)
    pub min_persist: Duration,
    /// up to this.
    pub max_persist: Duration,
}

/// How a receiver echoes the network's marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EcnEcho {
    /// On every acknowledgement, until the sender says that it has answered (RFC 3168 section 6.1.3).
    UntilAnswered,
    /// On the acknowledgements of what was marked, and no others: their share is that of the marks (RFC 8257 section
    /// 3.2).
    EachSegment,
}

/// A named set of switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TcpProfile {
    /// What a current kernel does: CUBIC, SACK, RACK-TLP, undo, timestamps, scaled windows, delayed ACKs.
    Modern,
    /// The one-way SACK agents of ns-2 in 2002: 40-byte headers, every packet acknowledged, window of 20
    /// segments of 1000 bytes.
    Ns2_2002,
    /// A Linux 2.4 host: NewReno with SACK, timestamps, 200 ms minimum RTO, initial window 2, undo.
    Linux24,
}

/// No profile has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownProfile;

impl TcpProfile {
    /// All profiles.
    pub const ALL: [Self; 3] = [Self::Modern, Self::Ns2_2002, Self::Linux24];

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modern => "modern",
            Self::Ns2_2002 => "ns2-2002",
            Self::Linux24 => "linux-2.4",
        }
    }

    /// The switches of this profile.
    pub fn config(self) -> TcpConfig {
        match self {
            Self::Modern => TcpConfig::modern(),
            Self::Ns2_2002 => TcpConfig::ns2_2002(),
            Self::Linux24 => TcpConfig::linux_2_4(),
        }
    }
}

impl str::FromStr for TcpProfile {
    type Err = UnknownProfile;
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|p| p.name() == name).ok_or(UnknownProfile)
    }
}

impl fmt::Display for TcpProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown TCP profile; known are \"modern\", \"ns2-2002\" and \"linux-2.4\"")
    }
}

impl core::error::Error for UnknownProfile {}

impl TcpConfig {
    /// What a current kernel does.
    pub fn modern() -> Self {
        Self {
            engine: EngineConfig::modern(),
            mss: 1460,
            window_scaling: true,
            timestamps: true,
            timestamp_offset: 0,
            sack: true,
            dsack: true,
            max_sack_blocks: 4,
            delayed_ack: Some(Duration::from_millis(40)),
            quick_ack_segments: 16,
            nagle: true,
            receive_buffer: ByteCount::new(6 << 20),
            consume_on_arrival: false,
            max_out_of_order_ranges: 1024,
            keep_alive: None,
            ecn: false,
            ecn_echo: EcnEcho::UntilAnswered,
            syn_retries: 6,
            repeat_syn_ack: true,
            syn_loss_is_timeout: false,
            give_up_after: Duration::from_secs(924),
            time_wait: Duration::from_secs(60),
            min_persist: Duration::ZERO,
            max_persist: Duration::from_secs(120),
        }
    }

    /// `Agent/TCP/Sack1` and `Agent/TCPSink/Sack1` of ns-2: segments of 1000 bytes behind 40-byte headers, no
    /// timestamps, every packet acknowledged, at most 3 SACK blocks. The window of 20 segments is
    /// [`TcpConfig::receive_buffer`], read on arrival; raise it where the paper did.
    pub fn ns2_2002() -> Self {
        Self {
            engine: EngineConfig::ns2_sack1(),
            mss: 1000,
            timestamps: false,
            dsack: false,
            max_sack_blocks: 3,
            delayed_ack: None,
            quick_ack_segments: 0,
            nagle: false,
            receive_buffer: ByteCount::new(20_000),
            window_scaling: true,
            consume_on_arrival: true,
            give_up_after: Duration::MAX,
            max_persist: Duration::from_secs(60),
            ..Self::modern()
        }
    }

    /// A Linux 2.4.20 host with its default 64 KiB of receive window.
    pub fn linux_2_4() -> Self {
        Self {
            engine: EngineConfig::linux24(),
            receive_buffer: ByteCount::new(65_535),
            syn_retries: 5,
            max_sack_blocks: 4,
            ..Self::modern()
        }
    }
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self::modern()
    }
}

#[cfg(test)]
mod tests;
