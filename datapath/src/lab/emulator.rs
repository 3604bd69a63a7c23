//! The links of a running lab: one thread that carries packets from TUN device to TUN device through the link
//! model, on the wall clock.
//!
//! Departure and arrival times are computed by the model from the times at which packets entered it, so a thread
//! that wakes late delays a packet but never slows the link. How late deliveries were is
//! measured and reported.
use super::LabError;
use super::fabric::LINK_MTU_BYTES;
use super::timing::{DelayHistogram, DelaySummary};
use crate::clock::Clock;
use crate::event_loop::{BATCH_PACKETS, EventLoop, StopHandle, Wake};
use crate::packet::{PacketBuf, PacketPool};
use crate::tun::Tun;
use nix::sys::eventfd::{EfdFlags, EventFd};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{Link, LinkChange, LinkConfig, LinkStats, QueueLimit};
use prismux_units::{Duration, Instant, Rate};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A link to be emulated.
#[derive(Debug)]
pub(super) struct EmulatedLink {
    pub name: String,
    pub forward: LinkConfig,
    pub reverse: LinkConfig,
    /// Working at the start (forward, reverse).
    pub up: (bool, bool),
    pub ends: (Tun, Tun),
}

/// Which way over a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From end `a` to end `b`.
    Forward,
    /// From end `b` to end `a`.
    Reverse,
}

/// What one direction of a link did.
#[derive(Debug, Clone, Default)]
pub struct DirectionReport {
    /// The link model's counters.
    pub stats: LinkStats,
    /// Packets that the receiving kernel did not take.
    pub refused_packets: u64,
    /// The rate averaged over the run, none while down or not in use; `None` without a limit.
    pub mean_rate_bps: Option<u64>,
    /// Bytes delivered in each interval of the series.
    pub delivered_bytes: Vec<u64>,
    /// Bytes waiting at the end of each interval.
    pub queue_bytes: Vec<u64>,
}

/// What the emulator did.
#[derive(Debug, Clone, Default)]
pub struct EmulatorReport {
    /// For each link: forward and reverse.
    pub links: Vec<(DirectionReport, DirectionReport)>,
    /// Delivery to the kernel after the instant that the model gave.
    pub lateness: DelaySummary,
}

/// What the lab tells the emulator.
enum Command {
    /// The run begins: this clock reads zero at its start, and links and counters start afresh.
    Begin(Clock),
    Change {
        link: usize,
        way: Way,
        change: LinkChange,
    },
    /// The link's member has come or gone: its rate counts as offered, or no longer.
    InUse {
        link: usize,
        in_use: bool,
    },
}

type Commands = Arc<Mutex<Vec<Command>>>;

/// A running emulator; stops when dropped.
pub(super) struct Emulator {
    thread: Option<JoinHandle<io::Result<EmulatorReport>>>,
    stop: StopHandle,
    commands: Commands,
    wake: Arc<EventFd>,
}

impl Emulator {
    /// Starts the thread; `series` is the interval of the time series. Until [`Emulator::begin`] all links
    /// are perfect wires, over which daemons find each other.
    pub fn start(links: Vec<EmulatedLink>, seed: Seed, series: Option<Duration>) -> Result<Self, LabError> {
        let failed = || LabError::setup("start the link emulator");
        let stop = StopHandle::new().map_err(failed())?;
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wake = Arc::new(EventFd::from_flags(flags).map_err(|e| failed()(e.into()))?);
        let commands = Commands::default();
        let (their_stop, their_wake, their_commands) =
            (stop.clone(), Arc::clone(&wake), Arc::clone(&commands));
        let work = move || {
            prefer_this_thread();
            Carrier::new(links, seed, their_stop, series)?.run(&their_wake, &their_commands)
        };
        let thread = std::thread::Builder::new().name("links".to_owned()).spawn(work).map_err(failed())?;
        Ok(Self { thread: Some(thread), stop, commands, wake })
    }

