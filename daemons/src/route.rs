//! A routing daemon: a host of an ad-hoc network, with the protocols that the simulator runs too.
//!
//! ```text
//!   kernel -> TUN -> DSR, AODV or DSDV -> radio -> neighbour -> ... -> TUN -> kernel
//! ```
//!
//! Its device has the host's address and the route to all others of the network. Packets of others it passes on itself:
//! their kernels do not see them.
//!
//! * [`config`]: what it is told. [`carriage`]: packets as bytes. [`protocol`]: the protocols' headers.
//! * [`radio`]: what it sends by. [`interface`]: an interface of this host, whose neighbours [`neighbours`] knows;
//!   [`air`]: an air that somebody works out. [`counters`] and `report`: what it has done.
pub mod air;
mod carriage;
pub mod config;
pub mod counters;
mod device;
mod interface;
mod neighbours;
mod protocol;
pub mod radio;
mod report;

use crate::daemon::{self, DaemonError, Role, Wakes};
use air::{AirRadio, MAX_PACKET_BYTES, MessageSocket};
use carriage::{Carried, addresses};
use config::{RadioName, RouteConfig};
use counters::{Drops, Passed, drop_reason};
use interface::InterfaceRadio;
use prismux_aodv::Aodv;
use prismux_dsdv::Dsdv;
use prismux_dsr::Dsr;
use prismux_endpoint::expire;
use prismux_endpoint::random::Seed;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::frame_socket::Interface;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_linux::random;
use prismux_linux::tun::Tun;
use prismux_plan::Routing;
use prismux_routing::{Frame, Input, Packet, RoutingEvent};
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant};
use prismux_wire::{IpPacket, SeqNumber};
use protocol::{Beginning, Protocol};
use radio::{Heard, Outgoing, Priority, Radio, Sender};
use serde::Serialize;
use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

/// Packets that wait for the radio to work, and for how long one may have waited then.
const MAX_EARLY_PACKETS: usize = 64;
const EARLY: Duration = Duration::from_secs(1);
/// How long a packet from the kernel may be where nothing else says so.
const MTU_BYTES: usize = 1500;
/// No network has a smaller one (RFC 791).
const MIN_MTU_BYTES: usize = 576;
/// A microsecond in sixteenths of a second: sequence numbers rise by no more in that time, and come round after years.
const SEQUENCE_STEP_MICROS: u64 = 62_500;

/// Runs a routing daemon until SIGINT or SIGTERM.
///
/// # Errors
/// [`DaemonError`]: what it could not open or set, or what was taken away while it ran.
pub fn run(config: RouteConfig) -> Result<(), DaemonError> {
    // The status socket shows whether another one is running, whose changes must not be undone.
    let is_alone = crate::status::query(&config.status_socket).is_err();
    let _footprint = if is_alone { device::keep_kernel_out(&config)? } else { None };
    match config.protocol.routing {
        Routing::Dsr(parameters) => daemon::run::<Route<Dsr<Carried>>>((config, parameters)),
        Routing::Aodv(parameters) => daemon::run::<Route<Aodv<Carried>>>((config, parameters)),
        Routing::Dsdv(parameters) => daemon::run::<Route<Dsdv<Carried>>>((config, parameters)),
        Routing::Direct => Err(DaemonError::Config("nobody routes".to_owned())),
    }
}

/// A host with a routing protocol.
pub struct Route<R: Protocol> {
    config: RouteConfig,
    parameters: R::Config,
    tun: Tun,
    radio: Box<dyn Radio>,
    pool: PacketPool,
    mtu_bytes: usize,
    /// Once the radio works.
    routing: Option<R>,
    /// What the kernel has sent before that, and when.
    early: VecDeque<(Instant, PacketBuf)>,
    /// The number of the last packet of the kernel's.
    identification: u16,
    drops: Drops,
    passed: Passed,
    /// A packet on its way out.
    out: Vec<u8>,
    is_stopped: bool,
}

impl<R: Protocol> Role for Route<R> {
    type Config = (RouteConfig, R::Config);
    const NAME: &'static str = "routing daemon";
    const KERNEL_FORWARDS: bool = false;

    fn status_socket((config, _): &Self::Config) -> &Path {
        &config.status_socket
    }

