//! One daemon, whichever role it plays: device, tunnels, status page, timers and the request to stop in one loop.
//!
//! * [`Daemon`]: the loop. [`Role`]: what proxy and member do in it. [`DaemonError`]: why a daemon cannot start, or
//!   has to end.
mod catch_up;
mod error;
mod services;

pub use error::DaemonError;
pub(crate) use services::{send_failed, time_of_day_micros, warn_unless_forwarding};

use crate::commands::{Command, CommandServer};
use crate::config::WebConfig;
use crate::status::StatusServer;
use crate::web::{self, Web};
use crate::workers::Workers;
use catch_up::CatchUp;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Token, Wake, block_stop_signals};
use prismux_linux::{capabilities, confinement, process};
use prismux_units::Instant;
use serde::Serialize;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

const TUN: Token = 0;
const STATUS: Token = 1;
const COMMANDS: Token = 2;
const WORKERS: Token = 3;
const REGISTRY: Token = 4;
/// The first of the addresses at which it answers over HTTP.
const WEB: Token = 5;
const FIRST_TUNNEL: Token = WEB + web::MAX_ADDRESSES;
const LAST_WEB: Token = FIRST_TUNNEL - 1;

/// What a daemon does with what its loop reports.
pub trait Role: Sized {
    /// What its file says.
    type Config;
    /// Its name in the log: "proxy" or "member".
    const NAME: &'static str;
    /// Whether the kernel forwards what comes out of its device.
    const KERNEL_FORWARDS: bool = true;

    /// Where it answers `prismux status`.
    fn status_socket(config: &Self::Config) -> &Path;
    /// Where it keeps its accounts, if it keeps any.
    fn accounts_file(_config: &Self::Config) -> Option<PathBuf> {
        None
    }
    /// Where it answers over HTTP, and whom.
    fn web(_config: &Self::Config) -> WebConfig {
        WebConfig::default()
    }
    /// Opens device, routes and tunnels, and has `wakes` report them.
    ///
    /// # Errors
    /// [`DaemonError`]: what it could not open or set.
    fn open(config: Self::Config, wakes: &Wakes<'_>) -> Result<Self, DaemonError>;
    /// When [`Role::expire`] is to be called next; `None` for no timer.
    fn deadline(&self) -> Option<Instant>;
    /// Does what is due.
    fn expire(&mut self, now: Instant);
    /// One batch from the kernel.
    ///
    /// # Errors
    /// When the kernel takes the device away.
    fn read_tun(&mut self, clock: Clock) -> io::Result<()>;
    /// One batch from the tunnel socket `index`.
    ///
    /// # Errors
    /// When the kernel takes the socket away.
    fn read_tunnel(&mut self, index: usize, clock: Clock) -> io::Result<()>;
    /// What workers have opened.
    fn collect(&mut self, _clock: Clock) {}
    /// What a registry tells.
    fn news(&mut self, _now: Instant) {}
    /// Sends everything that is queued.
    fn flush(&mut self);
    /// Does what its operator asks: what it has done, in words.
    ///
    /// # Errors
    /// Why it has not.
    fn command(&mut self, _now: Instant, _command: &Command) -> Result<String, String> {
        Err(format!("a {} gives no rights to others: ask the gateway or the proxy that does", Self::NAME))
    }
    /// The status page.
    fn report(&self, now: Instant) -> impl Serialize;
    /// Somebody asked it to stop: it takes its leave, if it has not yet.
    fn stop(&mut self, now: Instant);
    /// Whether it has stopped, and nothing is under way any more.
    fn has_ended(&self, now: Instant) -> bool;
}

/// What a role has the loop watch while it opens.
pub struct Wakes<'a> {
    event_loop: &'a EventLoop,
}

impl Wakes<'_> {
    /// Has the loop call [`Role::read_tun`] and [`Role::read_tunnel`] when there is something to read.
    ///
    /// # Errors
    /// When the kernel has no room for another descriptor.
    pub fn watch<T: AsFd>(&self, tun: impl AsFd, tunnels: &[T]) -> io::Result<()> {
        self.event_loop.watch(tun, TUN)?;
        tunnels
            .iter()
            .zip(FIRST_TUNNEL..)
            .try_for_each(|(socket, token)| self.event_loop.watch(socket, token))
    }

    /// Has the loop call [`Role::collect`] when workers have opened something.
    ///
    /// # Errors
    /// When the kernel has no room for another descriptor.
    pub fn watch_workers(&self, workers: &Workers) -> io::Result<()> {
        workers.wake().map_or(Ok(()), |wake| self.event_loop.watch(wake, WORKERS))
    }

    /// Has the loop call [`Role::news`] when `wake` is readable.
    ///
    /// # Errors
    /// When the kernel has no room for another descriptor.
    pub fn watch_registry(&self, wake: impl AsFd) -> io::Result<()> {
        self.event_loop.watch(wake, REGISTRY)
    }

    /// The daemon's clock.
    pub fn clock(&self) -> Clock {
        self.event_loop.clock()
    }
}

