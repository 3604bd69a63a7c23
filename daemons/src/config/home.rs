//! The file of a home: one box with several uplinks.
use super::datagrams::Datagrams;
use super::file::{Checked, ConfigError, load, parse};
use super::keys::read_private_key;
use super::prism;
use super::sharing::Sharing;
use super::text;
use super::tun::TunConfig;
use super::web::WebConfig;
use super::workers::check_workers;
use crate::tunnel::control::is_valid_name;
use crate::tunnel::{Peer, Transport};
use hmac::{Hmac, Mac};
use prismux_fec::REPAIR_OVERHEAD_BYTES;
use prismux_linux::netconf::Prefix;
use prismux_sealed::{Entropy, KeyPair, PublicKey};
use prismux_sharing::Tier;
use prismux_units::Duration;
use prismux_wire::IpFamily;
use prismux_wire::gre::SEQUENCE_BYTES;
use serde::Deserialize;
use sha2::Sha256;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Most uplinks of one home. An invitation has keys for so many.
pub const MAX_UPLINKS: usize = 8;

/// What `prismux up` needs to know on a box with several uplinks. Example: `examples/home.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomeConfig {
    /// "home".
    pub role: String,
    /// The home's name at its gateway.
    pub name: String,
    /// The file with the home's private key, from which each uplink's is made.
    pub private_key_file: PathBuf,
    /// The home's own addresses inside the tunnels, as the gateway gave them.
    #[serde(deserialize_with = "text::list")]
    pub addresses: Vec<IpAddr>,
    /// The far end.
    pub gateway: GatewayEnd,
    /// The ways there.
    pub uplinks: Vec<Uplink>,
    /// Share the uplinks with the networks behind this box: forwarding on, their packets under the home's address.
    #[serde(default = "default_share")]
    pub share: bool,
    /// Largest IP packet that passes between home and gateway, in bytes.
    #[serde(default = "default_path_mtu")]
    pub path_mtu: usize,
    /// Send repair packets with what goes up, over uplinks that lose packets and have capacity to spare, to a gateway
    /// that makes use of them. A packet is 16 bytes shorter for it.
    #[serde(default)]
    pub fec: bool,
    /// Time between hellos while traffic flows.
    #[serde(default = "default_hello", deserialize_with = "text::one")]
    pub hello: Duration,
    /// Time between hellos while nothing flows: keeps NAT bindings open (RFC 8085 section 3.5 suggests at least 15 s).
    #[serde(default = "default_keep_alive", deserialize_with = "text::one")]
    pub keep_alive: Duration,
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
    /// The first of the routing tables that this home uses: one for what goes into the tunnels, one for each uplink.
    #[serde(default = "default_table")]
    pub routing_table: u32,
    /// How what is not TCP goes up.
    #[serde(default)]
    pub datagrams: Datagrams,
    /// The protocol, as in the proxy's file: what this box sends is striped by it.
    #[serde(default, deserialize_with = "prism::table")]
    pub prism: prismux_prism::ProxyConfig,
}

/// The gateway as its homes know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewayEnd {
    /// Where it listens.
    #[serde(deserialize_with = "text::one")]
    pub endpoint: SocketAddr,
    /// Its public key.
    #[serde(deserialize_with = "text::one")]
    pub public_key: PublicKey,
}

/// One uplink of a home.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uplink {
    /// Its network device, such as `"wwan0"`. It may come and go.
    pub device: String,
    /// The router there; by default the one of the device's own default route.
    #[serde(default, deserialize_with = "text::optional")]
    pub router: Option<IpAddr>,
    /// The local address to use; by default the kernel chooses.
    #[serde(default, deserialize_with = "text::optional")]
    pub address: Option<IpAddr>,
    /// It carries nothing while one of a better tier lives: "primary", "secondary", "backup" or "never".
    #[serde(default, deserialize_with = "text::one")]
    pub tier: Tier,
    /// How much it may carry, and when.
    #[serde(default)]
    pub sharing: Sharing,
}

impl HomeConfig {
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

    /// The keys of this home's uplinks.
    ///
    /// # Errors
    /// When the file with the home's key is missing, open to others or holds something else, with the remedy.
    pub fn read_keys(&self) -> Result<Vec<KeyPair>, String> {
        let home = read_private_key(&self.private_key_file)?;
        Ok((0..self.uplinks.len()).map(|uplink| uplink_keys(&home, uplink)).collect())
    }

    /// The name of an uplink at the gateway.
    pub fn uplink_name(&self, uplink: usize) -> String {
        uplink_name(&self.name, uplink)
    }

    /// The gateway as the end of a tunnel.
    pub fn peer(&self) -> Peer {
        Peer::sealed(self.gateway.endpoint, 0)
    }

