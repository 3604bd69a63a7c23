//! A channel that loses, delays, reorders and duplicates, and remembers nothing else.
use prismux_endpoint::random::RandomStream;
use prismux_tcp::SegmentIn;
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How bad the channel is.
#[derive(Debug, Clone)]
pub struct Weather {
    pub loss: f64,
    pub duplication: f64,
    pub marking: f64,
    pub delay: Duration,
    pub jitter: Duration,
}

/// A packet under way. `to` is the index of its receiver.
#[derive(Debug)]
pub struct Packet {
    pub to: usize,
    pub segment: SegmentIn,
    pub payload: Vec<u8>,
}

#[derive(Debug)]
pub struct Channel {
    weather: Weather,
    random: RandomStream,
    queue: BinaryHeap<Reverse<(Instant, u64)>>,
    packets: BTreeMap<u64, Packet>,
    count: u64,
}

impl Channel {
    pub fn new(weather: Weather, random: RandomStream) -> Self {
        Self { weather, random, queue: BinaryHeap::new(), packets: Default::default(), count: 0 }
    }

    pub fn send(&mut self, now: Instant, to: usize, segment: SegmentIn, payload: &[u8]) {
        if self.random.chance(self.weather.loss) {
            return;
        }
        let copies = 1 + usize::from(self.random.chance(self.weather.duplication));
        for _ in 0..copies {
            let mut segment = segment;
            if segment.ecn.is_capable() && self.random.chance(self.weather.marking) {
                segment.ecn = Ecn::Ce;
            }
            let jitter = Duration::from_nanos(self.random.below(self.weather.jitter.as_nanos().max(1)));
            self.count += 1;
            self.queue.push(Reverse((now + self.weather.delay + jitter, self.count)));
            self.packets.insert(self.count, Packet { to, segment, payload: payload.to_vec() });
        }
    }

    pub fn next_arrival(&self) -> Option<Instant> {
        self.queue.peek().map(|Reverse((at, _))| *at)
    }

    pub fn arrival(&mut self, now: Instant) -> Option<Packet> {
        if self.next_arrival()? > now {
            return None;
        }
        let Reverse((_, number)) = self.queue.pop()?;
        self.packets.remove(&number)
    }
}
