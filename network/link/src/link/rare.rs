//! What a plain link with few packets under way has no need of.
use super::plain::{Backlog, Entry};
use super::{Delivery, DropReason, Dropped, InFlight, Link, Tag};
use crate::channel::{Channel, Fate};
use crate::config::{BDP_FLOOR_BYTES, LinkConfig, OutagePolicy, QueueLimit, ScheduledChange};
use crate::managed::{ManagedQueue, PacketKind};
use crate::serialiser::{Busy, ConstantRate, Pace, Serialiser, Slot};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};

/// The larger, seldom needed part of a link.
#[derive(Debug, Clone)]
pub(super) struct Rare<P> {
    /// A plain link's packets under way behind those that it holds in place.
    pub beyond: VecDeque<Entry<P>>,
    pub backlog: Backlog,
    /// A special link's packets under way, in order of arrival.
    pub flight: VecDeque<InFlight<P>>,
    pub delay: Duration,
    /// Times that the number of accepted packets has gone around.
    pub rounds: u32,
    /// A special link's accepted packets (lost ones too, which use the rate) that had to wait, in order of sending;
    /// those whose sending has begun are taken off when somebody looks.
    pub waiting: VecDeque<Waiting>,
    pub waiting_bytes: u64,
    pub limit: Limit,
    /// What waits at a managed link, in place of `waiting`, and when that was last looked at.
    pub managed: Option<Box<ManagedQueue<P>>>,
    pub served: Instant,
    pub count: Count,
    /// A special link's serialiser.
    pub serialiser: Serialiser,
    pub state: State,
    /// False where jitter lets packets overtake.
    pub in_order: bool,
    /// Latest arrival so far, which an in-order link never undercuts.
    pub last_arrival: Instant,
    /// `None` for a channel that leaves every packet alone.
    pub channel: Option<Channel>,
    /// Future changes, the next one last.
    pub schedule: Vec<ScheduledChange>,
    /// Packets lost inside the link by an outage.
    pub dropped: VecDeque<Dropped<P>>,
    pub rate: Option<Rate>,
    /// A trace fixes the mean rate.
    pub trace_rate: Option<Rate>,
    pub queue: QueueLimit,
    pub bdp_round_trip: Option<Duration>,
    pub outage: OutagePolicy,
    pub up: bool,
    pub seed: Seed,
    pub name: String,
}

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub starts: Instant,
    pub order: u32,
    pub size_bytes: u32,
}

/// Whether the serialiser runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    /// Packets wait: the rate is zero, or the link is down and holds its queue.
    Stopped,
    /// Down, and losing what it is given.
    Dead,
}

/// The queue limit in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limit {
    packets: usize,
    bytes: u64,
}

impl Limit {
    const NONE: Self = Self { packets: usize::MAX, bytes: u64::MAX };

    /// Whether 32 bits suffice to tell if there is room.
    pub fn is_countable(&self) -> bool {
        self.bytes == u64::MAX || self.bytes <= u64::from(u32::MAX)
    }

    /// Whether a packet may join so many others, whatever their size.
    pub fn admits_packets(&self, packets: usize) -> bool {
        packets < self.packets && self.bytes == u64::MAX
    }

    /// Whether a packet may join so many packets and bytes that wait.
    pub fn admits(&self, packets: usize, bytes: u64, size_bytes: u32) -> bool {
        packets < self.packets && bytes + u64::from(size_bytes) <= self.bytes
    }
}

/// Counters of what does not happen to every packet.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count {
    pub queue_drops: u64,
    /// Of a managed queue: found it full, were dropped before, were marked.
    pub overflow_drops: u64,
    pub early_drops: u64,
    pub marked_packets: u64,
    pub lost_packets: u64,
    /// Offered while the link was dead.
    pub refused_packets: u64,
    /// Taken out by an outage.
    pub flushed_packets: u64,
    pub dropped_bytes: u64,
    pub duplicated_packets: u64,
    pub duplicated_bytes: u64,
    pub corrupted_packets: u64,
    pub max_queue_packets: u64,
}

