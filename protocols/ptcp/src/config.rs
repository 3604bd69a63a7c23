//! Every switch of a connection.
use crate::header::MAX_PIPES;
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::CongestionKind;
use prismux_units::{ByteCount, Duration};

/// When bytes bound to a pipe are unbound because its window shrank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reassignment {
    /// Never: what is bound stays with its pipe.
    Off,
    /// Only after a retransmission timeout.
    Timeout,
    /// Whenever bytes come to lie beyond the pipe's window, as published.
    Window,
    /// As [`Reassignment::Window`], and all of them when a pipe has been silent for so long that its TCP sends a tail
    /// loss probe (RFC 8985): the timeout would come a timeout after that probe. Without probes the same as `Window`.
    Probe,
}

/// In which order pipes that ask for nothing are resumed when there is something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResumeOrder {
    /// Least smoothed round-trip time first; pipes without a sample last.
    LeastRtt,
    /// The lowest number first.
    Number,
}

/// Every switch of a connection. The two ends need not agree on any.
#[derive(Debug, Clone, PartialEq)]
pub struct PtcpConfig {
    /// Switches of every pipe. Window, buffers and Nagle in it are without effect: pipes hold no bytes.
    pub tcp: TcpConfig,
    /// Congestion control of each pipe by its number; where none is named it is that of [`PtcpConfig::tcp`]. What
    /// suits one path need not suit another (a satellite link, a lossy one).
    pub pipe_congestion: [Option<CongestionKind>; MAX_PIPES as usize],
    /// The most pipes to open or accept, from 1 to [`MAX_PIPES`]. One means a single TCP.
    pub pipes: u8,
    /// Of these, the most that our stream may use (nTx); all where it is no less than [`PtcpConfig::pipes`].
    pub transmit_pipes: u8,
    /// The most that the peer's stream may use (nRx), likewise.
    pub receive_pipes: u8,
    /// Send buffer per pipe: the whole connection has as many times as much as pipes were agreed on.
    pub send_buffer_per_pipe: ByteCount,
    /// Receive buffer per pipe, likewise.
    pub receive_buffer_per_pipe: ByteCount,
    /// Bytes count as read when they arrive in order (simulated sinks).
    pub consume_on_arrival: bool,
    /// When bytes are unbound from pipes in trouble.
    pub reassignment: Reassignment,
    /// With [`Reassignment::Probe`]: a probe sooner than this after the pipe last spoke or heard something unbinds
    /// nothing. Where round trips are shorter than acknowledgements are delayed, or than the peer's process may have
    /// to wait for its turn, a probe says nothing of the path.
    pub min_silence: Duration,
    /// The pipe from which bytes were unbound may take them anew like any other, as published. Otherwise it does not
    /// while its copy of them may still arrive.
    pub reassign_to_same_pipe: bool,
    /// After a timeout the one segment left in the pipe's window is also given to another pipe.
    pub redundant_striping: bool,
    /// What a pipe has lost and repeats is also given to another pipe, if there is one with less than half of its
    /// round-trip time: everything behind the hole waits for the repair (beyond the source; C. Raiciu et al., "How
    /// hard can it be?", NSDI 2012).
    pub opportunistic_retransmission: bool,
    /// Which pipe is asked first.
    pub resume_order: ResumeOrder,
    /// Bytes whose virtual segment was acknowledged although it had carried other bytes before are unconfirmed: they
    /// are sent again unless the connection's own acknowledgement covers them in time. Without it a connection can
    /// hang.
    pub recheck_unconfirmed: bool,
    /// The least time that unconfirmed bytes are given.
    pub min_confirmation_time: Duration,
    /// When nothing is on its way on any pipe and bytes are missing all the same, send them again.
    pub keep_alive_check: bool,
    /// Explicit loss notification on every pipe: the receiver marks acknowledgements that wait for a segment which
    /// its link layer has seen arrive damaged, and the pipe resends it without reducing its window (TCP-ELN).
    pub loss_notification: bool,
    /// The increase of all pipes together is that of one TCP on the best of them (RFC 6356). Pipes with BBR have no
    /// increase to couple: each keeps its own rate.
    pub coupled: bool,
}

impl PtcpConfig {
    /// A connection over `pipes` pipes with the switches of `tcp`.
    pub fn new(tcp: TcpConfig, pipes: u8) -> Self {
        let buffer = tcp.receive_buffer;
        Self {
            tcp,
            pipe_congestion: [None; MAX_PIPES as usize],
            pipes,
            transmit_pipes: MAX_PIPES,
            receive_pipes: MAX_PIPES,
            send_buffer_per_pipe: buffer,
            receive_buffer_per_pipe: buffer,
            consume_on_arrival: false,
            reassignment: Reassignment::Probe,
            min_silence: Duration::ZERO,
            reassign_to_same_pipe: false,
            redundant_striping: true,
            opportunistic_retransmission: true,
            resume_order: ResumeOrder::LeastRtt,
            recheck_unconfirmed: true,
            min_confirmation_time: Duration::from_millis(200),
            keep_alive_check: true,
            loss_notification: false,
            coupled: false,
        }
    }
}
