//! A TCP connection on a simulated host, and the application that uses it.
use crate::core::checker::StreamCheck;
use crate::core::packet::address;
use crate::core::site::Site;
use crate::flows::application::Notes;
use crate::flows::policy::{CongestionFactory, ExtensionFactory};
use crate::network::{Network, Target};
use prismux_endpoint::{Deadline, Host, drive, expire};
use prismux_tcp::loss_notification::LossMarker;
use prismux_tcp::{Connection, SegmentIn, SegmentOut, State, TcpConfig, TcpEvent, reset_for};
use prismux_tcp_door::{Door, DoorConfig};
use prismux_tcp_ho::HandoffHost;
use prismux_trace::histogram::DelayHistogram;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber, TcpFlags};
use std::sync::Arc;

/// What the application does.
#[derive(Debug)]
pub(crate) enum Role {
    /// Writes so many bytes, then closes (never, for [`ENDLESS`](crate::flows::application::ENDLESS)).
    Source { bytes: u64 },
    /// Writes so many bytes again and again, whatever has been delivered.
    Writer { bytes: u64, every: Duration },
    /// Reads until the peer closes, and writes back a little each time that so many bytes have come.
    Sink { updates: Option<Updates> },
    /// Asks, waits for the answer, thinks, asks again.
    Client(Client),
    /// Answers every whole request.
    Server { request_bytes: u64, response_bytes: u64, answered: u64 },
}

/// What a receiver writes back beside its ACKs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Updates {
    /// Each time that so many bytes have come,
    pub every: u64,
    /// and so often it has.
    pub written: u64,
}

impl Updates {
    /// At how many received bytes the next one is due.
    pub fn next_mark(&self) -> u64 {
        (self.written + 1) * self.every
    }
}

/// The asking side of a request/response flow.
#[derive(Debug)]
pub(crate) struct Client {
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub think: Duration,
    pub exchanges: u64,
    pub asked: u64,
    pub asked_at: Instant,
    pub answered: u64,
    /// Times from question to complete answer.
    pub waited: Box<DelayHistogram>,
}

/// What few ends have.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Tells the peer of handoffs (TCP-HO).
    pub notifier: Option<HandoffHost>,
    /// Marks ACKs that wait for a damaged segment (TCP-ELN).
    pub marker: Option<LossMarker>,
    /// Checks the streams.
    pub check: Option<StreamCheck>,
}

/// One end of a TCP flow. In the order of use: what every packet touches comes first, the connection's own part
/// included; before that lies one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct TcpEndpoint {
    /// When the timer event is due; [`Instant::MAX`] for none. Deadlines move with every ACK, the event does
    /// not: it looks again when it fires.
    pub armed: Instant,
    /// In-order bytes at which the application wants to know.
    pub next_mark: u64,
    pub extras: Option<Box<Extras>>,
    pub site: Site,
    pub connection: Option<Connection>,
    pub role: Role,
    pub setup: Arc<TcpSetup>,
}

/// What an end has of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct CustomParts {
    pub extension: Option<ExtensionFactory>,
    pub congestion: Option<CongestionFactory>,
    /// Watches the order of arrival (TCP-DOOR).
    pub door: Option<DoorConfig>,
}

/// What it takes to open a connection.
#[derive(Debug)]
pub(crate) struct TcpSetup {
    pub config: Arc<TcpConfig>,
    pub custom: CustomParts,
    pub local_port: u16,
    pub remote_port: u16,
    pub initial_sequence: SeqNumber,
}

impl Notes {
    fn is_quiet(&self) -> bool {
        !self.connected && !self.peer_closed && !self.ended
    }
}

/// Carries a connection's segments into the network and its events to [`Notes`].
struct Carrier<'a> {
    network: &'a mut Network,
    site: &'a Site,
    notes: Notes,
    extras: Option<&'a mut Extras>,
    /// Stream offset of the payload of the segment being handled.
    arriving_offset: u64,
}

impl Carrier<'_> {
    #[inline]
    fn check(&mut self) -> Option<&mut StreamCheck> {
        self.extras.as_deref_mut()?.check.as_mut()
    }

    #[inline(never)] // Few ends mark or check: the others need not move the segment for it.
    fn transmit_with_extras(&mut self, now: Instant, mut segment: SegmentOut) {
        if let Some(Extras { marker, check, .. }) = self.extras.as_deref_mut() {
            if let Some(marker) = marker {
                marker.mark(&mut segment.header);
            }
            if let Some(check) = check {
                check.sent(now, &segment);
            }
        }
        self.network.inject_segment(self.site, &segment);
    }
}

