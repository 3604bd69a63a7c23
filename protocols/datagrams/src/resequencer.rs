//! The far end: streams in order again, and nothing twice.
use crate::lateness::Lateness;
use crate::order::{Order, STREAMS};
use crate::stream::{Place, Stream};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::{Duration, Instant};

/// A link that has brought nothing for so long is not waited for.
const LINK_IDLE: Duration = Duration::from_secs(2);
/// Most packets that wait, of all streams: further ones pass as they come.
const MAX_HELD: usize = 4096;

/// A packet that came over a link, with its order beside it.
#[derive(Debug)]
pub struct Arrived<P> {
    /// The link.
    pub link: u8,
    /// Its place.
    pub order: Order,
    /// The packet.
    pub packet: P,
}

/// What a resequencer has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResequencerCounters {
    /// Packets that came.
    pub packets: u64,
    /// Of these, packets that had to wait for earlier ones.
    pub held: u64,
    /// Packets that were given up.
    pub given_up: u64,
    /// Packets that came after they were given up: they passed out of order.
    pub late: u64,
    /// Copies that went no further.
    pub duplicates: u64,
}

/// Puts streams back into order. `P` is a packet as the host knows it.
#[derive(Debug)]
pub struct Resequencer<P> {
    streams: Vec<Option<Box<Stream<P>>>>,
    /// Links that bring such packets, and when they did last.
    links: Vec<(u8, Instant)>,
    lateness: Lateness,
    held: usize,
    ready: VecDeque<P>,
    counters: ResequencerCounters,
}

impl<P> Default for Resequencer<P> {
    fn default() -> Self {
        Self {
            streams: (0..STREAMS).map(|_| None).collect(),
            links: Vec::new(),
            lateness: Lateness::default(),
            held: 0,
            ready: VecDeque::new(),
            counters: ResequencerCounters::default(),
        }
    }
}

impl<P> Resequencer<P> {
    /// What has been counted.
    pub const fn counters(&self) -> &ResequencerCounters {
        &self.counters
    }

    /// How long a packet that was overtaken is waited for, as measured.
    pub fn bound(&self) -> Duration {
        self.lateness.bound()
    }

    fn note_link(&mut self, now: Instant, link: u8) {
        self.links.retain(|(known, at)| *known != link && now.saturating_since(*at) < LINK_IDLE);
        self.links.push((link, now));
    }

    /// Lets go of what need not wait any more in a stream.
    fn settle(&mut self, now: Instant, stream: u8) {
        let bound = self.lateness.bound();
        let Some(Some(stream)) = self.streams.get_mut(usize::from(stream)) else { return };
        let before = stream.held();
        stream.advance(|packet| self.ready.push_back(packet));
        while let Some(since) = stream.held_since() {
            let is_overdue = since + bound <= now;
            if !is_overdue && !stream.is_lost(self.links.iter().map(|(link, _)| *link)) {
                break;
            }
            self.counters.given_up += stream.give_up(now, |packet| self.ready.push_back(packet));
        }
        self.held -= before - stream.held();
    }
}

impl<P> Endpoint for Resequencer<P> {
    type Input<'a> = Arrived<P>;
    type Transmit = P;
    type Event = core::convert::Infallible;

    fn handle_input(&mut self, now: Instant, input: Arrived<P>) {
        let Arrived { link, order, packet } = input;
        self.counters.packets += 1;
        self.note_link(now, link);
        let bound = self.lateness.bound();
        let Some(slot) = self.streams.get_mut(usize::from(order.stream)) else { return };
        if slot.as_ref().is_some_and(|stream| stream.is_foreign(order.number))
            && let Some(mut old) = slot.take()
        {
            // The near end has begun anew.
            self.held -= old.held();
            while old.held() > 0 {
                old.give_up(now, |packet| self.ready.push_back(packet));
            }
        }
        let stream = slot.get_or_insert_with(|| Box::new(Stream::new(order.number)));
        let held_since = stream.held_since();
        match stream.note(link, order.number) {
            Place::Repeated => self.counters.duplicates += 1,
            Place::Late => {
                self.counters.late += 1;
                self.lateness.note(now, bound + now.saturating_since(stream.gave_up_at));
                self.ready.push_back(packet);
            }
            Place::Ahead if order.waits && self.held < MAX_HELD => {
                self.counters.held += 1;
                self.held += 1;
                stream.hold(now, order.number, packet);
            }
            place => {
                if let (Place::Next, Some(since)) = (place, held_since) {
                    self.lateness.note(now, now.saturating_since(since));
                }
                self.ready.push_back(packet);
            }
        }
        self.settle(now, order.stream);
    }

    fn handle_timeout(&mut self, now: Instant) {
        for stream in 0..STREAMS as u8 {
            self.settle(now, stream);
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<P> {
        self.ready.pop_front()
    }

    fn poll_event(&mut self) -> Option<core::convert::Infallible> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        if self.held == 0 {
            return None;
        }
        let since = self.streams.iter().flatten().filter_map(|stream| stream.held_since()).min()?;
        Some(Deadline { at: since + self.lateness.bound(), why: "datagrams-hold" })
    }
}
