//! Dual-mode operation: each flow uses the cellular or the peer-to-peer mode, whichever serves it
//! (the thesis, section 8.2, figures 46 and 47).
//!
//! The channel's time repeats with a period: first the cellular mode, then the peer-to-peer mode. [`DualModeHost`]
//! decides for its own flow, [`DualModeBase`] divides the time. Forwarding for others goes on in every mode.
use alloc::collections::BTreeSet;
use prismux_units::{Duration, Instant};

/// Intervals and timeouts. The thesis gives no values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DualModeSettings {
    /// The period of cellular and peer-to-peer mode (`rp`).
    pub repetition: Duration,
    /// How often the base station tells the division (`up`).
    pub update: Duration,
    /// How often a host looks at its throughput (`mp`).
    pub monitor: Duration,
    /// How long a route must be missing for a partition (`pp`).
    pub partition: Duration,
    /// How long a flow stays in cellular mode before it tries again (`sp` in figure 46).
    pub sojourn: Duration,
}

impl Default for DualModeSettings {
    fn default() -> Self {
        Self {
            repetition: Duration::from_millis(100),
            update: Duration::from_secs(1),
            monitor: Duration::from_secs(5),
            partition: Duration::from_secs(2),
            sojourn: Duration::from_secs(10),
        }
    }
}

/// The mode that serves a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The base station, directly.
    Cellular,
    /// Over peers.
    Peer,
}

/// What a host asks of the base station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// To serve its flow in cellular mode.
    Join,
    /// To serve it in peer-to-peer mode.
    Leave,
}

/// One host and its own flow.
#[derive(Debug, Clone)]
pub struct DualModeHost {
    settings: DualModeSettings,
    /// Bits per second that a pure cellular network would give.
    reference_bps: f64,
    mode: Mode,
    partitioned: bool,
    partition_at: Option<Instant>,
    sojourn_ends: Option<Instant>,
    sojourn_over: bool,
}

impl DualModeHost {
    /// In peer-to-peer mode, with the throughput that a pure cellular network would give its flow.
    pub fn new(settings: DualModeSettings, reference_bps: f64) -> Self {
        Self {
            settings,
            reference_bps,
            mode: Mode::Peer,
            partitioned: false,
            partition_at: None,
            sojourn_ends: None,
            sojourn_over: false,
        }
    }

    /// The mode of the host's flow.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Every monitoring interval: the throughput over it and since the flow began. One bad interval is tolerated.
    pub fn monitor(&self, recent_bps: f64, overall_bps: f64) -> Option<Request> {
        match self.mode {
            Mode::Peer if recent_bps < self.reference_bps && overall_bps < self.reference_bps => {
                Some(Request::Join)
            }
            Mode::Cellular if overall_bps > self.reference_bps && !self.partitioned => Some(Request::Leave),
            _ => None,
        }
    }

    /// Routing has no way to the destination.
    pub fn route_failed(&mut self, now: Instant) {
        if self.partition_at.is_none() && !self.partitioned {
            self.partition_at = Some(now + self.settings.partition);
        }
    }

    /// Routing has a way.
    pub fn route_found(&mut self) -> Option<Request> {
        self.partitioned = false;
        self.partition_at = None;
        (self.mode == Mode::Cellular && self.sojourn_over).then_some(Request::Leave)
    }

    /// When [`Self::handle_timeout`] is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        [self.partition_at, self.sojourn_ends].into_iter().flatten().min()
    }

    /// A timer has run out: no way for too long, or long enough in cellular mode. A partitioned host in cellular mode
    /// keeps asking routing for a way.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Request> {
        if self.partition_at.is_some_and(|at| at <= now) {
            self.partition_at = None;
            self.partitioned = true;
            if self.mode == Mode::Peer {
                return Some(Request::Join);
            }
        }
        if self.sojourn_ends.is_some_and(|at| at <= now) {
            self.sojourn_ends = None;
            self.sojourn_over = true;
            if !self.partitioned {
                return Some(Request::Leave);
            }
        }
        None
    }

    /// The base station has told which flows it serves in cellular mode.
    pub fn division(&mut self, now: Instant, in_cellular_mode: bool) {
        if !in_cellular_mode {
            self.mode = Mode::Peer;
            (self.sojourn_ends, self.sojourn_over) = (None, false);
        } else if self.mode == Mode::Peer {
            self.mode = Mode::Cellular;
            self.sojourn_ends = Some(now + self.settings.sojourn);
        }
    }
}

