//! A flow of `prismux serve` and `prismux fetch`: RCP, or R²CP over several pipes.
use prismux_units::{ByteCount, Instant, Rate};

/// Most bytes of the object in a data packet of `prismux serve`, and that packet's length with its IPv4 header: what
/// capacity is reckoned with.
pub const FETCH_PAYLOAD_BYTES: u32 = 1289;
/// See [`FETCH_PAYLOAD_BYTES`].
pub const FETCH_PACKET_BYTES: u32 = 1378;

/// What is fetched, and over which pipes. The flow's sender only names the flow; every pipe has a server of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchPlan {
    /// The pipes, at least one; names are unique.
    pub pipes: Vec<PipePlan>,
    /// The rate at which the stream is wanted.
    pub target_rate: Option<Rate>,
    /// Asked for, or received out of order, at most.
    pub window: Option<ByteCount>,
}

/// One pipe: a server, reached over one of the client's links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipePlan {
    /// Its name.
    pub name: String,
    /// The node that serves.
    pub server: String,
    /// The link it begins or ends at; `None` leaves that to routing.
    pub link: Option<String>,
    /// What it costs.
    pub cost: u8,
    /// When it is used first.
    pub opens: Instant,
    /// When it is closed in peace.
    pub closes: Option<Instant>,
    /// When the client's interface goes down.
    pub drops: Option<Instant>,
}
