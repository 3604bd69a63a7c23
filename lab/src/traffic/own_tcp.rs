//! A sender that is prismux's own TCP, with TCP-PRISM, behind a TUN device of its node.
use super::content::Content;
use super::tcp::Sent;
use super::tcp_info::TcpInfo;
use super::window_watch::WindowWatch;
use super::{Schedule, WAIT};
use crate::fabric::LINK_MTU_BYTES;
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_linux::event_loop::{BATCH_PACKETS, EventLoop, StopHandle};
use prismux_linux::process;
use prismux_linux::tun::Tun;
use prismux_prism::TcpPrism;
use prismux_tcp::{ByteConnection, Listener, ListenerEvent, SegmentIn, SegmentOut, State, TcpConfig};
use prismux_trace::event::SharedLog;
use prismux_units::{Duration, Instant};
use prismux_wire::ip::protocol;
use prismux_wire::{FlowKey, IpHeader, TcpPacket, emit_tcp_packet};
use std::io;
use std::net::{IpAddr, SocketAddrV4};

/// Bytes that may be unacknowledged: more than any window here.
const SEND_BUFFER_BYTES: usize = 16 << 20;

/// Bytes that the application hands over at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Where the flow's own TCP lives and what it is to send.
pub(crate) struct OwnTcp {
    pub flow: String,
    pub seed: Seed,
    pub schedule: Schedule,
    pub tcp: TcpConfig,
    pub tun: Tun,
    pub address: SocketAddrV4,
    pub bytes: Option<u64>,
    pub sample_interval: Option<Duration>,
    /// Where the windows go as events.
    pub events: Option<SharedLog>,
}

/// The host of one listening, then connected, endpoint.
struct Host<'a> {
    orders: &'a OwnTcp,
    listener: Listener,
    connection: Option<ByteConnection>,
    /// From the peer to us, once there is a connection.
    flow: Option<FlowKey>,
    content: Content,
    unwritten: u64,
    piece: Vec<u8>,
    pending: std::ops::Range<usize>,
    packet: Vec<u8>,
    sent: Sent,
    next_sample: Instant,
    watch: WindowWatch<'a>,
}

impl OwnTcp {
    /// Answers the receiver's call, sends everything and stays until it is acknowledged. Takes the calling thread for
    /// itself.
    pub(super) fn run(&self) -> io::Result<Sent> {
        // A host of its own, whose kernel would answer as packets arrive, whatever programs run beside.
        process::prefer_this_thread(process::CARRIER_PRIORITY);
        let mut events = EventLoop::new(self.schedule.clock, StopHandle::new()?)?;
        events.watch(&self.tun, 0)?;
        let mut host = Host::new(self);
        let mut ready = Vec::new();
        while !self.schedule.is_over() && !host.is_done() {
            let busy = host.read_tun()?;
            host.handle_timeouts();
            host.write();
            host.drain()?;
            host.sample();
            if !busy {
                let check = self.schedule.now() + Duration::from_nanos(WAIT.as_nanos() as u64);
                let deadline = host.deadline().map_or(check, |at| at.min(check));
                // A stop comes by the schedule alone.
                let _ = events.wait(Some(deadline), &mut ready)?;
            }
        }
        host.finish()
    }
}

impl<'a> Host<'a> {
    fn new(orders: &'a OwnTcp) -> Self {
        let secret = orders.seed.stream(&format!("flow/{}/secret", orders.flow)).next_u64();
        Self {
            listener: Listener::new(orders.tcp.clone(), 8, secret),
            connection: None,
            flow: None,
            content: Content::new(orders.seed, &orders.flow),
            unwritten: orders.bytes.unwrap_or(u64::MAX),
            piece: vec![0; PIECE_BYTES],
            pending: 0..0,
            packet: vec![0; LINK_MTU_BYTES as usize],
            sent: Sent::default(),
            next_sample: orders.schedule.start,
            watch: WindowWatch::new(orders.events.clone(), &orders.flow, orders.schedule.stop),
            orders,
        }
    }

    fn now(&self) -> Instant {
        self.orders.schedule.now()
    }

