//! All links of a sender: what they send, how their queues do, and which of them share a bottleneck.
use crate::grouping;
use crate::pair::{Evidence, Pair, Verdict};
use crate::regression::Observation;
use crate::sends::{SLOT, Sends, slot_of};
use crate::statistics::{BASE_INTERVAL, Statistics, Summary};
use crate::way::MAX_SHIFT;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// Links with higher numbers are not compared.
pub const MAX_LINKS: u8 = 8;
/// Two packets of an observation are sent at least so far apart,
const MIN_APART: Duration = Duration::from_millis(4);
/// and at most.
const MAX_APART: Duration = Duration::from_millis(80);
/// A queue that both have met is not empty between them.
const QUEUE: Duration = Duration::from_millis(2);
/// Observations that wait for what is sent after them.
const MAX_WAITING: usize = 512;

/// A packet that came, in the order of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed {
    /// When it was sent.
    pub sent_at: Instant,
    /// Bytes sent over the link before it.
    pub sent_before_bytes: u64,
    /// Nanoseconds that it took, right but for a constant.
    pub delay_nanos: i64,
    /// What of it was spent in queues.
    pub queueing_delay: Duration,
}

/// What is known of two links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// Their numbers, the lower one first.
    pub links: (u8, u8),
    /// Whether they share a bottleneck.
    pub verdict: Verdict,
    /// The figures behind it.
    pub evidence: Option<Evidence>,
    /// When the latest sign was seen, whatever it said.
    pub seen_at: Instant,
    /// What the summary statistics of RFC 8382 alone say: both meet a bottleneck, and alike.
    pub is_alike: bool,
}

/// A link.
#[derive(Debug)]
struct Link {
    sends: Sends,
    statistics: Statistics,
    summary: Option<Summary>,
    /// It meets a bottleneck, by its statistics.
    is_bottlenecked: bool,
    last: Option<Passed>,
    waiting: VecDeque<Observation>,
}

impl Link {
    fn new(now: Instant) -> Self {
        Self {
            sends: Sends::new(now),
            statistics: Statistics::default(),
            summary: None,
            is_bottlenecked: false,
            last: None,
            waiting: VecDeque::new(),
        }
    }

    fn passed(&mut self, passed: Passed) {
        self.statistics.passed(passed.delay_nanos as f64 / 1e9);
        let Some(last) = self.last else {
            self.last = Some(passed);
            return;
        };
        let apart = passed.sent_at.saturating_since(last.sent_at);
        if apart < MIN_APART && last.sent_at <= passed.sent_at {
            return;
        }
        self.last = Some(passed);
        let stood = last.queueing_delay.min(passed.queueing_delay) >= QUEUE;
        if !stood || apart < MIN_APART || apart > MAX_APART {
            return;
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        let apart_s = apart.as_secs_f64();
        self.waiting.push_back(Observation {
            slots: (slot_of(last.sent_at), slot_of(passed.sent_at)),
            own_bytes: passed.sent_before_bytes.saturating_sub(last.sent_before_bytes) as f64,
            apart_s,
            took_s: passed.delay_nanos.saturating_sub(last.delay_nanos) as f64 / 1e9 + apart_s,
        });
    }

    fn end_interval(&mut self) {
        self.statistics.end_interval();
        self.summary = self.statistics.summary();
        let meets = |link: &Summary| grouping::meets_bottleneck(link, self.is_bottlenecked);
        self.is_bottlenecked = self.summary.as_ref().is_some_and(meets);
    }
}

/// Tells which links share a bottleneck, from when packets were sent and how long they took.
///
/// Links are numbered by the host; what it says of links from [`MAX_LINKS`] on is ignored. Nothing is kept of a link
/// before anything is sent over it, nor of two before both have stood in a queue.
#[derive(Debug, Default)]
pub struct Detector {
    links: BTreeMap<u8, Link>,
    pairs: BTreeMap<(u8, u8), Pair>,
    interval_began: Instant,
    events: VecDeque<Finding>,
}

impl Detector {
    /// `bytes` are sent over a link.
    pub fn sent(&mut self, now: Instant, link: u8, bytes: u32) {
        if link < MAX_LINKS {
            self.links.entry(link).or_insert_with(|| Link::new(now)).sends.add(now, bytes);
        }
    }

    /// Packets of a link were lost.
    pub fn lost(&mut self, link: u8, packets: u64) {
        if let Some(link) = self.links.get_mut(&link) {
            link.statistics.lost(packets);
        }
    }

    /// A packet of a link came, as is known at `now`.
    pub fn passed(&mut self, now: Instant, link: u8, passed: Passed) {
        if let Some(link) = self.links.get_mut(&link) {
            link.passed(passed);
        }
        self.advance(now);
    }

    /// What was known of a link is true no more: it is another one, or its far end began anew.
    pub fn forget(&mut self, link: u8) {
        self.links.remove(&link);
        self.pairs.retain(|&(one, other), _| one != link && other != link);
    }

    /// What is known of all that have been compared.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        self.pairs.iter().map(|(links, pair)| self.finding(*links, pair))
    }

    /// Two links of which something else is known now.
    pub fn poll_event(&mut self) -> Option<Finding> {
        self.events.pop_front()
    }

    fn finding(&self, links: (u8, u8), pair: &Pair) -> Finding {
        let summary = |link: &u8| self.links.get(link).filter(|link| link.is_bottlenecked)?.summary;
        let both = summary(&links.0).zip(summary(&links.1));
        let is_alike = both.is_some_and(|(one, other)| grouping::are_alike(&one, &other));
        let &Pair { verdict, evidence, seen_at, .. } = pair;
        Finding { links, verdict, evidence, seen_at, is_alike }
    }

    fn advance(&mut self, now: Instant) {
        self.links.values_mut().for_each(|link| link.sends.advance(now));
        let length = now.saturating_since(self.interval_began);
        if length >= BASE_INTERVAL {
            self.interval_began = now;
            self.links.values_mut().for_each(Link::end_interval);
            self.judge(now);
        }
        let numbers: Vec<u8> = self.links.keys().copied().collect();
        for number in numbers {
            self.observe(now, number);
        }
    }

    /// Takes in what a link has observed, once all that may have met it is known.
    fn observe(&mut self, now: Instant, number: u8) {
        let known_to = slot_of(now).saturating_sub(MAX_SHIFT.as_nanos() / SLOT.as_nanos() + 1);
        loop {
            let Some(link) = self.links.get_mut(&number) else { return };
            if link.waiting.front().is_none_or(|first| first.slots.1 >= known_to) {
                return;
            }
            let Some(observation) = link.waiting.pop_front() else { return };
            for (other, Link { sends, last, .. }) in &self.links {
                if *other == number || last.is_none() {
                    continue;
                }
                let pair = self.pairs.entry((number.min(*other), number.max(*other)));
                pair.or_insert_with(|| Pair::new(now)).add(usize::from(number > *other), observation, sends);
            }
        }
    }

    fn judge(&mut self, now: Instant) {
        let mut changed = Vec::new();
        for (links, pair) in &mut self.pairs {
            if pair.judge(now) {
                changed.push(*links);
            }
        }
        for links in changed {
            let finding = self.pairs.get(&links).map(|pair| self.finding(links, pair));
            self.events.extend(finding);
        }
        // Nobody need ask: the latest are enough.
        while self.events.len() > usize::from(MAX_LINKS) * usize::from(MAX_LINKS) {
            self.events.pop_front();
        }
    }
}
