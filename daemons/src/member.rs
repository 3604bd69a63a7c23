//! The member daemon: takes packets from the tunnel and forwards them to the receivers, and sends what the receivers
//! answer back to the proxy.
//!
//! ```text
//!   proxy -> tunnel -> TUN -> kernel -> wireless LAN -> receiver
//!   proxy <- tunnel <- TUN <- kernel <- wireless LAN <- receiver
//! ```
//!
//! The way back needs a routing rule, "from the receiver: into the TUN device", in a table of its own; it also satisfies
//! the reverse path filter, since the way to the sender is then the way its packets come from. The rule is removed at
//! the end; the rule of a member that was killed points to an empty table, does no harm and is replaced at the
//! next start.
//!
//! * [`registration`]: when to call the proxy.

pub mod registration;

use crate::config::MemberConfig;
use crate::counters::DropCounters;
use crate::daemon::{self, DaemonError};
use crate::device;
use crate::proxy::members::Traffic;
use crate::status::StatusServer;
use crate::tunnel::control::{self, Message};
use crate::tunnel::socket::{self, Frame, FrameError, SocketOptions, TunnelReceiver, TunnelSender};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{BATCH_PACKETS, EventLoop, StopHandle, Token, Wake, block_stop_signals};
use prismux_linux::netconf;
use prismux_linux::packet::PacketPool;
use prismux_linux::tun::Tun;
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant};
use prismux_wire::gre::ether_type;
use prismux_wire::{Ecn, IpPacket};
use registration::{Intervals, Registration, State};
use serde::Serialize;
use std::io;

const TUN: Token = 0;
const STATUS: Token = 1;
const TUNNEL: Token = 2;

/// A running member.
pub struct MemberDaemon {
    config: MemberConfig,
    token: control::Token,
    event_loop: EventLoop,
    tun: Tun,
    _rules: ReturnRules,
    inner_mtu_bytes: usize,
    pool: PacketPool,
    receiver: Option<TunnelReceiver>,
    sender: TunnelSender,
    registration: Registration,
    status: StatusServer,
    traffic: Traffic,
    drops: DropCounters,
    /// It has said goodbye.
    departure: Option<Departure>,
}

/// Runs a member until SIGINT or SIGTERM.
pub fn run(config: MemberConfig) -> Result<(), DaemonError> {
    block_stop_signals()?;
    let mut daemon = MemberDaemon::start(config, StopHandle::new()?)?;
    daemon.event_loop.stop_on_signals()?;
    daemon.run()
}

impl MemberDaemon {
    /// Opens device, rules and tunnel. The proxy is called by [`MemberDaemon::run`], on this thread.
    pub fn start(config: MemberConfig, stop: StopHandle) -> Result<Self, DaemonError> {
        let token = config.read_token().map_err(DaemonError::Config)?;
        let clock = Clock::start();
        let inner_mtu_bytes = config.tun_mtu_bytes();
        let event_loop = EventLoop::new(clock, stop)?;
        let status = StatusServer::bind(&config.status_socket)?;
        let options = SocketOptions {
            local: Some(config.tunnel.local_address()),
            device: config.tunnel.device.clone(),
            mark: None,
        };
        let (receiver, sender) = socket::open(config.tunnel.proxy.transport, &options, inner_mtu_bytes)?;
        let tun = device::open(&config.tun, inner_mtu_bytes)?;
        let rules = ReturnRules::install(&tun, &config)?;
        event_loop.watch(&tun, TUN)?;
        event_loop.watch(&status, STATUS)?;
        event_loop.watch(&receiver, TUNNEL)?;
        daemon::warn_unless_forwarding();
        tracing::info!(member = config.name, proxy = %config.tunnel.proxy, device = tun.name(), "member started");
        let intervals = Intervals { active: config.tunnel.hello, idle: config.tunnel.keep_alive };
        Ok(Self {
            registration: Registration::new(
                &config.name,
                config.rate,
                intervals,
                daemon::time_of_day_micros(),
            ),
            token,
            event_loop,
            tun,
            _rules: rules,
            inner_mtu_bytes,
            pool: device::pool(inner_mtu_bytes),
            receiver: Some(receiver),
            sender,
            status,
            traffic: Traffic::default(),
            drops: DropCounters::default(),
            departure: None,
            config,
        })
    }

