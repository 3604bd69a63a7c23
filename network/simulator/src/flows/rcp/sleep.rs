//! A receiver whose interface sleeps: what arrives is lost, and nothing is asked for.
use prismux_units::{Duration, Instant};

/// Whether the receiver's interface sleeps, and for how long it has.
#[derive(Debug, Default)]
pub(super) struct Sleep {
    /// The radio of a sleeper wakes this often for a moment, and only then for good.
    beacon: Option<Duration>,
    since: Option<Instant>,
    /// The beacon at which it wakes for good.
    wakes_at: Option<Instant>,
    /// Of the sleeps that are over.
    slept: Duration,
    /// Packets that found it asleep.
    pub lost_packets: u64,
}

impl Sleep {
    pub fn new(beacon: Option<Duration>) -> Self {
        Self { beacon, ..Self::default() }
    }

    pub const fn is_asleep(&self) -> bool {
        self.since.is_some()
    }

    /// Falls asleep, or stays asleep although it was to wake. True if it was awake.
    pub fn begin(&mut self, now: Instant) -> bool {
        self.wakes_at = None;
        let was_awake = self.since.is_none();
        self.since.get_or_insert(now);
        was_awake
    }

    /// It may wake: when it will.
    pub fn end(&mut self, now: Instant) -> Option<Instant> {
        let since = self.since?;
        let asleep = now - since;
        let beacon = self.beacon.map(|beacon| beacon * asleep.as_nanos().div_ceil(beacon.as_nanos()));
        self.wakes_at = Some(since + beacon.unwrap_or(asleep));
        self.wakes_at
    }

    /// Wakes, if it is time to.
    pub fn wake(&mut self, now: Instant) -> bool {
        let due = self.wakes_at.is_some_and(|at| at <= now);
        if let Some(since) = self.since.filter(|_| due) {
            self.slept += now - since;
            (self.since, self.wakes_at) = (None, None);
        }
        due
    }

    /// How long it has slept by `now`, in whole milliseconds.
    pub fn slept_ms(&self, now: Instant) -> u64 {
        let under_way = self.since.map_or(Duration::ZERO, |since| now - since);
        (self.slept + under_way).as_millis()
    }
}
