//! The server: two states, NORMAL and HANDOFF.
use crate::config::{HandoffConfig, RttChoice};
use prismux_tcp::engine::{AckOutcome, PathChange, PathUpdate};
use prismux_tcp::extension::{SenderExtension, SenderView, Steering};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{HandoffNotice, TcpHeader};

/// What became of notices and handoffs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HandoffCounters {
    /// Handoffs acted upon, our own host's included.
    pub handoffs: u64,
    /// Spare notices of a handoff acted upon already.
    pub twins: u64,
    /// Notices on segments that a later one had overtaken.
    pub stale: u64,
    /// Notices too soon after another handoff.
    pub too_soon: u64,
    /// Bandwidths not believed; the rest of the notice was.
    pub implausible: u64,
    /// RTT samples that set the threshold.
    pub samples: u64,
    /// Handoffs after which all samples were taken.
    pub settled: u64,
    /// Handoffs after which congestion was detected first.
    pub congested: u64,
}

/// State HANDOFF.
#[derive(Debug, Clone, Copy)]
struct Handoff {
    bandwidth: Option<Rate>,
    samples: u32,
    min_rtt: Option<Duration>,
    /// Timeouts of the engine before the event; one more is congestion.
    timeouts: u64,
}

/// The last handoff acted upon.
#[derive(Debug, Clone, Copy)]
struct Last {
    at: Instant,
    notice: Option<HandoffNotice>,
    /// Just after the highest position sent before it.
    sent_end: u64,
}

/// The sender's side of one connection.
#[derive(Debug, Clone)]
pub struct HandoffServer {
    config: HandoffConfig,
    /// `None` in state NORMAL.
    state: Option<Handoff>,
    last: Option<Last>,
    /// Least RTT of the last path that was measured: all there is to guess the next one's by.
    old_rtt: Option<Duration>,
    counters: HandoffCounters,
}

impl HandoffServer {
    /// In state NORMAL.
    pub fn new(config: HandoffConfig) -> Self {
        Self { config, state: None, last: None, old_rtt: None, counters: HandoffCounters::default() }
    }

    /// What happened so far.
    pub fn counters(&self) -> &HandoffCounters {
        &self.counters
    }

    /// In state HANDOFF: samples are still awaited.
    pub fn is_in_handoff(&self) -> bool {
        self.state.is_some()
    }

    fn on_notice(&mut self, header: &TcpHeader, notice: HandoffNotice, view: &SenderView<'_>) -> Steering {
        if !view.is_current(header) {
            self.counters.stale += 1;
            return Steering::Keep;
        }
        if self.is_twin(notice, view) {
            self.counters.twins += 1;
            return Steering::Keep;
        }
        let told = Rate::from_kbps(u64::from(notice.bandwidth_kbps));
        let plausible = told <= self.config.most_bandwidth;
        let bandwidth = Some(told).filter(|rate| plausible && *rate > Rate::ZERO);
        let steering = self.begin(bandwidth, Some(notice), view);
        if steering != Steering::Keep {
            self.counters.implausible += u64::from(!plausible);
        }
        steering
    }

    /// The same bandwidth again within a timeout, and nothing sent since the first notice is acknowledged: its spare.
    fn is_twin(&self, notice: HandoffNotice, view: &SenderView<'_>) -> bool {
        let Some(last) = self.last.filter(|last| last.notice == Some(notice)) else { return false };
        view.acknowledged <= last.sent_end && view.now - last.at <= view.engine_metrics().rto
    }

    /// Enters HANDOFF, unless the last handoff is too recent.
    fn begin(
        &mut self,
        bandwidth: Option<Rate>,
        notice: Option<HandoffNotice>,
        view: &SenderView<'_>,
    ) -> Steering {
        if self.last.is_some_and(|last| view.now - last.at < self.config.min_interval) {
            self.counters.too_soon += 1;
            return Steering::Keep;
        }
        let metrics = view.engine_metrics();
        self.old_rtt = metrics.min_rtt.or(self.old_rtt);
        self.last = Some(Last { at: view.now, notice, sent_end: view.sent_end });
        let timeouts = metrics.counters.timeouts;
        self.state = Some(Handoff { bandwidth, samples: 0, min_rtt: None, timeouts });
        self.counters.handoffs += 1;
        let segment = u64::from(view.segment_bytes());
        let segments = self.config.window_segments.unwrap_or(view.initial_window_segments());
        let window = segment * u64::from(segments);
        // Provisional: the new path's RTT is not known yet.
        let threshold = bandwidth.zip(self.old_rtt).map(|(rate, rtt)| product(rate, rtt, segment));
        Steering::NewPath(PathChange {
            // What would only fill a queue is not sent in one burst.
            window_bytes: window.min(threshold.unwrap_or(window)),
            threshold_bytes: threshold,
            min_rto: self.config.min_rto,
        })
    }

    /// An acknowledgement in HANDOFF: congestion ends it, a sample improves the threshold, the last sample ends it too.
    fn on_outcome(&mut self, handoff: Handoff, outcome: &AckOutcome, view: &SenderView<'_>) -> Steering {
        let congested = outcome.window_reduced || view.engine_metrics().counters.timeouts > handoff.timeouts;
        if congested {
            self.state = None;
            self.counters.congested += 1;
            return Steering::Update(PathUpdate { threshold_bytes: None, settled: true });
        }
        let Some(rtt) = outcome.rtt_sample else { return Steering::Keep };
        let least = handoff.min_rtt.map_or(rtt, |least| least.min(rtt));
        let samples = handoff.samples + 1;
        let settled = samples >= self.config.samples;
        self.counters.samples += 1;
        self.counters.settled += u64::from(settled);
        self.state = (!settled).then_some(Handoff { samples, min_rtt: Some(least), ..handoff });
        let rtt = if self.config.rtt == RttChoice::Least { least } else { rtt };
        let segment = u64::from(view.segment_bytes());
        let threshold_bytes = handoff.bandwidth.map(|rate| product(rate, rtt, segment));
        Steering::Update(PathUpdate { threshold_bytes, settled })
    }
}

/// Bandwidth times delay in bytes, two segments at least.
fn product(bandwidth: Rate, rtt: Duration, segment_bytes: u64) -> u64 {
    bandwidth.bytes_in(rtt).as_u64().max(2 * segment_bytes)
}

impl SenderExtension for HandoffServer {
    fn steer(&mut self, header: &TcpHeader, outcome: &AckOutcome, view: &SenderView<'_>) -> Steering {
        match (header.options.handoff, self.state) {
            (Some(notice), _) => self.on_notice(header, notice, view),
            (None, Some(handoff)) => self.on_outcome(handoff, outcome, view),
            (None, None) => Steering::Keep,
        }
    }

    fn on_own_handoff(&mut self, bandwidth: Option<Rate>, view: &SenderView<'_>) -> Steering {
        self.begin(bandwidth, None, view)
    }
}
