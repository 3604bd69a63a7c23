//! The near end: which link, or which two, a packet takes.
use crate::class::Class;
use crate::order::{self, Order, STREAMS};
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant, Rate};

/// Flows that are told apart while pinned; others share a place.
const FLOWS: usize = 4096;
/// A pinned flow moves to a link that is expected to be quicker by this much,
const MIN_GAIN: Duration = Duration::from_millis(5);
/// and by this share of what it takes now,
const MIN_GAIN_SHARE: f64 = 0.2;
/// once what it sent last will have arrived this much before what it sends next: nothing is overtaken then.
const FLOWLET_MARGIN: Duration = Duration::from_millis(10);
/// Where many share a link that carries less than they send, one after the other moves all the same, each so much
/// after the last,
const OVERTAKING_INTERVAL: Duration = Duration::from_millis(250);
/// where this is gained,
const MIN_OVERTAKING_GAIN: Duration = Duration::from_millis(25);
/// and the flow is at most this share of what its link carries: otherwise it would be too much for the other one too.
const MAX_OVERTAKING_SHARE: f64 = 0.6;
/// The way of a link where none was ever measured.
const UNKNOWN_WAY: Duration = Duration::from_millis(100);
/// What a link carries in a round trip of which nothing is known yet (RFC 6928: a sender's first window).
const FIRST_WINDOW_BYTES: u64 = 15_000;
/// A queue of less is none: its link may carry more than is known of it,
const MIN_QUEUE: Duration = Duration::from_millis(5);
/// and is taken for this times as fast once in a round trip, while it is thought to be behind,
const GROWTH: f64 = 1.1;
/// or this times, before it has ever been seen with a queue.
const FIRST_GROWTH: f64 = 2.0;

/// A link as its meter sees it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LinkView {
    /// The shortest round trip of late.
    pub min_rtt: Option<Duration>,
    /// What packets wait in its queue now.
    pub queueing_delay: Duration,
    /// What it carries, as far as is known.
    pub rate: Option<Rate>,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It goes over this link, with this order beside it if there is one.
    One(u8, Option<Order>),
    /// It goes over both links.
    Both([u8; 2], Order),
    /// There is no link.
    Nowhere,
}

/// Bytes of late: of this interval, and of the one before.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    bytes: [u64; 2],
    since: Instant,
}

impl Load {
    fn add(&mut self, now: Instant, bytes: u32) {
        let age = now.saturating_since(self.since);
        if age >= OVERTAKING_INTERVAL {
            let before = if age < OVERTAKING_INTERVAL * 2 { self.bytes[0] } else { 0 };
            *self = Self { bytes: [0, before], since: now };
        }
        self.bytes[0] += u64::from(bytes);
    }

    fn bytes(&self) -> f64 {
        (self.bytes[0] + self.bytes[1]) as f64
    }
}

#[derive(Debug, Clone, Copy)]
struct Link {
    id: u8,
    view: LinkView,
    /// When it will have carried what it was given.
    busy_until: Instant,
    /// What it is taken to carry.
    rate: Rate,
    /// When that grew without being seen.
    grown_at: Instant,
    /// It has had a queue, so that its rate is known.
    is_known: bool,
    load: Load,
}

impl Link {
    fn new(id: u8, min_rtt: Option<Duration>) -> Self {
        let rtt = min_rtt.unwrap_or(UNKNOWN_WAY * 2).max(MIN_QUEUE);
        Self {
            id,
            view: LinkView { min_rtt, ..LinkView::default() },
            busy_until: Instant::ZERO,
            rate: Rate::from_bps(FIRST_WINDOW_BYTES * 8 * 1_000_000_000 / rtt.as_nanos()),
            grown_at: Instant::ZERO,
            is_known: false,
            load: Load::default(),
        }
    }

    /// The shortest round trip, or what it is taken for.
    fn round_trip(&self) -> Duration {
        self.view.min_rtt.unwrap_or(UNKNOWN_WAY * 2)
    }

    /// How long a packet that is sent now will be under way.
    fn delay(&self, now: Instant) -> Duration {
        self.round_trip().mul_f64(0.5) + self.busy_until.saturating_since(now)
    }

    fn carry(&mut self, now: Instant, bytes: u32) {
        let takes = u64::from(bytes) * 8 * 1_000_000_000 / self.rate.as_bps().max(1);
        self.busy_until = self.busy_until.max(now) + Duration::from_nanos(takes);
        self.load.add(now, bytes);
    }

    fn measured(&mut self, now: Instant, view: LinkView) {
        self.learn_rate(now, view);
        self.view = view;
        // What was measured tells of the queue a round trip ago: what was sent since may have been added to it.
        let least = now + view.queueing_delay;
        self.busy_until = self.busy_until.clamp(least, least + self.round_trip());
    }

    /// The rate is what the link delivers while it has a queue. One that has none, though it should by what is known of
    /// its rate, carries more: that is found out in steps, for a link that is given too much loses it.
    fn learn_rate(&mut self, now: Instant, view: LinkView) {
        let seen = view.rate.filter(|rate| rate.as_bps() > 0);
        if view.queueing_delay >= MIN_QUEUE {
            if let Some(seen) = seen {
                (self.rate, self.is_known, self.grown_at) = (seen, true, now);
            }
            return;
        }
        let is_behind = self.busy_until > now + MIN_QUEUE;
        if is_behind && now.saturating_since(self.grown_at) >= self.round_trip() {
            let growth = if self.is_known { GROWTH } else { FIRST_GROWTH };
            (self.rate, self.grown_at) = (self.rate.mul_f64(growth), now);
        }
        self.rate = seen.map_or(self.rate, |seen| seen.max(self.rate));
    }
}

