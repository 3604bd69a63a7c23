//! The states, and what each asks of pacing rate and window (section 5.6.1).

/// The states of the diagram in section 5.1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    /// ProbeBW_DOWN: sends less than the path delivers.
    Down,
    /// ProbeBW_CRUISE: sends what the path delivers.
    Cruise,
    /// ProbeBW_REFILL: fills the pipe, for a round trip, before it asks for more.
    Refill,
    /// ProbeBW_UP: sends more than the path delivers.
    Up,
    ProbeRtt,
}

impl State {
    /// BBR.pacing_gain.
    pub(super) const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => 2.77,
            Self::Drain => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
            Self::Up => 1.25,
        }
    }

    /// BBR.cwnd_gain.
    pub(super) const fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// IsInAProbeBWState.
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// IsProbingBW: losses are expected, and answered at the end of the probe.
    pub(super) const fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}
