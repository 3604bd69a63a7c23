//! An application that stripes over several ordinary TCP connections, on a simulated host.
use crate::core::ids::{NodeId, PortId};
use crate::core::packet::{Body, Packet};
use crate::core::site::Site;
use crate::flows::application::{ENDLESS, Notes};
use crate::flows::context::{FlowContext, packet};
use crate::flows::pipes::PipesRole;
use crate::network::Network;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Alarm, Deadline, Endpoint as _, Host, drive, expire};
use prismux_striping::{Policy, Receiver, RecordHeader, Sender, Sockets};
use prismux_tcp::loss_notification::{LossListener, LossMarker};
use prismux_tcp::{Connection, SegmentIn, SegmentOut, State, TcpConfig, TcpEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::{SeqNumber, TcpFlags};
use std::collections::VecDeque;
use std::sync::Arc;

/// A record in a socket's stream. The simulator carries no bytes: this is what its header would say.
pub(super) type Record = RecordHeader;

/// What it takes to open the connections.
#[derive(Debug)]
pub(super) struct StripingSetup {
    pub tcp: Vec<Arc<TcpConfig>>,
    pub policy: Policy,
    pub resequencing_buffer: u64,
    pub estimate_every: Option<Duration>,
    pub loss_notification: bool,
    /// Own and other address of each.
    pub sockets: Vec<(NodeId, NodeId)>,
    /// The link directions that a smart sender's rates are those of.
    pub rates_of: Vec<PortId>,
    /// Port of the opening side of the first connection; the others follow. Port of the other side.
    pub first_port: u16,
    pub far_port: u16,
    pub numbers: RandomStream,
}

/// One end of a striped flow.
#[derive(Debug)]
pub(super) struct StripingEndpoint {
    /// Its number among the ends of its flow.
    number: usize,
    alarm: Alarm,
    /// Delivered bytes at which the application wants to know.
    pub next_mark: u64,
    pub role: PipesRole,
    setup: StripingSetup,
    sockets: Vec<Option<Connection>>,
    /// Mark ACKs that wait for damaged segments, by socket; unused without loss notification.
    markers: Vec<LossMarker>,
    sender: Sender,
    receiver: Receiver,
    /// When the next estimate is due.
    estimate_at: Option<Instant>,
    /// Sockets that the peer has closed.
    peer_closed: Vec<bool>,
    closing: bool,
}

/// The sockets as the receiving application sees them.
struct View<'a> {
    sockets: &'a mut [Option<Connection>],
    records: &'a mut [VecDeque<Record>],
}

impl Sockets for View<'_> {
    fn count(&self) -> usize {
        self.sockets.len()
    }

    fn peek(&self, socket: usize) -> Option<RecordHeader> {
        let connection = self.sockets[socket].as_ref()?;
        let record = self.records.get(socket)?.front()?;
        (connection.bytes_readable() >= record.record_bytes()).then_some(*record)
    }
}

/// Carries a connection's segments into the network.
struct Carrier<'a> {
    network: &'a mut Network,
    site: Site,
    from: NodeId,
    to: NodeId,
    marker: &'a mut LossMarker,
    peer_closed: bool,
}

impl Host<Connection> for Carrier<'_> {
    fn transmit(&mut self, now: Instant, mut segment: SegmentOut) {
        self.marker.mark(&mut segment.header);
        let SegmentOut { header, stream_offset, .. } = segment;
        let body = Body::Tcp { header, stream_offset, sent_at: now };
        let (source, destination) = (self.from, self.to);
        let packet = packet(&self.site, body, segment.payload_bytes, segment.ecn);
        let exit = self.network.direct_exit(source, destination);
        self.network.inject(source, exit, Packet { source, destination, ..packet });
    }

    fn event(&mut self, _now: Instant, event: TcpEvent) {
        self.peer_closed |= event == TcpEvent::PeerClosed;
    }
}

