//! The emulator's thread: from devices into link models and from link models into devices.
use super::capture::Capture;
use super::direction::{Direction, damage};
use super::events::EventFeed;
use super::{Command, Commands, EmulatedLink, EmulatorReport, Recording};
use crate::fabric::LINK_MTU_BYTES;
use crate::packets::{Label, Labelled};
use crate::timing::{Lateness, RunEnd};
use nix::sys::eventfd::EventFd;
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, PacketKind, QueueLimit};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{BATCH_PACKETS, EventLoop, StopHandle, Wake};
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, IpPacket};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::PoisonError;

const WAKE_TOKEN: u64 = 1 << 32;

/// Least time from turn to turn, by which a packet may be later while they follow closely: what quick links deliver
/// then shares wake-ups, as with network cards that moderate their interrupts.
const TURN: Duration = Duration::from_micros(200);

/// Links are no longer than this before the run.
const MAX_SETUP_DELAY: Duration = Duration::from_millis(400);

/// The thread's state. Direction `2 i` is forward over link `i`, `2 i + 1` is reverse; device `2 i` is end `a`
/// and feeds direction `2 i`, device `2 i + 1` is end `b`.
pub(super) struct Carrier {
    /// Name and configuration of every direction, and whether it works at the start.
    configs: Vec<(String, LinkConfig, bool)>,
    seed: Seed,
    directions: Vec<Direction>,
    devices: Vec<OffloadTun>,
    agenda: BinaryHeap<Reverse<(Instant, usize)>>,
    pool: PacketPool,
    events: EventLoop,
    clock: Clock,
    /// The start of the run on the event loop's clock; `None` before it began.
    epoch: Option<Duration>,
    end: RunEnd,
    /// What was done until then, once the run is over.
    report: Option<EmulatorReport>,
    lateness: Lateness,
    /// When the packets of the batch at hand were due.
    due: Vec<Instant>,
    capture: Option<Capture>,
    events_seen: Option<EventFeed>,
    series: Option<Duration>,
    next_sample: Option<Instant>,
}

