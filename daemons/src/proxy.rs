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
//! * `known`: where members were before the proxy was restarted.
//! * `meters`: links measured by receipts. `homes`: uplinks of homes, receipts for what comes over them, and silence.
//! * `receivers`: taking over the traffic to them, and nobody else's.
//!
//! A proxy that is killed leaves nothing behind: its device and routes go with it. When it starts again, members are
//! called back by a challenge as soon as they say anything, and flows are picked up in mid-stream.

mod homes;
mod inlet;
mod known;
pub mod members;
pub(crate) mod meters;
pub(crate) mod outlet;
mod receivers;
pub mod recorder;
mod registry;
pub(crate) mod report;

use crate::config::{ProxyConfig, prism_settings_to_toml};
use crate::counters::DropCounters;
use crate::daemon::{self, Daemon, DaemonError, Role, Wakes};
use crate::device;
use crate::events::Events;
use crate::tunnel::Transport;
use crate::tunnel::control;
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::{self, SocketOptions, TunnelReceiver, TunnelSender};
use homes::HomeLinks;
use known::Known;
use members::Members;
use meters::Meters;
use outlet::{Core, Outlet};
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Deadline, drive, expire};
use prismux_linux::clock::Clock;
use prismux_units::{Duration, Instant};
use recorder::{CoreInput, Recorder};
use registry::Challenged;
use serde::Serialize;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// A running proxy.
pub type ProxyDaemon = Daemon<Proxy>;

/// What a proxy does.
pub struct Proxy {
    config: ProxyConfig,
    token: Option<control::Token>,
    inner_mtu_bytes: usize,
    receivers: Vec<TunnelReceiver>,
    core: Core,
    /// When the core wants to be called, as of the last time it was drained.
    core_deadline: Option<Deadline>,
    outlet: Outlet,
    /// Where members are, and were before a restart.
    known: Known,
    /// Members whose session is gone are challenged no earlier than this.
    next_challenge: Instant,
    /// Who has been challenged and has not answered yet.
    challenged: Challenged,
    stopped: bool,
}

/// Runs a proxy until SIGINT or SIGTERM.
///
/// # Errors
/// [`DaemonError`]: what it could not open or set, or what the kernel took away while it ran.
pub fn run(config: ProxyConfig) -> Result<(), DaemonError> {
    daemon::run::<Proxy>(config)
}

impl Role for Proxy {
    type Config = ProxyConfig;
    const NAME: &'static str = "proxy";

    fn status_socket(config: &ProxyConfig) -> &Path {
        &config.status_socket
    }

    fn metrics_address(config: &ProxyConfig) -> Option<SocketAddr> {
        config.metrics
    }

    fn open(config: ProxyConfig, wakes: &Wakes<'_>) -> Result<Self, DaemonError> {
        let token = config.read_token().map_err(DaemonError::Config)?;
        let inner_mtu_bytes = config.tun_mtu_bytes();
        receivers::check(&config.receivers)?;
        let (receivers, senders) = open_sockets(&config, inner_mtu_bytes, wakes.clock())?;
        let tun = device::open(&config.tun, inner_mtu_bytes)?;
        receivers::take_over(&tun, &config.receivers)?;
        wakes.watch(&tun, &receivers)?;
        // The daemon clamps by address family, which the core's single number cannot.
        let seed = drawn_seed(config.prism.seed)?;
        let settings = prismux_prism::ProxyConfig { mss_clamp: None, seed, ..config.prism.clone() };
        let overhead_bytes = config.tunnel.overhead_bytes();
        let recorder = start_recording(&config, &settings, overhead_bytes)?;
        tracing::info!(device = tun.name(), mtu = inner_mtu_bytes, "proxy started");
        let outlet = Outlet {
            tun,
            pool: device::pool(inner_mtu_bytes),
            senders,
            members: Members::new(prismux_linux::random::nonzero_u64()?, config.liveness.dead_after),
            meters: Meters::default(),
            homes: HomeLinks::default(),
            drops: DropCounters::default(),
            overhead_bytes,
            peers: config.peers.clone(),
            name: config.name.clone(),
            events: Events::default(),
            recorder,
        };
        let mut proxy = Self {
            token,
            inner_mtu_bytes,
            receivers,
            core: Core::new(settings),
            core_deadline: None,
            outlet,
            known: Known::read(config.members_file()),
            next_challenge: Instant::ZERO,
            challenged: Challenged::default(),
            stopped: false,
            config,
        };
        proxy.join_listed(wakes.clock().now());
        proxy.call_known(wakes.clock().now());
        Ok(proxy)
    }

