//! The TUN device of a daemon.
use super::text;
use prismux_linux::netconf::Prefix;
use serde::Deserialize;

/// The settings of a daemon's TUN device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TunConfig {
    /// Its name.
    pub name: String,
    /// Its MTU in bytes; by default what the tunnel leaves of `path_mtu`.
    pub mtu: Option<usize>,
    /// An address for the device itself, so that traceroute shows it. Not needed.
    #[serde(deserialize_with = "text::list")]
    pub addresses: Vec<Prefix>,
}

impl Default for TunConfig {
    fn default() -> Self {
        Self { name: "prism0".to_owned(), mtu: None, addresses: Vec::new() }
    }
}

impl TunConfig {
    /// IPv6 needs 1280 bytes; more than 9000 is no link we know.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        match self.mtu {
            Some(mtu) if !(1280..=9000).contains(&mtu) => {
                Err(("tun.mtu", format!("{mtu} is out of range, expected 1280 to 9000 (bytes)")))
            }
            _ => Ok(()),
        }
    }
}
