//! Every switch of an RCP connection.
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{EngineConfig, RecoveryStyle};
use prismux_units::{ByteCount, Duration, Rate};

/// How the two ends of a connection behave.
#[derive(Debug, Clone, PartialEq)]
pub struct RcpConfig {
    /// Receiver: loss detection, timers and congestion control.
    pub engine: EngineConfig,
    /// Most payload of a data packet, options not deducted.
    pub mss: u16,
    /// Receiver: requests are outstanding for no more than this buffer has room for.
    pub receive_buffer: ByteCount,
    /// Receiver: bytes count as read when they arrive in order (simulated sinks).
    pub consume_on_arrival: bool,
    /// Receiver: the most disjoint out-of-order ranges held; packets that would need one more are dropped.
    pub max_out_of_order_ranges: u32,
    /// Requests carry timestamps, data echoes them.
    pub timestamps: bool,
    /// Receiver: earlier pulls named in every request, 0 to 3.
    pub request_blocks: u8,
    /// Receiver, with STP: what a bundle of requests asks for is asked for segment by segment, evenly over the time
    /// between two bundles (a third of a round trip), so that the sender, which answers at once, sends no burst. Off
    /// unless asked for: it costs a request for each segment, which STP is there to save, and the source has no such
    /// rule.
    pub spread_grants: bool,
    /// Sender: answered pulls remembered, so that the blocks of later requests do not have them answered again. At
    /// least as many as requests may overtake each other by; 3 in the source, up to 16.
    pub answer_ring: u8,
    /// Sender: how far beyond what the receiver has may be requested.
    pub request_limit: ByteCount,
    /// Sender: a cumulative request has at most this sent beyond what has been sent; the rest of it is dropped, as a
    /// full queue would drop it, so that one small packet brings no flood.
    pub max_unanswered: ByteCount,
    /// Sender: no more than this leaves, whatever is requested.
    pub rate_cap: Option<Rate>,
    /// Sender: may leave at once under [`RcpConfig::rate_cap`].
    pub rate_burst: ByteCount,
    /// Sender: a receiver silent for this long is given up.
    pub keep_alive: Duration,
    /// Receiver: without any answer for this long the connection is given up.
    pub give_up_after: Duration,
    /// Retransmissions of SYN (or of a last goodbye) before the attempt is given up.
    pub open_retries: u8,
    /// Receiver: longest interval between probes of a sender that has nothing to send.
    pub max_persist: Duration,
    /// Understand congestion marks (RFC 3168); the receiver sees them where the window is, no echo is needed.
    pub ecn: bool,
}

impl RcpConfig {
    /// The switches of a TCP connection, turned around: the engine that would drive TCP's sender drives RCP's receiver.
    ///
    /// Selective acknowledgement has no switch here, the receiver always knows what it has. The go-back-N of the ns-2
    /// senders has no place for the same reason (a timeout does not empty the receive buffer), so those styles become
    /// the standard one with every other switch kept.
    pub fn from_tcp(tcp: &TcpConfig) -> Self {
        let recovery = RecoveryStyle::Standard;
        let engine = EngineConfig { sack: true, forget_sacks: false, recovery, ..tcp.engine.clone() };
        Self {
            engine,
            mss: tcp.mss,
            receive_buffer: tcp.receive_buffer,
            consume_on_arrival: tcp.consume_on_arrival,
            max_out_of_order_ranges: tcp.max_out_of_order_ranges,
            timestamps: tcp.timestamps,
            request_blocks: 3,
            spread_grants: false,
            answer_ring: 3,
            request_limit: ByteCount::new(64 << 20),
            max_unanswered: ByteCount::new(u64::MAX),
            rate_cap: None,
            rate_burst: ByteCount::new(64 << 10),
            // As long as a receiver may be asking, which does so once in a longest timeout when it has backed off.
            keep_alive: tcp.give_up_after.clamp(Duration::from_secs(60), Duration::from_secs(86_400)),
            give_up_after: tcp.give_up_after,
            open_retries: tcp.syn_retries,
            max_persist: Duration::from_secs(20),
            ecn: tcp.ecn,
        }
    }

    /// As [`TcpConfig::modern`].
    pub fn modern() -> Self {
        Self::from_tcp(&TcpConfig::modern())
    }
}

impl Default for RcpConfig {
    fn default() -> Self {
        Self::modern()
    }
}

/// Shift by which distances of up to `bytes` fit a 16-bit field.
pub(crate) fn shift_for(bytes: u64) -> u8 {
    let mut shift = 0;
    while u64::from(u16::MAX) << shift < bytes && shift < MAX_SHIFT {
        shift += 1;
    }
    shift
}

/// Shifts above this mean this (as in RFC 7323 section 2.3).
pub(crate) const MAX_SHIFT: u8 = 14;
/// An MSS below this is a mistake or an attack on our packet rate.
pub(crate) const MIN_MSS: u16 = 88;
/// Timestamps and their padding in every packet.
pub(crate) const TIMESTAMP_BYTES: u32 = 12;
