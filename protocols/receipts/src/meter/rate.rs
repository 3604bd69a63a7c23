//! How fast packets come, from when they came: what happens to receipts on their way back does not matter.
use alloc::collections::VecDeque;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// A rate is that of at least so long.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// And of no longer, whatever the jitter.
const MAX_INTERVAL: Duration = Duration::from_millis(250);
/// The slope is that of so many intervals,
const SLOPE_INTERVALS: u64 = 16;
/// within these bounds.
const MIN_SLOPE: Duration = Duration::from_millis(200);
const MAX_SLOPE: Duration = Duration::from_millis(1500);
/// A slope needs at least so many intervals.
const MIN_SLOPE_INTERVALS: u64 = 3;
/// Points of the slope are no closer than this share of its span.
const MAX_POINTS: u64 = 128;
/// The rate of a burst is that of at least so many packets.
const BURST_PACKETS: u32 = 8;
/// And they were sent in less than this share of the time that they took to come.
const SATURATED: f64 = 0.85;
/// Two intervals in a row that differ from the slope by more than this factor: the link has changed.
const CHANGE: f64 = 1.4;

/// What had come, and had been sent, when a packet came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// On the far clock.
    pub at: Duration,
    /// Bytes that had come, the packet included.
    pub delivered: u64,
    /// When the packet was sent.
    pub sent_at: Instant,
    /// Bytes sent before it.
    pub sent_before: u64,
}

/// Rates of a link.
#[derive(Debug, Default)]
pub(super) struct RateMeter {
    /// Where the present interval began.
    anchor: Option<Point>,
    /// Points of the slope, the latest last.
    points: VecDeque<Point>,
    /// The queue has been busy since this packet came, and so many more have come.
    busy_since: Option<(Point, u32)>,
    /// The rate since then, if packets were sent faster.
    burst: Option<Rate>,
    /// The slope since then, once that is long enough.
    busy: Option<Rate>,
    latest: Option<Rate>,
    offered: Option<Rate>,
    /// By how much the last packet of that interval took longer than its first.
    queue_growth: Duration,
    capacity: Option<Rate>,
    /// Intervals measured.
    intervals: u64,
    /// Intervals in a row that were much faster (positive) or slower (negative) than the slope.
    deviating: i32,
}

impl RateMeter {
    /// The rate of the latest interval.
    pub fn latest(&self) -> Option<Rate> {
        self.latest
    }

    /// How fast the packets of that interval were sent.
    pub fn offered(&self) -> Option<Rate> {
        self.offered
    }

    /// By how much the last packet of the latest interval took longer than its first.
    pub fn queue_growth(&self) -> Duration {
        self.queue_growth
    }

    /// Intervals measured.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// What came since the queue was last empty.
    pub fn busy(&self) -> Option<Rate> {
        self.busy
    }

    /// What came since the queue was last empty, if it was sent faster: known earlier.
    pub fn burst(&self) -> Option<Rate> {
        self.burst
    }

    /// The most that the link is known to carry now.
    pub fn best_known(&self) -> Option<Rate> {
        self.capacity.max(self.latest)
    }

    /// What the link carries.
    pub fn capacity(&self) -> Option<Rate> {
        self.capacity
    }

    /// The interval that rates are measured over, and the shortest that shows what a busy link carries.
    pub fn intervals_of(min_rtt: Duration, jitter_p95: Duration) -> (Duration, Duration) {
        let shortest = MIN_INTERVAL.max(jitter_p95 * 4);
        ((min_rtt / 4).max(shortest).min(MAX_INTERVAL.max(min_rtt / 4)), shortest)
    }

    /// A packet came, later than all that were sent before it.
    pub fn add(&mut self, point: Point, (interval, shortest): (Duration, Duration), is_busy: bool) {
        let span =
            (interval * SLOPE_INTERVALS).max(MIN_SLOPE).min(MAX_SLOPE.max(interval * MIN_SLOPE_INTERVALS));
        self.note_busy(point, shortest, is_busy);
        let spacing = span / MAX_POINTS;
        if self.points.back().is_none_or(|last| point.at.saturating_sub(last.at) >= spacing) {
            self.points.push_back(point);
        }
        while self.points.front().is_some_and(|first| first.at.saturating_add(span) < point.at) {
            self.points.pop_front();
        }
        let Some(anchor) = self.anchor else {
            self.anchor = Some(point);
            return;
        };
        if point.at.saturating_sub(anchor.at) < interval {
            return;
        }
        self.anchor = Some(point);
        let Some((rate, offered)) = rates_between(&anchor, &point) else { return };
        (self.latest, self.offered) = (Some(rate), Some(offered));
        let sent_in = point.sent_at.saturating_since(anchor.sent_at);
        self.queue_growth = point.at.saturating_sub(anchor.at).saturating_sub(sent_in);
        self.intervals += 1;
        self.note_change(rate, &anchor);
        self.measure(interval);
    }

