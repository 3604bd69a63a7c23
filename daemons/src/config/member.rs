//! A member's file.
use super::credit::Credit;
use super::file::{Checked, ConfigError, load, parse};
use super::keys::read_private_key;
use super::sharing::Sharing;
use super::tun::TunConfig;
use super::web::WebConfig;
use super::workers::check_workers;
use super::{check_receivers, read_token, text};
use crate::tunnel::control::{Token, is_valid_name};
use crate::tunnel::{Peer, Transport};
use prismux_linux::netconf::Prefix;
use prismux_sealed::{KeyPair, PublicKey};
use prismux_units::{Duration, Rate};
use prismux_wire::IpFamily;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// More would be asked in each round than is worth it.
const MAX_NEIGHBOURS: usize = 16;

/// What `prismux member` needs to know. Example: `examples/member.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberConfig {
    /// The member's name, unique at its proxy.
    pub name: String,
    /// The file with this member's private key, for sealed tunnels (`prismux keygen` makes it).
    #[serde(default)]
    pub private_key_file: Option<PathBuf>,
    /// The secret shared with the proxy, for tunnels without keys; alternatively in a file, see
    /// [`MemberConfig::token_file`].
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
    /// The receivers behind this member, whose traffic to the internet goes back through the tunnel.
    #[serde(deserialize_with = "text::list")]
    pub receivers: Vec<Prefix>,
    /// The rate of the uplink, if it is known. Nobody needs to type it: the proxy learns it.
    #[serde(default, deserialize_with = "text::optional")]
    pub rate: Option<Rate>,
    /// How much its owner lends, and when.
    #[serde(default)]
    pub sharing: Sharing,
    /// What the proxy may owe for it.
    #[serde(default)]
    pub credit: Credit,
    /// The way to the proxy.
    pub tunnel: TunnelToProxy,
    /// Members nearby that stand in while the uplink is silent.
    #[serde(default)]
    pub neighbours: Option<NeighboursConfig>,
    /// The file with accounts of what was carried. By default it is named as the status socket, with `/var/lib` for
    /// `/run`.
    #[serde(default)]
    pub accounts_file: Option<PathBuf>,
    /// The TUN device.
    #[serde(default)]
    pub tun: TunConfig,
    /// Routing table for the receivers' return traffic; free for this purpose.
    #[serde(default = "default_table")]
    pub routing_table: u32,
}

/// Members nearby, which reach the same proxy over uplinks of their own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighboursConfig {
    /// This member's own address and port among them, such as `"192.168.7.2:4755"`.
    pub local: SocketAddr,
    /// Theirs, the preferred one first.
    pub members: Vec<SocketAddr>,
    /// The secret that all of them share; alternatively in a file. By default it is the proxy's token, where the
    /// tunnel has one.
    #[serde(default)]
    pub token: Option<String>,
    /// The file that holds the secret.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// Reach them through this network device only, such as `"wlan0"`.
    #[serde(default)]
    pub device: Option<String>,
}

impl NeighboursConfig {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.local.ip().is_unspecified() || self.local.port() == 0 {
            let expected = "expected this member's address and port in its LAN, such as \"192.168.7.2:4755\"";
            return Err(("neighbours.local", expected.to_owned()));
        }
        let wrong = |other: &&SocketAddr| {
            other.port() == 0 || other.is_ipv6() != self.local.is_ipv6() || **other == self.local
        };
        if let Some(other) = self.members.iter().find(wrong) {
            let expected = format!(
                "{other}: expected the address and port of another member, of the same family as local"
            );
            return Err(("neighbours.members", expected));
        }
        if self.members.is_empty() || self.members.len() > MAX_NEIGHBOURS {
            return Err(("neighbours.members", format!("expected 1 to {MAX_NEIGHBOURS} of them")));
        }
        Ok(())
    }
}

