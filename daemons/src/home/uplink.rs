//! One uplink of a home: its session with the gateway, its registration, and whether it answers.
use crate::config::{HomeConfig, Uplink as UplinkConfig};
use crate::counters::DropCounters;
use crate::daemon::{self, DaemonError};
use crate::home::routes::HomeRoutes;
use crate::member::registration::{Intervals, Registration, State};
use crate::proxy::members::Traffic;
use crate::receipts::Receipts;
use crate::tunnel::control::{Message, Token};
use crate::tunnel::path_mtu::PathSearch;
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::{
    self, Frame, SEALED_ROOM_BYTES, SendError, SocketOptions, TunnelReceiver, TunnelSender,
};
use crate::tunnel::{Peer, Transport, control};
use crate::workers::Workers;
use prismux_endpoint::Endpoint;
use prismux_linux::clock::Clock;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_receipts::{Liveness, MAX_RECEIPT_WAIT};
use prismux_sealed::KeyPair;
use prismux_sharing::{Account, Carried, Shaper, Share, Tier};
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant};
use prismux_wire::gre::SEQUENCE_BYTES;
use prismux_wire::{Ecn, GreHeader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Keys made so lately have not been lost.
const NEW_KEYS: Duration = Duration::from_secs(1);

/// A gateway that still sends this long after it should have heard that an uplink rests is told again.
const LEAVE_INTERVAL: Duration = Duration::from_millis(250);

/// How often an uplink that does not work is given its device and its router anew.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// One uplink.
pub(super) struct Uplink {
    pub config: UplinkConfig,
    /// Its name at the gateway.
    pub name: String,
    pub registration: Registration,
    pub liveness: Liveness,
    /// How large packets may be that go up by it.
    pub path: PathSearch,
    /// Receipts for what comes over it.
    pub receipts: Receipts,
    pub traffic: Traffic,
    /// What has passed on its line, headers of the tunnel and messages included.
    pub carried: Carried,
    pub account: Account,
    pub share: Share,
    /// What waits for its rate limit, if it has one.
    pub shaper: Option<Shaper<(GreHeader, Ecn, PacketBuf)>>,
    /// The core knows it.
    pub joined: bool,
    /// Why nothing can be sent over it, in the kernel's words.
    pub refused: Option<String>,
    /// The greatest counter of an agreement on receipts.
    pub accepted: u64,
    gateway: Peer,
    /// Bytes that a packet may carry beside its number, and those by which it is shorter for the sake of repairs.
    spare_bytes: usize,
    sender: TunnelSender,
    /// There is a device of its name, or was.
    bound: bool,
    retry_at: Instant,
    /// When it takes leave again, if the gateway has not heard that it rests.
    leave_at: Instant,
    keyed_at: Option<Instant>,
    token: Token,
}

impl Uplink {
    /// Opens its socket and its keys' side; `session` is the gateway's, as far as it is known.
    ///
    /// # Errors
    /// When the kernel gives no socket, or no randomness.
    pub fn open(
        config: &HomeConfig,
        index: usize,
        keys: KeyPair,
        clock: Clock,
        session: u64,
        workers: &Workers,
    ) -> Result<(TunnelReceiver, Self), DaemonError> {
        let uplink =
            config.uplinks.get(index).ok_or_else(|| DaemonError::Config("no such uplink".to_owned()))?;
        let mtu_bytes = config.tun_mtu_bytes();
        let gateway = config.peer();
        let any: IpAddr = match gateway.address {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let local = SocketAddr::new(uplink.address.unwrap_or(any), 0);
        let today = Duration::from_micros(daemon::time_of_day_micros());
        let sealing = Sealing::new(keys, clock, today, mtu_bytes + SEALED_ROOM_BYTES)?;
        sealing.add_peer(config.gateway.public_key, Some(gateway.address));
        let options = SocketOptions { local: Some(local), ..SocketOptions::default() };
        let (receiver, sender) =
            socket::open(Transport::Sealed, &options, mtu_bytes, Some(sealing), workers)?;
        let intervals = Intervals { active: config.hello, idle: config.keep_alive };
        let name = config.uplink_name(index);
        let first_counter = daemon::time_of_day_micros();
        let mut registration = Registration::new(&name, None, intervals, first_counter)
            .in_session(session)
            .with_receipts(true)
            .with_terms(uplink.tier, uplink.sharing.rate_limit);
        if uplink.tier == Tier::Never {
            registration.rest();
        }
        let new = Self {
            registration,
            name,
            liveness: Liveness::default(),
            path: PathSearch::new(mtu_bytes + config.around_bytes()),
            receipts: Receipts::new(config.overhead_bytes() - SEQUENCE_BYTES).within(MAX_RECEIPT_WAIT),
            traffic: Traffic::default(),
            carried: Carried::default(),
            account: Account::new(&uplink.device, &gateway.address.to_string()),
            share: Share::new(uplink.sharing.terms()),
            shaper: uplink.sharing.rate_limit.map(Shaper::new),
            joined: false,
            refused: None,
            accepted: 0,
            gateway,
            spare_bytes: config.datagrams.order_bytes() + config.repair_bytes(),
            sender,
            bound: false,
            retry_at: Instant::ZERO,
            leave_at: Instant::ZERO,
            keyed_at: None,
            token: Token::inside_a_session(),
            config: uplink.clone(),
        };
        Ok((receiver, new))
    }

    /// Its session.
    pub fn sealing(&self) -> Option<&Sealing> {
        self.sender.sealing()
    }

    /// Whether the gateway knows it.
    pub fn is_registered(&self) -> bool {
        self.registration.state() == State::Registered
    }

    /// Whether it carries traffic, or could.
    pub fn works(&self) -> bool {
        self.is_registered() && !self.liveness.is_silent()
    }

    /// Why it is not to be used for now, in words.
    pub fn rests(&self) -> Option<String> {
        match self.config.tier {
            Tier::Never => Some("its tier is never".to_owned()),
            _ if self.works() && !self.joined => Some("one of a better tier lives".to_owned()),
            _ => self.share.rest().map(|rest| rest.to_string()),
        }
    }

    /// Whether what it may carry has to be asked for anew.
    pub fn is_used_up(&self) -> bool {
        self.config.tier != Tier::Never && self.share.is_used_up()
    }

    /// Takes leave of the gateway for a time.
    pub fn rest(&mut self, now: Instant) {
        self.registration.rest();
        self.liveness.end_silence();
        self.refused = None;
        self.leave_at = now + self.leave_interval();
    }

    /// Takes leave once more, if the gateway should have heard it by now.
    pub fn takes_leave_again(&mut self, now: Instant) -> bool {
        let is_due = self.leave_at <= now && self.registration.is_known();
        if is_due {
            self.leave_at = now + self.leave_interval();
            self.registration.bye();
        }
        is_due
    }

    fn leave_interval(&self) -> Duration {
        self.registration.rtt().unwrap_or_default() + LEAVE_INTERVAL
    }

    /// Something came over it.
    pub fn came(&mut self, frame: &Frame<'_>) {
        let bytes = frame.line_bytes();
        self.carried = self.carried.plus(Carried { forward_bytes: bytes, return_bytes: 0 });
        self.share.carry(bytes);
        self.liveness.heard();
    }

    /// Gives it its device and router anew, from time to time while it does not work: devices come and go, and another
    /// may have its name.
    pub fn retry(&mut self, now: Instant, home: &HomeConfig, index: usize) {
        if self.works() || self.registration.is_resting() || now < self.retry_at {
            return;
        }
        self.retry_at = now + RETRY_INTERVAL;
        match self.sender.bind_to_device(&self.config.device) {
            Ok(()) => self.bound = true,
            Err(error) => {
                self.bound = false;
                self.refused = Some(format!("{}: {error}", self.config.device));
                return;
            }
        }
        if let Err(error) = HomeRoutes::refresh(home, index, &self.config) {
            self.refused = Some(error.to_string());
        }
    }

    /// When something is due.
    pub fn deadline(&self) -> Option<Instant> {
        let call = self.registration.poll_timeout().map(|deadline| deadline.at);
        let retry = (!self.works() && !self.registration.is_resting()).then_some(self.retry_at);
        let sealing = self.sealing().and_then(Sealing::deadline);
        let used_up = self.is_used_up().then_some(Instant::ZERO);
        let shaped = self.shaper.as_ref().and_then(Shaper::deadline);
        let path = self.path.deadline().filter(|_| self.is_registered());
        [path, used_up, shaped, call, retry, sealing, self.receipts.deadline(), self.liveness.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Queues a packet for the gateway; false when there is no device to send it by.
    pub fn push(&mut self, header: &GreHeader, ecn: Ecn, packet: PacketBuf) -> bool {
        if self.bound {
            let bytes = self.line_bytes(header, &packet);
            self.carried = self.carried.plus(Carried { forward_bytes: 0, return_bytes: bytes });
            self.share.carry(bytes);
            self.sender.push(self.gateway, header, ecn, packet);
        }
        self.bound
    }

    /// Bytes of a packet on the line.
    pub fn line_bytes(&self, header: &GreHeader, packet: &[u8]) -> u64 {
        self.gateway.line_bytes(packet.len(), header.sequence.is_some(), header.key.is_some())
    }

    /// Bytes that the tunnel adds to a packet without a number.
    pub fn overhead_bytes(&self) -> usize {
        self.gateway.overhead_bytes()
    }

    /// Whether it must be flushed before the next packet.
    pub fn is_full(&self) -> bool {
        self.sender.is_full()
    }

    /// Sends everything that is queued; says whether the kernel has no way out for it.
    pub fn flush(&mut self, device: (&OffloadTun, &PacketPool), drops: &mut DropCounters) -> bool {
        let overhead_bytes = self.gateway.overhead_bytes() + SEQUENCE_BYTES + self.spare_bytes;
        let mut refused = None;
        self.sender.flush(|error, to, packet| {
            if let SendError::Kernel(kernel) = &error
                && has_no_way_out(kernel)
            {
                refused = Some(kernel.to_string());
            }
            daemon::send_failed(&error, to, packet, overhead_bytes, device, drops);
        });
        let has_no_way = refused.is_some();
        if has_no_way {
            self.refused = refused.map(|why| format!("{}: {why}", self.config.device));
        }
        has_no_way
    }

    /// Queues a message for the gateway.
    pub fn send_control(
        &mut self,
        now: Instant,
        message: &Message,
        device: (&OffloadTun, &PacketPool),
        drops: &mut DropCounters,
    ) {
        if self.is_full() {
            self.flush(device, drops);
        }
        if matches!(message, Message::Hello(_)) && self.is_registered() {
            self.liveness.sent(now);
        }
        if let Some(packet) = device.1.copy_of(&message.emit(&self.token))
            && !self.push(&GreHeader::plain(control::PROTOCOL_TYPE), Ecn::NotEct, packet)
        {
            drops.count(DropReason::NoLink);
        }
    }

    /// Holds back what is larger than its path takes, as far as that is known.
    pub fn limit_path(&mut self) {
        self.sender.limit_path(self.gateway, self.path.limit());
    }

    /// A gateway that does not answer may have been restarted, and lost its keys.
    pub fn call_if_unanswered(&mut self, now: Instant) {
        let are_new = self.keyed_at.is_some_and(|at| now.saturating_since(at) < NEW_KEYS);
        if let Some(sealing) = self.sealing().filter(|_| self.registration.is_unanswered() && !are_new) {
            sealing.call(now, 0);
        }
    }

    /// There are new keys: the gateway is there, and may be a new one.
    pub fn has_keys(&mut self, now: Instant) {
        self.keyed_at = Some(now);
        self.refused = None;
        self.registration.call_now(now);
    }
}

/// Errors that say that nothing leaves by this device.
fn has_no_way_out(error: &std::io::Error) -> bool {
    const NO_WAY_OUT: [i32; 6] = [
        libc::ENETDOWN,
        libc::ENETUNREACH,
        libc::EHOSTUNREACH,
        libc::ENODEV,
        libc::ENXIO,
        libc::EADDRNOTAVAIL,
    ];
    error.raw_os_error().is_some_and(|code| NO_WAY_OUT.contains(&code))
}