    fn open((config, parameters): Self::Config, wakes: &Wakes<'_>) -> Result<Self, DaemonError> {
        let pool = PacketPool::new(MAX_PACKET_BYTES);
        let (radio, room_bytes): (Box<dyn Radio>, usize) = match &config.radio {
            RadioName::Interface(name) => {
                let interface = Interface::find(name)?;
                let room_bytes = interface.mtu_bytes().saturating_sub(R::HEADROOM_BYTES);
                let address = (config.address.own, config.address.prefix());
                let radio = InterfaceRadio::open(interface, address, R::HEARS_ALL, pool.clone())?;
                (Box::new(radio), room_bytes.min(MAX_PACKET_BYTES))
            }
            RadioName::StandardInput => {
                let socket = MessageSocket::standard_input().map_err(|error| {
                    DaemonError::Config(format!("standard input is no packet socket to an air: {error}"))
                })?;
                (Box::new(AirRadio::new(socket, pool.clone())), MTU_BYTES)
            }
        };
        let mtu_bytes = config.mtu_bytes.unwrap_or(room_bytes);
        if !(MIN_MTU_BYTES..=room_bytes).contains(&mtu_bytes) {
            let range = format!("expected {MIN_MTU_BYTES} to {room_bytes} (bytes), what this radio takes");
            return Err(DaemonError::Config(format!("an MTU of {mtu_bytes} is out of range, {range}")));
        }
        let tun = device::open(&config, mtu_bytes)?;
        wakes.watch(&tun, &radio.descriptors())?;
        let (protocol, address) = (config.protocol.name, config.address);
        tracing::info!(protocol, %address, radio = %config.radio, device = tun.name(), "routing daemon started");
        let mut route = Self {
            config,
            parameters,
            tun,
            radio,
            pool,
            mtu_bytes,
            routing: None,
            early: VecDeque::new(),
            identification: 0,
            drops: Drops::default(),
            passed: Passed::default(),
            out: Vec::new(),
            is_stopped: false,
        };
        route.hear_all(wakes.clock().now())?;
        Ok(route)
    }

    fn deadline(&self) -> Option<Instant> {
        let routing = self.routing.as_ref().and_then(R::poll_timeout).map(|deadline| deadline.at);
        [routing, self.radio.deadline()].into_iter().flatten().min()
    }

    fn expire(&mut self, now: Instant) {
        self.radio.expire(now, &mut self.drops);
        // What it tells of a radio that works already cannot fail.
        let _ = self.hear_all(now);
        if self.routing.as_mut().is_some_and(|routing| expire(routing, now)) {
            self.drain(now);
        }
    }

    fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let packet = match self.pool.read_with(|buffer| self.tun.read(buffer)) {
                Ok(packet) => packet,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.take_or_keep(clock.now(), packet);
        }
        Ok(())
    }

    fn read_tunnel(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        let now = clock.now();
        self.radio.read(index, now, &mut self.drops)?;
        self.hear_all(now)
    }

    fn flush(&mut self) {}

    fn report(&self, now: Instant) -> impl Serialize {
        report::report(self, now)
    }

    fn stop(&mut self, _: Instant) {
        self.is_stopped = true;
    }

    fn has_ended(&self, _: Instant) -> bool {
        self.is_stopped
    }
}

impl<R: Protocol> Route<R> {
    /// The radio works: the protocol begins, with what the kernel has sent shortly before.
    fn begin(&mut self, now: Instant) -> io::Result<()> {
        let seed = Seed(random::nonzero_u64()?);
        let steps = daemon::time_of_day_micros() / SEQUENCE_STEP_MICROS;
        let beginning = Beginning {
            at: now,
            address: self.config.address.own,
            random: seed.stream("routing"),
            sequence: SeqNumber(steps as u32),
        };
        self.routing = Some(R::begin(beginning, self.parameters));
        self.drain(now);
        for (at, packet) in std::mem::take(&mut self.early) {
            match now.saturating_since(at) > EARLY {
                true => self.drops.count(DropReason::LinkDown),
                false => self.take_or_keep(now, packet),
            }
        }
        Ok(())
    }

    /// Takes a packet of the kernel's, or keeps it until the radio works.
    fn take_or_keep(&mut self, now: Instant, packet: PacketBuf) {
        if self.routing.is_none() {
            self.early.push_back((now, packet));
            if self.early.len() > MAX_EARLY_PACKETS {
                self.early.pop_front();
                self.drops.count(DropReason::LinkDown);
            }
        } else if let Err(reason) = self.take(now, packet) {
            self.drops.count(reason);
        }
    }

    /// Takes a packet of the kernel's.
    fn take(&mut self, now: Instant, mut packet: PacketBuf) -> Result<(), DropReason> {
        let Some(routing) = &mut self.routing else { return Err(DropReason::LinkDown) };
        let ip = IpPacket::parse(&packet).map_err(|_| DropReason::MalformedPacket)?;
        let [source, destination] = addresses(&ip).ok_or(DropReason::OtherProtocol)?;
        let (mesh, own) = (self.config.address, self.config.address.own);
        if !mesh.is_host(destination) && destination != Ipv4Addr::BROADCAST {
            return Err(DropReason::ForeignDestination);
        }
        if source != own || ip.header.hop_limit == 0 {
            return Err(DropReason::ForeignSource);
        }
        // What others would take for the protocol's own.
        if R::read(&ip, ip.payload(&packet)).is_none_or(|read| read.header_bytes > 0) {
            return Err(DropReason::OtherProtocol);
        }
        self.identification = self.identification.wrapping_add(1);
        carriage::number(&mut packet, &ip, self.identification);
        self.radio.note_taken(&packet);
        let payload = Carried::from_kernel(packet, &ip);
        routing.handle_input(now, Input::Send { destination, payload });
        self.drain(now);
        Ok(())
    }

