//! The member daemon: takes packets from the tunnel and forwards them to the receivers, and sends what the receivers
//! answer back to the proxy.
//!
//! ```text
//!   proxy -> tunnel -> TUN -> kernel -> wireless LAN -> receiver
//!   proxy <- tunnel <- TUN <- kernel <- wireless LAN <- receiver
//! ```
//!
//! * [`registration`]: when to call the proxy. `calls`: what both say. `return_rules`: the way back, which stands while
//!   the member is registered. `neighbours`: who stands in while this member's uplink is silent.
//! * `keys`: those of a sealed tunnel. `shares`: what its owner lends. `rights`: whether at all. `settlements`: what
//!   both sign. `report`: the status page. `departure`: what is still under way when a member leaves.

mod calls;
mod departure;
mod inlet;
mod keys;
mod neighbours;
pub mod registration;
mod report;
mod return_rules;
mod rights;
mod settlements;
mod shares;

use crate::accounts::Accounts;
use crate::battery::Supplies;
use crate::commands::Command;
use crate::config::{MemberConfig, WebConfig, accounts_file};
use crate::counters::DropCounters;
use crate::daemon::{self, Daemon, DaemonError, Role, Wakes};
use crate::device;
use crate::events::Events;
use crate::proxy::members::Traffic;
use crate::receipts::Receipts;
use crate::revoked::Revoked;
use crate::tunnel::control::{self, Message};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::{self, SocketOptions, TunnelReceiver, TunnelSender};
use crate::workers::Workers;
use departure::Departure;
use neighbours::Neighbours;
use prismux_endpoint::{Endpoint, expire};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_sharing::{Account, Battery, Carried, Shaper, Share, Tier};
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::{Ecn, GreHeader, IpPacket};
use registration::{Intervals, Registration, State};
use return_rules::ReturnRules;
use serde::Serialize;
use settlements::Lending;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// A running member.
pub type MemberDaemon = Daemon<Member>;

/// What a member does.
pub struct Member {
    config: MemberConfig,
    token: control::Token,
    tun: OffloadTun,
    return_rules: ReturnRules,
    inner_mtu_bytes: usize,
    pool: PacketPool,
    receiver: Option<TunnelReceiver>,
    sender: TunnelSender,
    neighbours: Option<Neighbours>,
    registration: Registration,
    receipts: Receipts,
    traffic: Traffic,
    /// What has passed on its line, headers of the tunnel and messages included.
    carried: Carried,
    account: Account,
    accounts: Accounts,
    /// Statements of it, where both ends have keys.
    lending: Option<Lending>,
    revoked: Revoked,
    workers: Workers,
    share: Share,
    /// The battery that is not emptied for others, and where the system tells of it.
    battery: Option<(Battery, Supplies)>,
    /// What waits for its rate limit, if it has one.
    shaper: Option<Shaper<(GreHeader, Ecn, PacketBuf)>>,
    /// When it takes leave again, if the proxy has not heard that it rests.
    leave_at: Instant,
    drops: DropCounters,
    events: Events,
    /// When the keys of a sealed tunnel were made.
    keyed_at: Option<Instant>,
    /// It has said goodbye.
    departure: Option<Departure>,
}

/// Runs a member until SIGINT or SIGTERM.
///
/// # Errors
/// [`DaemonError`]: what it could not open or set, or what the kernel took away while it ran.
pub fn run(config: MemberConfig) -> Result<(), DaemonError> {
    daemon::run::<Member>(config)
}

/// Where it keeps its accounts.
fn accounts_of(config: &MemberConfig) -> PathBuf {
    accounts_file(config.accounts_file.as_deref(), &config.status_socket)
}

impl Role for Member {
    type Config = MemberConfig;
    const NAME: &'static str = "member";

    fn status_socket(config: &MemberConfig) -> &Path {
        &config.status_socket
    }

    fn accounts_file(config: &MemberConfig) -> Option<PathBuf> {
        Some(accounts_of(config))
    }

