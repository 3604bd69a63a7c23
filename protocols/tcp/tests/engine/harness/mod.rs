//! A small network for the engine: one sender, one reference receiver, a path that loses, delays, reorders and
//! duplicates in both directions. Virtual time, one seed.
pub mod receiver;
pub mod script;

use prismux_endpoint::random::{RandomStream, Seed};
use prismux_tcp::engine::{Ack, Engine, EngineConfig, Send, SendKind, SendLimits};
use prismux_units::{Duration, Instant};
use receiver::{Answer, Receiver};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

pub const MSS: u32 = 1000;

/// The path between sender and receiver.
#[derive(Debug, Clone)]
pub struct Path {
    pub loss: f64,
    /// One new segment in this many is lost, at equal distances.
    pub lose_every: Option<u64>,
    pub ack_loss: f64,
    pub duplicate: f64,
    /// Round-trip time without jitter.
    pub rtt: Duration,
    /// Extra delay of a segment, uniform up to this (reorders).
    pub jitter: Duration,
    /// Share of the segments that get jitter.
    pub jitter_share: f64,
    /// Serialisation of one segment at the bottleneck; zero for none.
    pub serialisation: Duration,
    /// Segments the bottleneck queues.
    pub queue: usize,
    pub timestamps: bool,
    /// Receiver window in units.
    pub window: u64,
}

impl Path {
    pub fn clean() -> Self {
        Self {
            loss: 0.0,
            lose_every: None,
            ack_loss: 0.0,
            duplicate: 0.0,
            rtt: Duration::from_millis(100),
            jitter: Duration::ZERO,
            jitter_share: 0.0,
            serialisation: Duration::ZERO,
            queue: usize::MAX,
            timestamps: true,
            window: u64::MAX / 2,
        }
    }
}

enum Event {
    Segment { send: Send, sent_at: Instant },
    Ack(Answer),
    Timer,
}

/// What a run did.
#[derive(Debug, Default)]
pub struct Report {
    pub finished_at: Option<Instant>,
    pub segments_sent: u64,
    pub retransmissions: u64,
    pub duplicates_received: u64,
    pub max_cwnd: u64,
    /// Sum of cwnd over ACKs and their number, for means.
    pub cwnd_sum: f64,
    pub cwnd_samples: u64,
    pub lost: u64,
}

pub struct World {
    pub engine: Engine,
    pub path: Path,
    pub now: Instant,
    pub report: Report,
    /// The engine's self-audit walks all segments: after every event, or every so many in long runs.
    pub audit_every: u64,
    audits_due: u64,
    receiver: Receiver,
    random: RandomStream,
    events: BinaryHeap<Reverse<(Instant, u64)>>,
    payload: BTreeMap<u64, Event>,
    serial: u64,
    link_free_at: Instant,
    last_in_order: Instant,
    total: u64,
}