    /// Takes all that the radio has heard.
    fn hear_all(&mut self, now: Instant) -> io::Result<()> {
        while let Some(heard) = self.radio.poll_heard() {
            if matches!(heard, Heard::Ready) {
                self.begin(now)?;
            } else if let Err(reason) = self.hear(now, heard) {
                self.drops.count(reason);
            }
        }
        Ok(())
    }

    /// Takes something that the radio has heard.
    fn hear(&mut self, now: Instant, heard: Heard) -> Result<(), DropReason> {
        let (packet, count) = match &heard {
            Heard::Ready => return Ok(()),
            Heard::Received(_, packet) => (packet, &mut self.passed.received),
            Heard::Overheard(_, packet) => (packet, &mut self.passed.overheard),
            Heard::NotDelivered(_, packet) | Heard::TakenBack(_, packet) => {
                (packet, &mut self.passed.not_delivered)
            }
        };
        *count += 1;
        let packet = carriage::parse::<R>(&self.pool, packet.clone())?;
        let mesh = self.config.address;
        if !mesh.is_host(packet.source) {
            return Err(DropReason::ForeignSource);
        }
        if !mesh.is_host(packet.destination) && packet.destination != Ipv4Addr::BROADCAST {
            return Err(DropReason::ForeignDestination);
        }
        let Some(routing) = &mut self.routing else { return Err(DropReason::LinkDown) };
        match heard {
            Heard::Ready => {}
            Heard::Received(sender, _) => {
                let from = sender_of::<R>(now, sender, &packet, self.radio.as_mut())?;
                if !mesh.is_host(from) || from == mesh.own {
                    return Err(DropReason::ForeignSource);
                }
                routing.handle_input(now, Input::Received { from, packet });
            }
            Heard::Overheard([from, to], _) => {
                routing.handle_input(now, Input::Overheard { from, to, packet: &packet });
            }
            Heard::NotDelivered(neighbour, _) => {
                routing.handle_input(now, Input::LinkFailure { neighbour, packet });
            }
            Heard::TakenBack(neighbour, _) => {
                routing.handle_input(now, Input::Flushed { neighbour, packet });
            }
        }
        self.drain(now);
        Ok(())
    }

    /// Does what the protocol has decided.
    fn drain(&mut self, now: Instant) {
        let Some(routing) = &mut self.routing else { return };
        while let Some(Frame { next_hop: to, packet }) = routing.poll_transmit(now) {
            if let Err(reason) = carriage::emit(&packet, &mut self.out) {
                self.drops.count(reason);
                continue;
            }
            let beyond = routing.header_bytes(&packet) as u32;
            let counted_bytes = self.out.len() as u32 + beyond - packet_header_bytes(&packet);
            let priority = match &packet.payload {
                None => Priority::Routing,
                Some(carried) if carried.is_acknowledgement() => Priority::Acknowledgement,
                Some(_) => Priority::Normal,
            };
            self.passed.sent += 1;
            let outgoing = Outgoing { to, priority, counted_bytes, packet: &self.out };
            self.radio.send(now, outgoing, &mut self.drops);
        }
        while let Some(event) = routing.poll_event() {
            match event {
                RoutingEvent::Delivered { payload, .. } => {
                    if self.tun.write(payload.packet()).is_err() {
                        self.drops.count(DropReason::TunRefused);
                    }
                }
                RoutingEvent::Dropped { reason, payload, .. } => {
                    self.radio.note_dropped(drop_reason(reason), payload.packet());
                }
                event => tracing::trace!(?event, "routing"),
            }
        }
    }
}

/// The bytes of a packet's header on the wire.
fn packet_header_bytes<H: prismux_routing::Header>(packet: &Packet<H, Carried>) -> u32 {
    packet.header.wire_bytes() as u32
}

/// The neighbour that a packet came from: of an interface that nobody knows, the packet may tell.
fn sender_of<R: Protocol>(
    now: Instant,
    sender: Sender,
    packet: &Packet<R::Header, Carried>,
    radio: &mut dyn Radio,
) -> Result<Ipv4Addr, DropReason> {
    match sender {
        Sender::Host(from) => Ok(from),
        Sender::Interface(interface) => {
            let from = R::transmitter(packet).ok_or(DropReason::UnknownPeer)?;
            radio.learn(now, interface, from);
            Ok(from)
        }
    }
}
