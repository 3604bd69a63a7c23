//! The machine: queue, serialiser and channel in one time line.
mod change;
#[cfg(test)]
mod tests;

use crate::channel::{Channel, Fate};
use crate::config::{BDP_FLOOR_BYTES, LinkConfig, OutagePolicy, QueueLimit, ScheduledChange};
use crate::serialiser::Serialiser;
use crate::stats::LinkStats;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use prismux_endpoint::random::Seed;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// One direction of a link, carrying packets of type `P` (a buffer, or a handle to one).
///
/// After every call look at [`Link::next_wakeup`]; when that time has come call [`Link::poll_delivery`] until
/// it is empty, and [`Link::poll_dropped`] likewise.
#[derive(Debug, Clone)]
pub struct Link<P> {
    serialiser: Serialiser,
    delay: Duration,
    limit: Limit,
    /// False where jitter lets packets overtake.
    in_order: bool,
    state: State,
    /// Everything accepted and not yet delivered, in order of arrival.
    flight: VecDeque<InFlight<P>>,
    /// The packets of `flight` (and lost ones, which use the rate too) that had to wait, in order of sending;
    /// those whose sending has begun are taken off when somebody looks.
    waiting: VecDeque<Waiting>,
    waiting_bytes: u64,
    /// Latest arrival so far, which an in-order link never undercuts.
    last_arrival: Instant,
    next_order: u64,
    /// When `schedule` has its next entry.
    next_change: Instant,
    /// `None` for a channel that leaves every packet alone.
    channel: Option<Box<Channel>>,
    stats: LinkStats,
    /// Future changes, the next one last.
    schedule: Vec<ScheduledChange>,
    /// Packets lost inside the link by an outage.
    dropped: VecDeque<Dropped<P>>,
    setup: Setup,
}

/// Whether the serialiser runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// Packets wait: the rate is zero, or the link is down and holds its queue.
    Stopped,
    /// Down, and losing what it is given.
    Dead,
}

/// What is needed to follow changes.
#[derive(Debug, Clone)]
struct Setup {
    rate: Option<Rate>,
    queue: QueueLimit,
    bdp_round_trip: Option<Duration>,
    /// A trace fixes the mean rate.
    trace_rate: Option<Rate>,
    outage: OutagePolicy,
    up: bool,
    seed: Seed,
    name: String,
}

/// The queue limit in numbers.
#[derive(Debug, Clone, Copy)]
struct Limit {
    packets: u64,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct InFlight<P> {
    /// Last bit leaves the serialiser; [`Instant::MAX`] while the link is stopped.
    departs: Instant,
    /// Delay and jitter.
    travels: Duration,
    order: u64,
    packet: P,
    size_bytes: u32,
    duplicated: bool,
    corrupted: bool,
}

impl<P> InFlight<P> {
    fn arrives(&self) -> Instant {
        self.departs + self.travels
    }
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    starts: Instant,
    order: u64,
    size_bytes: u32,
}

/// Why a packet will not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The queue had no room.
    QueueFull,
    /// Lost on the channel.
    Lost,
    /// The link was down.
    Down,
}

impl DropReason {
    /// The reason's name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::Lost => "lost",
            Self::Down => "down",
        }
    }
}

/// A packet that will not arrive, handed back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped<P> {
    /// Why.
    pub reason: DropReason,
    /// The packet.
    pub packet: P,
    /// Its size as given to [`Link::enqueue`].
    pub size_bytes: u32,
}

/// A packet at the far end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery<P> {
    /// When it arrived (not after the time of the poll).
    pub at: Instant,
    /// The packet.
    pub packet: P,
    /// Its size as given to [`Link::enqueue`].
    pub size_bytes: u32,
    /// Damaged on the way: a receiver's checksum must catch it.
    pub corrupted: bool,
    /// A clone made by the channel; the packet itself follows.
    pub copy: bool,
}

