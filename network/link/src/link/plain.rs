//! Links of constant rate with a perfect channel, as most links of a large network are.
//!
//! Packets come out in the order they went in, a fixed time after their departure, so a packet under way is its time
//! of arrival and little else; what waits is known from that too.
use super::rare::{Limit, Rare, Waiting};
use super::{InFlight, Link, Tag};
use crate::serialiser::{Busy, Pace};
use prismux_units::{Duration, Instant};

/// What plain links of one kind have in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub pace: Pace,
    pub delay: Duration,
    pub limit: Limit,
}

/// A packet under way.
#[derive(Debug, Clone)]
pub(super) struct Entry<P> {
    pub arrives: Instant,
    pub tag: Tag,
    /// [`Backlog::bytes`] when it came there.
    pub before: u32,
    pub packet: P,
}

/// A packet under way near the head: how long it arrives after the one before takes less room than when.
#[derive(Debug, Clone)]
pub(super) struct Near<P> {
    gap_nanos: u32,
    tag: Tag,
    packet: P,
}

/// Packets behind the head that need no memory of their own.
pub(super) const ROOM: usize = 7;

/// The first few packets behind the head, in a ring.
#[derive(Debug, Clone)]
pub(super) struct Ring<P> {
    places: [Option<Near<P>>; ROOM],
    /// Where the ring begins, and how many it holds.
    first: u8,
    held: u8,
}

impl<P> Ring<P> {
    pub fn new() -> Self {
        Self { places: [const { None }; ROOM], first: 0, held: 0 }
    }

    fn place(&self, offset: u8) -> usize {
        let place = usize::from(self.first) + usize::from(offset);
        if place < ROOM { place } else { place - ROOM }
    }

    #[inline]
    fn push(&mut self, near: Near<P>) {
        let place = self.place(self.held);
        self.places[place] = Some(near);
        self.held += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<Near<P>> {
        let near = self.places[usize::from(self.first)].take()?;
        self.first = self.place(1) as u8;
        self.held -= 1;
        Some(near)
    }

    fn iter(&self) -> impl Iterator<Item = &Near<P>> {
        (0..self.held).filter_map(|offset| self.places[self.place(offset)].as_ref())
    }
}

/// What makes counting a long queue quick.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Backlog {
    /// When somebody looked last, every packet with a number before this one had departed.
    departed: u32,
    /// Bytes that ever joined it, modulo 2^32.
    bytes: u32,
}

/// Packets that have not departed, their bytes, and those of the first.
#[derive(Default)]
struct Undeparted {
    packets: u32,
    bytes: u32,
    first_bytes: u32,
}

impl<P: Clone> Link<P> {
    /// Puts a packet behind all others; the one before it departs at `before`.
    #[inline]
    pub(super) fn append(&mut self, entry: Entry<P>, before: Instant, departs: Instant) {
        if self.inside == 0 {
            // A packet that finds nobody before it needs no second cache line.
            self.head = Some(entry);
        } else if self.inside == 1 + u32::from(self.ring.held)
            && usize::from(self.ring.held) < ROOM
            && let Ok(gap_nanos) = u32::try_from((departs - before).as_nanos())
        {
            self.ring.push(Near { gap_nanos, tag: entry.tag, packet: entry.packet });
        } else {
            self.rare.push_beyond(entry);
        }
        self.inside += 1;
    }

    /// Takes the head; the next one moves up.
    #[inline]
    pub(super) fn take_head(&mut self) -> Option<Entry<P>> {
        let head = self.head.take()?;
        self.inside -= 1;
        if self.inside > 0 {
            self.head = match self.ring.pop() {
                Some(near) => Some(near.after(head.arrives)),
                None => self.rare.beyond.pop_front(),
            };
        }
        Some(head)
    }

    /// Whether one more packet may wait behind those that do; counts it if so. The serialiser must be busy.
    #[inline]
    pub(super) fn may_wait(&mut self, now: Instant, size_bytes: u32) -> bool {
        let Some(shape) = &self.plain else { return false };
        let limit = shape.limit;
        if self.inside <= self.most_waiting && limit.admits_packets(self.inside as usize) {
            // Fewer wait than are under way: no need to look.
            return true;
        }
        let (packets, bytes) = self.waiting(shape.delay, now);
        let admitted = limit.admits(packets as usize, u64::from(bytes), size_bytes);
        if admitted {
            self.most_waiting = self.most_waiting.max(packets + 1);
        }
        admitted
    }