    /// Begins the run, whose time `clock` tells: links start afresh, what was on its way is gone.
    pub fn begin(&self, clock: Clock) {
        self.command(Command::Begin(clock));
    }

    /// Changes one direction of a link, now.
    pub fn change(&self, link: usize, way: Way, change: LinkChange) {
        self.command(Command::Change { link, way, change });
    }

    /// Says whether the link is at the community's disposal, which matters for the mean of its rate alone.
    pub fn set_in_use(&self, link: usize, in_use: bool) {
        self.command(Command::InUse { link, in_use });
    }

    fn command(&self, command: Command) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command);
        // Fails only when the counter is full, and then the thread has long been woken.
        let _ = self.wake.write(1);
    }

    /// Stops the thread and returns what it measured.
    pub fn finish(mut self) -> Result<EmulatorReport, LabError> {
        self.stop.stop();
        let thread = self.thread.take();
        let joined =
            thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.unwrap_or_else(|| Ok(EmulatorReport::default())).map_err(LabError::setup("carry packets"))
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Asks the scheduler to wake this thread before ordinary ones; without permission it stays an ordinary one.
fn prefer_this_thread() {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: plain system calls on the calling thread; `priority` lives through the call.
    unsafe {
        if libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &priority) != 0 {
            libc::setpriority(libc::PRIO_PROCESS, 0, -10);
        }
    }
}

/// One direction of a link at work.
struct Direction {
    link: Link<PacketBuf>,
    /// The instant for which an entry lies in the agenda, so that later entries can be told from stale ones.
    scheduled: Option<Instant>,
    damage: RandomStream,
    refused_packets: u64,
    delivered_before: u64,
    /// What the link has offered so far, in bits; at which rate it does so now, and since when.
    offered_bits: f64,
    offered_rate: Option<Rate>,
    offered_since: Instant,
    in_use: bool,
    delivered_bytes: Vec<u64>,
    queue_bytes: Vec<u64>,
}

const WAKE_TOKEN: u64 = 1 << 32;

/// The thread's state. Direction `2 i` is forward over link `i`, `2 i + 1` is reverse; device `2 i` is end `a`
/// and feeds direction `2 i`, device `2 i + 1` is end `b`.
struct Carrier {
    /// Name and configuration of every direction, and whether it works at the start.
    configs: Vec<(String, LinkConfig, bool)>,
    seed: Seed,
    directions: Vec<Direction>,
    devices: Vec<Tun>,
    agenda: BinaryHeap<Reverse<(Instant, usize)>>,
    pool: PacketPool,
    events: EventLoop,
    clock: Clock,
    /// The start of the run on the event loop's clock; `None` before it began.
    epoch: Option<Duration>,
    lateness: DelayHistogram,
    series: Option<Duration>,
    next_sample: Option<Instant>,
}

impl Carrier {
    fn new(
        links: Vec<EmulatedLink>,
        seed: Seed,
        stop: StopHandle,
        series: Option<Duration>,
    ) -> io::Result<Self> {
        let clock = Clock::start();
        let events = EventLoop::new(clock, stop)?;
        let (mut configs, mut devices) = (Vec::new(), Vec::new());
        for link in links {
            configs.push((format!("{}/forward", link.name), link.forward, link.up.0));
            configs.push((format!("{}/reverse", link.name), link.reverse, link.up.1));
            for device in [link.ends.0, link.ends.1] {
                events.watch(&device, devices.len() as u64)?;
                devices.push(device);
            }
        }
        let mut carrier = Self {
            configs,
            seed,
            directions: Vec::new(),
            devices,
            agenda: BinaryHeap::new(),
            pool: PacketPool::new(LINK_MTU_BYTES as usize),
            events,
            clock,
            epoch: None,
            lateness: DelayHistogram::default(),
            series,
            next_sample: None,
        };
        carrier.start_afresh();
        Ok(carrier)
    }