impl StripingEndpoint {
    pub fn new(number: usize, role: PipesRole, setup: StripingSetup) -> Self {
        let count = setup.sockets.len();
        let record_bytes = setup.tcp.iter().map(|tcp| tcp.mss).min().unwrap_or(536);
        Self {
            number,
            alarm: Alarm::new(),
            next_mark: u64::MAX,
            role,
            sockets: (0..count).map(|_| None).collect(),
            markers: vec![LossMarker::default(); count],
            sender: Sender::new(setup.policy, count.max(1), u32::from(record_bytes)),
            receiver: Receiver::new(setup.resequencing_buffer),
            estimate_at: None,
            peer_closed: vec![false; count],
            closing: false,
            setup,
        }
    }

    /// Opens all connections.
    pub fn open(&mut self, context: &mut FlowContext<'_>, records: &mut Vec<VecDeque<Record>>) -> Notes {
        records.resize(self.sockets.len(), VecDeque::new());
        let now = context.now();
        for (index, socket) in self.sockets.iter_mut().enumerate() {
            let iss = SeqNumber(self.setup.numbers.next_u64() as u32);
            let (near, far) = (self.setup.first_port + index as u16, self.setup.far_port);
            let mut connection = Connection::connect(Arc::clone(&self.setup.tcp[index]), near, far, iss, now);
            if self.setup.loss_notification {
                connection.set_extension(Box::new(LossListener));
            }
            *socket = Some(connection);
        }
        if let PipesRole::Source { bytes } = self.role {
            self.sender.give(bytes);
        }
        self.estimate(context);
        self.drain(context, records)
    }

    /// A segment has arrived: for which socket, its port says.
    pub fn receive(
        &mut self,
        context: &mut FlowContext<'_>,
        records: &mut [VecDeque<Record>],
        segment: SegmentIn,
    ) -> Notes {
        let sink = self.role == PipesRole::Sink;
        let port = if sink { segment.header.source_port } else { segment.header.destination_port };
        let index = usize::from(port.wrapping_sub(self.setup.first_port));
        let flags = segment.header.flags;
        let opens = flags.contains(TcpFlags::SYN) && !flags.contains(TcpFlags::ACK);
        match self.sockets.get_mut(index) {
            Some(Some(connection)) => connection.handle_input(context.now(), segment),
            Some(socket @ None) if sink && opens => {
                let iss = SeqNumber(self.setup.numbers.next_u64() as u32);
                let config = Arc::clone(&self.setup.tcp[index]);
                *socket = Some(Connection::accept(config, &segment.header, iss, context.now()));
            }
            _ => return Notes::default(),
        }
        self.drain(context, records)
    }

    /// A segment of the sender has arrived damaged.
    pub fn receive_damaged(&mut self, segment: &SegmentIn) {
        let index = usize::from(segment.header.source_port.wrapping_sub(self.setup.first_port));
        if let Some(marker) = self.markers.get_mut(index).filter(|_| self.setup.loss_notification) {
            marker.damaged(&segment.header, segment.payload_bytes);
        }
    }

    /// A timer has fired, unless it is a leftover.
    pub fn fire(&mut self, context: &mut FlowContext<'_>, records: &mut [VecDeque<Record>]) -> Notes {
        if !self.alarm.rings(context.now()) {
            return Notes::default();
        }
        for connection in self.sockets.iter_mut().flatten() {
            expire(connection, context.now());
        }
        if self.estimate_at.is_some_and(|at| at <= context.now()) {
            self.estimate(context);
        }
        self.drain(context, records)
    }

    /// Tells the sender the true rates of the links.
    fn estimate(&mut self, context: &FlowContext<'_>) {
        let rate = |port: &PortId| {
            context.network.ports[port.index()].link.rate().map_or(1e12, |rate| rate.as_bps() as f64)
        };
        let rates: Vec<f64> = self.setup.rates_of.iter().map(rate).collect();
        self.sender.estimate(&rates);
        self.estimate_at = self.setup.estimate_every.map(|every| context.now() + every);
    }

