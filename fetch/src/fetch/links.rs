//! Sockets on interfaces that come and go.
use super::{FetchError, FetchRequest, UsageError, spec_for};
use crate::LinkUser;
use crate::client::PathSpec;
use crate::socket::{UdpPort, Via};
use crate::url::Url;
use prismux_linux::batch::BatchReceiver;
use prismux_linux::event_loop::{EventLoop, Token};
use prismux_linux::handoff::{Estimates, LinkWatch, Move};
use prismux_r2cp::policy::Cost;
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// A socket without a live path is replaced this often: its interface may have become another.
const REPLACE_EVERY: Duration = Duration::from_secs(4);
/// Some interface has changed.
const CHANGES: Token = 1 << 32;
/// The first token for what else is waited for: interfaces have the numbers from 0 on.
pub(super) const FIRST_TOKEN: Token = CHANGES + 1;

/// One interface in one address family.
struct Link {
    via: Via,
    /// Some address of the family.
    towards: IpAddr,
    /// Absent while the interface is.
    port: Option<UdpPort>,
    opened_at: Instant,
}

/// All of them, by number, and what the user said of them.
pub(super) struct Links {
    links: Vec<Link>,
    via: Vec<Via>,
    costs: Vec<(Via, Cost)>,
    /// Without, an interface that goes is noticed by what is sent there.
    watch: Option<LinkWatch>,
}

impl Links {
    /// None yet; changes of interfaces are waited for from now on.
    ///
    /// # Errors
    /// When a cost is given for an interface that is not used, and when the system refuses.
    pub(super) fn new(request: &FetchRequest, event_loop: &EventLoop) -> Result<Self, FetchError> {
        let is_used =
            |via: &Via| request.via.contains(via) || request.urls.iter().any(|url| url.via.contains(via));
        if let Some((via, _)) = request.costs.iter().find(|(via, _)| !is_used(via)) {
            return Err(UsageError::UnusedCost(via.clone()).into());
        }
        let watch = LinkWatch::open(Estimates::default()).ok();
        if let Some(watch) = &watch {
            event_loop.watch(watch, CHANGES)?;
        }
        Ok(Self { links: Vec::new(), via: request.via.clone(), costs: request.costs.clone(), watch })
    }

    /// The interface whose socket has something to say by `token`.
    pub(super) fn of(token: Token) -> Option<usize> {
        (token < CHANGES).then_some(token as usize)
    }

    /// Opens a socket for each interface that the server of `url` is to be reached by, unless there is one, and lists
    /// the paths.
    ///
    /// # Errors
    /// When the host has no address, or an interface does not lead to any.
    pub(super) fn paths_to(
        &mut self,
        url: &Url,
        event_loop: &EventLoop,
    ) -> Result<Vec<PathSpec>, FetchError> {
        let any = [Via::Any];
        let own = [&url.via[..], &self.via[..], &any[..]].into_iter().find(|vias| !vias.is_empty());
        let vias = own.unwrap_or_default().to_vec();
        let addresses =
            url.resolve().map_err(|error| UsageError::UnknownHost { host: url.host.clone(), error })?;
        let mut specs = Vec::new();
        for via in vias {
            let (address, port) = reach(&via, &addresses).map_err(|error| UsageError::Unreachable {
                via: via.clone(),
                host: url.host.clone(),
                error,
            })?;
            let cost = self.costs.iter().find(|(name, _)| *name == via).map_or(Cost(0), |(_, cost)| *cost);
            let cost = Cost(cost.0.saturating_add(url.cost.0));
            let known = self
                .links
                .iter()
                .position(|link| link.via == via && link.towards.is_ipv6() == address.is_ipv6());
            let link = match known {
                Some(link) => link,
                None => {
                    event_loop.watch(&port, self.links.len() as Token)?;
                    let opened_at = event_loop.clock().now();
                    self.links.push(Link { via, towards: address.ip(), port: Some(port), opened_at });
                    self.links.len() - 1
                }
            };
            specs.push(spec_for(url, link, address, cost));
        }
        Ok(specs)
    }