impl Carrier {
    /// Takes over the devices of `links`. `clock` was started before any that tells the time of a run.
    ///
    /// # Errors
    /// When the kernel refuses to watch a device.
    pub fn new(
        links: Vec<EmulatedLink>,
        seed: Seed,
        stop: StopHandle,
        recording: Recording,
        (clock, end): (Clock, RunEnd),
    ) -> io::Result<Self> {
        let events = EventLoop::new(clock, stop)?;
        let (mut configs, mut devices) = (Vec::new(), Vec::new());
        let capture = recording.capture.as_deref();
        let capture = capture.map(|file| Capture::create(file, links.iter().map(|link| link.name.as_str())));
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
            end,
            report: None,
            lateness: Lateness::default(),
            due: Vec::new(),
            capture: capture.transpose()?,
            events_seen: recording.events,
            series: recording.series,
            next_sample: None,
        };
        carrier.start_afresh();
        Ok(carrier)
    }

    /// New links without packets or history. Before the run they are perfect wires, so that daemons need not wait for
    /// them, but as long as they will be: what daemons measure of them as they register is true.
    fn start_afresh(&mut self) {
        let running = self.epoch.is_some();
        let new = |(name, config, up): &(String, LinkConfig, bool)| {
            let delay = config.delay.min(MAX_SETUP_DELAY);
            let wire = LinkConfig { delay, queue: QueueLimit::Unlimited, ..LinkConfig::default() };
            let mut direction = Direction::new(if running { config } else { &wire }, self.seed, name);
            if running && !up {
                direction.link.apply(Instant::ZERO, LinkChange::DOWN);
                direction.account_offer(Instant::ZERO);
            }
            direction
        };
        self.directions = self.configs.iter().map(new).collect();
        self.agenda.clear();
        self.lateness = Lateness::default();
        for index in 0..self.directions.len() {
            self.schedule(index);
        }
    }

    fn begin(&mut self, clock: Clock) {
        self.epoch = Some(clock.started_after(self.clock));
        self.next_sample = self.series.map(|interval| Instant::ZERO + interval);
        self.start_afresh();
    }

    /// The run's time, which goes on behind its end only once that has been seen.
    fn now(&self) -> Instant {
        let now = self.clock.now() - self.epoch.unwrap_or_default();
        if self.is_running() { now.min(self.end.get()) } else { now }
    }

    /// Whether what happens belongs to the run.
    const fn is_running(&self) -> bool {
        self.epoch.is_some() && self.report.is_none()
    }

    /// Counts up what was done, if the run is over.
    fn close_if_over(&mut self) -> io::Result<()> {
        let end = self.end.get();
        if self.is_running() && self.now() >= end {
            self.work_off();
            if let Some(capture) = self.capture.take() {
                capture.finish()?;
            }
            self.report = Some(self.report_at(end));
        }
        Ok(())
    }

    /// Carries packets until stopped.
    ///
    /// # Errors
    /// When a device, the capture or the log fails.
    pub fn run(mut self, wake: &EventFd, commands: &Commands) -> io::Result<EmulatorReport> {
        self.events.watch(wake, WAKE_TOKEN)?;
        let mut ready = Vec::new();
        let mut turn_began = self.clock.now();
        loop {
            self.work_off();
            self.close_if_over()?;
            let next = self.agenda.peek().map(|Reverse((at, _))| *at);
            let of_run = [self.next_sample, Some(self.end.get()).filter(|end| *end < Instant::MAX)];
            let of_run = of_run.into_iter().flatten().filter(|_| self.is_running());
            let next = next.into_iter().chain(of_run).min();
            let deadline = next.map(|at| at + self.epoch.unwrap_or_default());
            if self.events.wait(deadline, &mut ready)? == Wake::Stop {
                self.end.bring_forward(self.now() - Instant::ZERO);
                self.close_if_over()?;
                return Ok(self.report.unwrap_or_default());
            }
            let left = TURN.saturating_sub(self.clock.now() - turn_began);
            if !left.is_zero() {
                std::thread::sleep(std::time::Duration::from_nanos(left.as_nanos()));
            }
            turn_began = self.clock.now();
            self.close_if_over()?;
            for &token in &ready {
                if token == WAKE_TOKEN {
                    // Only clears the readiness.
                    let _ = wake.read();
                    self.apply(commands);
                } else {
                    self.take_from(token as usize)?;
                }
            }
        }
    }

    /// Reads a batch of packets from device `index`, and what the last of it was cut into, into its direction.
    fn take_from(&mut self, index: usize) -> io::Result<()> {
        let mut number = 0;
        while number < BATCH_PACKETS || self.devices[index].has_segments() {
            let Some(packet) = self.devices[index].read(&self.pool)? else { break };
            number += 1;
            self.take(index, packet)?;
        }
        self.schedule(index);
        Ok(())
    }

    /// One packet into its direction, whose counters say what became of one that it did not take.
    fn take(&mut self, index: usize, packet: PacketBuf) -> io::Result<()> {
        let now = self.now();
        if let (Some(capture), Some(_)) = (&mut self.capture, self.epoch) {
            capture.packet(now, index / 2, index.is_multiple_of(2), &packet)?;
        }
        let label = self.observed().map_or(Label::default(), |feed| feed.sent(now, index, &packet));
        let (size_bytes, kind) = (packet.len() as u32, kind_of(&packet));
        let packet = Labelled { packet, label };
        let outcome = self.directions[index].link.enqueue_kind(now, size_bytes, kind, packet);
        if let (Some(feed), Err(dropped)) = (self.observed(), outcome) {
            feed.dropped(now, index, dropped.reason, &dropped.packet);
        }
        Ok(())
    }

    /// Whoever wants to know what passes, once the run has begun.
    fn observed(&self) -> Option<&EventFeed> {
        self.events_seen.as_ref().filter(|_| self.is_running())
    }

    /// Does what is due, and takes a sample where an interval has ended by then.
    fn work_off(&mut self) {
        let now = self.deliver_due();
        self.sample(now);
    }

    /// Hands everything whose time has come to the kernel at the other end; returns until when that was.
    fn deliver_due(&mut self) -> Instant {
        let mut now = self.now();
        while let Some(&Reverse((at, index))) = self.agenda.peek() {
            if at > now {
                break;
            }
            self.agenda.pop();
            if self.directions[index].scheduled != Some(at) {
                continue;
            }
            self.directions[index].scheduled = None;
            now = self.deliver(index, now);
            self.directions[index].account_offer(now);
            self.sweep(index, now);
            self.schedule(index);
        }
        now
    }

    /// Hands a batch of what is due in one direction over, together where it is of one flow; returns the time after it.
    fn deliver(&mut self, index: usize, now: Instant) -> Instant {
        let running = self.is_running();
        let (direction, target) = (&mut self.directions[index], &self.devices[index ^ 1]);
        let observed = self.events_seen.as_ref().filter(|_| running);
        self.due.clear();
        for _ in 0..BATCH_PACKETS {
            let Some(mut delivery) = direction.link.poll_delivery(now) else { break };
            let Labelled { packet, label } = &mut delivery.packet;
            if delivery.corrupted {
                label.damaged = true;
                damage(packet, &mut direction.damage);
            }
            if delivery.marked {
                // It was an IP packet when it was judged.
                let _ = prismux_wire::ip::set_ecn(packet.buffer_mut(), Ecn::Ce);
            }
            self.due.push(delivery.at);
            if let Some(feed) = observed {
                feed.delivered(now, index, &delivery.packet);
            }
            target.write(&delivery.packet.packet);
        }
        target.flush();
        direction.refused_packets += target.take_refused();
        let now = self.clock.now() - self.epoch.unwrap_or_default();
        // The first of a batch was not kept waiting by the others, but the kernel had it no earlier.
        self.due.iter().for_each(|&at| self.lateness.record(now - at));
        self.now()
    }

    /// Frees what an outage took out of a link.
    fn sweep(&mut self, index: usize, now: Instant) {
        while let Some(dropped) = self.directions[index].link.poll_dropped() {
            if let Some(feed) = self.observed() {
                feed.dropped(now, index, dropped.reason, &dropped.packet);
            }
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
                Command::Change { link, direction, change } => {
                    let is_reverse = direction == prismux_plan::Direction::Reverse;
                    let (now, index) = (self.now(), 2 * link + usize::from(is_reverse));
                    let changed = &mut self.directions[index];
                    changed.link.apply(now, change);
                    changed.account_offer(now);
                    let up = changed.link.is_up();
                    if let Some(feed) = self.observed() {
                        feed.change(now, index, change, up);
                    }
                    self.sweep(index, now);
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
    fn sample(&mut self, now: Instant) {
        while let (Some(at), Some(interval)) = (self.next_sample, self.series) {
            if at > now || !self.is_running() {
                break;
            }
            for direction in &mut self.directions {
                direction.sample(now);
            }
            self.next_sample = Some(at + interval);
        }
    }

    fn report_at(&mut self, now: Instant) -> EmulatorReport {
        let mut reports = self.directions.iter_mut().map(|direction| direction.report(now));
        let mut links = Vec::new();
        while let (Some(forward), Some(reverse)) = (reports.next(), reports.next()) {
            links.push((forward, reverse));
        }
        EmulatorReport { links, lateness: self.lateness.summary(), ..EmulatorReport::default() }
    }
}

/// What a managed queue has to know of a packet.
fn kind_of(packet: &[u8]) -> PacketKind {
    let Ok(ip) = IpPacket::parse(packet) else { return PacketKind::default() };
    let flow = prismux_wire::flow_hash(&ip, packet) as u32;
    PacketKind { ecn_capable: ip.header.ecn != Ecn::NotEct, flow }
}
