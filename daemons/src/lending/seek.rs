//! Finding who offers an uplink, and asking for it. In turns of few datagrams, until a time that the caller names:
//! floods neither fill memory nor keep it from ending.
use super::found::{Offer, Way};
use super::lan::Lan;
use super::{DNS_SERVICE_TYPE, SERVICE_TYPE};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::ControlMessageOwned::{Ipv4Ttl, Ipv6HopLimit};
use nix::sys::socket::{MsgFlags, SockaddrStorage, recvmsg};
use prismux_community::lending::{Ask, Asker, Outcome};
use prismux_community::mdns::{self, Querier};
use prismux_community::slp::{self, UserAgent};
use prismux_community::{Datagram, Transmit};
use prismux_endpoint::Endpoint;
use prismux_linux::clock::Clock;
use prismux_linux::random;
use prismux_units::{Duration, Instant};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

/// Datagrams of one socket before the others get their turn.
const BATCH: usize = 64;

/// An offer that is enough is waited for at its IPv4 address for so long.
const IPV4_HEAD_START: Duration = Duration::from_millis(300);

/// Bytes of the longest datagram that anybody here reads.
const LONGEST_BYTES: usize = if mdns::MAX_BYTES > slp::MAX_BYTES { mdns::MAX_BYTES } else { slp::MAX_BYTES };

/// What a search has brought.
#[derive(Debug, Default)]
pub struct Search {
    /// Who offers an uplink, in the order in which they answered.
    pub offers: Vec<Offer>,
    /// Datagrams that were no answers, answers from elsewhere, and more than anybody has to offer.
    pub ignored: u64,
    /// Requests that were sent.
    pub requests: u32,
}

impl Search {
    fn add(&mut self, offer: Option<Offer>) {
        match offer {
            Some(offer) if self.offers.iter_mut().any(|known| known.join(&offer)) => {}
            Some(offer) => self.offers.push(offer),
            None => self.ignored += 1,
        }
    }
}

/// Who looks on one network in one way, under one address.
struct Seeker<'a> {
    lan: &'a Lan,
    socket: UdpSocket,
    agent: Agent,
}

enum Agent {
    Slp(UserAgent),
    Mdns(Querier),
}

impl<'a> Seeker<'a> {
    /// All ways on this network; those that are closed are left out, unless all are.
    fn all_on(lan: &'a Lan, now: Instant) -> io::Result<Vec<Self>> {
        let (mut seekers, mut problem) = (Vec::new(), None);
        for own in lan.addresses() {
            for way in [Way::Slp, Way::Mdns] {
                // The Service Location Protocol is spoken over IPv4 here.
                if way == Way::Slp && own.is_ipv6() {
                    continue;
                }
                match Self::new(lan, own, way, now) {
                    Ok(seeker) => seekers.push(seeker),
                    Err(error) => problem = Some(error),
                }
            }
        }
        match problem {
            Some(error) if seekers.is_empty() => Err(error),
            _ => Ok(seekers),
        }
    }

    fn new(lan: &'a Lan, own: IpAddr, way: Way, now: Instant) -> io::Result<Self> {
        let number = random::nonzero_u64()? as u16;
        let (socket, agent) = match way {
            Way::Slp => (lan.open(own, 0)?, Agent::Slp(UserAgent::new(now, SERVICE_TYPE, number))),
            Way::Mdns => {
                let querier = Querier::new(now, DNS_SERVICE_TYPE, own.is_ipv6(), number);
                (lan.ask_by_mdns(own)?, Agent::Mdns(querier.map_err(io::Error::other)?))
            }
        };
        Ok(Self { lan, socket, agent })
    }

