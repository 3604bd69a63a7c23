//! The links of a running lab: one thread that carries packets from TUN device to TUN device through the link
//! model, on the wall clock.
//!
//! Departure and arrival times are computed by the model from the times at which packets entered it, so a thread
//! that wakes late delays a packet but never slows the link. How late deliveries were is
//! measured and reported. Links carry on behind the end of the run, for programs that part, but nothing of that counts
//! or is written down: counters are those of the end, however late the thread learns of it.
//!
//! * [`carrier`]: the thread. [`direction`]: one direction of a link. [`offered`]: what it could have carried.
//!   [`capture`]: pcapng files. [`events`]: event logs.

mod capture;
mod carrier;
mod direction;
mod events;
mod offered;

use crate::LabError;
use crate::timing::{DelaySummary, RunEnd};
use carrier::Carrier;
pub(crate) use events::EventFeed;
use nix::sys::eventfd::{EfdFlags, EventFd};
pub use offered::Offered;
use prismux_endpoint::random::Seed;
use prismux_link::{LinkChange, LinkConfig, LinkStats};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::StopHandle;
use prismux_linux::offload::OffloadTun;
use prismux_linux::process::{self, Scheduling};
use prismux_plan::{Direction, Plan};
use prismux_units::Duration;
use std::io;
use std::path::PathBuf;
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
    pub ends: (OffloadTun, OffloadTun),
}

impl EmulatedLink {
    /// The links of a plan, between these devices.
    pub fn of_plan(plan: &Plan, devices: Vec<(OffloadTun, OffloadTun)>) -> Vec<Self> {
        let links = plan.links.iter().zip(devices).map(|(link, ends)| Self {
            name: link.name.clone(),
            forward: link.forward.link.clone(),
            reverse: link.reverse.link.clone(),
            up: (link.forward.up, link.reverse.up),
            ends,
        });
        links.collect()
    }
}

/// What is recorded beside the counters.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// Interval of the time series.
    pub series: Option<Duration>,
    /// The pcapng file to be written.
    pub capture: Option<PathBuf>,
    /// Whoever writes events down.
    pub events: Option<EventFeed>,
}

/// What one direction of a link did.
#[derive(Debug, Clone, Default)]
pub struct DirectionReport {
    /// The link model's counters.
    pub stats: LinkStats,
    /// Its queue is managed: early drops and marks mean something.
    pub is_managed: bool,
    /// Packets that the receiving kernel did not take.
    pub refused_packets: u64,
    /// The rate averaged over the run, none while down or not in use; `None` without a limit.
    pub mean_rate_bps: Option<u64>,
    /// What it could have carried by any time of the run.
    pub offered: Offered,
    /// Bytes delivered in each interval of the series.
    pub delivered_bytes: Vec<u64>,
    /// Bytes waiting at the end of each interval.
    pub queue_bytes: Vec<u64>,
    /// Packets dropped in each interval.
    pub dropped_packets: Vec<u64>,
    /// Packets marked in each interval.
    pub marked_packets: Vec<u64>,
}

/// What the emulator did.
#[derive(Debug, Clone, Default)]
pub struct EmulatorReport {
    /// For each link: forward and reverse.
    pub links: Vec<(DirectionReport, DirectionReport)>,
    /// Delivery to the kernel after the instant that the model gave.
    pub lateness: DelaySummary,
    /// Whether the emulator ran in real-time priority, before ordinary programs.
    pub real_time: bool,
}

/// What the lab tells the emulator.
enum Command {
    /// The run begins: this clock reads zero at its start, and links and counters start afresh.
    Begin(Clock),
    Change {
        link: usize,
        direction: Direction,
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
    /// Starts the thread. Until [`Emulator::begin`] all links are perfect wires, over which daemons find each other,
    /// and nothing is recorded.
    ///
    /// # Errors
    /// When the kernel refuses the thread its devices or events.
    pub fn start(
        links: Vec<EmulatedLink>,
        seed: Seed,
        recording: Recording,
        end: RunEnd,
    ) -> Result<Self, LabError> {
        let failed = || LabError::setup("start the link emulator");
        let stop = StopHandle::new().map_err(failed())?;
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wake = Arc::new(EventFd::from_flags(flags).map_err(|e| failed()(e.into()))?);
        let commands = Commands::default();
        let (their_stop, their_wake, their_commands) =
            (stop.clone(), Arc::clone(&wake), Arc::clone(&commands));
        // Before the thread is there, which may be later than the beginning of the run.
        let clock = Clock::start();
        let work = move || {
            let real_time = process::prefer_this_thread(process::LINK_PRIORITY) == Scheduling::RealTime;
            let carrier = Carrier::new(links, seed, their_stop, recording, (clock, end))?;
            Ok(EmulatorReport { real_time, ..carrier.run(&their_wake, &their_commands)? })
        };
        let thread = std::thread::Builder::new().name("links".to_owned()).spawn(work).map_err(failed())?;
        Ok(Self { thread: Some(thread), stop, commands, wake })
    }

    /// Begins the run, whose time `clock` tells: links start afresh, what was on its way is gone.
    pub fn begin(&self, clock: Clock) {
        self.command(Command::Begin(clock));
    }

    /// Changes one direction of a link, now.
    pub fn change(&self, link: usize, direction: Direction, change: LinkChange) {
        self.command(Command::Change { link, direction, change });
    }

    /// Says whether the link is at the community's disposal, which matters for the mean of its rate alone.
    pub fn set_in_use(&self, link: usize, in_use: bool) {
        self.command(Command::InUse { link, in_use });
    }

    /// The end of the run has been brought forward.
    pub fn end_run(&self) {
        self.wake();
    }

    fn command(&self, command: Command) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command);
        self.wake();
    }

    fn wake(&self) {
        // Fails only when the counter is full, and then the thread has long been woken.
        let _ = self.wake.write(1);
    }

    /// Stops the thread and returns what it measured.
    ///
    /// # Errors
    /// What ended the thread early: a device that cannot be read or written, a capture or a log that cannot be
    /// written.
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
