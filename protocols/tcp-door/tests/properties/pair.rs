//! Two ends with TCP-DOOR over a path that loses and, if asked, lets what leaves later arrive earlier.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_endpoint::{Endpoint, expire};
use prismux_tcp::engine::EngineMetrics;
use prismux_tcp::{Connection, SegmentIn, SegmentOut, TcpConfig, TcpEvent};
use prismux_tcp_door::{Door, DoorConfig, DoorCounters};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What the path does to packets of either direction.
#[derive(Debug, Clone)]
pub struct Path {
    pub delay: Duration,
    /// Extra delay, up to so much for each packet: what reorders.
    pub jitter: Duration,
    pub loss: f64,
}

/// A transfer from the first end to the second.
pub struct Pair {
    pub ends: Vec<Connection>,
    path: Path,
    random: RandomStream,
    queue: BinaryHeap<Reverse<(Instant, u64)>>,
    packets: BTreeMap<u64, (usize, SegmentIn)>,
    count: u64,
    pub now: Instant,
    config: TcpConfig,
    door: DoorConfig,
    pub sent_segments: u64,
    pub accepted_bytes: u64,
}

impl Pair {
    pub fn new(config: TcpConfig, door: DoorConfig, path: Path, seed: u64) -> Self {
        let now = Instant::from_millis(1);
        let mut opening = Connection::connect(config.clone(), 1, 2, SeqNumber(u32::MAX - 5000), now);
        opening.set_order_watch(Box::new(Door::new(door.clone())));
        let random = Seed(seed).stream("path");
        let (queue, packets) = (BinaryHeap::new(), BTreeMap::new());
        let ends = vec![opening];
        let (count, sent_segments, accepted_bytes) = (0, 0, 0);
        Self { ends, path, random, queue, packets, count, now, config, door, sent_segments, accepted_bytes }
    }

    pub fn write(&mut self, bytes: u64) {
        self.ends[0].write(bytes);
        self.drain();
    }

    pub fn door(&self, end: usize) -> DoorCounters {
        *self.ends[end].order_watch::<Door>().expect("TCP-DOOR").counters()
    }

    pub fn engine(&self) -> EngineMetrics {
        self.ends[0].metrics().engine
    }

    /// The next thing happens: a timer, or one arrival. False when nothing is left to happen.
    pub fn step(&mut self) -> bool {
        let arrival = self.queue.peek().map(|Reverse((at, _))| *at);
        let timers = self.ends.iter().filter_map(Connection::poll_timeout).map(|deadline| deadline.at);
        let Some(next) = timers.chain(arrival).min() else { return false };
        self.now = self.now.max(next);
        if arrival.is_some_and(|at| at <= self.now)
            && let Some(Reverse((_, number))) = self.queue.pop()
            && let Some((to, segment)) = self.packets.remove(&number)
        {
            self.deliver(to, segment);
        } else {
            for end in &mut self.ends {
                expire(end, self.now);
            }
        }
        self.drain();
        true
    }

    fn deliver(&mut self, to: usize, segment: SegmentIn) {
        if let Some(end) = self.ends.get_mut(to) {
            return end.handle_input(self.now, segment);
        }
        let mut answering =
            Connection::accept(self.config.clone(), &segment.header, SeqNumber(u32::MAX - 99), self.now);
        answering.set_order_watch(Box::new(Door::new(self.door.clone())));
        self.ends.push(answering);
    }

    fn drain(&mut self) {
        for index in 0..self.ends.len() {
            while let Some(segment) = self.ends[index].poll_transmit(self.now) {
                self.check(&segment);
                self.send(1 - index, &segment);
            }
            while let Some(event) = self.ends[index].poll_event() {
                if let (1, TcpEvent::Accepted { bytes, .. }) = (index, event) {
                    self.accepted_bytes += u64::from(bytes);
                }
            }
        }
        if let Err(fault) = self.ends[0].engine().audit() {
            panic!("{fault}");
        }
    }

    /// The options never grow a segment past the MSS.
    fn check(&self, segment: &SegmentOut) {
        let options = segment.header.options;
        assert!(options.fits(), "{options:?}");
        let bytes = segment.payload_bytes + options.wire_bytes() as u32;
        assert!(bytes <= u32::from(self.config.mss).max(40), "{bytes} bytes: {segment:?}");
    }

    fn send(&mut self, to: usize, segment: &SegmentOut) {
        self.sent_segments += 1;
        if self.random.chance(self.path.loss) {
            return;
        }
        let jitter = Duration::from_nanos(self.random.below(self.path.jitter.as_nanos().max(1)));
        self.count += 1;
        self.queue.push(Reverse((self.now + self.path.delay + jitter, self.count)));
        let &SegmentOut { header, payload_bytes, ecn, .. } = segment;
        self.packets.insert(self.count, (to, SegmentIn { header, payload_bytes, ecn }));
    }

    pub fn is_done(&self) -> bool {
        self.ends[0].stream_acked() == self.ends[0].stream_written()
    }
}
