//! The file of a gateway: a server on which homes' traffic meets the internet.
use super::datagrams::Datagrams;
use super::file::{Checked, ConfigError, load, parse};
use super::home::{MAX_UPLINKS, single, uplink_name};
use super::keys::SealedPeer;
use super::prism;
use super::proxy::{ProxyConfig, TunnelListeners};
use super::registry::RegistryConfig;
use super::text;
use super::tun::TunConfig;
use super::web::WebConfig;
use super::workers::check_workers;
use crate::tunnel::SEALED_PORT;
use crate::tunnel::control::is_valid_name;
use prismux_linux::netconf::Prefix;
use prismux_sealed::PublicKey;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// What `prismux up` needs to know on a server. Example: `examples/gateway.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewayConfig {
    /// "gateway".
    pub role: String,
    /// Where homes reach it, for invitations: a public address and the port of `listen`.
    #[serde(default, deserialize_with = "text::optional")]
    pub endpoint: Option<SocketAddr>,
    /// Local address and port.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// The file with its private key (`prismux keygen` makes it).
    pub private_key_file: PathBuf,
    /// Who may come in.
    #[serde(default)]
    pub homes: Vec<Home>,
    /// The registry of homes that this gateway shares with others.
    #[serde(default)]
    pub registry: Option<RegistryConfig>,
    /// Let homes out under this host's own addresses. Off where their addresses are routed to this host.
    #[serde(default = "default_nat")]
    pub nat: bool,
    /// Largest IP packet that passes between gateway and homes, in bytes.
    #[serde(default = "default_path_mtu")]
    pub path_mtu: usize,
    /// Send repair packets to homes, over uplinks that lose packets and have capacity to spare. A packet is 16 bytes
    /// shorter for it.
    #[serde(default)]
    pub fec: bool,
    /// Threads that seal, send and open packets beside the one that decides where they go; 0: that one does it all.
    #[serde(default)]
    pub workers: usize,
    /// Where Prometheus reads metrics: a loopback address and port, such as `"127.0.0.1:9586"`.
    #[serde(default)]
    pub metrics: Option<SocketAddr>,
    /// Where the web page is, such as `"127.0.0.1:9587"`. An address that others reach needs a password.
    #[serde(default)]
    pub page: Option<SocketAddr>,
    /// The file with the page's password, which nobody else may read.
    #[serde(default)]
    pub page_password_file: Option<PathBuf>,
    /// Where `prismux status` asks.
    #[serde(default = "default_status_socket")]
    pub status_socket: PathBuf,
    /// The file with accounts of what was carried. By default it is named as the status socket, with `/var/lib` for
    /// `/run`.
    #[serde(default)]
    pub accounts_file: Option<PathBuf>,
    /// The TUN device.
    #[serde(default)]
    pub tun: TunConfig,
    /// How what is not TCP goes to homes.
    #[serde(default)]
    pub datagrams: Datagrams,
    /// The protocol, as in the proxy's file.
    #[serde(default, deserialize_with = "prism::table")]
    pub prism: prismux_prism::ProxyConfig,
    /// Record what cores are told and what they decide to pcapng files (see [`crate::proxy::recorder`]): of each home
    /// to one that has the home's name behind this one.
    #[serde(default)]
    pub record: Option<PathBuf>,
}

/// A home that may come in, as `prismux invite` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// Its name.
    pub name: String,
    /// Its addresses inside the tunnels.
    #[serde(deserialize_with = "text::list")]
    pub addresses: Vec<IpAddr>,
    /// The public keys of its uplinks, in their order.
    #[serde(deserialize_with = "text::list")]
    pub public_keys: Vec<PublicKey>,
}

impl Home {
    /// The ends of its uplinks' tunnels.
    pub(crate) fn peers(&self) -> Vec<SealedPeer> {
        let receivers: Vec<Prefix> = self.addresses.iter().map(|&address| single(address)).collect();
        let uplink = |(uplink, &public_key): (usize, &PublicKey)| SealedPeer {
            name: uplink_name(&self.name, uplink),
            public_key,
            receivers: receivers.clone(),
            home: Some(self.name.clone()),
        };
        self.public_keys.iter().enumerate().map(uplink).collect()
    }
}

impl GatewayConfig {
    /// Where it answers over HTTP, and whom.
    pub fn web(&self) -> WebConfig {
        WebConfig {
            metrics: self.metrics,
            page: self.page,
            page_password_file: self.page_password_file.clone(),
        }
    }

    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`ConfigError`]: where the first mistake is, and what was expected.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        load(file)
    }

    /// Reads and checks the `text` of a file; `file` is for messages only.
    ///
    /// # Errors
    /// [`ConfigError`]: where the first mistake is, and what was expected.
    pub fn from_text(file: &Path, text: &str) -> Result<Self, ConfigError> {
        parse(file, text)
    }

    /// The addresses of all homes: of those in the registry the whole network.
    pub fn receivers(&self) -> Vec<Prefix> {
        let listed = self.homes.iter().flat_map(|home| &home.addresses).map(|&address| single(address));
        let network = self.registry.iter().flat_map(|registry| registry.network.iter().copied());
        network.chain(listed).collect()
    }

    /// What its proxy is told.
    pub fn proxy(&self) -> ProxyConfig {
        let tunnel = TunnelListeners {
            sealed: Some(self.listen),
            path_mtu: self.path_mtu,
            fec: self.fec,
            ..TunnelListeners::default()
        };
        ProxyConfig {
            name: "gateway".to_owned(),
            token: None,
            private_key_file: Some(self.private_key_file.clone()),
            peers: self.homes.iter().flat_map(Home::peers).collect(),
            registry: self.registry.clone(),
            workers: self.workers,
            metrics: self.metrics,
            page: self.page,
            page_password_file: self.page_password_file.clone(),
            status_socket: self.status_socket.clone(),
            accounts_file: self.accounts_file.clone(),
            tun: self.tun.clone(),
            prism: self.prism.clone(),
            datagrams: Some(self.datagrams.clone()),
            record: self.record.clone(),
            ..ProxyConfig::new(self.receivers(), "", tunnel)
        }
    }
}

impl Checked for GatewayConfig {
    fn check(&self) -> Result<(), (&'static str, String)> {
        for (index, home) in self.homes.iter().enumerate() {
            if !is_valid_name(&uplink_name(&home.name, 0)) {
                return Err(("name", text::name_expected(&home.name)));
            }
            if home.addresses.is_empty() || !(1..=MAX_UPLINKS).contains(&home.public_keys.len()) {
                let expected =
                    format!("\"{}\" needs addresses and 1 to {MAX_UPLINKS} public_keys", home.name);
                return Err(("homes", expected));
            }
            let others = || self.homes.iter().take(index);
            if others().any(|other| other.name == home.name) {
                return Err(("homes", format!("\"{}\" is listed twice", home.name)));
            }
            if others().flat_map(|other| &other.addresses).any(|address| home.addresses.contains(address)) {
                return Err(("homes", format!("\"{}\" has an address of another home", home.name)));
            }
        }
        if let Some(registry) = &self.registry {
            registry.check(self.endpoint.map_or(self.listen.port(), |at| at.port()))?;
        }
        check_workers(self.workers)?;
        self.web().check()?;
        self.datagrams.check()?;
        if self.homes.is_empty() { Ok(()) } else { self.proxy().check() }
    }
}

const fn default_nat() -> bool {
    true
}

fn default_listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, SEALED_PORT).into()
}

fn default_status_socket() -> PathBuf {
    "/run/prismux/gateway.sock".into()
}

const fn default_path_mtu() -> usize {
    1500
}
