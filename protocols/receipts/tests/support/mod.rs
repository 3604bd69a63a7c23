//! A link between a meter and a writer, with a truth to compare with.
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_receipts::{Arrived, LinkMeter, MeterEvent, Receipt, ReceiptWriter, WriterConfig};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{Ecn, SeqNumber};
use std::collections::BTreeMap;

/// Bytes of every packet.
pub const PACKET_BYTES: u32 = 1500;

/// What a link does to packets and receipts.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub rate: Rate,
    pub delay: Duration,
    /// Each packet comes up to so much later; in order, unless it reorders.
    pub jitter: Duration,
    pub reorders: bool,
    /// Packets come only at multiples of this.
    pub clump: Duration,
    pub loss: f64,
    pub duplication: f64,
    /// Of receipts, which also come up to `jitter` later in any order.
    pub receipt_loss: f64,
    /// Bytes that the queue holds.
    pub queue_bytes: u64,
    /// What the far clock shows for a second of the near one, less a second, in parts per million.
    pub drift_ppm: i64,
}

impl Link {
    /// A clean link.
    pub fn clean(rate: Rate, delay: Duration) -> Self {
        let queue_bytes = rate.bytes_in(delay * 4).as_u64().max(30_000);
        Self {
            rate,
            delay,
            jitter: Duration::ZERO,
            reorders: false,
            clump: Duration::ZERO,
            loss: 0.0,
            duplication: 0.0,
            receipt_loss: 0.0,
            queue_bytes,
            drift_ppm: 0,
        }
    }
}

enum Happening {
    Arrival(SeqNumber),
    Receipt(Receipt),
}

/// Both ends, and the link between them.
pub struct World {
    pub link: Link,
    pub meter: LinkMeter,
    pub writer: ReceiptWriter,
    pub now: Instant,
    random: RandomStream,
    queue_free_at: Instant,
    last_arrival: Instant,
    happenings: BTreeMap<(Instant, u64), Happening>,
    serial: u64,
    /// Numbers that the link lost.
    pub truly_lost: Vec<SeqNumber>,
    pub sent: u64,
    /// Verdicts that stand: numbers taken for lost.
    pub taken_for_lost: Vec<SeqNumber>,
}

impl World {
    pub fn new(link: Link, seed: u64) -> Self {
        let now = Instant::from_secs(1);
        Self {
            link,
            meter: LinkMeter::new(1),
            writer: ReceiptWriter::new(WriterConfig::default(), 1, now),
            now,
            random: Seed(seed).stream("receipts"),
            queue_free_at: now,
            last_arrival: now,
            happenings: BTreeMap::new(),
            serial: 0,
            truly_lost: Vec::new(),
            sent: 0,
            taken_for_lost: Vec::new(),
        }
    }

    /// The far clock.
    fn far(&self, at: Instant) -> Instant {
        let nanos = at.as_nanos() as i64;
        Instant::from_nanos((nanos + nanos / 1_000_000 * self.link.drift_ppm) as u64)
    }

    fn jitter(&mut self) -> Duration {
        Duration::from_nanos(self.random.below(self.link.jitter.as_nanos() + 1))
    }

    fn push(&mut self, at: Instant, happening: Happening) {
        self.serial += 1;
        self.happenings.insert((at, self.serial), happening);
    }

    pub fn send(&mut self) {
        let number = self.meter.send(self.now, PACKET_BYTES, None);
        self.sent += 1;
        let backlog = self.queue_free_at.saturating_since(self.now);
        let is_full =
            self.link.rate.bytes_in(backlog).as_u64() + u64::from(PACKET_BYTES) > self.link.queue_bytes;
        if is_full || self.random.chance(self.link.loss) {
            self.truly_lost.push(number);
            return;
        }
        let service = self.link.rate.transmission_time(prismux_units::ByteCount::new(PACKET_BYTES.into()));
        self.queue_free_at = self.queue_free_at.max(self.now) + service;
        let copies = 1 + u32::from(self.random.chance(self.link.duplication));
        for _ in 0..copies {
            let mut at = self.queue_free_at + self.link.delay + self.jitter();
            if !self.link.clump.is_zero() {
                let clump = self.link.clump.as_nanos();
                at = Instant::from_nanos(at.as_nanos().div_ceil(clump) * clump);
            }
            if !self.link.reorders {
                at = at.max(self.last_arrival);
                self.last_arrival = at;
            }
            self.push(at, Happening::Arrival(number));
        }
    }

    /// Lets time pass up to `end`.
    pub fn run(&mut self, end: Instant) {
        loop {
            let event = self.happenings.first_key_value().map(|((at, _), _)| *at);
            let near = self.meter.poll_timeout().map(|deadline| deadline.at.max(self.now));
            let far = self.writer.poll_timeout().map(|deadline| self.near(deadline.at).max(self.now));
            let Some(at) = [event, near, far].into_iter().flatten().min().filter(|at| *at <= end) else {
                break;
            };
            self.now = at;
            if event == Some(at) {
                if let Some((_, happening)) = self.happenings.pop_first() {
                    self.happen(happening);
                }
            } else if near == Some(at) {
                self.meter.handle_timeout(self.now);
                self.hear();
            }
            self.write();
        }
        self.now = end;
    }

    /// When the near clock shows what the far one does at `at`, or a little later.
    fn near(&self, at: Instant) -> Instant {
        let mut near = Instant::from_nanos(
            (at.as_nanos() as i64 - at.as_nanos() as i64 / 1_000_000 * self.link.drift_ppm) as u64,
        );
        while self.far(near) < at {
            near += Duration::from_micros(1);
        }
        near
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrival(number) => {
                let arrived = Arrived { number, bytes: PACKET_BYTES, ecn: Ecn::NotEct };
                let far = self.far(self.now);
                self.writer.handle_input(far, arrived);
            }
            Happening::Receipt(receipt) => {
                self.meter.handle_input(self.now, &receipt);
                self.hear();
            }
        }
    }

    fn write(&mut self) {
        let far = self.far(self.now);
        while let Some(receipt) = self.writer.poll_transmit(far) {
            let mut bytes = Vec::new();
            receipt.emit(&mut bytes);
            let receipt = Receipt::parse(&bytes).expect("what is written can be read");
            if !self.random.chance(self.link.receipt_loss) {
                let at = self.now + self.link.delay + self.jitter();
                self.push(at, Happening::Receipt(receipt));
            }
        }
    }

    fn hear(&mut self) {
        while let Some(event) = self.meter.poll_event() {
            match event {
                MeterEvent::Lost { number, .. } => {
                    assert!(!self.taken_for_lost.contains(&number), "{number} is lost twice");
                    self.taken_for_lost.push(number);
                }
                MeterEvent::LossUndone { number, .. } => {
                    let at = self.taken_for_lost.iter().position(|lost| *lost == number);
                    self.taken_for_lost.remove(at.unwrap_or_else(|| panic!("{number} was not lost")));
                }
                MeterEvent::Refused(refusal) => panic!("an honest receipt is refused: {refusal:?}"),
            }
        }
    }

    /// Sends at `rate` for `time`.
    pub fn send_at(&mut self, rate: Rate, time: Duration) {
        let gap = rate.transmission_time(prismux_units::ByteCount::new(PACKET_BYTES.into()));
        let end = self.now + time;
        while self.now + gap <= end {
            self.send();
            let next = self.now + gap;
            self.run(next);
        }
    }
}