impl<P: Clone> Link<P> {
    /// The link called `name`; its random streams are named after it.
    pub fn new(config: &LinkConfig, seed: Seed, name: &str) -> Self {
        let mut schedule = config.schedule.clone();
        schedule.sort_by_key(|entry| core::cmp::Reverse(entry.at));
        // Equal times keep the order they were given in, so after the reversal they must be reversed too.
        for run in schedule.chunk_by_mut(|a, b| a.at == b.at) {
            run.reverse();
        }
        let channel = Channel::new(config, seed, name);
        let mut link = Self {
            serialiser: Serialiser::new(config.rate, config.trace.clone()),
            delay: config.delay,
            limit: Limit { packets: u64::MAX, bytes: u64::MAX },
            in_order: config.jitter.in_order || config.jitter.max.is_zero(),
            state: State::Running,
            flight: VecDeque::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            last_arrival: Instant::ZERO,
            next_order: 0,
            next_change: schedule.last().map_or(Instant::MAX, |entry| entry.at),
            channel: (!channel.is_perfect()).then(|| Box::new(channel)),
            stats: LinkStats::default(),
            schedule,
            dropped: VecDeque::new(),
            setup: Setup {
                rate: config.rate,
                queue: config.queue,
                bdp_round_trip: config.bdp_round_trip,
                trace_rate: config.trace.as_ref().map(|trace| trace.mean_rate()),
                outage: config.outage,
                up: true,
                seed,
                name: name.to_string(),
            },
        };
        link.set_limit();
        link.state = link.wanted_state();
        link
    }

    /// Hands `packet` to the link at `now`. A dropped packet comes back with the reason; a packet lost on the
    /// channel does so at once, although it has taken its turn at the serialiser.
    pub fn enqueue(&mut self, now: Instant, size_bytes: u32, packet: P) -> Result<(), Dropped<P>> {
        if now >= self.next_change {
            self.apply_due(now);
        }
        self.stats.offered_packets += 1;
        self.stats.offered_bytes += u64::from(size_bytes);
        let slot = match self.state {
            State::Running => {
                if self.serialiser.next_start(now) > now && !self.has_room(now, size_bytes) {
                    self.stats.queue_drops += 1;
                    return Err(Dropped { reason: DropReason::QueueFull, packet, size_bytes });
                }
                self.serialiser.accept(now, size_bytes)
            }
            State::Stopped => {
                if !self.has_room(now, size_bytes) {
                    self.stats.queue_drops += 1;
                    return Err(Dropped { reason: DropReason::QueueFull, packet, size_bytes });
                }
                crate::serialiser::Slot { starts: Instant::MAX, departs: Instant::MAX }
            }
            State::Dead => {
                self.stats.outage_drops += 1;
                return Err(Dropped { reason: DropReason::Down, packet, size_bytes });
            }
        };
        let order = self.next_order;
        self.next_order += 1;
        if slot.starts > now {
            self.waiting.push_back(Waiting { starts: slot.starts, order, size_bytes });
            self.waiting_bytes += u64::from(size_bytes);
            self.stats.max_queue_packets = self.stats.max_queue_packets.max(self.waiting.len() as u64);
        }
        let fate = self.channel.as_mut().map_or(Fate::default(), |channel| channel.draw());
        if fate.lost {
            self.stats.lost_packets += 1;
            return Err(Dropped { reason: DropReason::Lost, packet, size_bytes });
        }
        self.launch(InFlight {
            departs: slot.departs,
            travels: self.delay + fate.extra_delay,
            order,
            packet,
            size_bytes,
            duplicated: fate.duplicated,
            corrupted: fate.corrupted,
        });
        Ok(())
    }

    /// Puts a packet at its place in the order of arrival.
    fn launch(&mut self, mut entry: InFlight<P>) {
        let mut arrives = entry.arrives();
        if entry.departs == Instant::MAX {
            self.flight.push_back(entry);
        } else if self.in_order {
            if arrives < self.last_arrival {
                entry.travels = self.last_arrival - entry.departs;
                arrives = self.last_arrival;
            }
            self.last_arrival = arrives;
            self.flight.push_back(entry);
        } else {
            let overtaken = self.flight.iter().rev().take_while(|other| other.arrives() > arrives).count();
            self.flight.insert(self.flight.len() - overtaken, entry);
        }
    }

