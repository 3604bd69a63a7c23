//! The home daemon: one box with several uplinks, which are used as one, in both directions.
//!
//! ```text
//!   this box, networks behind it -> TUN -> prism::Proxy -> one of the uplinks -> gateway -> internet
//!   this box, networks behind it <- TUN <- prism::Proxy <- any of the uplinks <- gateway <- internet
//! ```
//!
//! The gateway stripes downloads as a proxy does for its members. What the home sends is striped by the same core, at
//! home: for it the internet is the receiver, and the answers that come down are the reverse path. Each uplink is a
//! member of the gateway, with a session of its own.
//!
//! * `uplink`: one of them. `links`: registration, receipts, silence and return of them all.
//! * `inlet`: packets from the kernel and from the gateway. `outlet`: carrying out the core's verdicts.
//! * `shares`: what owners of uplinks allow. `routes`: what goes where. `session`: what outlives a restart.
//!   `report`: the status page. `paths`: how large packets may be.

mod inlet;
mod links;
mod outlet;
mod paths;
mod report;
pub(crate) mod routes;
mod session;
mod shares;
mod uplink;

use crate::accounts::Accounts;
use crate::carrier::{Striping, batches};
use crate::config::{HomeConfig, WebConfig, accounts_file};
use crate::counters::DropCounters;
use crate::daemon::{self, Daemon, DaemonError, Role, Wakes};
use crate::device;
use crate::events::Events;
use crate::footprint::Footprint;
use crate::proxy::drawn_seed;
use crate::proxy::meters::Meters;
use crate::tunnel::socket::TunnelReceiver;
use crate::workers::Workers;
use outlet::Outlet;
use prismux_linux::clock::Clock;
use prismux_linux::netconf;
use prismux_units::Instant;
use routes::HomeRoutes;
use serde::Serialize;
use session::KnownSession;
use std::io;
use std::path::{Path, PathBuf};
use uplink::Uplink;

/// A running home.
pub type HomeDaemon = Daemon<Home>;

/// What a home does.
pub struct Home {
    config: HomeConfig,
    inner_mtu_bytes: usize,
    receivers: Vec<TunnelReceiver>,
    striping: Striping,
    outlet: Outlet,
    routes: HomeRoutes,
    session: KnownSession,
    accounts: Accounts,
    /// Kept for what it undoes.
    _footprint: Footprint,
    workers: Workers,
    stopped: bool,
}

/// Runs a home until SIGINT or SIGTERM.
///
/// # Errors
/// [`DaemonError`]: what it could not open or set, or what the kernel took away while it ran.
pub fn run(config: HomeConfig) -> Result<(), DaemonError> {
    daemon::run::<Home>(config)
}

/// Where it keeps its accounts.
fn accounts_of(config: &HomeConfig) -> PathBuf {
    accounts_file(config.accounts_file.as_deref(), &config.status_socket)
}

impl Role for Home {
    type Config = HomeConfig;
    const NAME: &'static str = "home";

    fn status_socket(config: &HomeConfig) -> &Path {
        &config.status_socket
    }

    fn accounts_file(config: &HomeConfig) -> Option<PathBuf> {
        Some(accounts_of(config))
    }

    fn web(config: &HomeConfig) -> WebConfig {
        config.web()
    }

