//! The proxy's file.
use super::datagrams::Datagrams;
use super::file::{Checked, ConfigError, load, parse};
use super::keys::{SealedPeer, check_peers, read_private_key};
use super::registry::RegistryConfig;
use super::tun::TunConfig;
use super::web::WebConfig;
use super::workers::check_workers;
use super::{check_receivers, prism, read_token, text};
use crate::tunnel::control::{Token, is_valid_name};
use crate::tunnel::{Peer, Transport};
use prismux_fec::REPAIR_OVERHEAD_BYTES;
use prismux_linux::netconf::Prefix;
use prismux_prism::LinkId;
use prismux_sealed::KeyPair;
use prismux_units::{Duration, Rate};
use prismux_wire::IpFamily;
use prismux_wire::gre::SEQUENCE_BYTES;
use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// What `prismux proxy` needs to know. Example: `examples/proxy.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyConfig {
    /// What the proxy is called in its events.
    #[serde(default = "default_name")]
    pub name: String,
    /// Addresses of receivers: traffic to them is taken over and spread over the members.
    #[serde(deserialize_with = "text::list")]
    pub receivers: Vec<Prefix>,
    /// The file with the private key of this end of sealed tunnels (`prismux keygen` makes it).
    #[serde(default)]
    pub private_key_file: Option<PathBuf>,
    /// The members that have keys.
    #[serde(default)]
    pub peers: Vec<SealedPeer>,
    /// The registry of homes, of a gateway in a fleet.
    #[serde(skip)]
    pub registry: Option<RegistryConfig>,
    /// The secret that members without keys must share; alternatively in a file, see [`ProxyConfig::token_file`].
    #[serde(default)]
    pub token: Option<String>,
    /// The file that holds the secret.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
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
    /// Where members may come in.
    #[serde(default)]
    pub tunnel: TunnelListeners,
    /// When a member counts as gone.
    #[serde(default)]
    pub liveness: Liveness,
    /// The protocol: `profile = "modern" | "paper" | "striping"` and single deviations.
    #[serde(default, deserialize_with = "prism::table")]
    pub prism: prismux_prism::ProxyConfig,
    /// How what is not TCP goes, where both ends know how; `None`: each flow over one link, by the core.
    #[serde(skip)]
    pub datagrams: Option<Datagrams>,
    /// Record what the core is told and what it decides to this pcapng file (see [`crate::proxy::recorder`]).
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Members that do not register, such as a router with a plain GRE tunnel.
    #[serde(default)]
    pub members: Vec<StaticMember>,
}

/// The tunnel end points that the proxy opens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TunnelListeners {
    /// Local address and port for sealed tunnels; absent: none.
    pub sealed: Option<SocketAddr>,
    /// Local address for GRE over IPv4; absent: none.
    pub gre: Option<Ipv4Addr>,
    /// Local address and port for GRE in UDP; absent: none.
    pub udp: Option<SocketAddr>,
    /// Largest IP packet that passes between proxy and members, in bytes.
    pub path_mtu: usize,
    /// Ask members that can for receipts, by which their links are measured. A packet's number takes four bytes.
    pub receipts: bool,
    /// Send repair packets to members that make use of them, over links that lose packets and have capacity to spare.
    /// A packet is 16 bytes shorter for it. Needs `receipts`.
    pub fec: bool,
}

impl Default for TunnelListeners {
    fn default() -> Self {
        Self { sealed: None, gre: None, udp: None, path_mtu: 1500, receipts: true, fec: false }
    }
}

impl TunnelListeners {
    /// The transports in use.
    pub fn transports(&self) -> impl Iterator<Item = Transport> {
        let sealed = self.sealed.map(|_| Transport::Sealed);
        let plain = [self.gre.map(|_| Transport::Gre), self.udp.map(|_| Transport::Udp)];
        sealed.into_iter().chain(plain.into_iter().flatten())
    }

    /// Bytes that the tunnel with the largest headers adds to a packet, its number included.
    pub fn overhead_bytes(&self) -> usize {
        let number_bytes = if self.receipts { SEQUENCE_BYTES } else { 0 };
        let gre = self.gre.map(|_| Transport::Gre.overhead_bytes(IpFamily::V4));
        let over =
            |transport: Transport, local: SocketAddr| transport.overhead_bytes(IpFamily::of(&local.ip()));
        let udp = self.udp.map(|local| over(Transport::Udp, local));
        let sealed = self.sealed.map(|local| over(Transport::Sealed, local));
        gre.max(udp).max(sealed).map_or(0, |bytes| bytes + number_bytes)
    }

    /// Bytes by which a packet is shorter for the sake of repairs.
    const fn repair_bytes(&self) -> usize {
        if self.fec { REPAIR_OVERHEAD_BYTES } else { 0 }
    }
}

/// When a member counts as gone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Liveness {
    /// Data went to the member and nothing has been heard from it since, for this long.
    #[serde(deserialize_with = "text::one")]
    pub dead_after: Duration,
}

impl Default for Liveness {
    fn default() -> Self {
        Self { dead_after: Duration::from_secs(3) }
    }
}

/// A member that is always there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticMember {
    /// Its name.
    pub name: String,
    /// Its address, for GRE; address and port, for GRE in UDP.
    #[serde(deserialize_with = "text::one")]
    pub peer: Peer,
    /// The rate of its link, if known.
    #[serde(default, deserialize_with = "text::optional")]
    pub rate: Option<Rate>,
}

impl ProxyConfig {
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

