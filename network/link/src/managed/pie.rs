//! PIE: proportional integral controller enhanced (RFC 8033), with the delay by timestamps (section 5.2).
use super::{PacketKind, Verdict};
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant};

/// Parameters of PIE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pie {
    /// QDELAY_REF: the delay to hold.
    pub target: Duration,
    /// T_UPDATE: how often the chance is adapted.
    pub update: Duration,
    /// MAX_BURST: a queue that is new may grow for so long.
    pub max_burst: Duration,
    /// Mark packets that may be marked, instead of dropping them, while the chance is no more than a tenth.
    pub ecn: bool,
}

impl Pie {
    /// As section 4 has them, with marks.
    pub const DEFAULT: Self = Self {
        target: Duration::from_millis(15),
        update: Duration::from_millis(15),
        max_burst: Duration::from_millis(150),
        ecn: true,
    };
}

/// Weights of the distance from the target and of the trend, per second (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Above this chance even packets that may be marked are dropped (section 5.1).
const MAX_MARK_CHANCE: f64 = 0.1;
/// Queues of fewer bytes are left alone: two packets (section 4.1).
const MIN_BYTES: u64 = 2 * 1514;
/// Drops keep this distance from even spacing (section 5.4).
const EARLIEST: f64 = 0.85;
const LATEST: f64 = 8.5;
/// A delay that grows beyond this raises the chance by 2 % at a time (section 5.5).
const LONG_DELAY: Duration = Duration::from_millis(250);

/// The controller.
#[derive(Debug, Clone)]
pub(super) struct PieState {
    config: Pie,
    random: RandomStream,
    chance: f64,
    accumulated: f64,
    burst_left: Duration,
    delay: Duration,
    old_delay: Duration,
    next_update: Instant,
}

impl PieState {
    pub(super) fn new(config: Pie, random: RandomStream) -> Self {
        Self {
            config,
            random,
            chance: 0.0,
            accumulated: 0.0,
            burst_left: config.max_burst,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            next_update: Instant::ZERO + config.update,
        }
    }

    /// A packet has left after so much waiting; with `is_empty` nothing waits any more.
    pub(super) fn observe(&mut self, now: Instant, delay: Option<Duration>, is_empty: bool) {
        self.catch_up(now);
        self.delay = if is_empty { Duration::ZERO } else { delay.unwrap_or(Duration::ZERO) };
    }

    /// Section 4.1: a packet has come and finds `bytes` waiting.
    pub(super) fn judge(&mut self, now: Instant, bytes: u64, kind: PacketKind) -> Verdict {
        self.catch_up(now);
        if !self.burst_left.is_zero() {
            return Verdict::Pass;
        }
        let half = self.config.target / 2;
        if self.old_delay < half && self.chance < 0.2 || bytes <= MIN_BYTES {
            return Verdict::Pass;
        }
        if self.chance <= 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.chance;
        if self.accumulated < EARLIEST || self.accumulated < LATEST && !self.random.chance(self.chance) {
            return Verdict::Pass;
        }
        self.accumulated = 0.0;
        let marks = self.config.ecn && kind.ecn_capable && self.chance <= MAX_MARK_CHANCE;
        if marks { Verdict::Mark } else { Verdict::Drop }
    }

    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            self.next_update += self.config.update;
            self.update();
        }
    }

    /// Section 4.2, with the burst allowance of section 4.4.
    fn update(&mut self) {
        let (delay, old) = (self.delay.as_secs_f64(), self.old_delay.as_secs_f64());
        let target = self.config.target.as_secs_f64();
        let mut step = ALPHA * (delay - target) + BETA * (delay - old);
        // Small chances take small steps: by the table.
        let scale = match self.chance {
            chance if chance < 0.000_001 => 2048.0,
            chance if chance < 0.000_01 => 512.0,
            chance if chance < 0.000_1 => 128.0,
            chance if chance < 0.001 => 32.0,
            chance if chance < 0.01 => 8.0,
            chance if chance < 0.1 => 2.0,
            _ => 1.0,
        };
        step /= scale;
        if self.chance >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        if self.delay > LONG_DELAY {
            step = 0.02;
        }
        self.chance = (self.chance + step).clamp(0.0, 1.0);
        if self.delay.is_zero() && self.old_delay.is_zero() {
            self.chance *= 0.98;
        }
        self.old_delay = self.delay;
        self.burst_left = self.burst_left.saturating_sub(self.config.update);
        let half = self.config.target / 2;
        if self.chance <= 0.0 && self.delay < half && self.old_delay < half {
            self.burst_left = self.config.max_burst;
        }
    }
}
