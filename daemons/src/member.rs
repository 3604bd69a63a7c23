//! The member daemon: takes packets from the tunnel and forwards them to the receivers, and sends what the receivers
//! answer back to the proxy.
//!
//! ```text
//!   proxy -> tunnel -> TUN -> kernel -> wireless LAN -> receiver
//!   proxy <- tunnel <- TUN <- kernel <- wireless LAN <- receiver
//! ```
//!
//! * [`registration`]: when to call the proxy. `return_rules`: the way back, which stands while the member is
//!   registered.
//! * `keys`: those of a sealed tunnel. `report`: the status page.
//!   `departure`: what is still under way when a member leaves.

mod departure;
mod keys;
pub mod registration;
mod report;
mod return_rules;

use crate::config::{MemberConfig, WebConfig};
use crate::counters::{DropCounters, sealed_refusal};
use crate::daemon::{self, Daemon, DaemonError, Role, Wakes};
use crate::device;
use crate::events::Events;
use crate::proxy::members::Traffic;
use crate::receipts::Receipts;
use crate::tunnel::control::{self, Message};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::{self, Frame, FrameError, SocketOptions, TunnelReceiver, TunnelSender};
use departure::Departure;
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketPool;
use prismux_linux::tun::Tun;
use prismux_trace::event::{DropReason, Event, EventSink};
use prismux_units::Instant;
use prismux_wire::gre::ether_type;
use prismux_wire::{Ecn, GreHeader, IpPacket};
use registration::{Answer, Intervals, Registration, RegistrationEvent, State};
use return_rules::ReturnRules;
use serde::Serialize;
use std::io;
use std::net::IpAddr;
use std::path::Path;

/// A running member.
pub type MemberDaemon = Daemon<Member>;

/// What a member does.
pub struct Member {
    config: MemberConfig,
    token: control::Token,
    tun: Tun,
    return_rules: ReturnRules,
    inner_mtu_bytes: usize,
    pool: PacketPool,
    receiver: Option<TunnelReceiver>,
    sender: TunnelSender,
    registration: Registration,
    receipts: Receipts,
    traffic: Traffic,
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

impl Role for Member {
    type Config = MemberConfig;
    const NAME: &'static str = "member";

    fn status_socket(config: &MemberConfig) -> &Path {
        &config.status_socket
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
        let (receiver, sender) =
            socket::open(config.tunnel.proxy.transport, &options, inner_mtu_bytes, sealing)?;
        let tun = device::open(&config.tun, inner_mtu_bytes)?;
        let return_rules = ReturnRules::prepare(&tun, &config)?;
        wakes.watch(&tun, std::slice::from_ref(&receiver))?;
        tracing::info!(member = config.name, proxy = %config.tunnel.proxy, device = tun.name(), "member started");
        let intervals = Intervals { active: config.tunnel.hello, idle: config.tunnel.keep_alive };
        let first_counter = daemon::time_of_day_micros();
        Ok(Self {
            registration: Registration::new(&config.name, config.rate, intervals, first_counter)
                .with_receipts(config.tunnel.receipts),
            receipts: Receipts::new(config.tunnel.overhead_bytes()),
            token,
            tun,
            return_rules,
            inner_mtu_bytes,
            pool: device::pool(inner_mtu_bytes),
            receiver: Some(receiver),
            sender,
            traffic: Traffic::default(),
            drops: DropCounters::default(),
            events: Events::default(),
            keyed_at: None,
            departure: None,
            config,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        let call = self.registration.poll_timeout().map(|deadline| deadline.at);
        let sealing = self.sender.sealing().and_then(Sealing::deadline);
        let next = [call, self.receipts.deadline(), sealing].into_iter().flatten().min();
        self.departure.as_ref().map_or(next, |departure| Some(departure.deadline()))
    }

    fn expire(&mut self, now: Instant) {
        if expire(&mut self.registration, now) {
            self.drain(now);
        }
        self.write_receipts(now);
        if let Some(sealing) = self.sender.sealing() {
            sealing.expire(now);
        }
        self.session_events(now);
    }

    fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        self.read_packets(clock)
    }

    fn read_tunnel(&mut self, _index: usize, clock: Clock) -> io::Result<()> {
        self.read_frames(clock)
    }

    fn flush(&mut self) {
        let (device, drops) = ((&self.tun, &self.pool), &mut self.drops);
        let overhead_bytes = self.config.tunnel.overhead_bytes();
        self.sender.flush(|error, to, packet| {
            daemon::send_failed(&error, to, &packet, overhead_bytes, device, drops);
        });
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
        self.registration.bye();
        self.drain(now);
        self.flush();
        self.departure = Some(if registered { Departure::begin(now) } else { Departure::at_once(now) });
    }

    fn has_ended(&self, now: Instant) -> bool {
        self.departure.as_ref().is_some_and(|departure| departure.deadline() <= now)
    }
}

impl Member {
    /// Carries out what the registration asks for: to be called after every mutation of it.
    fn drain(&mut self, now: Instant) {
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.registration, now) {
            match output {
                Output::Transmit(message) => {
                    self.send_control(&message);
                    self.call_if_unanswered(now);
                }
                Output::Event(event) => self.registration_changed(now, event),
            }
        }
    }

