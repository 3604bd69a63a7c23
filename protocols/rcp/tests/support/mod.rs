//! A sender, a receiver and a path between them that loses, delays, reorders and duplicates.
#![allow(dead_code, reason = "each test file uses its part")]
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_endpoint::{Deadline, Endpoint, Host, drive};
use prismux_rcp::{
    PacketIn, PacketOut, PipeState, RcpConfig, RcpEvent, Receiver, Sender, SenderState, StreamEvent,
};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber};
use std::collections::BTreeMap;

/// Close to the wrap, so that most streams cross it.
pub const SENDER_INITIAL: SeqNumber = SeqNumber(u32::MAX - 9000);
pub const RECEIVER_INITIAL: SeqNumber = SeqNumber(77);
pub const TOKEN: u64 = 0x0123_4567_89ab_cdef;

/// One direction of the path.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    pub loss: f64,
    pub duplication: f64,
    pub delay: Duration,
    pub jitter: Duration,
    /// Time that each packet occupies the path; 0 for none.
    pub spacing: Duration,
}

impl Path {
    pub fn clean(delay_ms: u64) -> Self {
        let delay = Duration::from_millis(delay_ms);
        Self { loss: 0.0, duplication: 0.0, delay, jitter: Duration::ZERO, spacing: Duration::ZERO }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Act {
    Write(u64),
    Finish,
    Read(u64),
    Freeze,
    Thaw,
    /// The link layer says that it lost what the receiver misses first.
    BlameLink,
    /// Nothing passes until this long from now.
    Blackout(Duration),
}

#[derive(Debug, Clone, Copy)]
enum Due {
    ToSender(PacketOut),
    ToReceiver(PacketOut),
    Act(Act),
}

/// What a host notes while driving.
#[derive(Debug, Default)]
struct Outbox {
    packets: Vec<PacketOut>,
    events: Vec<RcpEvent>,
}

impl<E: Endpoint<Transmit = PacketOut, Event = RcpEvent>> Host<E> for Outbox {
    fn transmit(&mut self, _now: Instant, packet: PacketOut) {
        self.packets.push(packet);
    }
    fn event(&mut self, _now: Instant, event: RcpEvent) {
        self.events.push(event);
    }
}

pub struct World {
    pub now: Instant,
    pub sender: Option<Sender>,
    pub receiver: Option<Receiver>,
    sender_config: RcpConfig,
    receiver_config: RcpConfig,
    forward: Path,
    reverse: Path,
    forward_free: Instant,
    reverse_free: Instant,
    dark_until: Instant,
    random: RandomStream,
    queue: BTreeMap<(Instant, u64), Due>,
    inserted: u64,
    /// What the sender's application wanted before the sender was there.
    early: Vec<Act>,
    sender_deadline: Option<Deadline>,
    receiver_deadline: Option<Deadline>,
    /// Positions accepted, for the check that each comes once.
    accepted: BTreeMap<u64, u64>,
    pub readable: u64,
    pub purged: u64,
    pub complete: bool,
    pub sender_closed: bool,
    pub receiver_closed: bool,
    pub aborted: bool,
    /// Window after each arrival at the receiver.
    pub windows: Vec<u64>,
    pub requests_sent: u64,
}

impl World {
    pub fn new(config: &RcpConfig, forward: Path, reverse: Path, seed: u64, receiver_opens: bool) -> Self {
        let mut world = Self {
            now: Instant::ZERO,
            sender: None,
            receiver: None,
            sender_config: config.clone(),
            receiver_config: config.clone(),
            forward,
            reverse,
            forward_free: Instant::ZERO,
            reverse_free: Instant::ZERO,
            dark_until: Instant::ZERO,
            random: Seed(seed).stream("path"),
            queue: BTreeMap::new(),
            inserted: 0,
            early: Vec::new(),
            sender_deadline: None,
            receiver_deadline: None,
            accepted: BTreeMap::new(),
            readable: 0,
            purged: 0,
            complete: false,
            sender_closed: false,
            receiver_closed: false,
            aborted: false,
            windows: Vec::new(),
            requests_sent: 0,
        };
        let now = world.now;
        if receiver_opens {
            world.receiver = Some(Receiver::connect(world.receiver_config.clone(), RECEIVER_INITIAL, now));
            world.drive_receiver(None);
        } else {
            world.sender = Some(Sender::connect(world.sender_config.clone(), SENDER_INITIAL, TOKEN, now));
            world.drive_sender();
        }
        world
    }

    pub fn plan(&mut self, at: Instant, act: Act) {
        self.push(at, Due::Act(act));
    }

    fn push(&mut self, at: Instant, due: Due) {
        self.inserted += 1;
        self.queue.insert((at, self.inserted), due);
    }

    fn carry(&mut self, packet: PacketOut, forward: bool) {
        let path = if forward { self.forward } else { self.reverse };
        if self.now < self.dark_until || self.random.chance(path.loss) {
            return;
        }
        let free = if forward { &mut self.forward_free } else { &mut self.reverse_free };
        *free = (*free).max(self.now) + path.spacing;
        let leaves = *free;
        let copies = 1 + u32::from(self.random.chance(path.duplication));
        for _ in 0..copies {
            let jitter = Duration::from_nanos(self.random.below(path.jitter.as_nanos() + 1));
            let at = leaves + path.delay + jitter;
            self.push(at, if forward { Due::ToReceiver(packet) } else { Due::ToSender(packet) });
        }
    }

    fn drive_sender(&mut self) {
        let mut outbox = Outbox::default();
        if let Some(sender) = &mut self.sender {
            self.sender_deadline = drive(sender, self.now, &mut outbox);
        }
        for packet in outbox.packets {
            self.carry(packet, true);
        }
        for event in outbox.events {
            match event {
                RcpEvent::Purged { up_to } => {
                    assert!(up_to > self.purged, "purging goes forward");
                    assert!(
                        up_to <= self.readable,
                        "purged {up_to} although only {} is there",
                        self.readable
                    );
                    self.purged = up_to;
                }
                RcpEvent::Closed => self.sender_closed = true,
                RcpEvent::TimedOut | RcpEvent::Reset => self.aborted = true,
                _ => {}
            }
        }
    }

    fn drive_receiver(&mut self, arrived: Option<PacketOut>) {
        let mut outbox = Outbox::default();
        if let Some(receiver) = &mut self.receiver {
            self.receiver_deadline = drive(receiver, self.now, &mut outbox);
        }
        for packet in outbox.packets {
            self.requests_sent += 1;
            self.carry(packet, false);
        }
        for event in outbox.events {
            self.take_event(event, arrived);
        }
        if let Some(receiver) = &self.receiver {
            receiver.pipe().engine().audit().expect("the engine's books are in order");
            let outstanding = receiver.metrics().engine.outstanding_bytes;
            assert!(outstanding <= receiver.request_edge(), "more is asked for than the buffer holds");
            if arrived.is_some_and(|packet| packet.payload_bytes > 0) {
                self.windows.push(receiver.pipe().engine().cwnd());
            }
        }
    }

    fn take_event(&mut self, event: RcpEvent, arrived: Option<PacketOut>) {
        match event {
            RcpEvent::Stream(StreamEvent::Accepted { packet_offset, stream_offset, bytes }) => {
                let packet = arrived.expect("bytes are accepted from packets");
                assert_eq!(packet.stream_offset + u64::from(packet_offset), stream_offset, "other bytes");
                assert!(packet_offset + bytes <= packet.payload_bytes, "more than arrived");
                let (start, end) = (stream_offset, stream_offset + u64::from(bytes));
                let before = self.accepted.range(..end).next_back().map_or(0, |(_, &end)| end);
                assert!(before <= start, "bytes {start}..{end} are accepted twice");
                self.accepted.insert(start, end);
            }
            RcpEvent::Stream(StreamEvent::Readable { up_to }) => {
                assert!(up_to > self.readable, "readable goes forward");
                let mut at = self.readable;
                while at < up_to {
                    at = self.accepted.remove(&at).unwrap_or_else(|| panic!("byte {at} is missing"));
                }
                assert_eq!(at, up_to);
                self.accepted.insert(up_to, up_to);
                self.readable = up_to;
            }
            RcpEvent::Stream(StreamEvent::Complete) => self.complete = true,
            RcpEvent::Closed => self.receiver_closed = true,
            RcpEvent::TimedOut | RcpEvent::Reset => self.aborted = true,
            _ => {}
        }
    }

    /// Takes the next event; false when nothing is left to happen by `until`.
    pub fn step(&mut self, until: Instant) -> bool {
        let queued = self.queue.first_key_value().map(|(&(at, _), _)| at);
        let timers = [self.sender_deadline, self.receiver_deadline];
        let timer = timers.iter().flatten().map(|deadline| deadline.at.max(self.now)).min();
        let Some(at) = [queued, timer].into_iter().flatten().min().filter(|&at| at <= until) else {
            return false;
        };
        self.now = at;
        if queued == Some(at) {
            let (_, due) = self.queue.pop_first().expect("it is there");
            self.take(due);
        } else if self.sender_deadline.is_some_and(|deadline| deadline.at <= at) {
            self.sender.as_mut().expect("it has a deadline").handle_timeout(at);
            self.drive_sender();
        } else {
            self.receiver.as_mut().expect("it has a deadline").handle_timeout(at);
            self.drive_receiver(None);
        }
        true
    }

    fn take(&mut self, due: Due) {
        let now = self.now;
        match due {
            Due::ToSender(packet) => {
                match &mut self.sender {
                    Some(sender) => sender.handle_input(now, as_input(&packet)),
                    None => {
                        let config = self.sender_config.clone();
                        let sender = Sender::accept(config, &packet.header, SENDER_INITIAL, TOKEN, now);
                        self.sender = Some(sender);
                        for act in std::mem::take(&mut self.early) {
                            self.act(act);
                        }
                    }
                }
                self.drive_sender();
            }
            Due::ToReceiver(packet) => {
                match &mut self.receiver {
                    Some(receiver) => receiver.handle_input(now, as_input(&packet)),
                    None => {
                        let config = self.receiver_config.clone();
                        self.receiver = Some(Receiver::accept(config, &packet.header, RECEIVER_INITIAL, now));
                    }
                }
                self.drive_receiver(Some(packet));
            }
            Due::Act(act) => self.act(act),
        }
    }

    fn act(&mut self, act: Act) {
        let now = self.now;
        if let Act::Blackout(length) = act {
            self.dark_until = now + length;
            return;
        }
        let missing = self.accepted.range(self.readable..).next().map(|(&start, _)| start);
        match (act, &mut self.sender, &mut self.receiver) {
            (Act::Write(bytes), Some(sender), _) => sender.write(bytes),
            (Act::Finish, Some(sender), _) => sender.finish(),
            (Act::Read(bytes), _, Some(receiver)) => receiver.read(bytes),
            (Act::Freeze, _, Some(receiver)) => receiver.freeze(),
            (Act::Thaw, _, Some(receiver)) => receiver.thaw(now),
            (Act::BlameLink, _, Some(receiver)) => {
                let start = self.readable;
                let end = missing.filter(|&missing| missing > start).unwrap_or(start + 500);
                receiver.lost_by_link(now, start..end);
            }
            (act @ (Act::Write(_) | Act::Finish), None, _) => self.early.push(act),
            _ => {}
        }
        self.drive_sender();
        self.drive_receiver(None);
    }

    /// Runs until both ends have closed or nothing happens any more, at most until `limit`.
    pub fn run(&mut self, limit: Instant) {
        while !(self.sender_closed && self.receiver_closed) && self.step(limit) {}
    }

    pub fn sender_state(&self) -> Option<SenderState> {
        self.sender.as_ref().map(Sender::state)
    }

    pub fn receiver_state(&self) -> Option<PipeState> {
        self.receiver.as_ref().map(|receiver| receiver.metrics().state)
    }
}

pub fn as_input(packet: &PacketOut) -> PacketIn {
    PacketIn { header: packet.header, payload_bytes: packet.payload_bytes, ecn: Ecn::NotEct }
}

/// Switches with which numbers are easy to read: segments of 100 bytes, no timestamps, no scaling, first window 4.
pub fn plain() -> RcpConfig {
    use prismux_tcp::engine::CongestionKind;
    let mut config = RcpConfig::modern();
    config.mss = 100;
    config.timestamps = false;
    config.receive_buffer = prismux_units::ByteCount::new(60_000);
    config.request_limit = prismux_units::ByteCount::new(60_000);
    config.consume_on_arrival = true;
    config.engine.initial_window_segments = 4;
    config.engine.congestion = CongestionKind::NewReno;
    config.engine.hystart = None;
    config.engine.rack = false;
    config.engine.tlp = false;
    config.engine.frto = false;
    config.engine.idle_restart = false;
    config.engine.adaptive_reordering = false;
    config
}