    /// Packets that have not departed by `now`, without the one being sent, and their bytes modulo 2^32.
    pub(super) fn waiting(&mut self, delay: Duration, now: Instant) -> (u32, u32) {
        let mut undeparted = Undeparted::default();
        if let Some(head) = &self.head {
            let mut arrives = head.arrives;
            undeparted.look(arrives > now + delay, head.tag);
            for near in self.ring.iter() {
                arrives += Duration::from_nanos(u64::from(near.gap_nanos));
                undeparted.look(arrives > now + delay, near.tag);
            }
        }
        if self.inside > 1 + u32::from(self.ring.held) {
            self.rare.look_beyond(self.accepted, now + delay, &mut undeparted);
        }
        (undeparted.packets.saturating_sub(1), undeparted.bytes.wrapping_sub(undeparted.first_bytes))
    }

    /// The plain link's packets under way, in order.
    pub(super) fn plain_flight(&self) -> impl Iterator<Item = (&P, Tag)> {
        let head = self.head.iter().map(|entry| (&entry.packet, entry.tag));
        let near = self.ring.iter().map(|near| (&near.packet, near.tag));
        head.chain(near).chain(self.rare.beyond.iter().map(|entry| (&entry.packet, entry.tag)))
    }

    /// From now on this link takes the long way. Its serialiser goes on where it stands.
    pub(super) fn make_special(&mut self, now: Instant) {
        let Some(shape) = self.plain.take() else { return };
        let mut order = self.accepted.wrapping_sub(self.inside);
        let mut free = now;
        while let Some(Entry { arrives, tag, packet, .. }) = self.take_head() {
            let departs = arrives - shape.delay;
            if free > now {
                self.rare.wait(Waiting { starts: free, order, size_bytes: tag.size_bytes() });
            }
            free = departs;
            self.rare.flight.push_back(InFlight { departs, arrives, order, tag, packet });
            order = order.wrapping_add(1);
        }
        self.rare.count.max_queue_packets = u64::from(self.most_waiting);
        self.rare.last_arrival = self.rare.flight.back().map_or(Instant::ZERO, |last| last.arrives);
        self.rare.resume(shape.pace, self.busy);
        self.busy = Busy::default();
    }
}

impl<P> Near<P> {
    /// As behind a packet that arrives at `before`.
    fn after(self, before: Instant) -> Entry<P> {
        let arrives = before + Duration::from_nanos(u64::from(self.gap_nanos));
        Entry { arrives, tag: self.tag, before: 0, packet: self.packet }
    }
}

impl Undeparted {
    fn look(&mut self, counts: bool, tag: Tag) {
        if counts {
            let size_bytes = tag.size_bytes();
            if self.packets == 0 {
                self.first_bytes = size_bytes;
            }
            self.packets += 1;
            self.bytes = self.bytes.wrapping_add(size_bytes);
        }
    }
}

impl<P> Rare<P> {
    fn push_beyond(&mut self, entry: Entry<P>) {
        let before = self.backlog.bytes;
        self.backlog.bytes = before.wrapping_add(entry.tag.size_bytes());
        self.beyond.push_back(Entry { before, ..entry });
    }

    /// Adds the packets beyond the link's own room, the last of which has the number before `accepted`, that arrive
    /// later than `limit`.
    fn look_beyond(&mut self, accepted: u32, limit: Instant, undeparted: &mut Undeparted) {
        let length = self.beyond.len() as u32;
        let first = accepted.wrapping_sub(length);
        let known = self.backlog.departed.wrapping_sub(first);
        // What had departed at the last look may have moved on meanwhile.
        let mut place = if known <= length { known } else { 0 };
        while let Some(entry) = self.beyond.get(place as usize) {
            if entry.arrives > limit {
                if undeparted.packets == 0 {
                    undeparted.first_bytes = entry.tag.size_bytes();
                }
                undeparted.packets += length - place;
                let bytes = self.backlog.bytes.wrapping_sub(entry.before);
                undeparted.bytes = undeparted.bytes.wrapping_add(bytes);
                break;
            }
            place += 1;
        }
        self.backlog.departed = first.wrapping_add(place);
    }
}