    /// A handle that ends [`MemberDaemon::run`] from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.event_loop.stop_handle()
    }

    /// Handles packets until stopped, and what is still under way then. Device, rules and sockets are gone when this returns.
    pub fn run(mut self) -> Result<(), DaemonError> {
        let clock = self.event_loop.clock();
        let mut ready = Vec::new();
        loop {
            let deadline = self.departure.as_ref().map_or(self.registration.deadline(), Departure::deadline);
            let wake = self.event_loop.wait(Some(deadline), &mut ready)?;
            let now = clock.now();
            let stays = wake == Wake::Work || self.depart(now);
            if !stays || self.departure.as_ref().is_some_and(|departure| departure.deadline() <= now) {
                tracing::info!(member = self.config.name, "member stopped");
                return Ok(());
            }
            if self.departure.is_none() {
                self.call_proxy(now);
            }
            for &token in &ready {
                match token {
                    TUN => self.read_tun(clock)?,
                    STATUS => self.status.answer(&self.report(now)),
                    _ => self.read_tunnel(clock)?,
                }
            }
            self.flush();
        }
    }

    /// Takes leave of the proxy. Says whether to stay for what is under way: not without a proxy that would have sent something,
    /// and not when asked twice.
    fn depart(&mut self, now: Instant) -> bool {
        self.event_loop.take_stop();
        let registered = self.registration.state() == State::Registered;
        if self.departure.is_none() {
            let bye = self.registration.bye();
            self.send_control(&bye);
            self.flush();
            self.departure = Some(Departure::begin(now));
            return registered;
        }
        false
    }

    fn call_proxy(&mut self, now: Instant) {
        let before = self.registration.state();
        if let Some(hello) = self.registration.poll_hello(now) {
            self.send_control(&hello);
        }
        if before == State::Registered && self.registration.state() == State::Calling {
            tracing::warn!(proxy = %self.config.tunnel.proxy, "the proxy has fallen silent; calling on");
        }
    }

    /// One batch from the kernel: what receivers send to the internet.
    fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let Some(packet) = device::read(&self.tun, &self.pool)? else { break };
            if !self.is_from_receiver(&packet) {
                self.drops.count(DropReason::ForeignSource);
                continue;
            }
            self.registration.note_traffic(clock.now());
            self.traffic.return_packets += 1;
            self.traffic.return_bytes += packet.len() as u64;
            let (protocol, ecn) = device::protocol_and_ecn(&packet);
            if self.sender.is_full() {
                self.flush();
            }
            self.sender.push(self.config.tunnel.proxy.address, protocol, ecn, packet);
        }
        Ok(())
    }

    /// The kernel's own multicast chatter on the device is not.
    fn is_from_receiver(&self, packet: &[u8]) -> bool {
        let source = IpPacket::parse(packet).map(|ip| ip.header.source);
        source.is_ok_and(|source| self.config.receivers.iter().any(|prefix| prefix.contains(source)))
    }

    /// One batch from the proxy.
    fn read_tunnel(&mut self, clock: Clock) -> io::Result<()> {
        // Taken out for the time being: its frames borrow it while the rest of the member handles them.
        let Some(mut receiver) = self.receiver.take() else { return Ok(()) };
        let received = receiver.receive(|frame| {
            let handled = match frame {
                Ok(frame) => self.frame(clock.now(), &frame),
                Err(FrameError::TooLong) => Err(DropReason::TooLong),
                Err(FrameError::Malformed(_)) => Err(DropReason::MalformedTunnel),
            };
            if let Err(reason) = handled {
                self.drops.count(reason);
            }
        });
        self.receiver = Some(receiver);
        received.map(drop)
    }

    fn frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        if frame.peer != self.config.tunnel.proxy {
            return Err(DropReason::UnknownPeer);
        }
        match frame.protocol {
            control::PROTOCOL_TYPE => self.control(now, frame),
            ether_type::IPV4 | ether_type::IPV6 => self.data(now, frame),
            _ => Err(DropReason::OtherProtocol),
        }
    }

    /// A packet for a receiver.
    fn data(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| DropReason::MalformedPacket)?;
        let inner = &frame.inner[..ip.total_bytes];
        self.registration.note_traffic(now);
        if let Some(departure) = &mut self.departure {
            departure.latest = now;
        }
        self.traffic.forward_packets += 1;
        self.traffic.forward_bytes += inner.len() as u64;
        if frame.outer_ecn.is_none_or(|outer| outer == ip.header.ecn || outer == Ecn::NotEct) {
            device::write(&self.tun, inner, &mut self.drops);
            return Ok(());
        }
        let mut packet = self.pool.copy_of(inner).ok_or(DropReason::TooLong)?;
        if !device::carry_ecn_over(&mut packet, ip.header.ecn, frame.outer_ecn) {
            return Err(DropReason::CongestionMark);
        }
        device::write(&self.tun, &packet, &mut self.drops);
        Ok(())
    }

    fn control(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        match Message::parse(frame.inner, &self.token) {
            Ok(Message::Welcome(welcome)) => {
                if self.registration.welcome(now, welcome) {
                    tracing::info!(member = self.config.name, proxy = %self.config.tunnel.proxy, "registered");
                }
            }
            // Whoever has said goodbye is not called back.
            Ok(Message::Challenge(_)) if self.departure.is_some() => {}
            Ok(Message::Challenge(challenge)) => {
                self.registration.challenge(now, challenge);
                self.call_proxy(now);
            }
            Ok(Message::Hello(_) | Message::Bye(_)) | Err(control::ControlError::Malformed) => {
                return Err(DropReason::MalformedControl);
            }
            Err(control::ControlError::BadTag) => return Err(DropReason::BadToken),
        }
        Ok(())
    }

    fn send_control(&mut self, message: &Message) {
        if self.sender.is_full() {
            self.flush();
        }
        if let Some(packet) = self.pool.copy_of(&message.emit(&self.token)) {
            let to = self.config.tunnel.proxy.address;
            self.sender.push(to, control::PROTOCOL_TYPE, Ecn::NotEct, packet);
        }
    }

    fn flush(&mut self) {
        let (device, drops) = ((&self.tun, &self.pool), &mut self.drops);
        let overhead_bytes = self.config.tunnel.overhead_bytes();
        self.sender.flush(|error, to, packet| {
            daemon::send_failed(&error, to, &packet, overhead_bytes, device, drops);
        });
    }

    fn report(&self, now: Instant) -> Report<'_> {
        Report {
            role: "member",
            version: env!("CARGO_PKG_VERSION"),
            name: &self.config.name,
            uptime_s: now.as_secs_f64(),
            proxy: self.config.tunnel.proxy.to_string(),
            state: match self.registration.state() {
                State::Calling => "calling",
                State::Registered => "registered",
            },
            rtt_s: self.registration.rtt().map(Duration::as_secs_f64),
            device: self.tun.name(),
            mtu_bytes: self.inner_mtu_bytes,
            traffic: self.traffic,
            drops: &self.drops,
        }
    }
}