    fn registration_changed(&mut self, now: Instant, event: RegistrationEvent) {
        let registered = self.registration.state() == State::Registered;
        if self.departure.is_none() {
            self.return_rules.set(&self.config, registered);
        }
        let cause = match event {
            RegistrationEvent::ReceiptsOffered { epoch } => return self.receipts.offered(now, epoch),
            RegistrationEvent::Registered => None,
            RegistrationEvent::Unanswered { since } => Some(format!(
                "no answer for {:.0} s: is the proxy running, its address right, and the token the same?",
                now.saturating_since(since).as_secs_f64()
            )),
            RegistrationEvent::NameContested => {
                if !self.events.may_tell_refusal(now, DropReason::ReplayedControl) {
                    return;
                }
                Some("the proxy has heard from another member of this name: give each its own".to_owned())
            }
        };
        let (member, proxy) = (self.config.name.as_str().into(), self.config.tunnel.proxy.to_string().into());
        let cause = cause.map(Into::into);
        self.events.event(now, &Event::RegistrationChanged { member, proxy, registered, cause });
    }

    /// A message that was not the proxy's, or not made with this member's token.
    fn refuse(&mut self, now: Instant, reason: DropReason) {
        if self.events.may_tell_refusal(now, reason) {
            let (node, peer) =
                (self.config.name.as_str().into(), self.config.tunnel.proxy.to_string().into());
            self.events.event(now, &Event::RegistrationRefused { node, peer, reason });
        }
    }

    /// One batch from the kernel: what receivers send to the internet.
    fn read_packets(&mut self, clock: Clock) -> io::Result<()> {
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
            self.sender.push(self.config.tunnel.proxy, &GreHeader::plain(protocol), ecn, packet);
        }
        Ok(())
    }

    /// The kernel's own multicast chatter on the device is not.
    fn is_from_receiver(&self, packet: &[u8]) -> bool {
        IpPacket::parse(packet).is_ok_and(|ip| self.is_receiver(ip.header.source))
    }

    fn is_receiver(&self, address: IpAddr) -> bool {
        self.config.receivers.iter().any(|prefix| prefix.contains(address))
    }

    /// One batch from the proxy.
    fn read_frames(&mut self, clock: Clock) -> io::Result<()> {
        // Taken out for the time being: its frames borrow it while the rest of the member handles them.
        let Some(mut receiver) = self.receiver.take() else { return Ok(()) };
        let received = receiver.receive(|frame| {
            let handled = match frame {
                Ok(frame) => self.frame(clock.now(), &frame),
                Err(FrameError::TooLong) => Err(DropReason::TooLong),
                Err(FrameError::Malformed(_)) => Err(DropReason::MalformedTunnel),
                Err(FrameError::Sealed(refusal)) => Err(sealed_refusal(refusal)),
            };
            if let Err(reason) = handled {
                self.drops.count(reason);
            }
        });
        self.receiver = Some(receiver);
        self.session_events(clock.now());
        self.write_receipts(clock.now());
        received.map(drop)
    }

    fn frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        if !frame.peer.is_same_end(&self.config.tunnel.proxy) {
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
        let inner = frame.inner.get(..ip.total_bytes).ok_or(DropReason::MalformedPacket)?;
        // A plain tunnel cannot tell who sent this; nobody else in this network, nor this host, is reached through it.
        if !self.is_receiver(ip.header.destination) {
            return Err(DropReason::ForeignDestination);
        }
        self.registration.note_traffic(now);
        if let Some(departure) = &mut self.departure {
            departure.on_data(now);
        }
        if let Some(number) = frame.number {
            self.receipts.arrived(now, number, frame.inner.len(), frame.outer_ecn);
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
            // Whoever has said goodbye is not called back.
            Ok(_) if self.departure.is_some() => {}
            Ok(Message::Welcome(welcome)) => self.answered(now, Answer::Welcome(welcome)),
            Ok(Message::Challenge(challenge)) => self.answered(now, Answer::Challenge(challenge)),
            Ok(Message::Accept(accept)) => self.answered(now, Answer::Accept(accept)),
            Ok(
                Message::Hello(_)
                | Message::Bye(_)
                | Message::Offer(_)
                | Message::Receipt(_)
                | Message::Probe(_)
                | Message::Echo(_)
                | Message::Lost(_),
            )
            | Err(control::ControlError::Malformed) => {
                return Err(DropReason::MalformedControl);
            }
            Err(control::ControlError::BadTag) => {
                self.refuse(now, DropReason::BadToken);
                return Err(DropReason::BadToken);
            }
        }
        Ok(())
    }

    fn answered(&mut self, now: Instant, answer: Answer) {
        self.registration.handle_input(now, answer);
        self.drain(now);
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
        if self.sender.is_full() {
            self.flush();
        }
        if let Some(packet) = self.pool.copy_of(&message.emit(&self.token)) {
            let (to, header) = (self.config.tunnel.proxy, GreHeader::plain(control::PROTOCOL_TYPE));
            self.sender.push(to, &header, Ecn::NotEct, packet);
        }
    }
}
