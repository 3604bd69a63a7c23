//! Our side: one connection behind a TUN device.
use crate::content;
use crate::path::Path;
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Deadline, Endpoint, expire};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Wake};
use prismux_linux::tun::Tun;
use prismux_tcp::{
    ByteConnection, Connection, Listener, ListenerEvent, SegmentIn, SegmentOut, State, TcpConfig, reset_for,
};
use prismux_tcp_door::{Door, DoorConfig};
use prismux_units::{Duration, Instant};
use prismux_wire::{FlowKey, IpHeader, SeqNumber, TcpPacket, emit_tcp_packet};
use std::io::ErrorKind;
use std::net::IpAddr;

const MTU: usize = 1500;
const SEND_BUFFER_BYTES: usize = 4 << 20;
const BATCH: usize = 64;
/// Real time after which a transfer has failed: so much, and so much more for every byte.
const LIMIT: Duration = Duration::from_secs(30);
const LIMIT_PER_BYTE: Duration = Duration::from_micros(5);

/// What the transfer is.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub ours: IpAddr,
    pub kernel: IpAddr,
    pub kernel_port: u16,
    pub our_port: u16,
    pub to_write: u64,
    pub to_read: u64,
    pub impaired: bool,
    /// With TCP-DOOR, whose option the kernel does not know.
    pub door: bool,
    pub seed: Seed,
}

pub struct Host {
    plan: Plan,
    config: TcpConfig,
    tun: Tun,
    clock: Clock,
    listener: Listener,
    tcp: Option<ByteConnection>,
    to_kernel: Path,
    from_kernel: Path,
    written: u64,
    read: u64,
    bad_checksums: u64,
    buffer: Vec<u8>,
}

impl Host {
    pub fn new(plan: Plan, config: TcpConfig, tun: Tun) -> Self {
        Self {
            tun,
            clock: Clock::start(),
            listener: Listener::new(config.clone(), 8, plan.seed.0),
            config,
            tcp: None,
            to_kernel: Path::new(plan.impaired, plan.seed, "to-kernel"),
            from_kernel: Path::new(plan.impaired, plan.seed, "from-kernel"),
            written: 0,
            read: 0,
            bad_checksums: 0,
            buffer: vec![0; 1 << 16],
            plan,
        }
    }

    pub fn connect(&mut self) {
        let initial = SeqNumber(self.plan.seed.stream("initial").next_u64() as u32);
        let (ours, theirs) = (self.plan.our_port, self.plan.kernel_port);
        let mut connection =
            Connection::connect(self.config.clone(), ours, theirs, initial, self.clock.now());
        if self.plan.door {
            connection.set_order_watch(Box::new(Door::new(DoorConfig::guarded())));
        }
        self.tcp = Some(ByteConnection::new(connection, SEND_BUFFER_BYTES));
    }

    /// Runs until both directions are closed; returns how long that took.
    pub fn run(&mut self) -> std::io::Result<Duration> {
        let mut events = EventLoop::new(self.clock, StopHandle::new()?)?;
        events.watch(&self.tun, 0)?;
        let mut ready = Vec::new();
        let limit = LIMIT + LIMIT_PER_BYTE * (self.plan.to_write + self.plan.to_read);
        while !self.is_done() {
            let now = self.clock.now();
            assert!(now - Instant::ZERO < limit, "not over after {limit}: {}", self.describe());
            let busy = self.read_tun(now)?;
            while let Some(packet) = self.from_kernel.receive(now) {
                self.receive(now, &packet);
                self.application();
                self.drain(now)?;
            }
            self.handle_timeouts(now);
            self.application();
            self.drain(now)?;
            if !busy && events.wait(self.deadline(), &mut ready)? == Wake::Stop {
                break;
            }
        }
        Ok(self.clock.now() - Instant::ZERO)
    }

    /// The kernel's end is closed when its thread ends; ours in TIME-WAIT or CLOSED, with everything drained.
    fn is_done(&self) -> bool {
        let state = self.tcp.as_ref().map(ByteConnection::state);
        matches!(state, Some(State::TimeWait | State::Closed)) && self.to_kernel.next_wakeup().is_none()
    }

    fn deadline(&self) -> Option<Instant> {
        let tcp = self.tcp.as_ref().and_then(Endpoint::poll_timeout);
        let timers = Deadline::earliest(tcp, self.listener.poll_timeout()).map(|d| d.at);
        let links = self.to_kernel.next_wakeup().into_iter().chain(self.from_kernel.next_wakeup());
        // Awake now and then, so that a transfer that hangs is noticed.
        let check = self.clock.now() + Duration::from_secs(1);
        timers.into_iter().chain(links).chain([check]).min()
    }