/// A running daemon.
pub struct Daemon<R: Role> {
    /// Goes first, and what it has changed on the host with it: whoever waits for its end waits for the socket to go.
    role: R,
    event_loop: EventLoop,
    status: StatusServer,
    commands: CommandServer,
    web: Web,
}

/// Runs a daemon until SIGINT or SIGTERM.
pub(crate) fn run<R: Role>(config: R::Config) -> Result<(), DaemonError> {
    block_stop_signals()?;
    let mut files = vec![R::status_socket(&config).to_owned()];
    files.extend(R::accounts_file(&config));
    // Packets wait for the daemon, also while it starts in the place of one that was killed; what else runs here waits
    // for nothing that would expire.
    let scheduling = process::prefer_this_thread(process::CARRIER_PRIORITY);
    let mut daemon = Daemon::<R>::start(config, StopHandle::new()?)?;
    tracing::info!(%scheduling, "how soon the system runs this daemon");
    daemon.event_loop.stop_on_signals()?;
    // Whoever takes the process over has the network's capabilities, and no others.
    if let Err(error) = capabilities::keep_network_only() {
        tracing::warn!(%error, "privileges could not be dropped");
    }
    let folders: Vec<&Path> = files.iter().map(|file| file.parent().unwrap_or(file)).collect();
    match confinement::confine(&folders) {
        Ok(confined) => tracing::debug!(?confined, "confined"),
        Err(error) => tracing::warn!(%error, "files and system calls could not be restricted"),
    }
    daemon.run()
}

impl<R: Role> Daemon<R> {
    /// Opens device, routes and tunnels. When this returns, packets wait to be handled by [`Daemon::run`], on this
    /// thread; a member calls its proxy from there.
    ///
    /// # Errors
    /// [`DaemonError`]: what it could not open or set.
    pub fn start(config: R::Config, stop: StopHandle) -> Result<Self, DaemonError> {
        let event_loop = EventLoop::new(Clock::start(), stop)?;
        let status = StatusServer::bind(R::status_socket(&config))?;
        let commands = CommandServer::bind(R::status_socket(&config))?;
        let web = Web::open(&R::web(&config)).map_err(DaemonError::Config)?;
        let role = R::open(config, &Wakes { event_loop: &event_loop })?;
        event_loop.watch(&status, STATUS)?;
        event_loop.watch(&commands, COMMANDS)?;
        web.listeners().zip(WEB..).try_for_each(|(listener, token)| event_loop.watch(listener, token))?;
        if R::KERNEL_FORWARDS {
            warn_unless_forwarding();
        }
        Ok(Self { role, event_loop, status, commands, web })
    }

    /// A handle that ends [`Daemon::run`] from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.event_loop.stop_handle()
    }

    /// Handles packets until stopped, and what is still under way then. Device, routes, rules and sockets are gone
    /// when this returns.
    ///
    /// # Errors
    /// [`DaemonError::Io`] when the kernel takes the device or a socket away.
    pub fn run(mut self) -> Result<(), DaemonError> {
        let clock = self.event_loop.clock();
        let mut ready = Vec::new();
        let mut catch_up = CatchUp::default();
        loop {
            let deadline = [self.role.deadline(), self.web.deadline()].into_iter().flatten().min();
            let wake = self.event_loop.wait(deadline, &mut ready)?;
            let woken = clock.now();
            if wake == Wake::Stop {
                self.event_loop.take_stop();
                self.role.stop(woken);
            }
            if self.role.has_ended(woken) {
                tracing::info!("{} stopped", R::NAME);
                return Ok(());
            }
            self.handle(&ready, woken)?;
            let now = clock.now();
            if catch_up.may_judge(deadline, !ready.is_empty(), now) {
                self.role.expire(now);
                self.web.expire(now, || self.role.report(now));
            }
            self.role.flush();
        }
    }

    /// One batch from each source that has something.
    fn handle(&mut self, ready: &[Token], now: Instant) -> Result<(), DaemonError> {
        let clock = self.event_loop.clock();
        for &token in ready {
            match token {
                TUN => self.role.read_tun(clock)?,
                STATUS => self.status.answer(&self.role.report(now)),
                COMMANDS => self.commands.answer(|command| self.role.command(now, command)),
                WORKERS => self.role.collect(clock),
                REGISTRY => self.role.news(now),
                WEB..=LAST_WEB => self.web.answer((token - WEB) as usize, now, || self.role.report(now)),
                tunnel => self.role.read_tunnel((tunnel - FIRST_TUNNEL) as usize, clock)?,
            }
        }
        Ok(())
    }
}