    /// A configuration with defaults for everything that has one.
    pub fn new(receivers: Vec<Prefix>, token: &str, tunnel: TunnelListeners) -> Self {
        Self {
            name: default_name(),
            receivers,
            private_key_file: None,
            peers: Vec::new(),
            registry: None,
            token: Some(token.to_owned()),
            token_file: None,
            workers: 0,
            metrics: None,
            page: None,
            page_password_file: None,
            status_socket: default_status_socket(),
            accounts_file: None,
            tun: TunConfig::default(),
            tunnel,
            liveness: Liveness::default(),
            prism: prismux_prism::ProxyConfig::default(),
            datagrams: None,
            record: None,
            members: Vec::new(),
        }
    }

    /// The shared token, if there is one.
    ///
    /// # Errors
    /// When the token's file cannot be read, or the token is too short or a placeholder; the message names the remedy.
    pub fn read_token(&self) -> Result<Option<Token>, String> {
        read_token(self.token.as_deref(), self.token_file.as_deref())
    }

    /// The key pair of this end of sealed tunnels, if there are any.
    ///
    /// # Errors
    /// When the file is missing, cannot be read, is open to others or holds no key; the message names the remedy.
    pub fn read_keys(&self) -> Result<Option<KeyPair>, String> {
        match (&self.tunnel.sealed, &self.private_key_file) {
            (Some(_), Some(file)) => read_private_key(file).map(Some),
            (Some(_), None) => {
                Err("sealed tunnels need a key. Make one: prismux keygen /etc/prismux/key".to_owned())
            }
            (None, _) => Ok(None),
        }
    }

    /// Where the proxy keeps where its members are: beside the status socket.
    pub fn members_file(&self) -> PathBuf {
        self.status_socket.with_extension("members")
    }

    /// The MTU of the TUN device in bytes.
    pub fn tun_mtu_bytes(&self) -> usize {
        self.tun.mtu.unwrap_or_else(|| self.tunnel.path_mtu - self.overhead_bytes())
    }

    /// Bytes that the tunnel with the largest headers adds to a packet, its number and its order included, and those by
    /// which it is shorter for the sake of repairs.
    pub fn overhead_bytes(&self) -> usize {
        let order_bytes = self.datagrams.as_ref().map_or(0, Datagrams::order_bytes);
        self.tunnel.overhead_bytes() + order_bytes + self.tunnel.repair_bytes()
    }
}

impl Checked for ProxyConfig {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.receivers.is_empty() {
            return Err(("receivers", "expected at least one address, such as [\"10.77.0.2\"]".to_owned()));
        }
        check_receivers(&self.receivers)?;
        if !is_valid_name(&self.name) {
            return Err(("name", text::name_expected(&self.name)));
        }
        if self.tunnel.transports().next().is_none() {
            let expected = "expected sealed = \"0.0.0.0:51820\", or gre = \"LOCAL ADDRESS\" or udp = \"0.0.0.0:4754\" \
                            for members without keys";
            return Err(("tunnel", expected.to_owned()));
        }
        if !(1400..=9000).contains(&self.tunnel.path_mtu) {
            let expected = format!("{} is out of range, expected 1400 to 9000 (bytes)", self.tunnel.path_mtu);
            return Err(("tunnel.path_mtu", expected));
        }
        if self.tunnel.fec && !self.tunnel.receipts {
            let expected = "it needs receipts: repairs are of packets that receipts number".to_owned();
            return Err(("tunnel.fec", expected));
        }
        check_workers(self.workers)?;
        self.web().check()?;
        self.tun.check()?;
        let token = self.read_token().map_err(|message| ("token", message))?;
        self.check_keys()?;
        let has_plain = self.tunnel.gre.is_some() || self.tunnel.udp.is_some();
        if has_plain && token.is_none() && self.members.is_empty() {
            let expected =
                "expected a token (or token_file) with which members register, or [[members]] that need not";
            return Err(("token", expected.to_owned()));
        }
        if self.members.len() > LinkId::COUNT {
            let expected = format!("{} are too many, expected {} at most", self.members.len(), LinkId::COUNT);
            return Err(("members", expected));
        }
        for (index, member) in self.members.iter().enumerate() {
            if !is_valid_name(&member.name) {
                return Err(("name", text::name_expected(&member.name)));
            }
            if self.members.iter().take(index).any(|other| other.name == member.name) {
                return Err(("members", format!("\"{}\" is listed twice", member.name)));
            }
            if !self.tunnel.transports().any(|transport| transport == member.peer.transport) {
                let expected = format!("{} needs tunnel.{}", member.peer, member.peer.transport.name());
                return Err(("peer", expected));
            }
            if member.peer.transport == Transport::Sealed {
                return Err(("peer", "a member with a key registers: list it in [[peers]]".to_owned()));
            }
        }
        Ok(())
    }
}

impl ProxyConfig {
    fn check_keys(&self) -> Result<(), (&'static str, String)> {
        check_peers(&self.peers, &self.receivers)?;
        self.read_keys().map_err(|message| ("private_key_file", message))?;
        match (self.tunnel.sealed, self.peers.is_empty()) {
            (Some(_), true) => {
                let expected = "expected [[peers]] with name and public_key: nobody else is let in";
                Err(("sealed", expected.to_owned()))
            }
            (None, false) => Err(("peers", "they need tunnel.sealed = \"0.0.0.0:51820\"".to_owned())),
            _ => Ok(()),
        }
    }
}

fn default_name() -> String {
    "proxy".to_owned()
}

fn default_status_socket() -> PathBuf {
    "/run/prismux/proxy.sock".into()
}