    /// Bytes by which a packet is shorter for the sake of repairs.
    pub(crate) const fn repair_bytes(&self) -> usize {
        if self.fec { REPAIR_OVERHEAD_BYTES } else { 0 }
    }

    /// Bytes that the tunnel adds to a packet, its number included.
    pub fn overhead_bytes(&self) -> usize {
        Transport::Sealed.overhead_bytes(IpFamily::of(&self.gateway.endpoint.ip())) + SEQUENCE_BYTES
    }

    /// The MTU of the TUN device in bytes.
    pub fn tun_mtu_bytes(&self) -> usize {
        self.tun.mtu.unwrap_or(self.path_mtu - self.around_bytes())
    }

    /// Bytes that may stand around a packet of the TUN device on a line.
    pub fn around_bytes(&self) -> usize {
        self.overhead_bytes() + self.datagrams.order_bytes() + self.repair_bytes()
    }

    /// The home's addresses as ranges of one.
    pub fn prefixes(&self) -> Vec<Prefix> {
        self.addresses.iter().map(|&address| single(address)).collect()
    }

    /// The routing table of an uplink whose router is named.
    pub fn uplink_table(&self, uplink: usize) -> u32 {
        self.routing_table + 1 + uplink as u32
    }
}

/// A range of one address.
pub(crate) const fn single(address: IpAddr) -> Prefix {
    Prefix { address, length: if address.is_ipv6() { 128 } else { 32 } }
}

/// The name of a home's uplink, counted from 0.
pub(crate) fn uplink_name(home: &str, uplink: usize) -> String {
    format!("{home}-{}", uplink + 1)
}

/// The keys of a home's uplink, made from the home's own: each uplink has a session of its own, and one secret is
/// enough for all.
pub(crate) fn uplink_keys(home: &KeyPair, uplink: usize) -> KeyPair {
    let secret = home.private_text();
    let mut mac =
        <Hmac<Sha256> as Mac>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(b"prismux uplink");
    mac.update(&(uplink as u32).to_be_bytes());
    KeyPair::generate(&mut Entropy::from_seed(mac.finalize().into_bytes().into()))
}

impl Checked for HomeConfig {
    fn check(&self) -> Result<(), (&'static str, String)> {
        // The names of its uplinks have two characters more.
        if !is_valid_name(&self.uplink_name(0)) {
            return Err(("name", text::name_expected(&self.name)));
        }
        if self.addresses.is_empty() {
            return Err(("addresses", "expected the address that the gateway gave this home".to_owned()));
        }
        if !(1..=MAX_UPLINKS).contains(&self.uplinks.len()) {
            return Err(("uplinks", format!("expected [[uplinks]], 1 to {MAX_UPLINKS} of them")));
        }
        for (index, uplink) in self.uplinks.iter().enumerate() {
            if uplink.device.is_empty() || uplink.device.len() > 15 || uplink.device == self.tun.name {
                return Err(("device", format!("\"{}\" is no uplink; compare with: ip link", uplink.device)));
            }
            if self.uplinks.iter().take(index).any(|other| other.device == uplink.device) {
                return Err(("uplinks", format!("{} is listed twice", uplink.device)));
            }
            uplink.sharing.check()?;
            if uplink.sharing.battery_floor.is_some() {
                return Err((
                    "battery_floor",
                    "a home lends nothing: expected it in a member's file".to_owned(),
                ));
            }
            let family = self.gateway.endpoint.is_ipv6();
            if uplink.router.into_iter().chain(uplink.address).any(|own| own.is_ipv6() != family) {
                return Err(("uplinks", "expected addresses of the same family as the gateway's".to_owned()));
            }
        }
        if !(1400..=9000).contains(&self.path_mtu) {
            let expected = format!("{} is out of range, expected 1400 to 9000 (bytes)", self.path_mtu);
            return Err(("path_mtu", expected));
        }
        if self.hello.is_zero() || self.keep_alive < self.hello {
            return Err(("hello", "expected more than 0 s and at most keep_alive".to_owned()));
        }
        if self.routing_table < 256 {
            return Err(("routing_table", "expected a number from 256".to_owned()));
        }
        self.read_keys().map_err(|message| ("private_key_file", message))?;
        check_workers(self.workers)?;
        self.web().check()?;
        self.datagrams.check()?;
        self.tun.check()
    }
}

const fn default_share() -> bool {
    true
}

fn default_status_socket() -> PathBuf {
    "/run/prismux/home.sock".into()
}

const fn default_table() -> u32 {
    4760
}

const fn default_path_mtu() -> usize {
    1500
}

const fn default_hello() -> Duration {
    Duration::from_secs(1)
}

const fn default_keep_alive() -> Duration {
    Duration::from_secs(25)
}