impl<P> Rare<P> {
    pub fn new(config: &LinkConfig, seed: Seed, name: &str) -> Self {
        let mut schedule = config.schedule.clone();
        schedule.sort_by_key(|entry| entry.at);
        // The next one is taken from the end.
        schedule.reverse();
        let channel = Channel::new(config, seed, name);
        let mut rare = Self {
            beyond: VecDeque::new(),
            backlog: Backlog::default(),
            flight: VecDeque::new(),
            delay: config.delay,
            rounds: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            limit: Limit::NONE,
            managed: config.management.as_deref().map(|management| {
                let random = seed.stream(&format!("link/{name}/queue"));
                Box::new(ManagedQueue::new(management, random))
            }),
            served: Instant::ZERO,
            count: Count::default(),
            serialiser: Serialiser::new(config.rate, config.trace.clone()),
            state: State::Running,
            in_order: config.jitter.in_order || config.jitter.max.is_zero(),
            last_arrival: Instant::ZERO,
            channel: (!channel.is_perfect()).then_some(channel),
            schedule,
            dropped: VecDeque::new(),
            rate: config.rate,
            trace_rate: config.trace.as_ref().map(|trace| trace.mean_rate()),
            queue: config.queue,
            bdp_round_trip: config.bdp_round_trip,
            outage: config.outage,
            up: true,
            seed,
            name: name.to_string(),
        };
        rare.state = rare.wanted_state();
        rare.set_limit();
        rare
    }

    /// The rate of a link that starts as plain.
    pub fn plain_rate(&self) -> Option<Rate> {
        let special = self.channel.is_some()
            || self.managed.is_some()
            || !self.schedule.is_empty()
            || self.trace_rate.is_some();
        self.rate.filter(|&rate| !special && rate > Rate::ZERO)
    }

    /// The configured or last set rate, or the mean of the trace.
    pub fn rate(&self) -> Option<Rate> {
        self.trace_rate.or(self.rate)
    }

    /// The state that rate and outage ask for.
    pub fn wanted_state(&self) -> State {
        let stalled = self.rate == Some(Rate::ZERO) && self.trace_rate.is_none();
        match (self.up, self.outage) {
            (false, OutagePolicy::Lose) => State::Dead,
            (false, OutagePolicy::Hold) => State::Stopped,
            (true, _) if stalled => State::Stopped,
            (true, _) => State::Running,
        }
    }

    pub fn next_change(&self) -> Option<Instant> {
        self.schedule.last().map(|entry| entry.at)
    }

    /// Takes off the packets whose sending has begun, then says whether one more may wait.
    pub fn has_room(&mut self, now: Instant, size_bytes: u32) -> bool {
        self.drain_started(now);
        self.limit.admits(self.waiting.len(), self.waiting_bytes, size_bytes)
    }

    pub fn drain_started(&mut self, now: Instant) {
        while let Some(first) = self.waiting.front() {
            if first.starts > now || self.state != State::Running {
                break;
            }
            self.waiting_bytes -= u64::from(first.size_bytes);
            self.waiting.pop_front();
        }
    }

    /// One more packet waits.
    pub fn wait(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
        self.waiting_bytes += u64::from(waiting.size_bytes);
        self.count.max_queue_packets = self.count.max_queue_packets.max(self.waiting.len() as u64);
    }
}

impl<P: Clone> Link<P> {
    /// [`Link::enqueue`] of a link that is not plain.
    pub(super) fn enqueue_special(
        &mut self,
        now: Instant,
        size_bytes: u32,
        packet: P,
    ) -> Result<(), Dropped<P>> {
        if self.rare.managed.is_some() {
            return self.enqueue_managed(now, size_bytes, PacketKind::default(), packet);
        }
        self.apply_due(now);
        let slot = match self.rare.accept(now, size_bytes) {
            Ok(slot) => slot,
            Err(reason) => {
                self.rare.count.dropped_bytes += u64::from(size_bytes);
                return Err(Dropped { reason, packet, size_bytes });
            }
        };
        let order = self.take_order();
        if slot.starts > now {
            self.rare.wait(Waiting { starts: slot.starts, order, size_bytes });
        }
        let fate = self.rare.channel.as_mut().map_or(Fate::default(), Channel::draw);
        if fate.lost {
            self.rare.count.lost_packets += 1;
            self.rare.count.dropped_bytes += u64::from(size_bytes);
            return Err(Dropped { reason: DropReason::Lost, packet, size_bytes });
        }
        let tag =
            Tag::new(size_bytes).with(Tag::DUPLICATED, fate.duplicated).with(Tag::CORRUPTED, fate.corrupted);
        let arrives = slot.departs + (self.rare.delay + fate.extra_delay);
        self.rare.launch(InFlight { departs: slot.departs, arrives, order, tag, packet });
        Ok(())
    }