    /// New links without packets or history; perfect wires before the run, so that daemons need not wait for them.
    fn start_afresh(&mut self) {
        let running = self.epoch.is_some();
        let wire = LinkConfig { queue: QueueLimit::Unlimited, ..LinkConfig::default() };
        let new = |(name, config, up): &(String, LinkConfig, bool)| {
            let mut direction = Direction::new(if running { config } else { &wire }, self.seed, name);
            if running && !up {
                direction.link.apply(Instant::ZERO, LinkChange::DOWN);
                direction.account_offer(Instant::ZERO);
            }
            direction
        };
        self.directions = self.configs.iter().map(new).collect();
        self.agenda.clear();
        self.lateness = DelayHistogram::default();
        for index in 0..self.directions.len() {
            self.schedule(index);
        }
    }

    fn begin(&mut self, clock: Clock) {
        let running = clock.now() - Instant::ZERO;
        self.epoch = Some(self.clock.now() - (Instant::ZERO + running));
        self.next_sample = self.series.map(|interval| Instant::ZERO + interval);
        self.start_afresh();
    }

    /// The run's time.
    fn now(&self) -> Instant {
        self.clock.now() - self.epoch.unwrap_or_default()
    }

    fn run(mut self, wake: &EventFd, commands: &Commands) -> io::Result<EmulatorReport> {
        self.events.watch(wake, WAKE_TOKEN)?;
        let mut ready = Vec::new();
        loop {
            self.deliver_due();
            let next = self.agenda.peek().map(|Reverse((at, _))| *at);
            let next = [next, self.next_sample].into_iter().flatten().min();
            let deadline = next.map(|at| at + self.epoch.unwrap_or_default());
            if self.events.wait(deadline, &mut ready)? == Wake::Stop {
                return Ok(self.report());
            }
            for &token in &ready {
                if token == WAKE_TOKEN {
                    // Only clears the readiness.
                    let _ = wake.read();
                    self.apply(commands);
                } else {
                    self.take_from(token as usize)?;
                }
            }
            self.sample();
        }
    }

    /// Reads a batch of packets from device `index` into its direction.
    fn take_from(&mut self, index: usize) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let device = &self.devices[index];
            let packet = match self.pool.read_with(|buffer| device.read(buffer)) {
                Ok(packet) => packet,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let size_bytes = packet.len() as u32;
            // The link's counters say what became of a packet it did not take.
            let now = self.now();
            let _ = self.directions[index].link.enqueue(now, size_bytes, packet);
        }
        self.schedule(index);
        Ok(())
    }

    /// Hands everything whose time has come to the kernel at the other end.
    fn deliver_due(&mut self) {
        let mut now = self.now();
        while let Some(&Reverse((at, index))) = self.agenda.peek() {
            if at > now {
                break;
            }
            self.agenda.pop();
            let direction = &mut self.directions[index];
            if direction.scheduled != Some(at) {
                continue;
            }
            direction.scheduled = None;
            let target = &self.devices[index ^ 1];
            for _ in 0..BATCH_PACKETS {
                let Some(mut delivery) = direction.link.poll_delivery(now) else { break };
                if delivery.corrupted {
                    damage(&mut delivery.packet, &mut direction.damage);
                }
                if target.write(&delivery.packet).is_err() {
                    direction.refused_packets += 1;
                }
                now = self.clock.now() - self.epoch.unwrap_or_default();
                self.lateness.record(now - delivery.at);
            }
            while direction.link.poll_dropped().is_some() {}
            direction.account_offer(now);
            self.schedule(index);
        }
    }

    /// Puts the next wake-up of a direction on the agenda.
    fn schedule(&mut self, index: usize) {
        let direction = &mut self.directions[index];
        let next = direction.link.next_wakeup();
        if next != direction.scheduled {
            direction.scheduled = next;
            if let Some(at) = next {
                self.agenda.push(Reverse((at, index)));
            }
        }
    }

    fn apply(&mut self, commands: &Commands) {
        let commands = std::mem::take(&mut *commands.lock().unwrap_or_else(PoisonError::into_inner));
        for command in commands {
            match command {
                Command::Begin(clock) => self.begin(clock),
                Command::Change { link, way, change } => {
                    let (now, index) = (self.now(), 2 * link + usize::from(way == Way::Reverse));
                    let direction = &mut self.directions[index];
                    direction.link.apply(now, change);
                    while direction.link.poll_dropped().is_some() {}
                    direction.account_offer(now);
                    self.schedule(index);
                }
                Command::InUse { link, in_use } => {
                    let now = self.now();
                    for direction in &mut self.directions[2 * link..2 * link + 2] {
                        direction.in_use = in_use;
                        direction.account_offer(now);
                    }
                }
            }
        }
    }

    /// Takes a sample of every direction when an interval of the series has ended.
    fn sample(&mut self) {
        let now = self.now();
        while let (Some(at), Some(interval)) = (self.next_sample, self.series) {
            if at > now {
                break;
            }
            for direction in &mut self.directions {
                let delivered = direction.link.stats().delivered_bytes;
                direction.delivered_bytes.push(delivered - direction.delivered_before);
                direction.delivered_before = delivered;
                direction.queue_bytes.push(direction.link.queue(now).1.as_u64());
            }
            self.next_sample = Some(at + interval);
        }
    }

    fn report(mut self) -> EmulatorReport {
        let now = self.now();
        let mut reports = self.directions.iter_mut().map(|direction| direction.report(now));
        let mut links = Vec::new();
        while let (Some(forward), Some(reverse)) = (reports.next(), reports.next()) {
            links.push((forward, reverse));
        }
        EmulatorReport { links, lateness: self.lateness.summary() }
    }
}

