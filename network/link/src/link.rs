//! The machine: queue, serialiser and channel in one time line.
//!
//! Most links are *plain*: constant rate, perfect channel, no change so far. Their state fits two cache lines, the
//! first packets under way two more, and a packet on a link without a queue touches nothing else; that keeps networks
//! of thousands of links fast. Everything else is in [`Rare`]: what waits, what is under way beyond the first few
//! packets, and all that makes a link special.
mod change;
mod flight;
mod rare;
#[cfg(test)]
mod tests;

use crate::config::LinkConfig;
use crate::serialiser::{ConstantRate, Serialiser, Slot};
use crate::stats::LinkStats;
use alloc::boxed::Box;
use core::num::NonZeroU32;
use flight::Flight;
use prismux_endpoint::random::Seed;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use rare::{Rare, Waiting};

/// One direction of a link, carrying packets of type `P` (a buffer, or a handle to one).
///
/// After every call look at [`Link::next_wakeup`]; when that time has come call [`Link::poll_delivery`] until
/// it is empty, and [`Link::poll_dropped`] likewise.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Link<P> {
    /// A plain link's serialiser; `None` for a special link, whose serialiser is among the rest.
    plain: Option<ConstantRate>,
    delay: Duration,
    /// Packets accepted so far; their numbers are their order.
    accepted: u64,
    delivered_bytes: u64,
    rare: Box<Rare<P>>,
    /// Packets under way, in order of arrival; those beyond its room are in `rare.beyond`.
    flight: Flight<P>,
}

/// A packet under way.
#[derive(Debug, Clone)]
struct InFlight<P> {
    /// Last bit leaves the serialiser; [`Instant::MAX`] while the link is stopped.
    departs: Instant,
    arrives: Instant,
    order: u32,
    tag: Tag,
    packet: P,
}

/// Size and two flags in one word.
#[derive(Debug, Clone, Copy)]
struct Tag(NonZeroU32);

/// The largest packet a link carries; far above any real one.
const MAX_SIZE_BYTES: u32 = (1 << 29) - 1;

impl Tag {
    const DUPLICATED: u32 = 2;
    const CORRUPTED: u32 = 4;

    #[inline]
    fn new(size_bytes: u32) -> Self {
        Self(NonZeroU32::MIN | size_bytes.min(MAX_SIZE_BYTES) << 3)
    }

    fn with(self, flag: u32, on: bool) -> Self {
        Self(if on { self.0 | flag } else { self.0 })
    }

    fn has(self, flag: u32) -> bool {
        self.0.get() & flag != 0
    }

    /// Without the mark of a duplicate.
    fn original(self) -> Self {
        Self(NonZeroU32::MIN | self.0.get() & !Self::DUPLICATED)
    }

