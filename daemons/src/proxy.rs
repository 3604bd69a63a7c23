//! The proxy daemon: takes over the receivers' traffic, spreads it over the members, and repairs the ACK stream.
//!
//! ```text
//!   sender -> kernel -> TUN -> prism::Proxy -> tunnel -> member -> receiver
//!   sender <- kernel <- TUN <- prism::Proxy <- tunnel <- member <- receiver
//! ```
//!
//! * `community`: receivers, and the links and the core that serve them: one for all, or one for each home.
//! * `inlet`: one packet into a core, in each direction. `outlet`: carrying out its verdicts.
//! * [`recorder`]: all of that as a capture, to look at and to repeat.
//! * [`members`]: who is there. `registry`: members that call, leave or fall silent. `report`: the status page.
//! * `limits`: what goes to members that want no more than so much.
//! * `challenged`: how far members are that register. `known`: where they were before the proxy was restarted.
//! * `meters`: links measured by receipts. `homes`: uplinks of homes, receipts for what comes over them, and silence.
//! * `fleet`: homes that a registry lists, and which of them are served here.
//! * `rights`: members whose rights are taken away while it runs.
//! * `settlements`: statements of what members have carried, which both sign. `settling`: how they come and go.
//! * `receivers`: taking over the traffic to them, and nobody else's.
//!
//! A proxy that is killed leaves nothing behind: its device and routes go with it. When it starts again, members are
//! called back by a challenge as soon as they say anything, and flows are picked up in mid-stream.

mod challenged;
mod community;
mod fleet;
mod homes;
mod inlet;
mod known;
mod limits;
pub mod members;
pub(crate) mod meters;
pub(crate) mod outlet;
mod paths;
mod receivers;
pub mod recorder;
mod registry;
pub(crate) mod report;
mod rights;
mod settlements;
mod settling;

use crate::accounts::{self, Accounts};
use crate::carrier::{Striping, batches};
use crate::commands::Command;
use crate::config::{ProxyConfig, WebConfig, accounts_file, prism_settings_to_toml};
use crate::counters::DropCounters;
use crate::daemon::{self, Daemon, DaemonError, Role, Wakes};
use crate::device;
use crate::events::Events;
use crate::revoked::Revoked;
use crate::tunnel::Transport;
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::{self, SEALED_ROOM_BYTES, SocketOptions, TunnelReceiver, TunnelSender};
use crate::workers::Workers;
use community::{Communities, Community, Links, Turn};
use fleet::Fleet;
use known::Known;
use members::{Member, Members};
use outlet::Outlet;
use prismux_endpoint::random::Seed;
use prismux_linux::clock::Clock;
use prismux_sharing::Account;
use prismux_units::{Duration, Instant};
use recorder::{CoreInput, Recorder};
use registry::Callers;
use serde::Serialize;
use settlements::Borrowing;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// A running proxy.
pub type ProxyDaemon = Daemon<Proxy>;

/// What a proxy does.
pub struct Proxy {
    config: ProxyConfig,
    inner_mtu_bytes: usize,
    receivers: Vec<TunnelReceiver>,
    communities: Communities,
    outlet: Outlet,
    callers: Callers,
    accounts: Accounts,
    borrowing: Borrowing,
    revoked: Revoked,
    workers: Workers,
    /// Of all cores, which homes' that come later have too.
    session: u64,
    fleet: Option<Fleet>,
    stopped: bool,
}

/// Runs a proxy until SIGINT or SIGTERM.
///
/// # Errors
/// [`DaemonError`]: what it could not open or set, or what the kernel took away while it ran.
pub fn run(config: ProxyConfig) -> Result<(), DaemonError> {
    daemon::run::<Proxy>(config)
}

/// Where it keeps its accounts.
fn accounts_of(config: &ProxyConfig) -> PathBuf {
    accounts_file(config.accounts_file.as_deref(), &config.status_socket)
}

impl Role for Proxy {
    type Config = ProxyConfig;
    const NAME: &'static str = "proxy";

    fn status_socket(config: &ProxyConfig) -> &Path {
        &config.status_socket
    }

    fn accounts_file(config: &ProxyConfig) -> Option<PathBuf> {
        Some(accounts_of(config))
    }

