//! What has been learned, for those who plan with it.
use super::{CAP_EXTRA_PACKETS, CAP_EXTRA_TIME, CAP_GAIN, LinkModel, PROBE_GAIN, PROBE_ROUNDS};
use prismux_units::{Duration, Instant, Rate};

/// A link is not given more in a burst than what it carries in this time and [`BURST_PACKETS`].
const PACING_QUANTUM: Duration = Duration::from_millis(2);
/// See [`PACING_QUANTUM`].
const BURST_PACKETS: f64 = 4.0;
/// A link with less than this share of its cap in flight has little to do.
const IDLE: f64 = 0.5;
/// An idle link is ahead of others by this at most, in seconds.
pub(crate) const MAX_IDLE: f64 = 0.02;

impl LinkModel {
    /// The learned rate of useful data; `None` before the first full round.
    pub fn rate(&self) -> Option<Rate> {
        let rate = self.learned();
        (rate > 0.0).then(|| Rate::from_bps((rate * 8.0) as u64))
    }

    /// The shortest round trip of the last seconds.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.map(|least| least.rtt)
    }

    /// True while the cap still doubles.
    pub fn in_startup(&self) -> bool {
        self.startup
    }

    /// Share of packets lost lately.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Bytes delivered since the start.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered
    }

    /// Bytes that may be in flight.
    pub fn cap_bytes(&self) -> u64 {
        if self.learning { self.cap as u64 } else { u64::MAX }
    }

    /// The rate to plan with, bytes per second: learned, else guessed from what the cap allows, else advertised.
    pub fn planning_rate(&self) -> Option<f64> {
        let learned = self.learned();
        match (self.startup && self.learning, self.min_rtt()) {
            (true, Some(rtt)) if !rtt.is_zero() => Some(learned.max(self.cap / rtt.as_secs_f64())),
            _ if learned > 0.0 => Some(learned.max(self.contested_rate())),
            _ => self.first_guess.map(|rate| rate.as_bps() as f64 / 8.0).filter(|&rate| rate > 0.0),
        }
    }

    /// When it will have sent all that it was given.
    pub(crate) fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Bytes that a link with little to do can take.
    pub(crate) fn idle_bytes(&self, in_flight: u64) -> u64 {
        ((IDLE * self.cap_bytes() as f64) as u64).saturating_sub(in_flight)
    }

    /// What the link could carry beside what it has in flight, bytes per second.
    pub(crate) fn idle_rate(&self, in_flight: u64) -> f64 {
        let idle = 1.0 - in_flight as f64 / (IDLE * self.cap).max(1.0);
        if self.learning { self.learned() * idle.max(0.0) } else { 0.0 }
    }

    /// How long data stays in flight when the link is at its cap.
    pub fn full_rtt(&self) -> Option<Duration> {
        let rtt = self.min_rtt()?;
        match self.planning_rate() {
            Some(rate) if self.learning && !self.startup => {
                let extra = CAP_EXTRA_PACKETS * self.packet_bytes / rate + CAP_EXTRA_TIME;
                Some(Duration::from_secs_f64(CAP_GAIN * self.loaded_rtt(rtt) + extra))
            }
            _ => Some(rtt),
        }
    }

    /// The time until which the link has enough to do with what it was given lately, more than a small burst; `None`
    /// when it has not: what was lost keeps it busy no longer. While its rate is still being found out, only its cap
    /// says how much it is given.
    pub(crate) fn busy_until(&self, now: Instant, in_flight: u64) -> Option<Instant> {
        let rate = self.planning_rate().filter(|_| self.learning && !self.startup)?;
        let under_way = now + Duration::from_secs_f64(in_flight as f64 / rate);
        let free_at = self.free_at.min(under_way.max(self.copies_end));
        self.pace_ends(free_at, rate, now)
    }

    /// The same with all that it was given, what is not counted as under way included.
    pub(crate) fn occupied_until(&self, now: Instant) -> Option<Instant> {
        let rate = self.planning_rate().filter(|_| self.learning)?;
        self.pace_ends(self.free_at, rate, now)
    }

    /// Before this [`LinkModel::busy_until`] is some time for certain; what copies keep it busy is left out.
    pub(crate) fn is_busy_before(&self, in_flight: u64) -> Instant {
        let Some(rate) = self.planning_rate().filter(|_| self.learning && !self.startup) else {
            return Instant::ZERO;
        };
        let burst = self.burst(rate);
        let has_little = Duration::from_secs_f64(in_flight as f64 / rate) <= burst;
        if has_little { Instant::ZERO } else { self.free_at - burst }
    }

    fn burst(&self, rate: f64) -> Duration {
        PACING_QUANTUM + Duration::from_secs_f64(BURST_PACKETS * self.packet_bytes / rate)
    }

    fn pace_ends(&self, free_at: Instant, rate: f64, now: Instant) -> Option<Instant> {
        let until = free_at - self.burst(rate);
        (until > now).then_some(until)
    }

    /// Rounds that look for more are to be given more.
    pub(super) fn pace_gain(&self) -> f64 {
        let probes = self.rounds.is_multiple_of(PROBE_ROUNDS) && !self.is_measured();
        let gain = if probes { self.overload.probe_gain(PROBE_GAIN) } else { 1.0 };
        gain.max(self.search_gain()).max(self.swing_gain())
    }

    /// True for some time after the queue of the link has overflowed.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.overload.has_overflowed()
    }

    /// How long the link takes to send `bytes`, in seconds; zero where no rate is known.
    pub(crate) fn sending_time(&self, bytes: u64) -> f64 {
        self.planning_rate().map_or(0.0, |rate| bytes as f64 / rate)
    }

    /// When the link would have sent a packet of `bytes` more, in seconds from now; negative by as long as it was idle.
    pub(crate) fn done_with(&self, now: Instant, bytes: u64) -> f64 {
        let own = self.sending_time(bytes);
        let ahead = self.free_at.saturating_since(now).as_secs_f64();
        let idle = now.saturating_since(self.free_at).as_secs_f64().min(MAX_IDLE);
        ahead - idle + own
    }

    /// When a packet of `bytes` sent now would be heard of, as a time from now.
    pub fn expected_arrival(&self, now: Instant, bytes: u64, in_flight: u64, hrtt: Duration) -> Duration {
        let propagation = self.min_rtt().unwrap_or(hrtt);
        let Some(rate) = self.planning_rate() else { return propagation };
        let backlog = Duration::from_secs_f64((in_flight + bytes) as f64 / rate);
        let wait =
            (self.free_at.saturating_since(now) + Duration::from_secs_f64(bytes as f64 / rate)).min(backlog);
        propagation + wait
    }
}