/// The tunnel a member opens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunnelToProxy {
    /// The proxy: `"sealed:192.0.2.1:51820"`; `"gre:192.0.2.1"` or `"udp:192.0.2.1:4754"` without keys.
    #[serde(deserialize_with = "text::one")]
    pub proxy: Peer,
    /// The proxy's public key, for sealed tunnels.
    #[serde(default, deserialize_with = "text::optional")]
    pub proxy_public_key: Option<PublicKey>,
    /// Local address (and port, for UDP) to use; by default the kernel chooses.
    #[serde(default)]
    pub local: Option<SocketAddr>,
    /// Send through this network device only, such as `"wwan0"`.
    #[serde(default)]
    pub device: Option<String>,
    /// Largest IP packet that passes between member and proxy, in bytes.
    #[serde(default = "default_path_mtu")]
    pub path_mtu: usize,
    /// Time between hellos while traffic flows.
    #[serde(default = "default_hello", deserialize_with = "text::one")]
    pub hello: Duration,
    /// Time between hellos while nothing flows: keeps NAT bindings open (RFC 8085 section 3.5 suggests at
    /// least 15 s).
    #[serde(default = "default_keep_alive", deserialize_with = "text::one")]
    pub keep_alive: Duration,
    /// Write receipts if the proxy accepts them.
    #[serde(default = "default_receipts")]
    pub receipts: bool,
}

impl TunnelToProxy {
    /// A tunnel with defaults for everything that has one.
    pub fn new(proxy: Peer) -> Self {
        Self {
            proxy,
            proxy_public_key: None,
            local: None,
            device: None,
            path_mtu: default_path_mtu(),
            hello: default_hello(),
            keep_alive: default_keep_alive(),
            receipts: default_receipts(),
        }
    }

    /// Bytes that the tunnel adds to a packet.
    pub fn overhead_bytes(&self) -> usize {
        self.proxy.transport.overhead_bytes(IpFamily::of(&self.proxy.address.ip()))
    }

    /// Largest inner packet that fits, in bytes.
    pub fn inner_mtu_bytes(&self) -> usize {
        self.path_mtu - self.overhead_bytes()
    }

    /// The address to bind to: as configured, or any of the proxy's family.
    pub fn local_address(&self) -> SocketAddr {
        let any: IpAddr = if self.proxy.address.is_ipv6() {
            Ipv6Addr::UNSPECIFIED.into()
        } else {
            Ipv4Addr::UNSPECIFIED.into()
        };
        self.local.unwrap_or(SocketAddr::new(any, 0))
    }
}

impl MemberConfig {
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
    pub fn new(name: &str, token: &str, receivers: Vec<Prefix>, proxy: Peer) -> Self {
        Self {
            name: name.to_owned(),
            private_key_file: None,
            token: Some(token.to_owned()),
            token_file: None,
            workers: 0,
            metrics: None,
            page: None,
            page_password_file: None,
            status_socket: default_status_socket(),
            accounts_file: None,
            receivers,
            rate: None,
            sharing: Sharing::default(),
            credit: Credit::default(),
            tunnel: TunnelToProxy::new(proxy),
            neighbours: None,
            tun: TunConfig::default(),
            routing_table: default_table(),
        }
    }

    /// The key pair of this member and the proxy's public key, where the tunnel is sealed.
    ///
    /// # Errors
    /// The key of the file that is missing or wrong, and the remedy.
    pub fn read_keys(&self) -> Result<Option<(KeyPair, PublicKey)>, (&'static str, String)> {
        if self.tunnel.proxy.transport != Transport::Sealed {
            return Ok(None);
        }
        let make = "sealed tunnels need a key. Make one: prismux keygen /etc/prismux/key";
        let file = self.private_key_file.as_ref().ok_or(("private_key_file", make.to_owned()))?;
        let keys = read_private_key(file).map_err(|message| ("private_key_file", message))?;
        let expected = "expected proxy_public_key, which prismux keygen has printed at the proxy";
        let proxy = self.tunnel.proxy_public_key.ok_or(("tunnel.proxy", expected.to_owned()))?;
        Ok(Some((keys, proxy)))
    }