    fn web(config: &MemberConfig) -> WebConfig {
        config.web()
    }

    fn open(config: MemberConfig, wakes: &Wakes<'_>) -> Result<Self, DaemonError> {
        let token = config.read_token().map_err(DaemonError::Config)?;
        let inner_mtu_bytes = config.tun_mtu_bytes();
        let options = SocketOptions {
            local: Some(config.tunnel.local_address()),
            device: config.tunnel.device.clone(),
            mark: None,
        };
        let sealing = keys::open(&config, inner_mtu_bytes, wakes.clock())?;
        let workers = Workers::start(config.workers)?;
        let transport = config.tunnel.proxy.transport;
        let (receiver, sender) = socket::open(transport, &options, inner_mtu_bytes, sealing, &workers)?;
        let tun = device::open(&config.tun, inner_mtu_bytes)?;
        let return_rules = ReturnRules::prepare(&tun, &config)?;
        let first_counter = daemon::time_of_day_micros();
        let neighbours = Neighbours::open(&config, inner_mtu_bytes, first_counter)?;
        Neighbours::watch(neighbours.as_ref(), wakes, &tun, &receiver)?;
        wakes.watch_workers(&workers)?;
        tracing::info!(member = config.name, proxy = %config.tunnel.proxy, device = tun.name(), "member started");
        let intervals = Intervals { active: config.tunnel.hello, idle: config.tunnel.keep_alive };
        let mut member = Self {
            registration: Registration::new(&config.name, config.rate, intervals, first_counter)
                .with_receipts(config.tunnel.receipts)
                .with_terms(Tier::Primary, config.sharing.rate_limit),
            receipts: Receipts::new(config.tunnel.overhead_bytes()),
            token,
            tun,
            return_rules,
            inner_mtu_bytes,
            pool: device::pool(inner_mtu_bytes),
            receiver: Some(receiver),
            sender,
            neighbours,
            traffic: Traffic::default(),
            carried: Carried::default(),
            account: Account::new(&config.name, &config.tunnel.proxy.address.to_string()),
            accounts: Accounts::open(accounts_of(&config)),
            lending: Lending::open(&config, &accounts_of(&config))?,
            revoked: Revoked::of_daemon(&accounts_of(&config))?,
            workers,
            share: Share::new(config.sharing.terms()),
            battery: config
                .sharing
                .battery_floor
                .map(|floor| (Battery::new(floor), Supplies::open(config.sharing.power_supplies.as_deref()))),
            shaper: config.sharing.rate_limit.map(Shaper::new),
            leave_at: Instant::ZERO,
            drops: DropCounters::default(),
            events: Events::default(),
            keyed_at: None,
            departure: None,
            config,
        };
        member.bar_if_revoked();
        Ok(member)
    }

    fn deadline(&self) -> Option<Instant> {
        let call = self.registration.poll_timeout().map(|deadline| deadline.at);
        let sealing = self.sender.sealing().and_then(Sealing::deadline);
        let shares = Some(self.shares_deadline());
        let question = self.neighbours.as_ref().and_then(|neighbours| neighbours.way.deadline());
        let next = [call, self.receipts.deadline(), sealing, shares, question].into_iter().flatten().min();
        self.departure.as_ref().map_or(next, |departure| Some(departure.deadline()))
    }

    fn expire(&mut self, now: Instant) {
        self.expire_shares(now);
        if expire(&mut self.registration, now) {
            self.drain(now);
        }
        self.write_receipts(now);
        if let Some(sealing) = self.sender.sealing() {
            sealing.expire(now);
        }
        self.session_events(now);
        self.ask(now);
    }

    fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        self.read_packets(clock)
    }

    fn read_tunnel(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        if index > 0 {
            return self.read_neighbours(clock.now());
        }
        self.frames(clock, |receiver, handle| receiver.receive(handle)).unwrap_or(Ok(()))
    }

    fn collect(&mut self, clock: Clock) {
        self.workers.take_wake();
        self.frames(clock, |receiver, handle| receiver.collect(handle));
    }

    fn flush(&mut self) {
        let (device, drops) = ((&self.tun, &self.pool), &mut self.drops);
        let overhead_bytes = self.config.tunnel.overhead_bytes();
        self.sender.flush(|error, to, packet| {
            daemon::send_failed(&error, to, packet, overhead_bytes, device, drops);
        });
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.flush((&self.tun, &self.pool), &mut self.drops);
        }
        device::flush(&self.tun, &mut self.drops);
    }

    fn command(&mut self, now: Instant, command: &Command) -> Result<String, String> {
        self.obey(now, command)
    }

    fn report(&self, now: Instant) -> impl Serialize {
        report::report(self, now)
    }

    /// It takes leave of the proxy, and stays for what is under way: not without a proxy that would have sent
    /// something, and not when asked twice.
    fn stop(&mut self, now: Instant) {
        if self.departure.is_some() {
            self.departure = Some(Departure::at_once(now));
            return;
        }
        let registered = self.registration.state() == State::Registered;
        if registered {
            self.settle_at_once(now);
        }
        self.registration.bye();
        self.drain(now);
        self.flush();
        self.departure = Some(if registered {
            Departure::begin(now, self.awaits_signature())
        } else {
            Departure::at_once(now)
        });
    }

    fn has_ended(&self, now: Instant) -> bool {
        self.departure.as_ref().is_some_and(|departure| departure.deadline() <= now)
    }
}

impl Member {
    /// One batch from the kernel: what receivers send to the internet.
    fn read_packets(&mut self, clock: Clock) -> io::Result<()> {
        let mut number = 0;
        while number < BATCH_PACKETS || self.tun.has_segments() {
            let Some(packet) = device::read(&self.tun, &self.pool, &mut self.drops)? else { break };
            number += 1;
            if !self.is_from_receiver(&packet) {
                self.drops.count(DropReason::ForeignSource);
                continue;
            }
            let (protocol, ecn) = device::protocol_and_ecn(&packet);
            let header = GreHeader::plain(protocol);
            if let Some(packet) = self.hand_over(clock.now(), &header, ecn, packet) {
                self.send_return(clock.now(), header, ecn, packet);
            }
        }
        self.ask(clock.now());
        Ok(())
    }

    /// What a receiver sent goes to the proxy.
    fn send_return(&mut self, now: Instant, header: GreHeader, ecn: Ecn, packet: PacketBuf) {
        self.registration.note_traffic(now);
        self.traffic.return_packets += 1;
        self.traffic.return_bytes += packet.len() as u64;
        self.pass(now, header, ecn, packet);
    }

    /// The kernel's own multicast chatter on the device is not.
    fn is_from_receiver(&self, packet: &[u8]) -> bool {
        IpPacket::parse(packet).is_ok_and(|ip| self.is_receiver(ip.header.source))
    }

    fn is_receiver(&self, address: IpAddr) -> bool {
        self.config.receivers.iter().any(|prefix| prefix.contains(address))
    }

    /// Receipts that are due; a member that has said goodbye owes none.
    fn write_receipts(&mut self, now: Instant) {
        while let Some(receipt) = self.receipts.poll(now) {
            if self.departure.is_none() {
                self.send_control(&Message::Receipt(receipt));
            }
        }
    }

    fn send_control(&mut self, message: &Message) {
        if let Some(packet) = self.pool.copy_of(&message.emit(&self.token)) {
            self.push(&GreHeader::plain(control::PROTOCOL_TYPE), Ecn::NotEct, packet);
        }
    }

    fn push(&mut self, header: &GreHeader, ecn: Ecn, packet: PacketBuf) {
        if self.sender.is_full() {
            self.flush();
        }
        let to = self.config.tunnel.proxy;
        self.carry(Carried { forward_bytes: 0, return_bytes: to.line_bytes(packet.len(), false, false) });
        self.sender.push(to, header, ecn, packet);
    }
}
