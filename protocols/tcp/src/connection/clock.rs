//! Timestamps (RFC 7323): our clock, the peer's value to echo, and protection against wrapped sequence
//! numbers.
use prismux_units::{Duration, Instant};
use prismux_wire::Timestamps;

/// A peer's timestamp older than this proves nothing any more (RFC 7323 section 5.5).
const OUTDATED: Duration = Duration::from_secs(24 * 24 * 3600);

/// Timestamp state of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    offset: u32,
    /// One tick of our clock.
    tick: Duration,
    /// TS.Recent: the value to echo.
    recent: u32,
    /// When `recent` was taken; [`Instant::MAX`] before the first. An option would make the connection's own be told
    /// by it, which lies among what is seldom touched.
    recent_at: Instant,
    /// Last.ACK.sent, as a position of the peer's stream.
    acknowledged: u64,
}

impl Clock {
    pub(super) const fn new(offset: u32, tick: Duration) -> Self {
        Self { offset, tick, recent: 0, recent_at: Instant::MAX, acknowledged: 0 }
    }

    /// TSval at `now`; never zero soon after the start, since some peers take a zero echo for none.
    fn value(&self, now: Instant) -> u32 {
        ((now.as_nanos() / self.tick.as_nanos().max(1)) as u32).wrapping_add(self.offset).wrapping_add(1)
    }

    /// The option of a segment sent at `now`.
    pub(super) fn stamp(&self, now: Instant) -> Timestamps {
        Timestamps { value: self.value(now), echo: self.recent }
    }

    /// Remembers that an acknowledgement of `position` left (for the rule of RFC 7323 section 4.3).
    pub(super) fn note_ack_sent(&mut self, position: u64) {
        self.acknowledged = position;
    }

    /// How far the peer's clock would run back, in its ticks, if `value` were accepted; `None` when it
    /// does not (RFC 7323 section 5.3, R1).
    pub(super) fn lag(&self, now: Instant, value: u32) -> Option<u32> {
        let known = self.recent_at < Instant::MAX && now - self.recent_at < OUTDATED;
        let lag = self.recent.wrapping_sub(value);
        (known && lag != 0 && lag < 1 << 31).then_some(lag)
    }

    /// Takes `value` from a segment that starts at `position` as the one to echo, if it is due.
    pub(super) fn update(&mut self, now: Instant, value: u32, position: u64) {
        let newer = self.recent_at == Instant::MAX || self.lag(now, value).is_none();
        if newer && position <= self.acknowledged {
            self.recent = value;
            self.recent_at = now;
        }
    }

    /// Time since the segment whose timestamp `echo` is; `None` for an echo from the future.
    pub(super) fn elapsed(&self, now: Instant, echo: u32) -> Option<Duration> {
        let ticks = self.value(now).wrapping_sub(echo);
        (ticks < 1 << 31).then(|| self.tick * u64::from(ticks))
    }
}