impl Host<Connection> for Carrier<'_> {
    #[inline]
    fn transmit(&mut self, now: Instant, segment: SegmentOut) {
        match self.extras {
            None => self.network.inject_segment(self.site, &segment),
            Some(_) => self.transmit_with_extras(now, segment),
        }
    }

    #[inline]
    fn event(&mut self, now: Instant, event: TcpEvent) {
        match event {
            TcpEvent::Readable { up_to } => {
                self.notes.readable = up_to;
                if let Some(check) = self.check() {
                    check.readable(now, up_to);
                }
            }
            TcpEvent::Accepted { segment_offset, stream_offset, bytes } => {
                let carried = self.arriving_offset + u64::from(segment_offset);
                if let Some(check) = self.check() {
                    check.accepted(now, carried, stream_offset, bytes);
                }
            }
            TcpEvent::Acknowledged { .. } => {}
            TcpEvent::Connected => self.notes.connected = true,
            TcpEvent::PeerClosed => self.notes.peer_closed = true,
            TcpEvent::Closed | TcpEvent::Reset | TcpEvent::TimedOut => self.notes.ended = true,
        }
    }
}

impl TcpEndpoint {
    /// An end without a connection yet; only its checker is there, if wanted.
    pub fn new(site: Site, role: Role, setup: TcpSetup, checks: bool) -> Self {
        let next_mark = match &role {
            Role::Server { request_bytes, .. } => *request_bytes,
            _ => u64::MAX,
        };
        Self {
            armed: Instant::MAX,
            next_mark,
            extras: checks
                .then(|| Box::new(Extras { check: Some(StreamCheck::default()), ..Extras::default() })),
            site,
            connection: None,
            role,
            setup: Arc::new(setup),
        }
    }

    /// Forgets the connection: the next one has these ports, its own and the peer's.
    pub fn renew(&mut self, ports: (u16, u16), initial_sequence: SeqNumber, checks: bool) {
        let old = &self.setup;
        let setup = TcpSetup {
            config: Arc::clone(&old.config),
            custom: old.custom.clone(),
            local_port: ports.0,
            remote_port: ports.1,
            initial_sequence,
        };
        // A timer that is still pending finds that it is no longer wanted.
        (self.armed, self.next_mark, self.connection) = (Instant::MAX, u64::MAX, None);
        self.setup = Arc::new(setup);
        if let Some(extras) = &mut self.extras {
            extras.check = checks.then(StreamCheck::default);
        }
    }

    /// Opens the connection from this side.
    pub fn open(&mut self, network: &mut Network) -> Notes {
        let setup = Arc::clone(&self.setup);
        let now = network.now;
        let mut connection = Connection::connect(
            Arc::clone(&setup.config),
            setup.local_port,
            setup.remote_port,
            setup.initial_sequence,
            now,
        );
        if let Some(extension) = &setup.custom.extension {
            connection.set_extension(extension.make());
        }
        if let Some(congestion) = &setup.custom.congestion {
            connection.set_congestion(congestion.make());
        }
        if let Some(door) = &setup.custom.door {
            connection.set_order_watch(Box::new(Door::new(door.clone())));
        }
        match &mut self.role {
            Role::Source { bytes } | Role::Writer { bytes, .. } => connection.write(*bytes),
            Role::Client(client) => {
                connection.write(client.request_bytes);
                (client.asked, client.asked_at) = (1, now);
                self.next_mark = client.response_bytes;
            }
            Role::Sink { .. } | Role::Server { .. } => {}
        }
        self.connection = Some(connection);
        self.drain(network, 0)
    }

    /// A segment has arrived.
    #[inline(always)] // Nearly every packet of most experiments comes this way.
    pub fn receive(&mut self, network: &mut Network, segment: &SegmentIn, stream_offset: u64) -> Notes {
        match &mut self.connection {
            Some(connection) => connection.handle_segment(network.now, segment),
            None => return self.receive_closed(network, segment),
        }
        self.drain(network, stream_offset)
    }

    /// A segment for a connection that is not there: a SYN opens it on the listening side, anything else is refused.
    #[cold]
    fn receive_closed(&mut self, network: &mut Network, segment: &SegmentIn) -> Notes {
        let flags = segment.header.flags;
        let listens = matches!(self.role, Role::Sink { .. } | Role::Server { .. });
        let opens = flags.contains(TcpFlags::SYN) && !flags.intersects(TcpFlags::ACK | TcpFlags::RST);
        if !(listens && opens) {
            if let Some(reset) = reset_for(segment) {
                network.inject_segment(&self.site, &reset);
            }
            return Notes::default();
        }
        let setup = &self.setup;
        let config = Arc::clone(&setup.config);
        let mut connection = Connection::accept(config, &segment.header, setup.initial_sequence, network.now);
        if let Some(door) = &setup.custom.door {
            connection.set_order_watch(Box::new(Door::new(door.clone())));
        }
        self.connection = Some(connection);
        self.drain(network, 0)
    }

