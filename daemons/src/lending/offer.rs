//! The daemon of whoever lends an uplink: it is found on named networks, hears who asks, and says what its owner has
//! said.
use super::found::Offer;
use super::lan::Lan;
use super::seek::receive;
use super::{DESK_PORT, SERVICE_TYPE, code};
use crate::commands::CommandServer;
use crate::daemon::DaemonError;
use crate::status::StatusServer;
use prismux_community::lending::{Asked, Desk, Verdict};
use prismux_community::mdns::Responder;
use prismux_community::slp::{Service, ServiceAgent};
use prismux_community::{Datagram, Transmit};
use prismux_endpoint::Endpoint;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Token, Wake, block_stop_signals};
use prismux_linux::{capabilities, confinement};
use prismux_sealed::PublicKey;
use prismux_units::Instant;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
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

/// One socket, and who hears what comes there.
struct Ear {
    lan: Lan,
    socket: UdpSocket,
    hearer: Hearer,
}

enum Hearer {
    /// Of the Service Location Protocol; it answers from the desk's socket.
    Agent(ServiceAgent, UdpSocket),
    /// Of multicast DNS.
    Responder(Box<Responder>),
    /// Who asks for the uplink comes to the desk, of which there is one for all networks.
    Desk,
}

struct Offering {
    config: OfferConfig,
    ears: Vec<Ear>,
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
    let clock = event_loop.clock();
    let mut offering = Offering::open(config, clock.now())?;
    for (ear, token) in offering.ears.iter().zip(NETWORKS..) {
        event_loop.watch(&ear.socket, token)?;
    }
    event_loop.stop_on_signals()?;
    if let Err(error) = capabilities::keep_network_only() {
        tracing::warn!(%error, "privileges could not be dropped");
    }
    if let Err(error) = confinement::confine(&[&folder]) {
        tracing::warn!(%error, "files and system calls could not be restricted");
    }
    let mut ready = Vec::new();
    loop {
        let next = offering.tell(clock.now());
        if event_loop.wait(next, &mut ready)? == Wake::Stop {
            offering.end(clock.now());
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
    fn open(config: OfferConfig, now: Instant) -> Result<Self, DaemonError> {
        let mut ears = Vec::new();
        for lan in &config.lans {
            ears.extend(ears_on(lan, &config, now)?);
        }
        let desk = Desk::new(&config.name, config.key.0);
        Ok(Self { config, ears, desk, is_lent: false, foreign: 0 })
    }

    /// One batch of the socket with this number.
    fn read(&mut self, number: usize, now: Instant) {
        let Some(Ear { lan, socket, hearer }) = self.ears.get_mut(number) else { return };
        self.foreign += match hearer {
            Hearer::Agent(agent, answers) => hear(lan, (socket, answers), now, agent),
            Hearer::Responder(responder) => hear(lan, (socket, socket), now, &mut **responder),
            Hearer::Desk => hear(lan, (socket, socket), now, &mut self.desk),
        };
        while let Some(asked) = self.desk.poll_event() {
            let Some(ask) = AskReport::of(&asked) else { continue };
            let AskReport { name, from, proxy, receivers, code, .. } = ask;
            let receivers = receivers.join(", ");
            tracing::info!(name, %from, %proxy, receivers, code, "asks for this uplink. Yes: prismux lend CODE");
        }
    }

    /// Tells all what is due; when more is.
    fn tell(&mut self, now: Instant) -> Option<Instant> {
        let mut next = None;
        for (socket, responder) in self.responders() {
            responder.handle_timeout(now);
            send(socket, now, responder);
            next = next.into_iter().chain(responder.poll_timeout().map(|deadline| deadline.at)).min();
        }
        next
    }

    /// Tells all that it is offered no more.
    fn end(&mut self, now: Instant) {
        for (socket, responder) in self.responders() {
            responder.end();
            send(socket, now, responder);
        }
    }

    fn responders(&mut self) -> impl Iterator<Item = (&UdpSocket, &mut Responder)> {
        self.ears.iter_mut().filter_map(|ear| match &mut ear.hearer {
            Hearer::Responder(responder) => Some((&ear.socket, &mut **responder)),
            Hearer::Agent(..) | Hearer::Desk => None,
        })
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
        let refused = |ear: &Ear| match &ear.hearer {
            Hearer::Agent(agent, _) => agent.refused(),
            Hearer::Responder(responder) => responder.refused(),
            Hearer::Desk => 0,
        };
        let refused: u64 = self.ears.iter().map(refused).sum();
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

/// All that listens on one network: the desk at each of the host's addresses, and what is found there.
fn ears_on(lan: &Lan, config: &OfferConfig, now: Instant) -> Result<Vec<Ear>, DaemonError> {
    let (mut ears, mut desks, mut problem) = (Vec::new(), Vec::new(), None);
    let mut add = |socket, hearer| ears.push(Ear { lan: lan.clone(), socket, hearer });
    for own in lan.addresses() {
        match lan.open(own, DESK_PORT) {
            Ok(desk) => desks.push((own, desk)),
            Err(error) => {
                tracing::warn!(device = lan.device, address = %own, %error, "not offered at this address");
                problem = Some(error);
            }
        }
    }
    let addresses: Vec<IpAddr> = desks.iter().map(|&(own, _)| own).collect();
    let service = Offer::service(&config.name, config.key, addresses);
    for (own, desk) in desks {
        let address = lan.at(own, DESK_PORT);
        let slp = match own {
            IpAddr::V4(own) => Some((lan.listen_to_all(own), agent(config, address))),
            IpAddr::V6(_) => None,
        };
        let is_found_by_slp = slp.is_some();
        if let Some((requests, agent)) = slp {
            add(requests?, Hearer::Agent(agent, desk.try_clone()?));
        }
        match lan.listen_to_mdns(own) {
            Ok(socket) => {
                let responder = Responder::new(now, &service, own.is_ipv6()).map_err(io::Error::other)?;
                add(socket, Hearer::Responder(Box::new(responder)));
            }
            Err(error) => {
                let device = &lan.device;
                tracing::warn!(device, at = %address, %error, "not found by multicast DNS: its port cannot be had");
                if !is_found_by_slp {
                    problem = Some(error);
                    continue;
                }
            }
        }
        add(desk, Hearer::Desk);
        tracing::info!(name = config.name, device = lan.device, at = %address, "offered");
    }
    match problem {
        Some(error) if ears.is_empty() => Err(error.into()),
        _ => Ok(ears),
    }
}

fn agent(config: &OfferConfig, address: SocketAddr) -> ServiceAgent {
    let url = Offer::url(&config.name, config.key, address);
    let service = Service { service_type: SERVICE_TYPE.to_owned(), url, lifetime_s: LIFETIME_S };
    ServiceAgent::new(vec![address.ip()], vec![service])
}

/// One batch of a socket; how many datagrams came from elsewhere than the network.
fn hear<E>(lan: &Lan, (socket, answers): (&UdpSocket, &UdpSocket), now: Instant, endpoint: &mut E) -> u64
where
    E: for<'a> Endpoint<Input<'a> = Datagram<'a>, Transmit = Transmit>,
{
    receive(socket, |datagram| {
        let is_near = lan.has(datagram.from.ip());
        if is_near {
            endpoint.handle_input(now, datagram);
            send(answers, now, endpoint);
        }
        is_near
    })
}

fn send(socket: &UdpSocket, now: Instant, endpoint: &mut impl Endpoint<Transmit = Transmit>) {
    while let Some(transmit) = endpoint.poll_transmit(now) {
        // Answers that the kernel does not take are asked for again.
        let _ = socket.send_to(&transmit.bytes, transmit.to);
    }
}
