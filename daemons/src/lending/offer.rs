//! The daemon of whoever lends an uplink: it is found on named networks, hears who asks, and says what its owner has
//! said.
use super::lan::Lan;
use super::seek::{Offer, receive};
use super::{DESK_PORT, SERVICE_TYPE, code};
use crate::commands::CommandServer;
use crate::daemon::DaemonError;
use crate::status::StatusServer;
use prismux_community::lending::{Asked, Desk, Verdict};
use prismux_community::slp::{Service, ServiceAgent};
use prismux_endpoint::Endpoint;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Token, Wake, block_stop_signals};
use prismux_linux::{capabilities, confinement};
use prismux_sealed::PublicKey;
use prismux_units::Instant;
use serde::{Deserialize, Serialize};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;

const STATUS: Token = 0;
const COMMANDS: Token = 1;
/// The first of the networks' sockets.
const NETWORKS: Token = 2;

/// Seconds for which others may remember an offer.
const LIFETIME_S: u16 = 300;

/// What is offered, and where.
#[derive(Debug, Clone)]
pub struct OfferConfig {
    /// The lender's name.
    pub name: String,
    /// Its public key, the one of the member that it will be.
    pub key: PublicKey,
    /// The file with the private half, for who says yes; this daemon never reads it.
    pub private_key_file: PathBuf,
    /// On which networks.
    pub lans: Vec<Lan>,
    /// Where it is asked how it is; commands go to the socket beside it.
    pub status_socket: PathBuf,
}

/// What the owner says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum OfferCommand {
    /// Yes, to whoever asks with this code.
    Lend {
        /// The code of the ask.
        code: String,
    },
    /// No.
    Refuse {
        /// The code of the ask.
        code: String,
    },
}

/// What the daemon says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfferReport {
    /// The lender's name.
    pub name: String,
    /// Its code, for askers to compare.
    pub code: String,
    /// The file with its private key.
    pub private_key_file: PathBuf,
    /// Whether the owner has said yes to somebody.
    pub is_lent: bool,
    /// Who asks.
    pub asks: Vec<AskReport>,
    /// Datagrams that nobody had a use for.
    pub ignored: u64,
}

/// Somebody who asks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AskReport {
    /// The code of the ask, which the asker's screen shows.
    pub code: String,
    /// The name that the asker gives itself.
    pub name: String,
    /// From which address.
    pub from: std::net::IpAddr,
    /// The proxy that the uplink would carry traffic of.
    pub proxy: SocketAddr,
    /// That proxy's public key.
    pub proxy_public_key: String,
    /// Whose traffic.
    pub receivers: Vec<String>,
    /// "waiting", "granted" or "refused".
    pub verdict: String,
}

impl AskReport {
    fn of(asked: &Asked) -> Option<Self> {
        let ask = &asked.ask;
        let verdict = match asked.verdict {
            Verdict::Granted => "granted",
            Verdict::Refused => "refused",
            Verdict::Waiting | Verdict::Full => "waiting",
        };
        Some(Self {
            code: code::of_ask(ask).ok()?,
            name: ask.name.clone(),
            from: asked.from,
            proxy: ask.proxy,
            proxy_public_key: PublicKey(ask.proxy_key).to_string(),
            receivers: ask.receivers.iter().map(|r| format!("{}/{}", r.address, r.length)).collect(),
            verdict: verdict.to_owned(),
        })
    }
}

/// One network on which it is offered.
struct Place {
    lan: Lan,
    requests: UdpSocket,
    asks: UdpSocket,
    agent: ServiceAgent,
}

struct Offering {
    config: OfferConfig,
    places: Vec<Place>,
    desk: Desk,
    is_lent: bool,
    /// Datagrams from elsewhere than the network's own addresses.
    foreign: u64,
}

