//! What goes into the engine and what comes out: positions and times, never headers.
use core::ops::Range;
use prismux_units::{Duration, Instant};
use prismux_wire::KeepFactor;

/// What kind of transmission a [`Send`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendKind {
    /// Units sent for the first time.
    New,
    /// Units sent again because they are taken for lost.
    Retransmission,
    /// Units sent (again) to provoke an acknowledgement (RFC 8985 section 7).
    TailProbe,
}

/// One transmission the engine asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Send {
    /// Positions to send.
    pub range: Range<u64>,
    /// Why.
    pub kind: SendKind,
}

impl Send {
    /// Units in this transmission.
    pub fn length(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// What bounds sending besides the congestion window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendLimits {
    /// End of what there is to send: all data written, plus one if a FIN follows.
    pub stream_end: u64,
    /// The peer's right window edge, as a position.
    pub window_end: u64,
    /// Largest segment.
    pub max_segment_bytes: u32,
    /// Hold back a short segment while anything is unacknowledged (Nagle, RFC 9293 section 3.7.4).
    pub nagle: bool,
}

/// Selectively acknowledged ranges of one ACK, the most recently changed first (RFC 2018); at most four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackRanges {
    ranges: [(u64, u64); Self::CAPACITY],
    count: u8,
}

impl SackRanges {
    /// As many as fit into a TCP header.
    pub const CAPACITY: usize = 4;
    /// No range.
    pub const EMPTY: Self = Self { ranges: [(0, 0); Self::CAPACITY], count: 0 };

    /// Appends a range. Returns false, and ignores it, if it is empty or there is no room.
    pub fn push(&mut self, range: Range<u64>) -> bool {
        let room = usize::from(self.count) < Self::CAPACITY && range.start < range.end;
        if room {
            self.ranges[usize::from(self.count)] = (range.start, range.end);
            self.count += 1;
        }
        room
    }

    /// The ranges, in order of [`SackRanges::push`].
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges[..usize::from(self.count)].iter().map(|&(start, end)| start..end)
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// True without ranges.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<Range<u64>> for SackRanges {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(iter: I) -> Self {
        let mut ranges = Self::EMPTY;
        for range in iter {
            ranges.push(range);
        }
        ranges
    }
}

/// Explicit notice of a loss from the network (the loss report of PRISM, later ELN): resend `position` now and
/// keep only a part of the window, once per path and window. The engine ignores a position that is not outstanding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossNotice {
    /// First unit lost.
    pub position: u64,
    /// The path that lost it.
    pub path: u8,
    /// The part of the window to keep. A factor of zero is nonsense, and changes nothing. `None` for an error of the
    /// link, nobody's congestion: the position goes out anew, once, and nothing else changes.
    pub keep: Option<KeepFactor>,
}

/// What one acknowledgement says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ack {
    /// Everything before this position has arrived.
    pub cumulative: u64,
    /// Ranges above it that have arrived too.
    pub sack: SackRanges,
    /// A range reported as received twice (RFC 2883), not contained in `sack`.
    pub dsack: Option<Range<u64>>,
    /// Round-trip time by the echoed timestamp (RFC 7323); the engine also derives from it which transmission is
    /// acknowledged (Eifel, RFC 3522).
    pub rtt_from_timestamp: Option<Duration>,
    /// The network marked congestion (RFC 3168 ECN-Echo), in a window that no echo has been heeded for.
    pub ecn_echo: bool,
    /// It carries an ECN-Echo, heeded before or not.
    pub marked: bool,
    /// It arrives with a change of path: the time since what it acknowledges was sent is no round trip.
    pub untimed: bool,
    /// No payload and the same window: may count as a duplicate (RFC 5681 section 2).
    pub is_pure: bool,
    /// A loss notice carried by this acknowledgement.
    pub notice: Option<LossNotice>,
}

impl Ack {
    /// Acknowledges nothing new and waits for what an error of the link took: no duplicate in the sense of RFC 5681,
    /// since it tells of no congestion.
    pub(crate) fn waits_for_error(&self, advanced: bool) -> bool {
        !advanced && self.notice.is_some_and(|notice| notice.keep.is_none())
    }
}

/// What [`Engine::on_ack`](super::Engine::on_ack) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AckOutcome {
    /// Units newly acknowledged cumulatively.
    pub newly_acked: u64,
    /// Units newly delivered, cumulatively or selectively.
    pub newly_delivered: u64,
    /// The window was reduced: set CWR on the next new segment (RFC 3168).
    pub window_reduced: bool,
    /// A reduction was found to be spurious and was taken back.
    pub undone: bool,
    /// RTT sample that the estimator took from this ACK.
    pub rtt_sample: Option<Duration>,
    /// The cumulative position lies beyond everything sent: nothing was done with this ACK.
    pub beyond_sent: bool,
}

/// Counters since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineCounters {
    /// Segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent again.
    pub retransmitted_segments: u64,
    /// Retransmissions that a duplicate report proved unnecessary.
    pub spurious_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times recovery was entered without a timeout.
    pub fast_recoveries: u64,
    /// Tail loss probes sent.
    pub tail_probes: u64,
    /// Reductions taken back.
    pub undone_reductions: u64,
    /// Times that reductions within a span were taken back together (TCP-DOOR).
    pub restorations: u64,
    /// Reductions and timeouts that left window and timer alone, because congestion control was frozen (TCP-DOOR).
    pub frozen_reductions: u64,
    /// Reductions for ECN marks.
    pub ecn_reductions: u64,
    /// Notices acted upon.
    pub loss_notices: u64,
    /// Notices that changed nothing: repeated, or for a position not outstanding.
    pub ignored_notices: u64,
}

/// Where the sender stands between ACKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// No loss being repaired.
    #[default]
    Open,
    /// The window comes down without a loss (ECN, or a loss that a tail probe repaired).
    Reducing,
    /// Losses are being repaired after fast retransmit or a notice.
    Recovery,
    /// Losses are being repaired after a timeout.
    Loss,
}

/// A snapshot for traces and results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineMetrics {
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; `u64::MAX` before the first reduction.
    pub ssthresh_bytes: u64,
    /// Estimate of what is in the network (RFC 6675 pipe).
    pub pipe_bytes: u64,
    /// Sent and not cumulatively acknowledged.
    pub outstanding_bytes: u64,
    /// Smoothed RTT, once there is a sample.
    pub srtt: Option<Duration>,
    /// RTT variation.
    pub rttvar: Duration,
    /// Current timeout, backed off.
    pub rto: Duration,
    /// Smallest RTT of the last minutes.
    pub min_rtt: Option<Duration>,
    /// Duplicates that mean a loss, after adaptation.
    pub dup_threshold: u32,
    /// Phase.
    pub phase: Phase,
    /// When the snapshot's last transmission left.
    pub last_sent: Instant,
    /// Counters.
    pub counters: EngineCounters,
}