    /// The shared token, or what stands for it inside a sealed session.
    ///
    /// # Errors
    /// When there is none, its file cannot be read, or it is too short or a placeholder; the message names the remedy.
    pub fn read_token(&self) -> Result<Token, String> {
        if self.tunnel.proxy.transport == Transport::Sealed {
            return Ok(Token::inside_a_session());
        }
        read_token(self.token.as_deref(), self.token_file.as_deref())?
            .ok_or_else(|| "expected the token (or token_file) that the proxy has".to_owned())
    }

    /// The secret that this member and its neighbours share.
    ///
    /// # Errors
    /// When there is none, or its file cannot be read; the message names the remedy.
    pub fn read_neighbours_token(&self) -> Result<Token, String> {
        let own = self.neighbours.as_ref();
        let token = own.and_then(|neighbours| neighbours.token.as_deref());
        let file = own.and_then(|neighbours| neighbours.token_file.as_deref());
        match (read_token(token, file)?, self.tunnel.proxy.transport) {
            (Some(token), _) => Ok(token),
            (None, Transport::Sealed) => {
                Err("expected token_file (or token), a secret that all neighbours share: a sealed tunnel has no token"
                    .to_owned())
            }
            (None, _) => self.read_token(),
        }
    }

    /// The MTU of the TUN device in bytes.
    pub fn tun_mtu_bytes(&self) -> usize {
        self.tun.mtu.unwrap_or_else(|| self.tunnel.inner_mtu_bytes())
    }
}

impl Checked for MemberConfig {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if !is_valid_name(&self.name) {
            return Err(("name", text::name_expected(&self.name)));
        }
        check_receivers(&self.receivers)?;
        self.read_token().map_err(|message| ("token", message))?;
        self.read_keys()?;
        if !(1400..=9000).contains(&self.tunnel.path_mtu) {
            let expected = format!("{} is out of range, expected 1400 to 9000 (bytes)", self.tunnel.path_mtu);
            return Err(("tunnel.path_mtu", expected));
        }
        if self.tunnel.hello.is_zero() || self.tunnel.keep_alive < self.tunnel.hello {
            let expected = "expected more than 0 s and at most keep_alive";
            return Err(("tunnel.hello", expected.to_owned()));
        }
        let mixed = self.tunnel.local.is_some_and(|l| l.is_ipv6() != self.tunnel.proxy.address.is_ipv6());
        if mixed {
            return Err(("tunnel.local", "expected an address of the same family as proxy".to_owned()));
        }
        if self.tunnel.proxy.transport == Transport::Gre && self.tunnel.local.is_some_and(|l| l.port() != 0) {
            return Err(("tunnel.local", "GRE has no ports: expected \"ADDRESS:0\"".to_owned()));
        }
        if !(1..=252).contains(&self.routing_table) && self.routing_table < 256 {
            return Err(("routing_table", "expected a table other than 0 and 253 to 255".to_owned()));
        }
        if let Some(neighbours) = &self.neighbours {
            neighbours.check()?;
            self.read_neighbours_token().map_err(|message| ("neighbours.token_file", message))?;
        }
        self.sharing.check()?;
        self.credit.check(self.tunnel.proxy.transport == Transport::Sealed)?;
        check_workers(self.workers)?;
        self.web().check()?;
        self.tun.check()
    }
}

fn default_status_socket() -> PathBuf {
    "/run/prismux/member.sock".into()
}

const fn default_table() -> u32 {
    4754
}

const fn default_path_mtu() -> usize {
    1500
}

const fn default_hello() -> Duration {
    Duration::from_secs(1)
}

const fn default_receipts() -> bool {
    true
}

const fn default_keep_alive() -> Duration {
    Duration::from_secs(25)
}