    /// The application reads and writes what it can; then every connection is drained.
    fn drain(&mut self, context: &mut FlowContext<'_>, records: &mut [VecDeque<Record>]) -> Notes {
        let before = self.receiver.delivered();
        match self.role {
            PipesRole::Source { .. } => self.write(records),
            PipesRole::Sink => self.read(records),
        }
        let mut next: Option<Deadline> = None;
        for index in 0..self.sockets.len() {
            let (from, to) = self.setup.sockets[index];
            let Some(connection) = &mut self.sockets[index] else { continue };
            let (now, site) = (context.now(), context.sites[self.number]);
            let (network, marker) = (&mut *context.network, &mut self.markers[index]);
            let mut carrier = Carrier { network, site, from, to, marker, peer_closed: false };
            next = Deadline::earliest(next, drive(connection, now, &mut carrier));
            self.peer_closed[index] |= carrier.peer_closed;
        }
        let estimate = self.estimate_at.map(|at| Deadline { at, why: "estimate" });
        next = Deadline::earliest(next, estimate);
        if let Some(at) = self.alarm.set(context.now(), next) {
            context.wake(self.number, at);
        }
        let delivered = self.receiver.delivered();
        Notes {
            readable: if delivered > before { delivered } else { 0 },
            peer_closed: !self.closing && self.peer_closed.iter().all(|closed| *closed),
            ..Notes::default()
        }
    }

    /// Writes records as long as sockets take them, then closes if that was all.
    fn write(&mut self, records: &mut [VecDeque<Record>]) {
        let room = |socket: &Option<Connection>| {
            let open = socket.as_ref().filter(|tcp| tcp.state() >= State::Established);
            let buffer = |tcp: &Connection| tcp.config().receive_buffer.as_u64();
            open.map_or(0, |tcp| buffer(tcp).saturating_sub(tcp.stream_written() - tcp.stream_acked()))
        };
        while let Some(write) = self.sender.poll_write(|socket| room(&self.sockets[socket])) {
            if let Some(connection) = &mut self.sockets[write.socket] {
                connection.write(write.header.record_bytes());
            }
            records[write.socket].push_back(write.header);
        }
        let finite = matches!(self.role, PipesRole::Source { bytes } if bytes < ENDLESS);
        if finite && self.sender.is_done() && !self.closing {
            self.close();
        }
    }

    /// Reads what may be read.
    fn read(&mut self, records: &mut [VecDeque<Record>]) {
        let mut view = View { sockets: &mut self.sockets, records };
        self.receiver.run(&mut view, |view, read| {
            view.records[read.socket].pop_front();
            if let Some(connection) = &mut view.sockets[read.socket] {
                connection.read(read.header.record_bytes());
            }
        });
    }

    /// Closes every connection.
    pub fn close(&mut self) {
        self.closing = true;
        for connection in self.sockets.iter_mut().flatten() {
            connection.close();
        }
    }

    /// The peer has closed: so does this end.
    pub fn close_and_drain(
        &mut self,
        context: &mut FlowContext<'_>,
        records: &mut [VecDeque<Record>],
    ) -> Notes {
        self.close();
        self.drain(context, records)
    }

    /// Cuts every connection off.
    pub fn abort(&mut self, context: &mut FlowContext<'_>) {
        self.closing = true;
        for connection in self.sockets.iter_mut().flatten() {
            connection.abort();
        }
        self.sender = Sender::new(self.setup.policy, self.sockets.len().max(1), 1000);
        self.drain(context, &mut []);
    }

    /// Bytes delivered in order.
    pub fn received(&self) -> u64 {
        self.receiver.delivered()
    }

    /// The connections, by link.
    pub fn connections(&self) -> impl Iterator<Item = Option<&Connection>> {
        self.sockets.iter().map(Option::as_ref)
    }

    /// The addresses of socket `index`, this end's first.
    pub fn addresses(&self, index: usize) -> (NodeId, NodeId) {
        self.setup.sockets[index]
    }
}