#[derive(Debug, Clone, Copy)]
struct Pinned {
    link: u8,
    /// When what it sent last will have arrived.
    arrives_at: Instant,
    load: Load,
}

/// Chooses links for datagrams.
#[derive(Debug)]
pub struct Spreader {
    links: Vec<Link>,
    flows: Vec<Option<Pinned>>,
    /// No flow overtakes itself before.
    next_overtaking: Instant,
    next: [u32; STREAMS],
}

impl Spreader {
    /// No links. Numbers begin at `first`, which should differ from run to run: a far end that knows an earlier run
    /// would take the same numbers for what it has had.
    pub fn new(first: u32) -> Self {
        let start = Order::from_bits(first).number;
        let next = [start; STREAMS];
        Self { links: Vec::new(), flows: vec![None; FLOWS], next_overtaking: Instant::ZERO, next }
    }

    /// A link may be used; of one that is there already nothing is forgotten. One that was never measured is taken to
    /// be as far as the farthest of the others, so that it is tried.
    pub fn join(&mut self, link: u8, min_rtt: Option<Duration>) {
        if self.get_mut(link).is_none() {
            let min_rtt = min_rtt.or_else(|| self.links.iter().filter_map(|link| link.view.min_rtt).max());
            self.links.push(Link::new(link, min_rtt));
        }
    }

    /// A link may not be used any more.
    pub fn leave(&mut self, link: u8) {
        self.links.retain(|known| known.id != link);
    }

    /// What is known of a link now.
    pub fn measured(&mut self, now: Instant, link: u8, view: LinkView) {
        if let Some(link) = self.get_mut(link) {
            link.measured(now, view);
        }
    }

    /// Sends a packet of `bytes` on its way. Packets of one `flow_hash` are of one flow.
    pub fn send(&mut self, now: Instant, class: Class, flow_hash: u64, bytes: u32) -> Choice {
        let Some(quickest) = self.quickest(now, None) else { return Choice::Nowhere };
        match class {
            Class::Pin => Choice::One(self.send_pinned(now, flow_hash, bytes, quickest), None),
            Class::Resequence => {
                self.carry(now, quickest, bytes);
                Choice::One(quickest, Some(self.number(flow_hash, true)))
            }
            Class::Duplicate => {
                self.carry(now, quickest, bytes);
                let order = self.number(flow_hash, false);
                match self.quickest(now, Some(quickest)) {
                    Some(second) => {
                        self.carry(now, second, bytes);
                        Choice::Both([quickest, second], order)
                    }
                    None => Choice::One(quickest, Some(order)),
                }
            }
        }
    }

    fn send_pinned(&mut self, now: Instant, flow_hash: u64, bytes: u32, quickest: u8) -> u8 {
        let present = self.flows.get(place(flow_hash)).copied().flatten();
        let link = present.map_or(quickest, |present| self.keep_or_move(now, present, quickest));
        self.carry(now, link, bytes);
        let arrives_at = now + self.get_mut(link).map_or(Duration::ZERO, |link| link.delay(now));
        let mut load = present.map_or_else(Load::default, |present| present.load);
        load.add(now, bytes);
        if let Some(slot) = self.flows.get_mut(place(flow_hash)) {
            *slot = Some(Pinned { link, arrives_at, load });
        }
        link
    }

    /// The link of a pinned flow: the one that it has, or the quickest when that one is gone, when it would overtake
    /// nothing there, or when its link has too many.
    fn keep_or_move(&mut self, now: Instant, present: Pinned, quickest: u8) -> u8 {
        let of = |id: u8| self.links.iter().find(|link| link.id == id);
        let (Some(own), Some(other)) = (of(present.link), of(quickest)) else { return quickest };
        let (own_delay, delay) = (own.delay(now), other.delay(now));
        let gain = own_delay.saturating_sub(delay);
        let overtakes = present.arrives_at + FLOWLET_MARGIN > now + delay;
        if !overtakes {
            return if gain > MIN_GAIN.max(own_delay.mul_f64(MIN_GAIN_SHARE)) { quickest } else { own.id };
        }
        let is_small = present.load.bytes() <= MAX_OVERTAKING_SHARE * own.load.bytes();
        if gain < MIN_OVERTAKING_GAIN || !is_small || now < self.next_overtaking {
            return own.id;
        }
        self.next_overtaking = now + OVERTAKING_INTERVAL;
        quickest
    }

    fn number(&mut self, flow_hash: u64, waits: bool) -> Order {
        let stream = (flow_hash % STREAMS as u64) as u8;
        let slot = self.next.get_mut(usize::from(stream));
        let number = slot.map_or(0, |next| core::mem::replace(next, order::next(*next)));
        Order { waits, stream, number }
    }

    /// The link on which a packet arrives first, of all but one.
    fn quickest(&self, now: Instant, except: Option<u8>) -> Option<u8> {
        let others = self.links.iter().filter(|link| Some(link.id) != except);
        others.min_by_key(|link| (link.delay(now), link.id)).map(|link| link.id)
    }

    fn carry(&mut self, now: Instant, link: u8, bytes: u32) {
        if let Some(link) = self.get_mut(link) {
            link.carry(now, bytes);
        }
    }

    fn get_mut(&mut self, link: u8) -> Option<&mut Link> {
        self.links.iter_mut().find(|known| known.id == link)
    }
}

/// Where a flow is remembered. Streams go by the lower bits.
const fn place(flow_hash: u64) -> usize {
    (flow_hash >> 32) as usize % FLOWS
}

#[cfg(test)]
mod tests;
