//! The proxy daemon: takes over the receivers' traffic, spreads it over the members, and repairs the ACK stream.
//!
//! ```text
//!   sender -> kernel -> TUN -> prism::Proxy -> tunnel -> member -> receiver
//!   sender <- kernel <- TUN <- prism::Proxy <- tunnel <- member <- receiver
//! ```
//!
//! * `inlet`: one packet into the core, in each direction. `outlet`: carrying out its verdicts.
//! * [`recorder`]: all of that as a capture, to look at and to repeat.
//! * [`members`]: who is there. `registry`: members that call, leave or fall silent. `report`: the status page.
//!
//! A proxy that is killed leaves nothing behind: its device and routes go with it. When it starts again, members are
//! called back by a challenge as soon as they say anything, and flows are picked up in mid-stream.

mod inlet;
pub mod members;
pub(crate) mod outlet;
pub mod recorder;
mod registry;
mod report;

use crate::config::{ProxyConfig, prism_settings_to_toml};
use crate::counters::DropCounters;
use crate::daemon::{self, DaemonError};
use crate::device;
use crate::status::StatusServer;
use crate::tunnel::Transport;
use crate::tunnel::control;
use crate::tunnel::socket::{self, SocketOptions, TunnelReceiver, TunnelSender};
use members::Members;
use outlet::{Core, Outlet};
use prismux_endpoint::{Deadline, drive};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Token, Wake, block_stop_signals};
use prismux_linux::netconf;
use prismux_units::Instant;
use recorder::{Happening, Recorder};
use registry::Challenged;
use std::net::{IpAddr, SocketAddr};

const TUN: Token = 0;
const STATUS: Token = 1;
const FIRST_TUNNEL: Token = 2;

/// A running proxy.
pub struct ProxyDaemon {
    config: ProxyConfig,
    token: Option<control::Token>,
    event_loop: EventLoop,
    inner_mtu_bytes: usize,
    receivers: Vec<TunnelReceiver>,
    core: Core,
    /// When the core wants to be called, as of the last time it was drained.
    core_deadline: Option<Deadline>,
    outlet: Outlet,
    status: StatusServer,
    /// Strangers are challenged no earlier than this.
    next_challenge: Instant,
    /// Who has been challenged and has not answered yet.
    challenged: Challenged,
}

/// Runs a proxy until SIGINT or SIGTERM.
pub fn run(config: ProxyConfig) -> Result<(), DaemonError> {
    block_stop_signals()?;
    let mut daemon = ProxyDaemon::start(config, StopHandle::new()?)?;
    daemon.event_loop.stop_on_signals()?;
    daemon.run()
}

impl ProxyDaemon {
    /// Opens device, routes and tunnels. When this returns, packets are waiting to be handled by
    /// [`ProxyDaemon::run`], on this thread.
    pub fn start(config: ProxyConfig, stop: StopHandle) -> Result<Self, DaemonError> {
        let token = config.read_token().map_err(DaemonError::Config)?;
        let clock = Clock::start();
        let inner_mtu_bytes = config.tun_mtu_bytes();
        let event_loop = EventLoop::new(clock, stop)?;
        let status = StatusServer::bind(&config.status_socket)?;
        let (receivers, senders) = open_sockets(&config, inner_mtu_bytes)?;
        let tun = device::open(&config.tun, inner_mtu_bytes)?;
        for &receiver in &config.receivers {
            netconf::add_route(tun.name(), receiver, None)?;
        }
        event_loop.watch(&tun, TUN)?;
        event_loop.watch(&status, STATUS)?;
        for (socket, token) in receivers.iter().zip(FIRST_TUNNEL..) {
            event_loop.watch(socket, token)?;
        }
        // The daemon clamps by address family, which the core's single number cannot.
        let settings = prismux_prism::ProxyConfig { mss_clamp: None, ..config.prism.clone() };
        let overhead_bytes = config.tunnel.overhead_bytes();
        let recorder = start_recording(&config, &settings, overhead_bytes)?;
        let outlet = Outlet {
            tun,
            pool: device::pool(inner_mtu_bytes),
            senders,
            members: Members::new(prismux_linux::random::nonzero_u64()?, config.liveness.dead_after),
            drops: DropCounters::default(),
            overhead_bytes,
            recorder,
        };
        let mut daemon = Self {
            token,
            event_loop,
            inner_mtu_bytes,
            receivers,
            core: Core::new(settings),
            core_deadline: None,
            outlet,
            status,
            next_challenge: Instant::ZERO,
            challenged: Challenged::default(),
            config,
        };
        daemon.join_listed(clock.now());
        daemon::warn_unless_forwarding();
        tracing::info!(device = daemon.outlet.tun.name(), mtu = inner_mtu_bytes, "proxy started");
        Ok(daemon)
    }

