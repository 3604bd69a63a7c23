//! `prismux serve` on Linux: one loop over all sockets.
use crate::directory::Directory;
use crate::key::ServerKey;
use crate::server::{Counters, Server, ServerConfig};
use crate::socket::{self, UdpPort};
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

/// A server that is bound and not running yet.
pub struct Serving {
    event_loop: EventLoop,
    ports: Vec<(UdpPort, Server<Directory>)>,
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
        let (mut ports, mut addresses) = (Vec::new(), Vec::new());
        for &listen in &config.listen {
            let port = UdpPort::listen(listen).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot listen at {listen}: {error}"))
            })?;
            event_loop.watch(&port, ports.len() as u64)?;
            addresses.push(port.local_address()?);
            ports.push((port, Server::new(config.key.clone(), config.server, directory.clone())));
        }
        Ok(Self { event_loop, ports, addresses, report_every: config.report_every })
    }

    /// Where it listens, ports chosen by the kernel included.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Serves until it is told to stop, then says goodbye to all clients. Returns the counters over all sockets.
    ///
    /// # Errors
    /// When waiting or receiving fails for good.
    pub fn run(mut self, mut observer: impl FnMut(&Counters)) -> io::Result<Counters> {
        let (mut batch, mut ready) = (socket::batch(), Vec::new());
        let clock = self.event_loop.clock();
        let mut report_at = clock.now() + self.report_every;
        loop {
            let timers = self.ports.iter().filter_map(|(_, server)| server.next_deadline());
            let deadline = timers.chain([report_at]).min();
            if self.event_loop.wait(deadline, &mut ready)? == Wake::Stop {
                break;
            }
            for &token in &ready {
                let (port, server) = &mut self.ports[token as usize];
                for _ in 0..BATCHES_AT_ONCE {
                    if port.receive(&mut batch)? == 0 {
                        break;
                    }
                    let now = clock.now();
                    for datagram in batch.datagrams().filter(|datagram| !datagram.truncated) {
                        let ecn = datagram.traffic_class.map_or(Ecn::NotEct, Ecn::from_bits);
                        port.note_asked(datagram.from, datagram.to);
                        server.handle_datagram(
                            now,
                            datagram.from,
                            ecn,
                            datagram.bytes,
                            &mut |to, ecn, bytes| {
                                port.push(to, ecn, bytes);
                            },
                        );
                    }
                    port.flush();
                }
            }
            let now = clock.now();
            for (port, server) in &mut self.ports {
                if server.next_deadline().is_some_and(|at| at <= now) {
                    server.handle_timeout(now, &mut |to, ecn, bytes| port.push(to, ecn, bytes));
                    port.flush();
                }
            }
            if report_at <= now {
                report_at = now + self.report_every;
                observer(&self.counters());
            }
        }
        self.say_goodbye(clock.now());
        Ok(self.counters())
    }

    fn say_goodbye(&mut self, now: Instant) {
        for (port, server) in &mut self.ports {
            server.stop(now, &mut |to, ecn, bytes| port.push(to, ecn, bytes));
            port.flush();
        }
    }

    fn counters(&self) -> Counters {
        self.ports.iter().fold(Counters::default(), |sum, (port, server)| {
            let mut sum = sum.plus(&server.counters());
            sum.unsent += port.unsent;
            sum
        })
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
