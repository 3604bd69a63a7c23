//! The machine: queue, serialiser and channel in one time line.
//!
//! Most links are *plain*: constant rate, perfect channel, no change so far. All that an uncontended packet needs of
//! one fits a cache line, and the next few packets one or two more; that keeps networks of thousands of links fast.
//! Everything else is in [`Rare`]: what is under way beyond that, and all that makes a link special.
mod change;
mod manage;
mod plain;
mod rare;
#[cfg(test)]
mod tests;

use crate::config::LinkConfig;
use crate::serialiser::{Busy, Pace, Slot};
use crate::stats::LinkStats;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::num::NonZeroU32;
use plain::{Entry, Ring, Shape};
use prismux_endpoint::random::Seed;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use rare::Rare;

/// One direction of a link, carrying packets of type `P` (a buffer, or a handle to one).
///
/// After every call look at [`Link::next_wakeup`]; when that time has come call [`Link::poll_delivery`] until
/// it is empty, and [`Link::poll_dropped`] likewise.
///
/// The order of the fields matters: the first cache line serves a plain link with one packet, the others those behind
/// it.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Link<P> {
    /// What makes it a plain link; `None` for a special one, of which all but counters is among the rest.
    plain: Option<Arc<Shape>>,
    busy: Busy,
    delivered_bytes: u64,
    /// Packets accepted so far, modulo 2^32; their numbers are their order.
    accepted: u32,
    /// A plain link's packets under way: the next to arrive, a few behind it, and those in `rare.beyond`.
    inside: u32,
    head: Option<Entry<P>>,
    ring: Ring<P>,
    /// The most packets that ever waited while it was plain.
    most_waiting: u32,
    rare: Box<Rare<P>>,
}

/// A special link's packet under way.
#[derive(Debug, Clone)]
struct InFlight<P> {
    /// Last bit leaves the serialiser; [`Instant::MAX`] while the link is stopped.
    departs: Instant,
    arrives: Instant,
    order: u32,
    tag: Tag,
    packet: P,
}

/// Size and three flags in one word.
#[derive(Debug, Clone, Copy)]
struct Tag(NonZeroU32);

/// The largest packet a link carries; far above any real one.
const MAX_SIZE_BYTES: u32 = (1 << 28) - 1;

impl Tag {
    const DUPLICATED: u32 = 2;
    const CORRUPTED: u32 = 4;
    const MARKED: u32 = 8;

    #[inline]
    fn new(size_bytes: u32) -> Self {
        Self(NonZeroU32::MIN | size_bytes.min(MAX_SIZE_BYTES) << 4)
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
        self.0.get() >> 4
    }
}

/// Why a packet will not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The queue had no room.
    QueueFull,
    /// The queue was managed, and this packet dropped before it was full.
    Early,
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
            Self::Early => "early",
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
    /// The queue has marked it for congestion (CE of RFC 3168).
    pub marked: bool,
    /// A clone made by the channel; the packet itself follows.
    pub copy: bool,
}

impl<P: Clone> Link<P> {
    /// The link called `name`; its random streams are named after it.
    pub fn new(config: &LinkConfig, seed: Seed, name: &str) -> Self {
        let rare = Rare::new(config, seed, name);
        let shape = |pace| Arc::new(Shape { pace, delay: rare.delay, limit: rare.limit });
        Self {
            plain: rare.plain_rate().filter(|_| rare.limit.is_countable()).and_then(Pace::new).map(shape),
            busy: Busy::default(),
            delivered_bytes: 0,
            accepted: 0,
            inside: 0,
            head: None,
            ring: Ring::new(),
            most_waiting: 0,
            rare: Box::new(rare),
        }
    }

    /// Shares with another link what both have in common, so that it takes the cache's room only once. Says whether
    /// there is anything.
    pub fn share(&mut self, other: &Self) -> bool {
        let alike = self.plain.is_some() && self.plain == other.plain;
        if alike {
            self.plain.clone_from(&other.plain);
        }
        alike
    }

    /// Hands `packet` to the link at `now`. A dropped packet comes back with the reason; a packet lost on the
    /// channel does so at once, although it has taken its turn at the serialiser.
    ///
    /// # Errors
    /// The packet, with why it was dropped.
    #[inline(always)] // A result in memory would cost a host of many links a tenth of each packet.
    pub fn enqueue(&mut self, now: Instant, size_bytes: u32, packet: P) -> Result<(), Dropped<P>> {
        let Some(shape) = &self.plain else {
            return self.enqueue_special(now, size_bytes, packet);
        };
        let (pace, delay) = (shape.pace, shape.delay);
        if self.busy.until() > now && !self.may_wait(now, size_bytes) {
            self.rare.count.queue_drops += 1;
            self.rare.count.dropped_bytes += u64::from(size_bytes);
            return Err(Dropped { reason: DropReason::QueueFull, packet, size_bytes });
        }
        let before = self.busy.until();
        let Slot { departs, .. } = self.busy.accept(&pace, now, size_bytes);
        self.take_order();
        let entry = Entry { arrives: departs + delay, tag: Tag::new(size_bytes), before: 0, packet };
        self.append(entry, before, departs);
        Ok(())
    }

    /// Numbers an accepted packet.
    #[inline]
    fn take_order(&mut self) -> u32 {
        let order = self.accepted;
        self.accepted = order.wrapping_add(1);
        if self.accepted == 0 {
            self.rare.rounds += 1;
        }
        order
    }