    fn web(config: &ProxyConfig) -> WebConfig {
        config.web()
    }

    fn open(config: ProxyConfig, wakes: &Wakes<'_>) -> Result<Self, DaemonError> {
        let token = config.read_token().map_err(DaemonError::Config)?;
        let inner_mtu_bytes = config.tun_mtu_bytes();
        receivers::check(&config.receivers)?;
        let workers = Workers::start(config.workers)?;
        let (receivers, senders) = open_sockets(&config, inner_mtu_bytes, wakes.clock(), &workers)?;
        let tun = device::open(&config.tun, inner_mtu_bytes)?;
        receivers::take_over(&tun, &config.receivers)?;
        wakes.watch(&tun, &receivers)?;
        wakes.watch_workers(&workers)?;
        tracing::info!(device = tun.name(), mtu = inner_mtu_bytes, "proxy started");
        let session = prismux_linux::random::nonzero_u64()?;
        let communities =
            Communities::new(&config, |home| open_community(&config, home, session, inner_mtu_bytes))?;
        let outlet = Outlet {
            tun,
            pool: device::pool(inner_mtu_bytes),
            senders,
            drops: DropCounters::default(),
            overhead_bytes: config.overhead_bytes(),
            peers: config.peers.clone(),
            name: config.name.clone(),
            events: Events::default(),
        };
        let callers = Callers::new(token, Known::read(config.members_file()));
        let accounts = Accounts::open(accounts_of(&config));
        let keys = config.read_keys().map_err(DaemonError::Config)?;
        let peers = config.peers.iter().map(|peer| (peer.home.is_some(), &peer.public_key.0));
        let borrowing = Borrowing::open(keys.as_ref(), peers, &accounts_of(&config));
        let revoked = Revoked::of_daemon(&accounts_of(&config))?;
        let fleet = Fleet::start(&config, &accounts_of(&config), wakes)?;
        let mut proxy = Self {
            inner_mtu_bytes,
            receivers,
            communities,
            outlet,
            callers,
            accounts,
            borrowing,
            revoked,
            workers,
            session,
            fleet,
            stopped: false,
            config,
        };
        proxy.bar_revoked();
        let now = wakes.clock().now();
        if let Some(mut turn) = proxy.turn(0) {
            turn.join_listed(now);
        }
        proxy.call_known(now);
        Ok(proxy)
    }

    fn deadline(&self) -> Option<Instant> {
        let sealing = self.outlet.sealing().and_then(Sealing::deadline);
        let due = [self.communities.deadline(), sealing, self.borrowing.deadline(), self.fleet_deadline()];
        due.into_iter().flatten().chain([self.accounts.deadline()]).min()
    }

    /// The cores' timers, and members that have fallen silent.
    fn expire(&mut self, now: Instant) {
        for index in self.communities.due(now) {
            if let Some(mut turn) = self.turn(index) {
                turn.expire(now);
            }
        }
        if let Some(sealing) = self.outlet.sealing() {
            sealing.expire(now);
        }
        self.session_events(now);
        self.book(now);
        self.send_kept(now);
        self.tell_served(now);
    }

    fn news(&mut self, now: Instant) {
        self.take_news(now);
    }

    fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        batches::read_packets(self, clock).map(drop)
    }

    fn read_tunnel(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        batches::read_frames(self, index, clock)?;
        self.after_frames(clock);
        Ok(())
    }

    fn collect(&mut self, clock: Clock) {
        self.workers.take_wake();
        (0..self.receivers.len()).for_each(|index| batches::collect_frames(self, index, clock));
        self.after_frames(clock);
    }

    fn flush(&mut self) {
        self.outlet.flush();
        self.communities.flush_recordings();
    }

    fn command(&mut self, now: Instant, command: &Command) -> Result<String, String> {
        match command {
            Command::Revoke { name } => self.revoke(now, name),
            Command::Restore { name } => self.restore(name),
        }
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
    /// News of sessions, and receipts, once frames have come.
    fn after_frames(&mut self, clock: Clock) {
        self.session_events(clock.now());
        for index in self.communities.touched() {
            if let Some(mut turn) = self.turn(index) {
                turn.write_receipts(clock.now());
            }
        }
    }

    /// Books what members have carried, each second.
    fn book(&mut self, now: Instant) {
        if !self.accounts.is_due(now) {
            return;
        }
        let of = |community: &'_ Community| {
            let home = community.links.home.clone();
            let account =
                move |member: &Member| Account::new(&member.name, home.as_deref().unwrap_or(&member.name));
            let members = community.links.members.iter();
            members.map(|member| (account(member), member.carried)).collect::<Vec<_>>()
        };
        self.accounts.book(now, accounts::time_now(), self.communities.iter().flat_map(of));
        let communities = &self.communities;
        self.borrowing.book(communities.iter().flat_map(|community| community.links.members.iter()));
        self.borrowing.save_in_time(now);
    }

    /// What happens to one community.
    fn turn(&mut self, index: usize) -> Option<Turn<'_>> {
        let Community { striping, links, .. } = self.communities.get_mut(index)?;
        let (outlet, callers) = (&mut self.outlet, &mut self.callers);
        Some(Turn { striping, links, outlet, callers, config: &self.config })
    }
}