    #[inline]
    fn size_bytes(self) -> u32 {
        self.0.get() >> 3
    }
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
        let rare = Rare::new(config, seed, name);
        let mut link = Self {
            plain: rare.plain_rate().and_then(ConstantRate::new),
            delay: config.delay,
            accepted: 0,
            delivered_bytes: 0,
            rare: Box::new(rare),
            flight: Flight::new(),
        };
        link.set_limit();
        link
    }

    /// Hands `packet` to the link at `now`. A dropped packet comes back with the reason; a packet lost on the
    /// channel does so at once, although it has taken its turn at the serialiser.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, size_bytes: u32, packet: P) -> Result<(), Dropped<P>> {
        let Some(rate) = &mut self.plain else {
            return self.enqueue_special(now, size_bytes, packet);
        };
        if rate.busy_until() > now && !self.rare.has_room(now, size_bytes) {
            self.rare.count.queue_drops += 1;
            self.rare.count.dropped_bytes += u64::from(size_bytes);
            return Err(Dropped { reason: DropReason::QueueFull, packet, size_bytes });
        }
        let slot = rate.accept(now, size_bytes);
        let order = self.take_order(now, slot, size_bytes);
        let (departs, arrives) = (slot.departs, slot.departs + self.delay);
        self.append(InFlight { departs, arrives, order, tag: Tag::new(size_bytes), packet });
        Ok(())
    }

    /// Numbers an accepted packet and, if it has to wait, notes it among those that do.
    #[inline]
    fn take_order(&mut self, now: Instant, slot: Slot, size_bytes: u32) -> u32 {
        let order = self.accepted as u32;
        self.accepted += 1;
        if slot.starts > now {
            self.rare.wait(Waiting { starts: slot.starts, order, size_bytes });
        }
        order
    }

    /// Puts a packet behind all others.
    #[inline]
    fn append(&mut self, entry: InFlight<P>) {
        if let Err(entry) = self.flight.push(entry) {
            self.flight.note_beyond();
            self.rare.beyond.push_back(entry);
        }
    }

    /// The next packet that has arrived by `now`.
    #[inline]
    pub fn poll_delivery(&mut self, now: Instant) -> Option<Delivery<P>> {
        if self.plain.is_none() {
            return self.poll_special(now);
        }
        if self.flight.head()?.arrives > now {
            return None;
        }
        self.take_head()
    }

    /// Delivers the head.
    #[inline]
    fn take_head(&mut self) -> Option<Delivery<P>> {
        let InFlight { arrives, tag, packet, .. } = self.flight.pop(&mut self.rare.beyond)?;
        let size_bytes = tag.size_bytes();
        self.delivered_bytes += u64::from(size_bytes);
        let corrupted = tag.has(Tag::CORRUPTED);
        Some(Delivery { at: arrives, packet, size_bytes, corrupted, copy: false })
    }

    /// The next packet that an outage took out of the link.
    #[inline]
    pub fn poll_dropped(&mut self) -> Option<Dropped<P>> {
        match self.plain {
            Some(_) => None,
            None => self.rare.dropped.pop_front(),
        }
    }

    /// The packet that arrives next, as things stand.
    #[inline]
    pub fn peek(&self) -> Option<&P> {
        self.flight.head().map(|head| &head.packet)
    }

    /// When the next packet arrives, as things stand.
    #[inline]
    pub fn next_delivery(&self) -> Option<Instant> {
        self.flight.head().map(|head| head.arrives).filter(|&at| at < Instant::MAX)
    }

    /// When to call [`Link::poll_delivery`] next: a packet arrives or the schedule changes the link.
    #[inline]
    pub fn next_wakeup(&self) -> Option<Instant> {
        let delivery = self.next_delivery();
        if self.plain.is_some() {
            return delivery;
        }
        let scheduled = self.rare.next_change();
        delivery.map_or(scheduled, |at| Some(scheduled.map_or(at, |change| change.min(at))))
    }

    /// Counters.
    pub fn stats(&self) -> LinkStats {
        let count = &self.rare.count;
        let inside_bytes: u64 = self.in_flight().map(|entry| u64::from(entry.tag.size_bytes())).sum();
        let gone = self.packets_inside() as u64 + count.lost_packets + count.flushed_packets;
        LinkStats {
            offered_packets: self.accepted + count.queue_drops + count.refused_packets,
            offered_bytes: self.delivered_bytes + count.dropped_bytes + inside_bytes - count.duplicated_bytes,
            delivered_packets: self.accepted + count.duplicated_packets - gone,
            delivered_bytes: self.delivered_bytes,
            queue_drops: count.queue_drops,
            lost_packets: count.lost_packets,
            outage_drops: count.refused_packets + count.flushed_packets,
            duplicated_packets: count.duplicated_packets,
            corrupted_packets: count.corrupted_packets,
            max_queue_packets: count.max_queue_packets,
        }
    }

    /// Bytes that came out so far; cheaper than all counters.
    pub const fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Packets and bytes that wait at `now`, the one being sent excluded.
    pub fn queue(&mut self, now: Instant) -> (u64, ByteCount) {
        self.rare.drain_started(now);
        (self.rare.waiting.len() as u64, ByteCount::new(self.rare.waiting_bytes))
    }

    /// Packets accepted and not yet delivered.
    pub fn packets_inside(&self) -> usize {
        self.flight.len()
    }

    /// The packets inside, for checkers.
    pub fn iter_inside(&self) -> impl Iterator<Item = &P> {
        self.in_flight().map(|entry| &entry.packet)
    }

    fn in_flight(&self) -> impl Iterator<Item = &InFlight<P>> {
        self.flight.iter().chain(&self.rare.beyond)
    }

    /// The rate now: the configured or last set one, the mean of a trace, `None` without a limit.
    pub fn rate(&self) -> Option<Rate> {
        self.rare.rate()
    }

    /// The propagation delay now.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// False during an outage.
    pub fn is_up(&self) -> bool {
        self.rare.up
    }

    /// From now on this link takes the long way. Its serialiser goes on where it stands.
    fn make_special(&mut self) {
        if let Some(rate) = self.plain.take() {
            self.rare.serialiser = Serialiser::Constant(rate);
            self.with_flight(|_| {});
        }
    }
}