    /// The next packet that has arrived by `now`.
    pub fn poll_delivery(&mut self, now: Instant) -> Option<Delivery<P>> {
        if now >= self.next_change {
            self.apply_due(now);
        }
        let head = self.flight.front_mut()?;
        let at = head.arrives();
        if at > now || head.departs == Instant::MAX {
            return None;
        }
        self.stats.delivered_packets += 1;
        self.stats.delivered_bytes += u64::from(head.size_bytes);
        if head.corrupted {
            self.stats.corrupted_packets += 1;
        }
        if head.duplicated {
            head.duplicated = false;
            self.stats.duplicated_packets += 1;
            let (packet, size_bytes, corrupted) = (head.packet.clone(), head.size_bytes, head.corrupted);
            return Some(Delivery { at, packet, size_bytes, corrupted, copy: true });
        }
        let InFlight { packet, size_bytes, corrupted, .. } = self.flight.pop_front()?;
        Some(Delivery { at, packet, size_bytes, corrupted, copy: false })
    }

    /// The next packet that an outage took out of the link.
    pub fn poll_dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.pop_front()
    }

    /// When the next packet arrives, as things stand.
    pub fn next_delivery(&self) -> Option<Instant> {
        let head = self.flight.front()?;
        (head.departs < Instant::MAX).then(|| head.arrives())
    }

    /// When to call [`Link::poll_delivery`] next: a packet arrives or the schedule changes the link.
    #[inline]
    pub fn next_wakeup(&self) -> Option<Instant> {
        let scheduled = (self.next_change < Instant::MAX).then_some(self.next_change);
        match (self.next_delivery(), scheduled) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Counters.
    pub const fn stats(&self) -> &LinkStats {
        &self.stats
    }

    /// Packets and bytes that wait at `now`, the one being sent excluded.
    pub fn queue(&mut self, now: Instant) -> (u64, ByteCount) {
        self.drain_started(now);
        (self.waiting.len() as u64, ByteCount::new(self.waiting_bytes))
    }

    /// Packets accepted and not yet delivered.
    pub fn packets_inside(&self) -> usize {
        self.flight.len()
    }

    /// The packets inside, for checkers.
    pub fn iter_inside(&self) -> impl Iterator<Item = &P> {
        self.flight.iter().map(|entry| &entry.packet)
    }

    /// The rate now: the configured or last set one, the mean of a trace, `None` without a limit.
    pub fn rate(&self) -> Option<Rate> {
        self.setup.trace_rate.or(self.setup.rate)
    }

    /// The propagation delay now.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// False during an outage.
    pub const fn is_up(&self) -> bool {
        self.setup.up
    }

    /// Takes off the packets whose sending has begun, then says whether one more may wait.
    fn has_room(&mut self, now: Instant, size_bytes: u32) -> bool {
        self.drain_started(now);
        (self.waiting.len() as u64) < self.limit.packets
            && self.waiting_bytes + u64::from(size_bytes) <= self.limit.bytes
    }

    fn drain_started(&mut self, now: Instant) {
        while let Some(first) = self.waiting.front() {
            if first.starts > now || self.state != State::Running {
                break;
            }
            self.waiting_bytes -= u64::from(first.size_bytes);
            self.waiting.pop_front();
        }
    }

    fn set_limit(&mut self) {
        self.limit = match self.setup.queue {
            QueueLimit::Packets(packets) => Limit { packets: u64::from(packets), bytes: u64::MAX },
            QueueLimit::Bytes(bytes) => Limit { packets: u64::MAX, bytes: bytes.as_u64() },
            QueueLimit::Unlimited => Limit { packets: u64::MAX, bytes: u64::MAX },
            QueueLimit::Bdp(factor) => {
                let round_trip = self.setup.bdp_round_trip.unwrap_or(self.delay * 2);
                let product = self.rate().map(|rate| rate.bytes_in(round_trip).as_u64());
                let bytes =
                    product.map(|bytes| (libm::round(bytes as f64 * factor) as u64).max(BDP_FLOOR_BYTES));
                Limit { packets: u64::MAX, bytes: bytes.unwrap_or(u64::MAX) }
            }
        };
    }
}
