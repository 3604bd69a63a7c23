//! The registry that a fleet of gateways shares, in a gateway's file.
use super::home::uplink_name;
use super::keys::read_secret;
use super::text;
use crate::tunnel::control::is_valid_name;
use prismux_linux::netconf::Prefix;
use prismux_units::Duration;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Leases are in whole seconds; under two of them one late answer would end a gateway's.
const LEASES_S: std::ops::RangeInclusive<u64> = 2..=60;

/// The table `[registry]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistryConfig {
    /// etcd's servers, such as `["127.0.0.1:2379"]`: addresses, not names.
    pub endpoints: Vec<SocketAddr>,
    /// This gateway's name in the fleet.
    pub name: String,
    /// The addresses of the fleet's homes, such as `["10.77.0.0/16"]`; all of them come to this gateway's device.
    #[serde(deserialize_with = "text::list")]
    pub network: Vec<Prefix>,
    /// Where the balancer reaches this gateway; it is told to whoever asks who lives.
    #[serde(default)]
    pub address: Option<IpAddr>,
    /// Homes are spread over so many ports, from the endpoint's on: a balancer that chooses by port sends all uplinks
    /// of a home to one gateway.
    #[serde(default = "one_port")]
    pub ports: u16,
    /// How the keys of this fleet begin.
    #[serde(default = "default_prefix")]
    pub prefix: String,
    /// How long entries of a gateway stay that has died, in whole seconds.
    #[serde(default = "default_lease", deserialize_with = "text::one")]
    pub lease: Duration,
    /// Whom etcd knows this gateway as, where it asks.
    #[serde(default)]
    pub user: Option<String>,
    /// The file with the password, which nobody else may read.
    #[serde(default)]
    pub password_file: Option<PathBuf>,
    /// Ask servers beyond this host, though nothing is encrypted: over a network that keeps others out.
    #[serde(default)]
    pub allow_plain: bool,
}

impl RegistryConfig {
    /// User and password, if there are any.
    ///
    /// # Errors
    /// The file cannot be read, or is open to others; the message names the remedy.
    pub fn credentials(&self) -> Result<Option<(String, String)>, String> {
        let (Some(user), Some(file)) = (&self.user, &self.password_file) else { return Ok(None) };
        Ok(Some((user.clone(), read_secret(file)?.trim().to_owned())))
    }

    /// The lease in seconds.
    pub fn lease_seconds(&self) -> u64 {
        self.lease.as_nanos() / 1_000_000_000
    }

    /// The first thing about it that makes no sense: the key at fault and what was expected.
    pub(super) fn check(&self, first_port: u16) -> Result<(), (&'static str, String)> {
        if self.endpoints.is_empty() {
            return Err(("endpoints", "expected at least one, such as [\"127.0.0.1:2379\"]".to_owned()));
        }
        if let Some(far) = self.endpoints.iter().find(|at| !at.ip().is_loopback() && !self.allow_plain) {
            let expected = format!(
                "{far} is beyond this host, and nothing is encrypted on the way: use a proxy of etcd's on this host \
                 that speaks TLS, or say allow_plain = true where the network keeps others out"
            );
            return Err(("endpoints", expected));
        }
        if !is_valid_name(&self.name) {
            return Err(("name", text::name_expected(&self.name)));
        }
        if self.network.is_empty() {
            return Err(("network", "expected homes' addresses, such as [\"10.77.0.0/16\"]".to_owned()));
        }
        super::check_receivers(&self.network)?;
        if self.ports == 0 || first_port.checked_add(self.ports - 1).is_none() {
            return Err(("ports", format!("{} from {first_port} on are not there", self.ports)));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
        if self.prefix.len() < 2 || !self.prefix.ends_with('/') || !self.prefix.chars().all(is_plain) {
            return Err(("prefix", "expected letters, digits, dashes, and a slash at its end".to_owned()));
        }
        if !LEASES_S.contains(&self.lease_seconds()) {
            return Err(("lease", "expected 2 s to 60 s".to_owned()));
        }
        if self.user.is_some() != self.password_file.is_some() {
            return Err(("user", "user and password_file go together".to_owned()));
        }
        self.credentials().map(drop).map_err(|message| ("password_file", message))
    }
}

/// Whether a home may be called so.
pub(crate) fn is_home_name(name: &str) -> bool {
    is_valid_name(name) && is_valid_name(&uplink_name(name, 0))
}

/// Whether an address is one of a fleet's homes.
pub(crate) fn network_contains(network: &[Prefix], address: IpAddr) -> bool {
    network.iter().any(|prefix| prefix.contains(address))
}

const fn one_port() -> u16 {
    1
}

fn default_prefix() -> String {
    "prismux/".to_owned()
}

const fn default_lease() -> Duration {
    Duration::from_secs(5)
}