    /// A segment has arrived damaged: only an end that marks its ACKs draws conclusions.
    #[cold]
    pub fn receive_damaged(&mut self, segment: &SegmentIn) {
        if let Some(marker) = self.extras.as_mut().and_then(|extras| extras.marker.as_mut()) {
            marker.damaged(&segment.header, segment.payload_bytes);
        }
    }

    /// The timer event fired at `network.now`.
    pub fn fire(&mut self, network: &mut Network) -> Notes {
        self.armed = Instant::MAX;
        self.speak_of_handoff(network);
        let Some(connection) = &mut self.connection else { return Notes::default() };
        expire(connection, network.now);
        self.drain(network, 0)
    }

    /// After one mutation: carries segments and events away and re-arms the timer.
    #[inline]
    fn drain(&mut self, network: &mut Network, arriving_offset: u64) -> Notes {
        let Some(connection) = &mut self.connection else { return Notes::default() };
        let now = network.now;
        let (site, extras) = (&self.site, self.extras.as_deref_mut());
        let mut carrier = Carrier { network, site, notes: Notes::default(), extras, arriving_offset };
        let deadline = drive(connection, now, &mut carrier);
        let notes = carrier.notes;
        if let Some(observer) = &mut network.observer
            && matches!(self.role, Role::Source { .. } | Role::Writer { .. } | Role::Server { .. })
        {
            observer.window(now, site.flow, &connection.engine().metrics());
        }
        let notice = self.extras.as_ref().and_then(|extras| extras.notifier.as_ref()?.deadline());
        self.arm(network, Deadline::earliest(deadline, notice));
        notes
    }

    /// The host has another link: a receiver tells its peer, a sender draws its own conclusions.
    pub fn hand_over(&mut self, network: &mut Network, bandwidth: Option<Rate>) {
        match (self.extras.as_mut().and_then(|extras| extras.notifier.as_mut()), &mut self.connection) {
            (Some(host), Some(_)) => {
                host.handoff_complete(network.now, bandwidth);
                self.speak_of_handoff(network);
            }
            (None, Some(connection)) => {
                connection.handle_own_handoff(network.now, bandwidth);
                self.drain(network, 0);
            }
            (_, None) => {}
        }
    }

    /// Sends a notice of a handoff, if one is due.
    fn speak_of_handoff(&mut self, network: &mut Network) {
        let notifier = self.extras.as_mut().and_then(|extras| extras.notifier.as_mut());
        let due = notifier.and_then(|host| host.poll_notice(network.now));
        if let Some((notice, connection)) = due.zip(self.connection.as_mut()) {
            connection.announce_handoff(notice);
            // An ACK alone leaves; nothing happens that the application would have to know.
            self.drain(network, 0);
        }
    }

    #[inline]
    fn arm(&mut self, network: &mut Network, deadline: Option<Deadline>) {
        if let Some(at) = deadline.map(|deadline| deadline.at).filter(|&at| at < self.armed) {
            self.armed = at.max(network.now);
            network.queue.push(self.armed, Target::Endpoint(self.site.own));
        }
    }

    /// True when the application has nothing to do about `notes`.
    #[inline]
    pub fn is_quiet(&self, notes: &Notes) -> bool {
        notes.readable < self.next_mark && notes.is_quiet()
    }

    /// Whether the connection can still carry data.
    pub fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.state() != State::Closed)
    }

    /// Uses the connection as `action` says, then drains it.
    pub fn with_connection(&mut self, network: &mut Network, action: impl FnOnce(&mut Connection)) -> Notes {
        if let Some(connection) = &mut self.connection {
            action(connection);
        }
        self.drain(network, 0)
    }

    /// The key of the packets that this end sends.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey {
            source: address(self.site.node),
            destination: address(self.site.peer_node),
            source_port: self.setup.local_port,
            destination_port: self.setup.remote_port,
            protocol: prismux_wire::ip::protocol::TCP,
        }
    }

    /// In-order bytes received.
    pub fn received(&self) -> u64 {
        self.connection.as_ref().map_or(0, Connection::bytes_received_in_order)
    }
}
