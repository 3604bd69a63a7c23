//! Finding who offers an uplink, and asking for it. In turns of few datagrams, until a time that the caller names:
//! floods neither fill memory nor keep it from ending.
use super::lan::Lan;
use super::{SERVICE_TYPE, code};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use prismux_community::Datagram;
use prismux_community::lending::{Ask, Asker, Outcome, is_valid_name};
use prismux_community::slp::{Found, MAX_BYTES, UserAgent};
use prismux_endpoint::Endpoint;
use prismux_linux::clock::Clock;
use prismux_linux::random;
use prismux_sealed::PublicKey;
use prismux_units::{Duration, Instant};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// Datagrams of one socket before the others get their turn.
const BATCH: usize = 64;

/// An uplink that somebody offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The name that the lender gives itself.
    pub name: String,
    /// The key that it says is its own: its [`Offer::code`] tells.
    pub key: PublicKey,
    /// Where it is asked.
    pub address: SocketAddr,
    /// This host's device towards it.
    pub device: String,
}

impl Offer {
    /// What the lender's own screen shows, if it is the lender.
    pub fn code(&self) -> String {
        code::of_lender(&self.name, self.key)
    }

    /// Where such an offer is, as others find it.
    pub(super) fn url(name: &str, key: PublicKey, address: SocketAddr) -> String {
        let key: String = key.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{SERVICE_TYPE}://{address}/{name}/{key}")
    }

    /// Reads what was found. A host speaks for itself alone: what it says of other addresses is no offer.
    fn of(found: &Found, lan: &Lan) -> Option<Self> {
        let rest = found.url.strip_prefix(SERVICE_TYPE)?.strip_prefix("://")?;
        let mut parts = rest.split('/');
        let (address, name, key) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        let address: SocketAddr = address;
        let is_own = address.ip() == found.from.ip() && lan.has(address.ip()) && address.port() != 0;
        if !is_own || !is_valid_name(name) || parts.next().is_some() {
            return None;
        }
        let device = lan.device.clone();
        Some(Self { name: name.to_owned(), key: PublicKey(from_hex(key)?), address, device })
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut key = [0; 32];
    for (place, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(key)
}

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

/// Asks all on these networks who lends an uplink, until `is_enough`, nobody new answers, or `patience` has passed.
///
/// # Errors
/// The kernel's, when a socket cannot be opened.
pub fn discover(lans: &[Lan], patience: Duration, is_enough: impl Fn(&Offer) -> bool) -> io::Result<Search> {
    let clock = Clock::start();
    let end = clock.now() + patience;
    let mut search = Search::default();
    let mut seekers = Vec::new();
    for lan in lans {
        let number = random::nonzero_u64()? as u16;
        seekers.push((lan, lan.open(0)?, UserAgent::new(clock.now(), SERVICE_TYPE, number)));
    }
    loop {
        let now = clock.now();
        for (lan, socket, agent) in &mut seekers {
            search.ignored += receive(socket, |datagram| {
                let is_near = lan.has(datagram.from.ip());
                if is_near {
                    agent.handle_input(now, datagram);
                }
                is_near
            });
            agent.handle_timeout(now);
            while let Some(request) = agent.poll_transmit(now) {
                // A device that is down now may be up at the next request.
                let _ = socket.send_to(&request.bytes, request.to);
            }
            while let Some(found) = agent.poll_event() {
                match Offer::of(&found, lan) {
                    Some(offer) if search.offers.contains(&offer) => {}
                    Some(offer) => search.offers.push(offer),
                    None => search.ignored += 1,
                }
            }
        }
        let has_ended = seekers.iter().all(|(.., agent)| agent.has_ended()) || now >= end;
        if has_ended || search.offers.iter().any(&is_enough) {
            break;
        }
        let next = seekers.iter().filter_map(|(.., agent)| agent.poll_timeout()).map(|next| next.at).min();
        let sockets: Vec<&UdpSocket> = seekers.iter().map(|(_, socket, _)| socket).collect();
        wait(&sockets, now, next.unwrap_or(end).min(end))?;
    }
    for (.., agent) in &seekers {
        search.ignored += agent.ignored();
        search.requests += agent.requests();
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
    let (socket, nonce) = (lan.open(0)?, random::nonzero_u64()?);
    let lender = (offer.address, offer.key.0);
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
    let mut buffer = [0; MAX_BYTES + 1];
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

fn wait(sockets: &[&UdpSocket], now: Instant, until: Instant) -> io::Result<()> {
    let mut watched: Vec<PollFd<'_>> =
        sockets.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
    // Rounded up: not early, only to wait again.
    let ms = until.saturating_since(now).as_nanos().div_ceil(1_000_000);
    let timeout = PollTimeout::try_from(ms).unwrap_or(PollTimeout::MAX);
    match poll(&mut watched, timeout) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