    /// True when the connection has ended.
    fn is_done(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            let status = connection.status();
            // In TIME-WAIT only our own patience is left.
            status.closed || status.reset || status.timed_out || connection.state() == State::TimeWait
        })
    }

    /// Reads a batch; true if there may be more.
    fn read_tun(&mut self) -> io::Result<bool> {
        let mut packet = std::mem::take(&mut self.packet);
        let mut more = true;
        for _ in 0..BATCH_PACKETS {
            match self.orders.tun.read(&mut packet) {
                Ok(length) => {
                    self.receive(&packet[..length]);
                    self.drain_into(&mut packet)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    more = false;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.packet = packet;
        Ok(more)
    }

    fn receive(&mut self, bytes: &[u8]) {
        let Ok(packet) = TcpPacket::parse(bytes) else { return };
        // Damaged packets are the business of the links; here they are lost, as everywhere.
        if packet.verify_checksum(bytes).is_err() {
            return;
        }
        let (now, flow) = (self.now(), packet.flow());
        let here = self.orders.address;
        if (flow.destination, flow.destination_port) != (IpAddr::V4(*here.ip()), here.port()) {
            return;
        }
        let segment = SegmentIn {
            header: packet.header,
            payload_bytes: packet.payload_bytes(),
            ecn: packet.ip.header.ecn,
        };
        if let Some(connection) = self.connection.as_mut().filter(|_| self.flow == Some(flow)) {
            connection.handle_input(now, (segment, packet.payload(bytes)));
            return;
        }
        self.listener.handle_input(now, (flow, segment));
        while let Some(ListenerEvent::Accepted { flow, mut connection, .. }) = self.listener.poll_event() {
            if self.connection.is_some() {
                continue;
            }
            connection.set_extension(Box::new(TcpPrism::new()));
            let mut connection = ByteConnection::new(*connection, SEND_BUFFER_BYTES);
            connection.take_first_payload(packet.payload(bytes));
            self.connection = Some(connection);
            self.flow = Some(flow);
        }
    }

    fn handle_timeouts(&mut self) {
        let now = self.now();
        let due = |deadline: Option<Deadline>| deadline.is_some_and(|deadline| deadline.at <= now);
        if due(self.listener.poll_timeout()) {
            self.listener.handle_timeout(now);
        }
        if let Some(connection) = self.connection.as_mut().filter(|connection| due(connection.poll_timeout()))
        {
            connection.handle_timeout(now);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let connection = self.connection.as_ref().and_then(Endpoint::poll_timeout);
        Deadline::earliest(connection, self.listener.poll_timeout()).map(|deadline| deadline.at)
    }

    /// The application: writes what fits, closes after the last byte.
    fn write(&mut self) {
        let Some(connection) = self.connection.as_mut().filter(|connection| connection.status().connected)
        else {
            return;
        };
        while connection.room() > 0 && (self.unwritten > 0 || !self.pending.is_empty()) {
            if self.pending.is_empty() {
                let count = PIECE_BYTES.min(usize::try_from(self.unwritten).unwrap_or(usize::MAX));
                self.content.fill(&mut self.piece[..count]);
                self.pending = 0..count;
                self.unwritten -= count as u64;
            }
            let written = connection.write(&self.piece[self.pending.clone()]);
            if written == 0 {
                break;
            }
            self.pending.start += written;
        }
        if self.unwritten == 0 && self.pending.is_empty() && !connection.connection().is_closing() {
            connection.close();
        }
    }

    fn drain(&mut self) -> io::Result<()> {
        let mut packet = std::mem::take(&mut self.packet);
        let result = self.drain_into(&mut packet);
        self.packet = packet;
        result
    }

    /// Sends everything that wants to leave, building packets in `packet`.
    fn drain_into(&mut self, packet: &mut [u8]) -> io::Result<()> {
        let now = self.now();
        while let Some((flow, segment)) = self.listener.poll_transmit(now) {
            self.emit(flow, &segment, &[], packet)?;
        }
        let Some(to_peer) = self.flow.map(FlowKey::reversed) else { return Ok(()) };
        let mut payload = [0; LINK_MTU_BYTES as usize];
        while let Some(segment) =
            self.connection.as_mut().and_then(|connection| connection.poll_transmit(now))
        {
            let held =
                self.connection.as_ref().and_then(|connection| connection.payload(&segment, &mut payload));
            let held = held.ok_or_else(|| io::Error::other("a segment whose bytes are not held"))?;
            self.emit(to_peer, &segment, held, packet)?;
        }
        Ok(())
    }

    fn emit(&self, flow: FlowKey, segment: &SegmentOut, payload: &[u8], packet: &mut [u8]) -> io::Result<()> {
        let ip = IpHeader {
            source: flow.source,
            destination: flow.destination,
            protocol: protocol::TCP,
            dscp: 0,
            ecn: segment.ecn,
            hop_limit: 64,
            identification: 0,
            dont_fragment: true,
            flow_label: 0,
        };
        let length = emit_tcp_packet(&ip, &segment.header, payload, packet)
            .map_err(|error| io::Error::other(format!("a segment that cannot be sent: {error:?}")))?;
        match self.orders.tun.write(&packet[..length]) {
            // As good as lost on the way.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    fn info(&self) -> Option<TcpInfo> {
        let connection = self.connection.as_ref()?.connection();
        let engine = connection.metrics().engine;
        let seconds = |duration: Option<Duration>| duration.map_or(0.0, Duration::as_secs_f64);
        Some(TcpInfo {
            cwnd_bytes: engine.cwnd_bytes,
            ssthresh_bytes: Some(engine.ssthresh_bytes).filter(|&bytes| bytes != u64::MAX),
            in_flight_bytes: engine.outstanding_bytes,
            srtt_s: seconds(engine.srtt),
            min_rtt_s: seconds(engine.min_rtt),
            retransmitted_segments: engine.counters.retransmitted_segments,
            spurious_retransmissions: Some(engine.counters.spurious_retransmissions),
            timeouts: Some(engine.counters.timeouts),
            acknowledged_bytes: connection.stream_acked(),
            ..TcpInfo::default()
        })
    }

    /// Notes window and round trip once per interval.
    fn sample(&mut self) {
        let now = self.now();
        let info = self.info();
        self.watch.look(now, || info.map(|info| vec![info]));
        let Some(interval) = self.orders.sample_interval else { return };
        let Some(info) = self.info().filter(|_| now >= self.next_sample) else { return };
        while self.next_sample <= now {
            self.sent.samples.push((info.cwnd_bytes, info.srtt()));
            self.next_sample += interval;
        }
    }

    fn finish(mut self) -> io::Result<Sent> {
        self.sent.infos = self.info().into_iter().collect();
        let Some(connection) = &mut self.connection else { return Ok(self.sent) };
        let status = connection.status();
        if status.reset || status.timed_out {
            self.sent.trouble = Some(format!(
                "sender: the connection was {}",
                if status.reset { "reset" } else { "given up" }
            ));
        }
        if !status.closed {
            connection.abort();
            self.drain()?;
        }
        Ok(self.sent)
    }
}