/// Offers until SIGINT or SIGTERM.
///
/// # Errors
/// [`DaemonError`]: what it could not open, or what the kernel took away while it ran.
pub fn run(config: OfferConfig) -> Result<(), DaemonError> {
    block_stop_signals()?;
    let mut event_loop = EventLoop::new(Clock::start(), StopHandle::new()?)?;
    let status = StatusServer::bind(&config.status_socket)?;
    let commands = CommandServer::bind(&config.status_socket)?;
    event_loop.watch(&status, STATUS)?;
    event_loop.watch(&commands, COMMANDS)?;
    let folder = config.status_socket.parent().map(PathBuf::from).unwrap_or_default();
    let mut offering = Offering::open(config)?;
    for (place, token) in offering.places.iter().zip((NETWORKS..).step_by(2)) {
        event_loop.watch(&place.requests, token)?;
        event_loop.watch(&place.asks, token + 1)?;
    }
    event_loop.stop_on_signals()?;
    if let Err(error) = capabilities::keep_network_only() {
        tracing::warn!(%error, "privileges could not be dropped");
    }
    if let Err(error) = confinement::confine(&[&folder]) {
        tracing::warn!(%error, "files and system calls could not be restricted");
    }
    let (clock, mut ready) = (event_loop.clock(), Vec::new());
    loop {
        if event_loop.wait(None, &mut ready)? == Wake::Stop {
            tracing::info!("offered no more");
            return Ok(());
        }
        let now = clock.now();
        for &token in &ready {
            match token {
                STATUS => status.answer(&offering.report(now)),
                COMMANDS => commands.answer(|command| offering.obey(now, command)),
                network => offering.read((network - NETWORKS) as usize, now),
            }
        }
    }
}

impl Offering {
    fn open(config: OfferConfig) -> Result<Self, DaemonError> {
        let mut places = Vec::new();
        for lan in &config.lans {
            let address = SocketAddr::from((lan.address, DESK_PORT));
            let url = Offer::url(&config.name, config.key, address);
            let service = Service { service_type: SERVICE_TYPE.to_owned(), url, lifetime_s: LIFETIME_S };
            let agent = ServiceAgent::new(vec![lan.address.into()], vec![service]);
            let (requests, asks) = (lan.listen_to_all()?, lan.open(DESK_PORT)?);
            tracing::info!(name = config.name, device = lan.device, at = %address, "offered");
            places.push(Place { lan: lan.clone(), requests, asks, agent });
        }
        let desk = Desk::new(&config.name, config.key.0);
        Ok(Self { config, places, desk, is_lent: false, foreign: 0 })
    }

    /// One batch of the socket with this number: each network has two.
    fn read(&mut self, number: usize, now: Instant) {
        let Some(place) = self.places.get_mut(number / 2) else { return };
        let (lan, agent, desk, asks) = (&place.lan, &mut place.agent, &mut self.desk, &place.asks);
        // Answers that the kernel does not take are asked for again.
        let send = |transmit: prismux_community::Transmit| drop(asks.send_to(&transmit.bytes, transmit.to));
        self.foreign += if number.is_multiple_of(2) {
            receive(&place.requests, |datagram| {
                let is_near = lan.has(datagram.from.ip());
                if is_near {
                    agent.handle_input(now, datagram);
                    std::iter::from_fn(|| agent.poll_transmit(now)).for_each(send);
                }
                is_near
            })
        } else {
            receive(asks, |datagram| {
                let is_near = lan.has(datagram.from.ip());
                if is_near {
                    desk.handle_input(now, datagram);
                    std::iter::from_fn(|| desk.poll_transmit(now)).for_each(send);
                }
                is_near
            })
        };
        while let Some(asked) = self.desk.poll_event() {
            let Some(ask) = AskReport::of(&asked) else { continue };
            let AskReport { name, from, proxy, receivers, code, .. } = ask;
            let receivers = receivers.join(", ");
            tracing::info!(name, %from, %proxy, receivers, code, "asks for this uplink. Yes: prismux lend CODE");
        }
    }

    fn obey(&mut self, now: Instant, command: &OfferCommand) -> Result<String, String> {
        let (OfferCommand::Lend { code } | OfferCommand::Refuse { code }) = command;
        let is_granted = matches!(command, OfferCommand::Lend { .. });
        let is_meant = |own: Result<String, _>| own.is_ok_and(|own| code::is_same(&own, code));
        if self.desk.decide(now, is_granted, |ask| is_meant(code::of_ask(ask))) == 0 {
            return Err(format!("nobody asks with the code {code}; who does: prismux lend"));
        }
        self.is_lent |= is_granted;
        Ok(if is_granted { "lent: the asker is told" } else { "refused: the asker is told" }.to_owned())
    }

    fn report(&mut self, now: Instant) -> OfferReport {
        let refused: u64 = self.places.iter().map(|place| place.agent.refused()).sum();
        OfferReport {
            name: self.config.name.clone(),
            code: code::of_lender(&self.config.name, self.config.key),
            private_key_file: self.config.private_key_file.clone(),
            is_lent: self.is_lent,
            asks: self.desk.asks(now).iter().filter_map(AskReport::of).collect(),
            ignored: self.foreign + self.desk.ignored() + refused,
        }
    }
}
