//! Settings of both ends.
use prismux_units::{Duration, Rate};

/// Which of the new RTT samples the threshold is computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RttChoice {
    /// The least: in slow start the later samples contain a queue of our own.
    Least,
    /// The latest.
    Last,
}

/// Every choice in TCP-HO. The publication states the number of notices and of samples; the rest is ours.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffConfig {
    /// Duplicate ACKs that tell of one handoff.
    pub notices: u8,
    /// Time between them.
    pub spacing: Duration,
    /// RTT samples that update the threshold.
    pub samples: u32,
    /// Which of them counts.
    pub rtt: RttChoice,
    /// Window after a handoff, in segments; `None` takes the window that connections begin with.
    pub window_segments: Option<u32>,
    /// No timeout is shorter before the last of the samples.
    pub min_rto: Duration,
    /// A bandwidth above this is not believed.
    pub most_bandwidth: Rate,
    /// Handoffs that follow one another faster are not believed.
    pub min_interval: Duration,
}

impl HandoffConfig {
    /// Two notices 10 ms apart, four samples, the least RTT.
    pub const fn new() -> Self {
        Self {
            notices: 2,
            spacing: Duration::from_millis(10),
            samples: 4,
            rtt: RttChoice::Least,
            window_segments: None,
            min_rto: Duration::from_secs(1),
            most_bandwidth: Rate::from_mbps(1000),
            min_interval: Duration::from_millis(200),
        }
    }
}

impl Default for HandoffConfig {
    fn default() -> Self {
        Self::new()
    }
}