impl Turn<'_> {
    /// What is due.
    fn expire(&mut self, now: Instant) {
        if self.striping.expire(now) {
            self.links.record(|recorder| recorder.core_input(now, &CoreInput::Timeout));
            self.drain(now);
        }
        let (striping, mut way) = self.way();
        striping.expire_datagrams(now, &mut way);
        way.serve_all(now);
        for link in way.links.meters.to_repair(now) {
            way.push_repairs(now, link);
        }
        self.expire_members(now);
        let lost = self.links.meters.expire(now);
        self.tell_lost(now, lost);
        self.expire_homes(now);
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

fn open_community(
    config: &ProxyConfig,
    home: Option<&str>,
    session: u64,
    inner_mtu_bytes: usize,
) -> Result<Community, DaemonError> {
    let seed = drawn_seed(config.prism.seed)?;
    let settings = prismux_prism::ProxyConfig { mss_clamp: None, seed, ..config.prism.clone() };
    let recorder = start_recording(config, &settings, home)?;
    let members = Members::new(session, config.liveness.dead_after);
    let links = Links::new(home.map(str::to_owned), members, recorder);
    let first = prismux_linux::random::nonzero_u64()? as u32;
    let striping = Striping::new(settings, inner_mtu_bytes).with_datagrams(config.datagrams.clone(), first);
    Ok(Community::new(striping, links))
}

fn start_recording(
    config: &ProxyConfig,
    settings: &prismux_prism::ProxyConfig,
    home: Option<&str>,
) -> Result<Option<Recorder>, DaemonError> {
    let Some(path) = config.record.as_deref().map(|path| recording_of(path, home)) else { return Ok(None) };
    let settings = prism_settings_to_toml(settings).ok_or_else(|| {
        DaemonError::Config("the protocol's settings cannot be written to the recording".to_owned())
    })?;
    let overhead_bytes = config.tunnel.overhead_bytes() as u32;
    Recorder::create(&path, settings.to_string(), overhead_bytes).map(Some).map_err(|error| {
        DaemonError::Config(format!("cannot write the recording {}: {error}", path.display()))
    })
}

/// A recording has one core: that of a home has the home's name behind its own.
fn recording_of(path: &Path, home: Option<&str>) -> PathBuf {
    let Some(home) = home else { return path.to_owned() };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}-{home}{}", extension.unwrap_or_default()))
}

type TunnelEnds = (Vec<TunnelReceiver>, Vec<TunnelSender>);

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
    workers: &Workers,
) -> Result<TunnelEnds, DaemonError> {
    let sealing = open_sealing(config, inner_mtu_bytes, clock)?;
    let sealed = config.tunnel.sealed.map(|address| (Transport::Sealed, address));
    let gre = config.tunnel.gre.map(|ip| (Transport::Gre, SocketAddr::new(IpAddr::V4(ip), 0)));
    let udp = config.tunnel.udp.map(|address| (Transport::Udp, address));
    let open = |(transport, local)| {
        let options = SocketOptions { local: Some(local), ..SocketOptions::default() };
        let sealing = sealing.clone().filter(|_| transport == Transport::Sealed);
        Ok(socket::open(transport, &options, inner_mtu_bytes, sealing, workers)?)
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