    /// [`Link::poll_delivery`] of a link that is not plain.
    pub(super) fn poll_special(&mut self, now: Instant) -> Option<Delivery<P>> {
        self.apply_due(now);
        self.serve(now);
        let head = self.rare.flight.front_mut()?;
        if head.arrives > now || head.arrives == Instant::MAX {
            return None;
        }
        if head.tag.has(Tag::CORRUPTED) {
            self.rare.count.corrupted_packets += 1;
        }
        if !head.tag.has(Tag::DUPLICATED) {
            return self.take_special_head();
        }
        head.tag = head.tag.original();
        let (at, size_bytes) = (head.arrives, head.tag.size_bytes());
        self.rare.count.duplicated_packets += 1;
        self.rare.count.duplicated_bytes += u64::from(size_bytes);
        self.delivered_bytes += u64::from(size_bytes);
        let (packet, corrupted) = (head.packet.clone(), head.tag.has(Tag::CORRUPTED));
        let marked = head.tag.has(Tag::MARKED);
        Some(Delivery { at, packet, size_bytes, corrupted, marked, copy: true })
    }

    /// Delivers the head.
    fn take_special_head(&mut self) -> Option<Delivery<P>> {
        let InFlight { arrives, tag, packet, .. } = self.rare.flight.pop_front()?;
        let size_bytes = tag.size_bytes();
        self.delivered_bytes += u64::from(size_bytes);
        let (corrupted, marked) = (tag.has(Tag::CORRUPTED), tag.has(Tag::MARKED));
        Some(Delivery { at: arrives, packet, size_bytes, corrupted, marked, copy: false })
    }

    #[cfg(test)]
    pub(super) fn limit_bytes(&self) -> u64 {
        self.rare.limit.bytes
    }
}

impl<P> Rare<P> {
    /// Puts a packet at its place in the order of arrival.
    pub fn launch(&mut self, mut entry: InFlight<P>) {
        if entry.departs < Instant::MAX && self.in_order {
            entry.arrives = entry.arrives.max(self.last_arrival);
            self.last_arrival = entry.arrives;
        }
        // In order, nobody is overtaken and the place is at the end.
        let overtaken = self.flight.iter().rev().take_while(|other| other.arrives > entry.arrives).count();
        self.flight.insert(self.flight.len() - overtaken, entry);
    }

    /// Takes over from a plain link's serialiser.
    pub fn resume(&mut self, pace: Pace, busy: Busy) {
        self.serialiser = Serialiser::Constant(ConstantRate::new(pace, busy));
    }

    pub fn set_limit(&mut self) {
        self.limit = match self.queue {
            QueueLimit::Packets(packets) => Limit { packets: packets as usize, ..Limit::NONE },
            QueueLimit::Bytes(bytes) => Limit { bytes: bytes.as_u64(), ..Limit::NONE },
            QueueLimit::Unlimited => Limit::NONE,
            QueueLimit::Bdp(factor) => {
                let round_trip = self.bdp_round_trip.unwrap_or(self.delay * 2);
                let product = self.rate().map(|rate| rate.bytes_in(round_trip).as_u64());
                let scaled = product.map(|bytes| libm::round(bytes as f64 * factor) as u64);
                Limit { bytes: scaled.map_or(u64::MAX, |bytes| bytes.max(BDP_FLOOR_BYTES)), ..Limit::NONE }
            }
        };
    }

    /// A slot for a packet that arrives at a special link, or why there is none.
    fn accept(&mut self, now: Instant, size_bytes: u32) -> Result<Slot, DropReason> {
        if self.state == State::Dead {
            self.count.refused_packets += 1;
            return Err(DropReason::Down);
        }
        let stopped = self.state == State::Stopped;
        let waits = stopped || self.serialiser.next_start(now) > now;
        if waits && !self.has_room(now, size_bytes) {
            self.count.queue_drops += 1;
            return Err(DropReason::QueueFull);
        }
        Ok(match stopped {
            true => Slot { starts: Instant::MAX, departs: Instant::MAX },
            false => self.serialiser.accept(now, size_bytes),
        })
    }
}