    /// The interface's name, for people.
    pub(super) fn name(&self, link: usize) -> String {
        self.links[link].via.to_string()
    }

    /// Receives a batch; false if there is none.
    pub(super) fn receive(&mut self, link: usize, batch: &mut BatchReceiver) -> bool {
        let Some(port) = &mut self.links[link].port else { return false };
        match port.receive(batch) {
            Ok(count) => count > 0,
            Err(error) => {
                port.broken = Some(error);
                false
            }
        }
    }

    /// Queues a datagram for `to`, to leave by this link.
    pub(super) fn push(&mut self, link: usize, to: SocketAddr, ecn: Ecn, datagram: &[u8]) {
        if let Some(port) = &mut self.links[link].port {
            port.push(to, ecn, datagram);
        }
    }

    pub(super) fn flush(&mut self) {
        for port in self.links.iter_mut().filter_map(|link| link.port.as_mut()) {
            port.flush();
        }
    }

    /// Notes interfaces that have gone down, or have lost their last address, where `ready` tells of changes.
    ///
    /// # Errors
    /// When the system no longer tells of interfaces.
    pub(super) fn note_gone(
        &mut self,
        ready: &[Token],
        user: &mut impl LinkUser,
        event_loop: &EventLoop,
        now: Instant,
    ) -> io::Result<()> {
        let (Some(watch), true) = (&mut self.watch, ready.contains(&CHANGES)) else { return Ok(()) };
        let moves = watch.moves()?;
        let is_lost = |name: &String| {
            moves.iter().any(|step| matches!(step, Move::Lost { interface } if interface == name))
        };
        for (index, link) in self.links.iter_mut().enumerate() {
            if matches!(&link.via, Via::Interface(name) if is_lost(name)) && link.port.is_some() {
                user.link_down(now, index);
                link.close(event_loop);
            }
        }
        Ok(())
    }

    /// Notes interfaces that have gone, and opens new sockets on those that are back or silent.
    pub(super) fn look_after(&mut self, user: &mut impl LinkUser, event_loop: &EventLoop, now: Instant) {
        let watch = self.watch.as_ref();
        let is_down = |name: &str| watch.is_some_and(|watch| !watch.usable().any(|usable| usable == name));
        for (index, link) in self.links.iter_mut().enumerate() {
            if link.port.as_mut().is_some_and(|port| port.broken.take().is_some()) {
                user.link_down(now, index);
                link.close(event_loop);
            }
            let is_old = now.saturating_since(link.opened_at) >= REPLACE_EVERY;
            if link.port.is_some() && (user.link_is_alive(index) || !is_old) {
                continue;
            }
            if matches!(&link.via, Via::Interface(name) if is_down(name)) {
                continue;
            }
            let was_gone = link.port.is_none();
            // The same interface with the address it has now, if it is there.
            let Ok(port) = UdpPort::open(&link.via, link.towards) else { continue };
            link.close(event_loop);
            if event_loop.watch(&port, index as u64).is_ok() {
                link.port = Some(port);
                link.opened_at = now;
                if was_gone {
                    user.link_up(now, index);
                }
            }
        }
    }
}

impl Link {
    fn close(&mut self, event_loop: &EventLoop) {
        if let Some(port) = self.port.take() {
            // Closing would end the watch too, were there no copies of the descriptor.
            let _ = event_loop.forget(&port);
        }
    }
}

/// The first of the addresses that something on `via` leads to, and a socket there.
fn reach(via: &Via, addresses: &[SocketAddr]) -> io::Result<(SocketAddr, UdpPort)> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for &address in addresses {
        let fits = match via {
            Via::Address(source) => source.is_ipv6() == address.is_ipv6(),
            // With one address there is nothing to choose.
            _ => addresses.len() == 1 || has_route(address),
        };
        match UdpPort::open(via, address.ip()) {
            Ok(port) if fits => return Ok((address, port)),
            Ok(_) => {}
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Whether the routing table knows a way to `address`.
fn has_route(address: SocketAddr) -> bool {
    let local = if address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
    UdpSocket::bind(local).and_then(|socket| socket.connect(address)).is_ok()
}
