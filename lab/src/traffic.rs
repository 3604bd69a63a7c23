//! What the ends of a lab send each other.
//!
//! Sockets are made inside the nodes' namespaces and then used by ordinary threads of this process, two for
//! each flow. Every wait is bounded, so that a stop is noticed within [`WAIT`].
//!
//! * [`tcp`]: bulk data over the kernel's TCP or MPTCP. The receiver opens the connection, as in a download.
//! * [`own_tcp`]: the same from prismux's own TCP, with TCP-PRISM.
//! * [`fetch`]: RCP and R²CP by processes of `prismux fetch`.
//! * [`exchange`]: requests and responses. [`udp`]: constant and bursty background load, whose packets count when the
//!   kernel had them ([`stamped`]).
//! * [`socket`]: sockets with a flow's settings. [`content`]: the bytes, which the receiver can foretell.
//!   [`tcp_info`]: what the kernel says about a connection.
pub(super) mod content;
pub(super) mod exchange;
pub(super) mod fetch;
pub(super) mod own_tcp;
pub(super) mod socket;
mod stamped;
pub(super) mod tcp;
pub(super) mod tcp_info;
pub(super) mod udp;
mod window_watch;

use prismux_linux::clock::Clock;
use prismux_trace::results::{DelayResult, Named, PipeResult, ResponseResult};
use prismux_units::{Duration, Instant};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest that a traffic thread waits without looking at its orders.
pub(super) const WAIT: std::time::Duration = std::time::Duration::from_millis(20);

/// Width of the cells in which arrivals are counted.
pub const ARRIVAL_CELL: Duration = Duration::from_millis(10);

/// When a flow runs, by whose clock, and whether everything is over.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    pub clock: Clock,
    pub start: Instant,
    pub stop: Instant,
    pub over: Arc<AtomicBool>,
}

impl Schedule {
    /// Time of the run.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// True from the flow's stop on.
    pub fn is_over(&self) -> bool {
        self.now() >= self.stop || self.over.load(Ordering::Relaxed)
    }

    /// Waits for `at`; false when the flow's stop comes first.
    pub fn wait_until(&self, at: Instant) -> bool {
        loop {
            let left = at - self.now();
            if self.is_over() {
                return false;
            }
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_nanos(left.as_nanos()).min(WAIT));
        }
    }
}

/// Bytes that arrived, in cells of [`ARRIVAL_CELL`] from the start of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// Bytes in each cell.
    pub cells: Vec<u64>,
    /// All bytes.
    pub total_bytes: u64,
    /// When the last ones came.
    pub last_at: Instant,
}

impl Arrivals {
    /// When the first `bytes` bytes had arrived, to within a cell.
    pub fn reached(&self, bytes: u64) -> Option<Instant> {
        let mut sum = 0;
        let cell = self.cells.iter().position(|&cell| {
            sum += cell;
            sum >= bytes
        })?;
        Some((Instant::ZERO + ARRIVAL_CELL * (cell as u64 + 1)).min(self.last_at))
    }

    /// Bytes that had arrived by `at`, to within a cell.
    pub fn by(&self, at: Instant) -> u64 {
        if at >= self.last_at {
            return self.total_bytes;
        }
        let cells = at.as_nanos().div_ceil(ARRIVAL_CELL.as_nanos()) as usize;
        self.cells.iter().take(cells).sum()
    }

    /// Counts `bytes` that arrived at `now`.
    pub fn record(&mut self, now: Instant, bytes: u64) {
        let cell = (now.as_nanos() / ARRIVAL_CELL.as_nanos()) as usize;
        if self.cells.len() <= cell {
            self.cells.resize(cell + 1, 0);
        }
        self.cells[cell] += bytes;
        self.total_bytes += bytes;
        self.last_at = now;
    }
}

/// What became of a flow.
#[derive(Debug, Clone, Default)]
pub struct FlowOutcome {
    /// What the receiving application got.
    pub arrivals: Arrivals,
    /// When the connection was open at the receiver.
    pub connected_at: Option<Instant>,
    /// When the last byte of a flow of limited size had arrived.
    pub completed_at: Option<Instant>,
    /// SHA-256 (hex) of what arrived; `None` for UDP.
    pub sha256: Option<String>,
    /// SHA-256 (hex) of as many bytes of what was sent.
    pub expected_sha256: Option<String>,
    /// The sender's counters at the end; one entry for each subflow.
    pub senders: Vec<tcp_info::TcpInfo>,
    /// The sender's state over time: congestion window in bytes and smoothed round trip.
    pub samples: Vec<(u64, Duration)>,
    /// Requests and responses: how long the client waited.
    pub response: Option<ResponseResult>,
    /// By pipe, where a flow has several.
    pub pipes: Named<PipeResult>,
    /// What the receiving program counted; microseconds of the longest pause and what was known when it began.
    pub counters: Named<u64>,
    /// UDP: packets sent, and received.
    pub packets: Option<[u64; 2]>,
    /// UDP: delays of the packets, where the plan asks for them.
    pub delay: Option<DelayResult>,
    /// Why a program that carries the flow could not do its work, if so: then the rest says nothing.
    pub failure: Option<String>,
    /// What a connection of the kernel's met, if anything went wrong: a result like others.
    pub trouble: Option<String>,
}