/// The base station's part.
#[derive(Debug, Clone)]
pub struct DualModeBase {
    flows: usize,
    selected: BTreeSet<usize>,
}

impl DualModeBase {
    /// With all of `flows` flows in peer-to-peer mode.
    pub fn new(flows: usize) -> Self {
        Self { flows, selected: BTreeSet::new() }
    }

    /// Among so many flows from now on.
    pub fn set_flows(&mut self, flows: usize) {
        self.flows = flows;
    }

    /// A host asks for its flow.
    pub fn handle_request(&mut self, flow: usize, request: Request) {
        match request {
            Request::Join => self.selected.insert(flow),
            Request::Leave => self.selected.remove(&flow),
        };
    }

    /// The flows in cellular mode.
    pub fn selected(&self) -> &BTreeSet<usize> {
        &self.selected
    }

    /// The part of each period of length `repetition` that the cellular mode has.
    pub fn cellular_time(&self, repetition: Duration) -> Duration {
        repetition * self.selected.len() as u64 / self.flows.max(1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{DualModeBase, DualModeHost, DualModeSettings, Mode, Request};
    use prismux_units::{Duration, Instant};

    fn host() -> DualModeHost {
        DualModeHost::new(DualModeSettings::default(), 20e3)
    }

    fn at(seconds: u64) -> Instant {
        Instant::from_secs(seconds)
    }

    #[test]
    fn one_bad_interval_is_tolerated() {
        assert_eq!(host().monitor(0.0, 25e3), None);
        assert_eq!(host().monitor(25e3, 10e3), None);
        assert_eq!(host().monitor(10e3, 10e3), Some(Request::Join));
    }

    #[test]
    fn a_partition_joins_after_two_seconds_without_a_route() {
        let mut host = host();
        host.route_failed(at(1));
        host.route_failed(at(2));
        assert_eq!(host.poll_timeout(), Some(at(3)), "the timer is not started again");
        assert_eq!(host.handle_timeout(at(2)), None);
        assert_eq!(host.handle_timeout(at(3)), Some(Request::Join));
        host.division(at(4), true);
        assert_eq!(host.mode(), Mode::Cellular);
        assert_eq!(host.monitor(0.0, 30e3), None, "no way back while partitioned");
        assert_eq!(host.handle_timeout(at(14)), None, "nor when the sojourn ends");
        assert_eq!(host.route_found(), Some(Request::Leave), "the next route is tried at once");
        host.division(at(15), false);
        assert_eq!((host.mode(), host.poll_timeout()), (Mode::Peer, None));
    }

    #[test]
    fn a_route_in_time_stops_the_partition_timer() {
        let mut host = host();
        host.route_failed(at(1));
        assert_eq!(host.route_found(), None);
        assert_eq!(host.poll_timeout(), None);
    }

    #[test]
    fn a_flow_slightly_below_its_reference_tries_again_after_its_sojourn() {
        let mut host = host();
        host.division(at(1), true);
        host.division(at(5), true);
        assert_eq!(
            host.poll_timeout(),
            Some(at(11)),
            "each division tells it, the first one starts the timer"
        );
        assert_eq!(host.monitor(19e3, 19e3), None);
        assert_eq!(host.handle_timeout(at(11)), Some(Request::Leave));
    }

    #[test]
    fn the_cellular_mode_has_its_flows_share_of_the_time() {
        let mut base = DualModeBase::new(100);
        for flow in [3, 3, 7, 9] {
            base.handle_request(flow, Request::Join);
        }
        base.handle_request(7, Request::Leave);
        assert_eq!(base.cellular_time(Duration::from_millis(100)), Duration::from_millis(2));
    }
}