    /// The next packet that has arrived by `now`.
    #[inline]
    pub fn poll_delivery(&mut self, now: Instant) -> Option<Delivery<P>> {
        if self.plain.is_none() {
            return self.poll_special(now);
        }
        let at = self.head.as_ref()?.arrives;
        let (packet, size_bytes) = self.poll_plain(now)?;
        Some(Delivery { at, packet, size_bytes, corrupted: false, marked: false, copy: false })
    }

    /// The next packet that has arrived by `now` through a plain link, with its size: there is no more to say of it.
    /// `None` for any other link.
    #[inline(always)] // A result in memory would cost as much as the work.
    pub fn poll_plain(&mut self, now: Instant) -> Option<(P, u32)> {
        if self.head.as_ref()?.arrives > now {
            return None;
        }
        let Entry { tag, packet, .. } = self.take_head()?;
        let size_bytes = tag.size_bytes();
        self.delivered_bytes += u64::from(size_bytes);
        Some((packet, size_bytes))
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
        match &self.plain {
            Some(_) => self.head.as_ref().map(|head| &head.packet),
            None => self.rare.flight.front().map(|head| &head.packet),
        }
    }

    /// When the next packet arrives, as things stand.
    #[inline]
    pub fn next_delivery(&self) -> Option<Instant> {
        match &self.plain {
            Some(_) => self.head.as_ref().map(|head| head.arrives),
            None => self.rare.flight.front().map(|head| head.arrives).filter(|&at| at < Instant::MAX),
        }
    }

    /// A plain link's next wake-up is its next delivery; it changes only when the head does.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// When to call [`Link::poll_delivery`] next: a packet arrives or the schedule changes the link.
    #[inline]
    pub fn next_wakeup(&self) -> Option<Instant> {
        let delivery = self.next_delivery();
        if self.plain.is_some() {
            return delivery;
        }
        let scheduled = self.rare.next_change().into_iter().chain(self.next_service()).min();
        delivery.map_or(scheduled, |at| Some(scheduled.map_or(at, |change| change.min(at))))
    }

    /// Counters.
    pub fn stats(&self) -> LinkStats {
        let count = &self.rare.count;
        let flying: u64 = self.in_flight().map(|(_, tag)| u64::from(tag.size_bytes())).sum();
        let inside_bytes = flying + self.managed_waiting().1;
        let accepted = u64::from(self.rare.rounds) << 32 | u64::from(self.accepted);
        let managed = count.overflow_drops + count.early_drops;
        let gone = self.packets_inside() as u64 + count.lost_packets + count.flushed_packets + managed;
        LinkStats {
            offered_packets: accepted + count.queue_drops + count.refused_packets,
            offered_bytes: self.delivered_bytes + count.dropped_bytes + inside_bytes - count.duplicated_bytes,
            delivered_packets: accepted + count.duplicated_packets - gone,
            delivered_bytes: self.delivered_bytes,
            queue_drops: count.queue_drops + count.overflow_drops,
            early_drops: count.early_drops,
            marked_packets: count.marked_packets,
            lost_packets: count.lost_packets,
            outage_drops: count.refused_packets + count.flushed_packets,
            duplicated_packets: count.duplicated_packets,
            corrupted_packets: count.corrupted_packets,
            max_queue_packets: count.max_queue_packets.max(u64::from(self.most_waiting)),
        }
    }

    /// Bytes that came out so far; cheaper than all counters.
    pub const fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Packets and bytes that wait at `now`, the one being sent excluded.
    pub fn queue(&mut self, now: Instant) -> (u64, ByteCount) {
        if let Some(shape) = &self.plain {
            let (packets, _) = self.waiting(shape.delay, now);
            let waiting = self.plain_flight().skip((self.inside - packets) as usize);
            let bytes = waiting.map(|(_, tag)| u64::from(tag.size_bytes())).sum();
            return (u64::from(packets), ByteCount::new(bytes));
        }
        self.rare.drain_started(now);
        let (packets, bytes) = self.managed_waiting();
        let packets = (self.rare.waiting.len() + packets) as u64;
        (packets, ByteCount::new(self.rare.waiting_bytes + bytes))
    }

    /// Packets accepted and not yet delivered.
    pub fn packets_inside(&self) -> usize {
        self.inside as usize + self.rare.flight.len() + self.managed_waiting().0
    }

    /// The packets inside, for checkers.
    pub fn iter_inside(&self) -> impl Iterator<Item = &P> {
        let managed = self.rare.managed.iter().flat_map(|managed| managed.iter());
        self.in_flight().map(|(packet, _)| packet).chain(managed.map(|waiter| &waiter.packet))
    }

    fn in_flight(&self) -> impl Iterator<Item = (&P, Tag)> {
        self.plain_flight().chain(self.rare.flight.iter().map(|entry| (&entry.packet, entry.tag)))
    }

    /// The rate now: the configured or last set one, the mean of a trace, `None` without a limit.
    pub fn rate(&self) -> Option<Rate> {
        self.rare.rate()
    }

    /// The propagation delay now.
    pub fn delay(&self) -> Duration {
        self.rare.delay
    }

    /// False during an outage.
    pub fn is_up(&self) -> bool {
        self.rare.up
    }
}