    fn note_busy(&mut self, point: Point, shortest: Duration, is_busy: bool) {
        if !is_busy {
            (self.busy_since, self.burst, self.busy) = (None, None, None);
            return;
        }
        let (since, packets) = self.busy_since.get_or_insert((point, 0));
        *packets += 1;
        let time = point.at.saturating_sub(since.at);
        if *packets > BURST_PACKETS && time >= shortest {
            let sent_in = point.sent_at.saturating_since(since.sent_at);
            let bytes = ByteCount::new(point.delivered.saturating_sub(since.delivered));
            self.burst = Rate::from_transfer(bytes, time).filter(|_| sent_in < time.mul_f64(SATURATED));
        }
    }

    /// When the link has changed, what came before says nothing about it.
    fn note_change(&mut self, rate: Rate, since: &Point) {
        let Some(capacity) = self.capacity.filter(|_| self.busy_since.is_some()) else {
            self.deviating = 0;
            return;
        };
        let ratio = rate.as_bps() as f64 / (capacity.as_bps().max(1)) as f64;
        self.deviating = match (ratio > CHANGE, ratio < 1.0 / CHANGE) {
            (true, _) => self.deviating.max(0) + 1,
            (_, true) => self.deviating.min(0) - 1,
            _ => 0,
        };
        if self.deviating.abs() >= 2 {
            while self.points.front().is_some_and(|first| first.at < since.at) {
                self.points.pop_front();
            }
        }
    }

    fn measure(&mut self, interval: Duration) {
        let Some(last) = self.points.back().map(|last| last.at) else { return };
        let has_changed = self.deviating.abs() >= 2;
        let needed = if has_changed { interval } else { interval * MIN_SLOPE_INTERVALS };
        let slope_since = |from: Duration| {
            let points = self.points.iter().filter(move |point| point.at >= from);
            let first = points.clone().next()?;
            (last.saturating_sub(first.at) >= needed).then(|| slope(points))?
        };
        self.busy = self.busy_since.and_then(|(since, _)| slope_since(since.at));
        self.capacity = self.busy.or_else(|| self.capacity.max(slope_since(Duration::ZERO)));
    }
}

/// What came between two packets, no faster than it was sent, and how fast that was; `None` when both came at once.
fn rates_between(from: &Point, to: &Point) -> Option<(Rate, Rate)> {
    let bytes = ByteCount::new(to.delivered.saturating_sub(from.delivered));
    let came = Rate::from_transfer(bytes, to.at.saturating_sub(from.at))?;
    let sent_bytes = ByteCount::new(to.sent_before.saturating_sub(from.sent_before));
    let sent = Rate::from_transfer(sent_bytes, to.sent_at.saturating_since(from.sent_at));
    let sent = sent.unwrap_or(Rate::from_bps(u64::MAX));
    Some((came.min(sent), sent))
}

/// The slope of bytes over time by least squares: single points that came early or late move it little.
fn slope<'a>(points: impl Iterator<Item = &'a Point> + Clone) -> Option<Rate> {
    let first = points.clone().next()?;
    let relative = points.map(|point| {
        let time = point.at.saturating_sub(first.at).as_secs_f64();
        (time, point.delivered.saturating_sub(first.delivered) as f64)
    });
    let add = |sum: (f64, f64, f64), point: (f64, f64)| (sum.0 + 1.0, sum.1 + point.0, sum.2 + point.1);
    let (count, times, bytes) = relative.clone().fold((0.0, 0.0, 0.0), add);
    let (mean_time, mean_bytes) = (times / count, bytes / count);
    let (covariance, variance) = relative.fold((0.0, 0.0), |sum, (time, bytes)| {
        let (time, bytes) = (time - mean_time, bytes - mean_bytes);
        (sum.0 + time * bytes, sum.1 + time * time)
    });
    (variance > 0.0).then(|| Rate::from_bps((covariance / variance * 8.0) as u64))
}