impl Direction {
    fn new(config: &LinkConfig, seed: Seed, name: &str) -> Self {
        let link = Link::new(config, seed, name);
        Self {
            offered_rate: link.rate(),
            in_use: true,
            link,
            scheduled: None,
            damage: seed.stream(&format!("link/{name}/damage")),
            refused_packets: 0,
            delivered_before: 0,
            offered_bits: 0.0,
            offered_since: Instant::ZERO,
            delivered_bytes: Vec::new(),
            queue_bytes: Vec::new(),
        }
    }

    /// What the link offers now; `None` without a limit.
    fn current_offer(&self) -> Option<Rate> {
        self.link.rate().map(|rate| if self.link.is_up() && self.in_use { rate } else { Rate::ZERO })
    }

    /// Notices a change of what the link offers and closes the time before it.
    fn account_offer(&mut self, now: Instant) {
        if self.current_offer() != self.offered_rate {
            self.close_offer(now);
            self.offered_rate = self.current_offer();
        }
    }

    fn close_offer(&mut self, now: Instant) {
        let bps = self.offered_rate.map_or(0.0, |rate| rate.as_bps() as f64);
        self.offered_bits += bps * (now - self.offered_since).as_secs_f64();
        self.offered_since = now;
    }

    fn report(&mut self, now: Instant) -> DirectionReport {
        self.close_offer(now);
        DirectionReport {
            stats: self.link.stats(),
            refused_packets: self.refused_packets,
            mean_rate_bps: self
                .offered_rate
                .map(|_| (self.offered_bits / now.as_secs_f64().max(1e-9)).round() as u64),
            delivered_bytes: std::mem::take(&mut self.delivered_bytes),
            queue_bytes: std::mem::take(&mut self.queue_bytes),
        }
    }
}

/// Flips one bit behind the IP header, where only the transport's checksum can notice.
fn damage(packet: &mut PacketBuf, stream: &mut RandomStream) {
    let length = packet.len();
    let header_bytes = packet.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    if length > header_bytes {
        let at = header_bytes + stream.below((length - header_bytes) as u64) as usize;
        packet.buffer_mut()[at] ^= 1 << stream.below(8);
    }
}