    fn read_tun(&mut self, now: Instant) -> std::io::Result<bool> {
        for _ in 0..BATCH {
            match self.tun.read(&mut self.buffer) {
                Ok(count) => self.from_kernel.send(now, &self.buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn receive(&mut self, now: Instant, bytes: &[u8]) {
        let Ok(packet) = TcpPacket::parse(bytes) else { return };
        if packet.verify_checksum(bytes).is_err() {
            self.bad_checksums += 1;
            return;
        }
        let (header, payload) = (packet.header, packet.payload(bytes));
        let segment = SegmentIn { header, payload_bytes: packet.payload_bytes(), ecn: packet.ip.header.ecn };
        let flow = packet.flow();
        if (flow.destination, flow.destination_port) != (self.plan.ours, self.plan.our_port) {
            return;
        }
        match &mut self.tcp {
            Some(tcp) if tcp.connection().remote_port() == header.source_port => {
                tcp.handle_input(now, (segment, payload));
            }
            Some(_) => {
                if let Some(reset) = reset_for(&segment) {
                    self.emit(now, &reset, &[]);
                }
            }
            None => self.listen(now, flow, segment, payload),
        }
    }

    fn listen(&mut self, now: Instant, flow: FlowKey, segment: SegmentIn, payload: &[u8]) {
        self.listener.handle_input(now, (flow, segment));
        while let Some(ListenerEvent::Accepted { connection, .. }) = self.listener.poll_event() {
            let mut tcp = ByteConnection::new(*connection, SEND_BUFFER_BYTES);
            tcp.take_first_payload(payload);
            self.tcp = Some(tcp);
        }
    }

    fn handle_timeouts(&mut self, now: Instant) {
        expire(&mut self.listener, now);
        if let Some(tcp) = &mut self.tcp {
            expire(tcp, now);
        }
    }

    /// Writes what fits, reads what came, closes after the last byte.
    fn application(&mut self) {
        let Some(tcp) = &mut self.tcp else { return };
        let status = tcp.status();
        assert!(!status.reset && !status.timed_out, "{status:?}");
        while self.written < self.plan.to_write && tcp.room() > 0 {
            let left = (self.plan.to_write - self.written).min(self.buffer.len() as u64) as usize;
            let count = left.min(tcp.room());
            content::fill(self.written, &mut self.buffer[..count]);
            self.written += tcp.write(&self.buffer[..count]) as u64;
        }
        loop {
            let count = tcp.read(&mut self.buffer);
            if count == 0 {
                break;
            }
            content::check(self.read, &self.buffer[..count]);
            self.read += count as u64;
        }
        if self.written == self.plan.to_write && status.connected && !tcp.connection().is_closing() {
            tcp.close();
        }
    }

    fn drain(&mut self, now: Instant) -> std::io::Result<()> {
        while let Some((_, segment)) = self.listener.poll_transmit(now) {
            self.emit(now, &segment, &[]);
        }
        let mut payload = [0; MTU];
        while let Some(segment) = self.tcp.as_mut().and_then(|tcp| tcp.poll_transmit(now)) {
            let tcp = self.tcp.as_ref().expect("it has just sent");
            let bytes = tcp.payload(&segment, &mut payload).expect("what is sent is held").to_vec();
            self.emit(now, &segment, &bytes);
        }
        while let Some(packet) = self.to_kernel.receive(now) {
            match self.tun.write(&packet) {
                // The kernel's queue is full, or a flipped bit made it something that is not IP.
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::InvalidInput) => {}
                result => result?,
            }
        }
        Ok(())
    }

    fn emit(&mut self, now: Instant, segment: &SegmentOut, payload: &[u8]) {
        let ip = IpHeader {
            source: self.plan.ours,
            destination: self.plan.kernel,
            protocol: 6,
            dscp: 0,
            ecn: segment.ecn,
            hop_limit: 64,
            identification: 0,
            dont_fragment: true,
            flow_label: 0,
        };
        let mut packet = [0; MTU];
        let length = emit_tcp_packet(&ip, &segment.header, payload, &mut packet).expect("a packet that fits");
        self.to_kernel.send(now, &packet[..length]);
    }

    /// Everything we know, for reports and failures.
    pub fn describe(&self) -> String {
        let metrics = self.tcp.as_ref().map(|tcp| tcp.connection().metrics());
        format!(
            "wrote {}, read {}, {} bad checksums\nto kernel: {}\nfrom kernel: {}\n{metrics:#?}",
            self.written,
            self.read,
            self.bad_checksums,
            self.to_kernel.describe(),
            self.from_kernel.describe()
        )
    }

    /// What TCP-DOOR has seen, if it takes part.
    pub fn door(&self) -> Option<&Door> {
        self.tcp.as_ref()?.connection().order_watch()
    }

    pub fn read_bytes(&self) -> u64 {
        self.read
    }

    pub fn bad_checksums(&self) -> u64 {
        self.bad_checksums
    }
}