    fn deadline(&self) -> Option<Instant> {
        let core = self.core_deadline.map(|deadline| deadline.at);
        let sealing = self.outlet.sealing().and_then(Sealing::deadline);
        [
            core,
            self.outlet.members.deadline(),
            self.outlet.meters.deadline(),
            self.outlet.homes.deadline(),
            sealing,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The core's timers, and members that have fallen silent.
    fn expire(&mut self, now: Instant) {
        if expire(&mut self.core, now) {
            self.outlet.record(|recorder| recorder.core_input(now, &CoreInput::Timeout));
            self.drain(now);
        }
        self.expire_members(now);
        let lost = self.outlet.meters.expire(now);
        self.tell_lost(now, lost);
        self.expire_homes(now);
        if let Some(sealing) = self.outlet.sealing() {
            sealing.expire(now);
        }
        self.session_events(now);
    }

    fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        self.read_packets(clock)
    }

    fn read_tunnel(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        self.read_frames(index, clock)
    }

    fn flush(&mut self) {
        self.outlet.flush();
    }

    fn report(&self, now: Instant) -> impl Serialize {
        report::report(self, now)
    }

    fn stop(&mut self, _now: Instant) {
        self.stopped = true;
    }

    fn has_ended(&self, _now: Instant) -> bool {
        self.stopped
    }
}

impl Proxy {
    /// Carries out what the core decided: to be called after every mutation of the core.
    fn drain(&mut self, now: Instant) {
        self.core_deadline = drive(&mut self.core, now, &mut self.outlet);
    }
}

/// The seed of the flow table and the random scheduler: one that nobody can guess, or flows could be chosen to fall
/// into one place of the table; another than the default is the operator's, and kept. Files have room for 63 bits.
pub(crate) fn drawn_seed(configured: Seed) -> io::Result<Seed> {
    if configured != prismux_prism::ProxyConfig::default().seed {
        return Ok(configured);
    }
    Ok(Seed(prismux_linux::random::nonzero_u64()? >> 1))
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

/// Bytes of a sealed datagram beyond the inner MTU, at most.
pub(crate) const SEALED_ROOM_BYTES: usize = 256;

fn open_sealing(
    config: &ProxyConfig,
    mtu_bytes: usize,
    clock: Clock,
) -> Result<Option<Sealing>, DaemonError> {
    let Some(keys) = config.read_keys().map_err(DaemonError::Config)? else { return Ok(None) };
    tracing::info!(public_key = %keys.public(), "sealed tunnels");
    let known = Known::read(config.members_file());
    let today = Duration::from_micros(daemon::time_of_day_micros());
    let sealing = Sealing::new(keys, clock, today, mtu_bytes + SEALED_ROOM_BYTES)?;
    for peer in &config.peers {
        let was = known.peer_of(&peer.name).filter(|peer| peer.transport == Transport::Sealed);
        sealing.add_peer(peer.public_key, was.map(|peer| peer.address));
    }
    Ok(Some(sealing))
}

fn open_sockets(
    config: &ProxyConfig,
    inner_mtu_bytes: usize,
    clock: Clock,
) -> Result<TunnelEnds, DaemonError> {
    let sealing = open_sealing(config, inner_mtu_bytes, clock)?;
    let sealed = config.tunnel.sealed.map(|address| (Transport::Sealed, address));
    let gre = config.tunnel.gre.map(|ip| (Transport::Gre, SocketAddr::new(IpAddr::V4(ip), 0)));
    let udp = config.tunnel.udp.map(|address| (Transport::Udp, address));
    let open = |(transport, local)| {
        let options = SocketOptions { local: Some(local), ..SocketOptions::default() };
        let sealing = sealing.clone().filter(|_| transport == Transport::Sealed);
        Ok(socket::open(transport, &options, inner_mtu_bytes, sealing)?)
    };
    [sealed, gre, udp].into_iter().flatten().map(open).collect()
}

#[cfg(test)]
mod tests {
    use super::{Seed, drawn_seed};

    #[test]
    fn the_seed_of_the_flow_table_is_drawn_unless_somebody_names_one() {
        let default = prismux_prism::ProxyConfig::default().seed;
        let drawn = [drawn_seed(default).unwrap(), drawn_seed(default).unwrap()];
        assert!(drawn[0] != drawn[1] && drawn.iter().all(|seed| seed.0 >> 63 == 0), "{drawn:?}");
        assert_eq!(drawn_seed(Seed(77)).unwrap(), Seed(77));
    }
}