impl World {
    pub fn new(config: &EngineConfig, path: Path, total: u64, seed: u64) -> Self {
        let sack_blocks = if config.sack { 3 } else { 0 };
        Self {
            engine: Engine::new(config, MSS),
            path,
            now: Instant::from_millis(1),
            report: Report::default(),
            audit_every: 1,
            audits_due: 0,
            receiver: Receiver::new(total, sack_blocks),
            random: Seed(seed).stream("engine-harness"),
            events: BinaryHeap::new(),
            payload: BTreeMap::new(),
            serial: 0,
            link_free_at: Instant::ZERO,
            last_in_order: Instant::ZERO,
            total,
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.serial += 1;
        self.payload.insert(self.serial, event);
        self.events.push(Reverse((at, self.serial)));
    }

    fn limits(&self) -> SendLimits {
        SendLimits {
            stream_end: self.total,
            window_end: (self.engine.acked() + self.path.window).min(self.total.max(1) * 2),
            max_segment_bytes: MSS,
            nagle: false,
        }
    }

    /// Drains the engine, checking each answer.
    fn pump(&mut self) {
        let limits = self.limits();
        let mut sent_here = 0;
        while let Some(send) = self.engine.poll_send(self.now, &limits) {
            assert!(send.range.start < send.range.end, "empty transmission {send:?}");
            assert!(send.length() <= u64::from(MSS), "too long {send:?}");
            assert!(send.range.end <= limits.window_end, "beyond the peer's window: {send:?} {limits:?}");
            assert!(send.range.end <= self.total, "beyond the stream: {send:?}");
            if send.kind == SendKind::New {
                assert_eq!(send.range.start, self.engine.next(), "new data out of order");
            }
            self.engine.on_sent(self.now, &send);
            self.transmit(send);
            sent_here += 1;
            assert!(sent_here < 100_000, "endless sending at {}", self.now);
        }
        self.check();
        if let Some(deadline) = self.engine.deadline() {
            self.schedule(deadline.at.max(self.now), Event::Timer);
        } else {
            assert!(self.engine.is_idle(), "outstanding data and no timer at {}", self.now);
        }
    }

    fn check(&mut self) {
        self.audits_due += 1;
        if self.audits_due >= self.audit_every {
            self.audits_due = 0;
            if let Err(error) = self.engine.audit() {
                panic!("at {}: {error}", self.now);
            }
        }
        assert!(self.engine.cwnd() >= u64::from(MSS), "window below one segment");
    }

    fn transmit(&mut self, send: Send) {
        self.report.segments_sent += 1;
        self.report.retransmissions += u64::from(send.kind == SendKind::Retransmission);
        let copies = 1 + usize::from(self.random.chance(self.path.duplicate));
        for _ in 0..copies {
            let number = send.range.start / u64::from(MSS);
            let due = self.path.lose_every.is_some_and(|every| number % every == every - 1);
            if (due && send.kind == SendKind::New) || self.random.chance(self.path.loss) {
                self.report.lost += 1;
                continue;
            }
            let start = self.link_free_at.max(self.now);
            if !self.path.serialisation.is_zero() {
                let waiting = (start - self.now).as_nanos() / self.path.serialisation.as_nanos();
                if waiting as usize >= self.path.queue {
                    self.report.lost += 1;
                    continue;
                }
                self.link_free_at = start + self.path.serialisation;
            }
            let jitter = if self.random.chance(self.path.jitter_share) {
                self.path.jitter.mul_f64(self.random.uniform())
            } else {
                Duration::ZERO
            };
            let at = start + self.path.serialisation + self.path.rtt / 2 + jitter;
            self.schedule(at, Event::Segment { send: send.clone(), sent_at: self.now });
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Segment { send, sent_at } => {
                let answer = self.receiver.on_segment(send.range, sent_at, &mut self.last_in_order);
                if !self.random.chance(self.path.ack_loss) {
                    let at = self.now + self.path.rtt / 2;
                    self.schedule(at, Event::Ack(answer));
                }
            }
            Event::Ack(answer) => {
                // Timestamps tick once per millisecond.
                let tick = 1_000_000;
                let echo = Instant::from_nanos(answer.echo.as_nanos() / tick * tick);
                let ack = Ack {
                    cumulative: answer.cumulative,
                    sack: answer.sack,
                    dsack: answer.dsack.filter(|_| self.receiver.sack_blocks > 0),
                    rtt_from_timestamp: self.path.timestamps.then(|| self.now - echo),
                    is_pure: true,
                    ..Ack::default()
                };
                self.engine.on_ack(self.now, &ack);
                self.report.max_cwnd = self.report.max_cwnd.max(self.engine.cwnd());
                self.report.cwnd_sum += self.engine.cwnd() as f64;
                self.report.cwnd_samples += 1;
                self.pump();
            }
            Event::Timer => {
                if self.engine.deadline().is_some_and(|deadline| deadline.at <= self.now) {
                    self.engine.on_timeout(self.now);
                    self.pump();
                }
            }
        }
    }

    /// Runs until everything is acknowledged or `end`.
    pub fn run_until(&mut self, end: Instant) {
        self.pump();
        while let Some(&Reverse((at, serial))) = self.events.peek() {
            if at > end || self.engine.acked() == self.total {
                break;
            }
            self.events.pop();
            self.now = at;
            let event = self.payload.remove(&serial).expect("scheduled once");
            self.handle(event);
        }
        self.report.duplicates_received = self.receiver.duplicates;
        if self.engine.acked() == self.total {
            assert!(self.receiver.complete(), "acknowledged what never arrived");
            self.report.finished_at = Some(self.now);
        }
    }
}
