//! Every switch of a connection.
use prismux_tcp::TcpConfig;
use prismux_units::ByteCount;

/// The most subflows of a connection at a time, those on the way to being established included.
pub const MAX_SUBFLOWS: u8 = 8;

/// Which subflow gets the next bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheduler {
    /// As Linux's `default`: bytes are queued, 64 kB at a time, at the subflow that will have sent what it holds first.
    /// When that one's queue is full nobody gets any.
    Linux,
    /// The least smoothed round-trip time among the subflows with room in their windows (C. Raiciu et al., NSDI 2012).
    MinRtt,
    /// One segment each in turn, among the subflows with room.
    RoundRobin,
    /// Every subflow sends every byte.
    Redundant,
    /// As [`Scheduler::MinRtt`], but a slow subflow gets nothing that would block the shared window while the fast one
    /// waits (blocking estimation, S. Ferlin et al., Networking 2016).
    Blest,
    /// As [`Scheduler::MinRtt`], but bytes wait for the fast subflow where it would be done earlier (earliest
    /// completion first, Y. Lim et al., CoNEXT 2017).
    Ecf,
}

/// How the congestion windows of the subflows depend on one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coupling {
    /// Not at all: each has the congestion control of [`MptcpConfig::tcp`], as in Linux.
    Off,
    /// Linked increases (RFC 6356).
    Lia,
    /// Opportunistic linked increases (R. Khalili et al., CoNEXT 2012).
    Olia,
    /// Balanced linked adaptation (Q. Peng et al., IEEE/ACM Transactions on Networking, 2016).
    Balia,
    /// Weighted Vegas: as many packets queued in all as one connection may have (Y. Cao et al., ICNP 2012).
    Wvegas,
}

/// Every switch of a connection. The two ends need not agree on any.
#[derive(Debug, Clone, PartialEq)]
pub struct MptcpConfig {
    /// Switches of every subflow. Its window and Nagle's algorithm are without effect: both are the connection's.
    pub tcp: TcpConfig,
    /// Who gets the next bytes.
    pub scheduler: Scheduler,
    /// How the subflows' windows hang together.
    pub coupling: Coupling,
    /// The most bytes that are sent and not acknowledged, or queued at subflows.
    pub send_buffer: ByteCount,
    /// The most bytes held for the application, those beyond holes included: the window of all subflows.
    pub receive_buffer: ByteCount,
    /// When the peer's window is full, a subflow with room repeats the segment that everybody waits for (NSDI 2012
    /// section 4.2, mechanism 1). Without effect with [`Scheduler::Linux`], which does not do it.
    pub opportunistic_retransmission: bool,
    /// With it, the subflow that held the segment halves its window, once per round trip (mechanism 2).
    pub penalisation: bool,
    /// The most subflows to open or accept, from 1 to [`MAX_SUBFLOWS`].
    pub max_subflows: u8,
    /// Open a subflow to every address that the peer announces.
    pub join_announced: bool,
    /// Bytes count as read when they arrive in order (simulated sinks).
    pub consume_on_arrival: bool,
}

impl MptcpConfig {
    /// What Linux does, with the switches of `tcp`.
    pub fn new(tcp: TcpConfig) -> Self {
        let buffer = tcp.receive_buffer;
        Self {
            tcp,
            scheduler: Scheduler::Linux,
            coupling: Coupling::Off,
            send_buffer: ByteCount::new(64 << 20),
            receive_buffer: buffer,
            opportunistic_retransmission: true,
            penalisation: true,
            max_subflows: MAX_SUBFLOWS,
            join_announced: true,
            consume_on_arrival: false,
        }
    }
}