    /// Hears, asks what is due, and adds what was found.
    fn turn(&mut self, now: Instant, search: &mut Search) {
        let Self { lan, socket, agent } = self;
        match agent {
            Agent::Slp(agent) => {
                search.ignored += receive(socket, |datagram| heard(lan, now, agent, datagram));
                ask_on(socket, now, agent);
                while let Some(found) = agent.poll_event() {
                    search.add(Offer::of_url(&found, lan));
                }
            }
            Agent::Mdns(querier) => {
                search.ignored += receive_near(socket, |datagram| heard(lan, now, querier, datagram));
                ask_on(socket, now, querier);
                while let Some(found) = querier.poll_event() {
                    search.add(Offer::of_service(&found, lan));
                }
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        let next = match &self.agent {
            Agent::Slp(agent) => agent.poll_timeout(),
            Agent::Mdns(querier) => querier.poll_timeout(),
        };
        next.map(|next| next.at)
    }

    /// Datagrams that were ignored, and requests that were sent.
    const fn counts(&self) -> (u64, u32) {
        match &self.agent {
            Agent::Slp(agent) => (agent.ignored(), agent.requests()),
            Agent::Mdns(querier) => (querier.ignored(), querier.queries()),
        }
    }
}

/// Whether a datagram came from the network; if so it is heard.
fn heard<E>(lan: &Lan, now: Instant, endpoint: &mut E, datagram: Datagram<'_>) -> bool
where
    E: for<'a> Endpoint<Input<'a> = Datagram<'a>>,
{
    let is_near = lan.has(datagram.from.ip());
    if is_near {
        endpoint.handle_input(now, datagram);
    }
    is_near
}

fn ask_on(socket: &UdpSocket, now: Instant, endpoint: &mut impl Endpoint<Transmit = Transmit>) {
    endpoint.handle_timeout(now);
    while let Some(request) = endpoint.poll_transmit(now) {
        // A device that is down now may be up at the next request.
        let _ = socket.send_to(&request.bytes, request.to);
    }
}

/// Asks all on these networks who lends an uplink, in all ways at once, until `is_enough`, nobody new answers, or
/// `patience` has passed.
///
/// # Errors
/// The kernel's, when no socket can be opened.
pub fn discover(lans: &[Lan], patience: Duration, is_enough: impl Fn(&Offer) -> bool) -> io::Result<Search> {
    let clock = Clock::start();
    let mut end = clock.now() + patience;
    let mut search = Search::default();
    let mut seekers = Vec::new();
    for lan in lans {
        seekers.extend(Seeker::all_on(lan, clock.now())?);
    }
    loop {
        let now = clock.now();
        for seeker in &mut seekers {
            seeker.turn(now, &mut search);
        }
        let next = seekers.iter().filter_map(Seeker::next).min();
        if let Some(offer) = search.offers.iter().find(|offer| is_enough(offer)) {
            end = end.min(if offer.address.is_ipv4() { now } else { now + IPV4_HEAD_START });
        }
        let Some(next) = next.filter(|_| now < end) else { break };
        let sockets: Vec<&UdpSocket> = seekers.iter().map(|seeker| &seeker.socket).collect();
        wait(&sockets, now, next.min(end))?;
    }
    for seeker in &seekers {
        let (ignored, requests) = seeker.counts();
        search.ignored += ignored;
        search.requests += requests;
    }
    Ok(search)
}

/// Asks the owner of `offer`, and tells each new answer, until the owner has decided or `patience` has passed: what was
/// decided, if anything.
///
/// # Errors
/// An ask that makes no sense; the kernel's, when no socket can be opened.
pub fn ask(
    (lan, offer): (&Lan, &Offer),
    ask: &Ask,
    patience: Duration,
    mut tell: impl FnMut(&Outcome),
) -> io::Result<Option<Outcome>> {
    let clock = Clock::start();
    let end = clock.now() + patience;
    let address = offer.address;
    let own = lan.addresses().find(|own| own.is_ipv4() == address.is_ipv4());
    let own =
        own.ok_or_else(|| io::Error::other("the device has no address of the lender's family any more"))?;
    let (socket, nonce) = (lan.open(own, 0)?, random::nonzero_u64()?);
    let lender = (address, offer.key.0);
    let mut asker = Asker::new(clock.now(), lender, ask, nonce).map_err(io::Error::other)?;
    let mut last = None;
    loop {
        let now = clock.now();
        receive(&socket, |datagram| {
            asker.handle_input(now, datagram);
            true
        });
        while let Some(outcome) = asker.poll_event() {
            tell(&outcome);
            last = Some(outcome);
        }
        if asker.has_ended() || now >= end {
            return Ok(last.filter(|_| asker.has_ended()));
        }
        asker.handle_timeout(now);
        if let Some(request) = asker.poll_transmit(now) {
            // It is asked again in a second.
            let _ = socket.send_to(&request.bytes, request.to);
        }
        wait(&[&socket], now, asker.poll_timeout().map_or(end, |next| next.at.min(end)))?;
    }
}

/// One batch; how many datagrams `handle` had no use for.
pub(super) fn receive(socket: &UdpSocket, mut handle: impl FnMut(Datagram<'_>) -> bool) -> u64 {
    let mut buffer = [0; LONGEST_BYTES + 1];
    let mut ignored = 0;
    for _ in 0..BATCH {
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                let bytes = buffer.get(..length).unwrap_or_default();
                ignored += u64::from(!handle(Datagram { from, bytes }));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            // An ICMP error of an earlier datagram: the next call may bring one.
            Err(_) => {}
        }
    }
    ignored
}

/// As [`receive`], of a socket that tells hop limits: whoever is behind a router is not heard.
fn receive_near(socket: &UdpSocket, mut handle: impl FnMut(Datagram<'_>) -> bool) -> u64 {
    let mut buffer = [0; LONGEST_BYTES + 1];
    let mut control = cmsg_space!(i32);
    let mut ignored = 0;
    for _ in 0..BATCH {
        let mut parts = [IoSliceMut::new(&mut buffer)];
        let flags = MsgFlags::MSG_DONTWAIT;
        let message =
            match recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags) {
                Ok(message) => message,
                Err(Errno::EAGAIN) => break,
                // An ICMP error of an earlier datagram: the next call may bring one.
                Err(_) => continue,
            };
        let hop_limit = message.cmsgs().ok().and_then(|mut all| all.next());
        let is_near = matches!(hop_limit, Some(Ipv4Ttl(255) | Ipv6HopLimit(255)));
        let from = message.address.as_ref().and_then(address);
        let length = message.bytes;
        let bytes = buffer.get(..length).unwrap_or_default();
        let is_heard = is_near && from.is_some_and(|from| handle(Datagram { from, bytes }));
        ignored += u64::from(!is_heard);
    }
    ignored
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let ipv4 = storage.as_sockaddr_in().map(|&address| SocketAddrV4::from(address).into());
    ipv4.or_else(|| storage.as_sockaddr_in6().map(|&address| SocketAddrV6::from(address).into()))
}

fn wait(sockets: &[&UdpSocket], now: Instant, until: Instant) -> io::Result<()> {
    let mut watched: Vec<PollFd<'_>> =
        sockets.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
    // Rounded up: not early, only to wait again.
    let ms = until.saturating_since(now).as_nanos().div_ceil(1_000_000);
    let timeout = PollTimeout::try_from(ms).unwrap_or(PollTimeout::MAX);
    match poll(&mut watched, timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