/// A member that has left gets nothing more, but what was sent to it before is still on its way.
struct Departure {
    begun: Instant,
    /// When data last came.
    latest: Instant,
}

impl Departure {
    /// Nothing for so long: nothing is under way any more.
    const QUIET: Duration = Duration::from_millis(300);
    /// Longer than this nobody waits.
    const MOST: Duration = Duration::from_secs(2);

    fn begin(now: Instant) -> Self {
        Self { begun: now, latest: now }
    }

    /// When the member ends.
    fn deadline(&self) -> Instant {
        (self.latest + Self::QUIET).min(self.begun + Self::MOST)
    }
}

/// The status page of a member. `forward` is towards the receivers. Times in seconds.
#[derive(Debug, Serialize)]
struct Report<'a> {
    role: &'static str,
    version: &'static str,
    name: &'a str,
    uptime_s: f64,
    proxy: String,
    state: &'static str,
    rtt_s: Option<f64>,
    device: &'a str,
    mtu_bytes: usize,
    #[serde(flatten)]
    traffic: Traffic,
    drops: &'a DropCounters,
}

/// The rules and routes of the way back, removed when dropped.
#[derive(Debug)]
struct ReturnRules {
    table: u32,
}

impl ReturnRules {
    fn install(tun: &Tun, config: &MemberConfig) -> Result<Self, DaemonError> {
        let table = config.routing_table;
        let left_behind = netconf::remove_rules(table);
        if left_behind > 0 {
            tracing::info!(rules = left_behind, table, "removed the rules of a member that was killed");
        }
        let rules = Self { table };
        for default in ["0.0.0.0/0", "::/0"] {
            let default: netconf::Prefix = default.parse().map_err(DaemonError::Config)?;
            if config.receivers.iter().any(|r| r.address.is_ipv6() == default.address.is_ipv6()) {
                netconf::add_route(tun.name(), default, Some(table))?;
            }
        }
        for receiver in &config.receivers {
            netconf::add_rule(receiver.address, &format!("from {receiver}"), table)?;
        }
        Ok(rules)
    }
}

impl Drop for ReturnRules {
    fn drop(&mut self) {
        netconf::remove_rules(self.table);
    }
}
