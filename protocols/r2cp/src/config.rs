//! The switches of a connection.
use prismux_rcp::RcpConfig;
use prismux_units::{ByteCount, Rate};

/// Which segment a pipe's next request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// By rank: the segment that will be next in line when the data arrives.
    ExpectedArrival,
    /// As by rank, but with the successors' successors counted too, for as long as the data is under way: what round
    /// trips that differ by more than a factor of two call for.
    ExpectedArrivalChained,
    /// The first that no pipe has been asked for (R²CP-s): lags behind when round trips differ.
    FirstPending,
    /// Each segment belongs to the next pipe in turn, as where an application stripes over connections without
    /// looking at them (APPS).
    RoundRobin,
}

/// Every switch of a connection over several pipes.
#[derive(Debug, Clone, PartialEq)]
pub struct R2cpConfig {
    /// Switches of the pipes. The receive buffer is the connection's, shared by all.
    pub rcp: RcpConfig,
    /// Which segment a request takes.
    pub scheduling: Scheduling,
    /// Length of the stream, where it is known beforehand.
    pub length: Option<ByteCount>,
    /// The stream is wanted at this rate and no faster; pipes are used in order of cost.
    pub target_rate: Option<Rate>,
}

impl R2cpConfig {
    /// With the given pipes, by rank, as fast as possible.
    pub fn new(rcp: RcpConfig) -> Self {
        Self { rcp, scheduling: Scheduling::ExpectedArrival, length: None, target_rate: None }
    }
}