    fn open(config: HomeConfig, wakes: &Wakes<'_>) -> Result<Self, DaemonError> {
        let clock = wakes.clock();
        let inner_mtu_bytes = config.tun_mtu_bytes();
        let keys = config.read_keys().map_err(DaemonError::Config)?;
        let session = KnownSession::read(config.status_socket.with_extension("session"));
        let workers = Workers::start(config.workers)?;
        let (mut receivers, mut uplinks) = (Vec::new(), Vec::new());
        for (index, keys) in keys.into_iter().enumerate() {
            let (receiver, uplink) = Uplink::open(&config, index, keys, clock, session.known(), &workers)?;
            receivers.push(receiver);
            uplinks.push(uplink);
        }
        let tun = device::open(&config.tun, inner_mtu_bytes)?;
        let footprint = prepare_host(&config, tun.name())?;
        let routes = HomeRoutes::prepare(&tun, &config)?;
        wakes.watch(&tun, &receivers)?;
        wakes.watch_workers(&workers)?;
        tracing::info!(home = config.name, gateway = %config.gateway.endpoint, device = tun.name(), "home started");
        let seed = drawn_seed(config.prism.seed)?;
        let settings = prismux_prism::ProxyConfig { seed, ..config.prism.clone() };
        let first = prismux_linux::random::nonzero_u64()? as u32;
        let outlet = Outlet {
            tun,
            pool: device::pool(inner_mtu_bytes),
            uplinks,
            meters: Meters::default(),
            drops: DropCounters::default(),
            events: Events::default(),
            name: config.name.clone(),
        };
        Ok(Self {
            inner_mtu_bytes,
            receivers,
            striping: Striping::new(settings, inner_mtu_bytes)
                .with_datagrams(Some(config.datagrams.clone()), first)
                .at_home(),
            outlet,
            routes,
            session,
            accounts: Accounts::open(accounts_of(&config)),
            _footprint: footprint,
            workers,
            stopped: false,
            config,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        let core = self.striping.deadline();
        let uplinks = self.outlet.uplinks.iter().filter_map(Uplink::deadline).min();
        let accounts = Some(self.accounts.deadline());
        [core, uplinks, accounts, self.outlet.meters.deadline()].into_iter().flatten().min()
    }

    fn expire(&mut self, now: Instant) {
        if self.striping.expire(now) {
            self.drain(now);
        }
        self.striping.expire_datagrams(now, &mut self.outlet);
        self.expire_links(now);
    }

    fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        if batches::read_packets(self, clock)? > 0 {
            self.note_traffic(clock.now());
        }
        Ok(())
    }

    fn read_tunnel(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        batches::read_frames(self, index, clock)?;
        self.session_events(clock.now(), index);
        self.write_receipts(clock.now());
        Ok(())
    }

    fn collect(&mut self, clock: Clock) {
        self.workers.take_wake();
        for index in 0..self.receivers.len() {
            batches::collect_frames(self, index, clock);
            self.session_events(clock.now(), index);
        }
        self.write_receipts(clock.now());
    }

    fn flush(&mut self) {
        self.outlet.flush();
    }

    fn report(&self, now: Instant) -> impl Serialize {
        report::report(self, now)
    }

    /// It takes leave of the gateway; connections through the tunnels end with the home's address.
    fn stop(&mut self, now: Instant) {
        self.routes.set(false);
        self.take_leave(now);
        self.stopped = true;
    }

    fn has_ended(&self, _now: Instant) -> bool {
        self.stopped
    }
}

impl Home {
    /// Carries out what the core decided: to be called after every mutation of the core.
    fn drain(&mut self, now: Instant) {
        self.striping.drain(now, &mut self.outlet);
    }
}

/// Settings of the host that a home needs: what comes by one uplink is not refused because another has the better
/// route, and neighbours' packets are passed on under the home's address.
fn prepare_host(config: &HomeConfig, tun: &str) -> Result<Footprint, DaemonError> {
    const STRICT: &str = "1";
    const LOOSE: &str = "2";
    let mut footprint = Footprint::begin(config.status_socket.with_extension("undo"));
    footprint.rules(config.routing_table)?;
    let setting =
        |device: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{device}/rp_filter"));
    let is_strict = |device: &str| setting(device).is_ok_and(|value| value.trim() == STRICT);
    for uplink in config.uplinks.iter().filter(|uplink| is_strict("all") || is_strict(&uplink.device)) {
        // A device that is not there yet gets the host's default when it comes.
        if setting(&uplink.device).is_ok() {
            footprint.set(&format!("ipv4/conf/{}/rp_filter", uplink.device), LOOSE)?;
        }
    }
    // Goes with the device.
    netconf::set_device_option(tun, "rp_filter", LOOSE)?;
    if !config.share {
        return Ok(footprint);
    }
    let mut rules = String::from("chain postrouting {\ntype nat hook postrouting priority srcnat;\n");
    for address in &config.addresses {
        let (family, forwarding) =
            if address.is_ipv6() { ("ip6", "ipv6/conf/all/forwarding") } else { ("ip", "ipv4/ip_forward") };
        footprint.set(forwarding, "1")?;
        rules
            .push_str(&format!("oifname \"{tun}\" {family} saddr != {address} snat {family} to {address}\n"));
    }
    rules.push('}');
    footprint.table(&format!("prismux_{tun}"), &rules)?;
    Ok(footprint)
}
