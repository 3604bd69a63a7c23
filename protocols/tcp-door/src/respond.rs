//! Responses R1 and R2 to an event, and the guard that keeps them from becoming permanent.
use crate::config::{DoorConfig, MAX_TIMER_UNITS};
use prismux_tcp::order::OrderResponse;
use prismux_units::{Duration, Instant};

/// Spans that the guard lets pass in a row, in longest spans: then its share of time has to have gone by.
const BURST_SPANS: u64 = 2;

/// What an event makes of T1 and T2.
#[derive(Debug, Clone)]
pub(crate) struct Responder {
    freeze_units: Option<u64>,
    grows_while_frozen: bool,
    restore_units: Option<u64>,
    guard: Option<Guard>,
    frozen_until: Instant,
}

impl Responder {
    pub(crate) fn new(config: &DoorConfig) -> Self {
        let units = |units: Option<u32>| units.map(|units| u64::from(units.min(MAX_TIMER_UNITS)));
        Self {
            freeze_units: units(config.freeze_units),
            grows_while_frozen: config.grows_while_frozen,
            restore_units: units(config.restore_units),
            guard: config.max_frozen_share.map(Guard::new),
            frozen_until: Instant::ZERO,
        }
    }

    /// The responses to an event at `now`, when a timer unit is `unit` long; `None` where the guard allows none.
    pub(crate) fn respond(&mut self, now: Instant, unit: Duration) -> Option<OrderResponse> {
        let freeze = self.freeze_units.map(|units| unit * units);
        let restore = self.restore_units.map(|units| unit * units);
        let span = freeze.or(restore).unwrap_or(Duration::ZERO);
        // What a freeze that is under way has paid for already costs nothing.
        let paid = if freeze.is_some() { self.frozen_until.max(now) - now } else { Duration::ZERO };
        if let Some(guard) = &mut self.guard
            && !guard.allows(now, span, span.saturating_sub(paid))
        {
            return None;
        }
        let freeze_until = freeze.map(|span| now + span);
        self.frozen_until = self.frozen_until.max(freeze_until.unwrap_or(Instant::ZERO));
        let restore_since = restore.map(|span| now - span);
        Some(OrderResponse {
            acknowledge: false,
            restore_since,
            freeze_until,
            grows_while_frozen: self.grows_while_frozen,
        })
    }
}

/// Allowance of time, which grows by its share of the time that passes.
#[derive(Debug, Clone)]
struct Guard {
    share: f64,
    allowance: Duration,
    /// `None` before the first event, when the allowance is full.
    since: Option<Instant>,
}

impl Guard {
    fn new(share: f64) -> Self {
        Self { share: share.clamp(0.0, 1.0), allowance: Duration::ZERO, since: None }
    }

    /// Whether there is an allowance for `cost`, where spans are `span` long; takes it.
    fn allows(&mut self, now: Instant, span: Duration, cost: Duration) -> bool {
        let most = span * BURST_SPANS;
        let gained = self.since.map_or(most, |since| (now - since).mul_f64(self.share));
        self.allowance = self.allowance.saturating_add(gained).min(most);
        self.since = Some(now);
        let enough = self.allowance >= cost;
        if enough {
            self.allowance = self.allowance.saturating_sub(cost);
        }
        enough
    }
}