    /// A handle that ends [`ProxyDaemon::run`] from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.event_loop.stop_handle()
    }

    /// Handles packets until stopped. Device, routes and sockets are gone when this returns.
    pub fn run(mut self) -> Result<(), DaemonError> {
        let clock = self.event_loop.clock();
        let mut ready = Vec::new();
        loop {
            let deadline = self.deadline();
            if self.event_loop.wait(deadline, &mut ready)? == Wake::Stop {
                tracing::info!("proxy stopped");
                return Ok(());
            }
            let now = clock.now();
            self.expire(now);
            for &token in &ready {
                match token {
                    TUN => self.read_tun(clock)?,
                    STATUS => self.answer_status(now),
                    _ => self.read_tunnel((token - FIRST_TUNNEL) as usize, clock)?,
                }
            }
            self.outlet.flush();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let core = self.core_deadline.map(|deadline| deadline.at);
        [core, self.outlet.members.deadline()].into_iter().flatten().min()
    }

    /// What has become due: the core's timers and members that have fallen silent.
    fn expire(&mut self, now: Instant) {
        if self.core_deadline.is_some_and(|deadline| deadline.at <= now) {
            self.outlet.record(|recorder| recorder.happening(now, &Happening::Timeout));
            self.core.handle_timeout(now);
            self.drain(now);
        }
        self.expire_members(now);
    }

    /// Carries out what the core decided: to be called after every mutation of the core.
    fn drain(&mut self, now: Instant) {
        self.core_deadline = drive(&mut self.core, now, &mut self.outlet);
    }

    fn answer_status(&mut self, now: Instant) {
        let report = report::report(self, now);
        self.status.answer(&report);
    }
}

fn start_recording(
    config: &ProxyConfig,
    settings: &prismux_prism::ProxyConfig,
    overhead_bytes: usize,
) -> Result<Option<Box<Recorder>>, DaemonError> {
    let Some(path) = &config.record else { return Ok(None) };
    let settings = prism_settings_to_toml(settings).ok_or_else(|| {
        DaemonError::Config("the protocol's settings cannot be written to the recording".to_owned())
    })?;
    let recorder = Recorder::create(path, settings.to_string(), overhead_bytes as u32).map_err(|error| {
        DaemonError::Config(format!("cannot write the recording {}: {error}", path.display()))
    })?;
    Ok(Some(Box::new(recorder)))
}

type TunnelEnds = (Vec<TunnelReceiver>, Vec<TunnelSender>);

fn open_sockets(config: &ProxyConfig, inner_mtu_bytes: usize) -> Result<TunnelEnds, DaemonError> {
    let gre = config.tunnel.gre.map(|ip| (Transport::Gre, SocketAddr::new(IpAddr::V4(ip), 0)));
    let udp = config.tunnel.udp.map(|address| (Transport::Udp, address));
    let open = |(transport, local)| {
        let options = SocketOptions { local: Some(local), ..SocketOptions::default() };
        Ok(socket::open(transport, &options, inner_mtu_bytes)?)
    };
    [gre, udp].into_iter().flatten().map(open).collect()
}
