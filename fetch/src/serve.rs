//! `prismux serve` on Linux: one loop over all sockets.
use crate::directory::Directory;
use crate::key::ServerKey;
use crate::os_entropy;
use crate::server::{Counters, Received, Server, ServerConfig, Transmit};
use crate::socket::{self, UdpPort};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_linux::batch::BatchReceiver;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Wake};
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Batches taken from one socket before the others get their turn.
const BATCHES_AT_ONCE: usize = 4;

/// What is served, where, and how.
#[derive(Debug)]
pub struct ServeConfig {
    /// Addresses to listen at, each with a socket of its own.
    pub listen: Vec<SocketAddr>,
    /// The server's key.
    pub key: ServerKey,
    /// Limits.
    pub server: ServerConfig,
    /// How often the observer is told.
    pub report_every: Duration,
}

/// A socket and the server behind it.
struct Port {
    socket: UdpPort,
    local: SocketAddr,
    server: Server<Directory>,
}

/// A server that is bound and not running yet.
pub struct Serving {
    event_loop: EventLoop,
    ports: Vec<Port>,
    addresses: Vec<SocketAddr>,
    report_every: Duration,
}

impl Serving {
    /// Binds all addresses. Ends with `stop`, and on SIGINT and SIGTERM if `on_signals`
    /// (see [`prismux_linux::event_loop::block_stop_signals`]).
    ///
    /// # Errors
    /// With the address that cannot be listened at.
    pub fn bind(
        config: &ServeConfig,
        directory: &Directory,
        stop: StopHandle,
        on_signals: bool,
    ) -> io::Result<Self> {
        let mut event_loop = EventLoop::new(Clock::start(), stop)?;
        if on_signals {
            event_loop.stop_on_signals()?;
        }
        allow_many_files();
        let (mut ports, mut addresses) = (Vec::new(), Vec::new());
        for &listen in &config.listen {
            let port = UdpPort::listen(listen).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot listen at {listen}: {error}"))
            })?;
            event_loop.watch(&port, ports.len() as u64)?;
            addresses.push(port.local_address()?);
            let server = Server::new(config.key.clone(), config.server, directory.clone(), os_entropy());
            ports.push(Port { socket: port, local: addresses[ports.len()], server });
        }
        Ok(Self { event_loop, ports, addresses, report_every: config.report_every })
    }

    /// Where it listens, ports chosen by the kernel included.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Serves until it is told to stop, then closes all sessions. Returns the counters over all sockets.
    ///
    /// # Errors
    /// When waiting or receiving fails for good.
    pub fn run(mut self, mut observer: impl FnMut(&Counters)) -> io::Result<Counters> {
        let (mut batch, mut ready) = (socket::batch(), Vec::new());
        let clock = self.event_loop.clock();
        let mut report_at = clock.now() + self.report_every;
        loop {
            let timers = self.ports.iter().filter_map(|port| port.server.poll_timeout());
            let deadline = timers.map(|deadline| deadline.at).chain([report_at]).min();
            if self.event_loop.wait(deadline, &mut ready)? == Wake::Stop {
                break;
            }
            for &token in &ready {
                self.ports[token as usize].receive(&mut batch, clock)?;
            }
            let now = clock.now();
            for port in &mut self.ports {
                if expire(&mut port.server, now) {
                    port.drain(now);
                    port.socket.flush();
                }
            }
            if report_at <= now {
                report_at = now + self.report_every;
                observer(&self.counters());
            }
        }
        self.close(clock.now());
        Ok(self.counters())
    }

    fn close(&mut self, now: Instant) {
        for port in &mut self.ports {
            port.server.stop(now);
            port.drain(now);
            port.socket.flush();
        }
    }

    fn counters(&self) -> Counters {
        self.ports.iter().fold(Counters::default(), |sum, port| {
            let mut sum = sum.plus(&port.server.counters());
            sum.unsent += port.socket.unsent;
            sum
        })
    }
}

impl Port {
    /// Takes what has arrived, a few batches at most.
    fn receive(&mut self, batch: &mut BatchReceiver, clock: Clock) -> io::Result<()> {
        for _ in 0..BATCHES_AT_ONCE {
            if self.socket.receive(batch)? == 0 {
                break;
            }
            let now = clock.now();
            for datagram in batch.datagrams().filter(|datagram| !datagram.truncated) {
                self.socket.note_asked(datagram.from, datagram.to);
                let asked = datagram.to.map(|address| SocketAddr::new(address, self.local.port()));
                let received = Received {
                    from: datagram.from,
                    local: asked.unwrap_or(self.local),
                    ecn: datagram.traffic_class.map_or(Ecn::NotEct, Ecn::from_bits),
                    bytes: datagram.bytes,
                };
                self.server.handle_input(now, received);
                self.drain(now);
            }
            self.socket.flush();
        }
        Ok(())
    }

    /// Queues what the server sends.
    fn drain(&mut self, now: Instant) {
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.server, now) {
            match output {
                Output::Transmit(Transmit { to, ecn }) => self.socket.push(to, ecn, self.server.datagram()),
                Output::Event(never) => match never {},
            }
        }
    }
}

/// Raises the limit of open files as far as it goes: each file that is being served is open. Where that fails, clients
/// beyond the limit are told to come back.
fn allow_many_files() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Addresses under which others may reach a socket bound to `listen`: itself, or for a wildcard those of this host.
pub fn reachable_at(listen: SocketAddr) -> Vec<SocketAddr> {
    if !listen.ip().is_unspecified() {
        return vec![listen];
    }
    let own = socket::interface_addresses().unwrap_or_default();
    let is_useful = |address: &IpAddr| match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => listen.is_ipv6() && !address.is_unicast_link_local(),
    };
    let useful = own.into_iter().map(|(_, address)| address).filter(is_useful);
    useful.map(|address| SocketAddr::new(address, listen.port())).collect()
}
