//! Configuration files of the daemons: TOML with unit strings, unknown keys refused.
//!
//! Every mistake is reported with file, line, what was expected and what to do.

mod keys;
mod member;
mod prism;
mod proxy;
mod text;

use crate::tunnel::control::{MIN_TOKEN_BYTES, Token};
use prismux_linux::netconf::Prefix;
use serde::de::DeserializeOwned;
use std::fmt;
use std::path::{Path, PathBuf};

pub use keys::{SealedPeer, make_private_key, new_private_key};
pub use member::{MemberConfig, TunnelToProxy};
pub use prism::{prism_settings_from_toml, prism_settings_to_toml};
pub use proxy::{Liveness, ProxyConfig, StaticMember, TunnelListeners};

/// A configuration file that cannot be used: where and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// Line and column, counted from 1, if the mistake has a place.
    pub place: Option<(usize, usize)>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ConfigError {}

/// A configuration that can be checked once its syntax is right.
trait Checked: DeserializeOwned {
    /// The first thing that makes no sense: the key at fault and what was expected of it.
    fn check(&self) -> Result<(), (&'static str, String)>;
}

fn load<T: Checked>(file: &Path) -> Result<T, ConfigError> {
    let text = std::fs::read_to_string(file).map_err(|error| ConfigError {
        file: file.to_owned(),
        place: None,
        message: format!("cannot be read: {error}"),
    })?;
    parse(file, &text)
}

fn parse<T: Checked>(file: &Path, text: &str) -> Result<T, ConfigError> {
    let fail = |at: Option<usize>, message: String| ConfigError {
        file: file.to_owned(),
        place: at.map(|at| place(text, at)),
        message,
    };
    let config: T = toml::from_str(text)
        .map_err(|error| fail(error.span().map(|span| span.start), prism::explained(error.message())))?;
    config.check().map_err(|(key, message)| fail(find_key(text, key), format!("{key}: {message}")))?;
    Ok(config)
}

/// Line and column of a byte offset.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    (line, column)
}

/// Where the last part of a dotted key is first assigned, or its table begins.
fn find_key(text: &str, key: &str) -> Option<usize> {
    let name = key.rsplit('.').next()?;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let assigned = trimmed.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='));
        if assigned || trimmed.trim_end() == format!("[{name}]") {
            return Some(at + line.len() - trimmed.len());
        }
        at += line.len();
    }
    None
}

/// How the token in the examples begins.
const PLACEHOLDER: &str = "replace-me";
const MAKE_ONE: &str = "Make one: head -c 24 /dev/urandom | base64";

/// Receivers are some addresses, never all: the routes of everything else are not the daemons'.
fn check_receivers(receivers: &[Prefix]) -> Result<(), (&'static str, String)> {
    match receivers.iter().find(|receiver| receiver.length == 0) {
        Some(all) => Err((
            "receivers",
            format!(
                "{all} is every address, this host's way to its members and to you included; expected the \
                    receivers' own \
                 addresses, such as [\"10.77.0.2\"]"
            ),
        )),
        None => Ok(()),
    }
}

/// The token given in the file itself or in a file of its own.
fn read_token(token: Option<&str>, token_file: Option<&Path>) -> Result<Option<Token>, String> {
    let secret = match (token, token_file) {
        (Some(_), Some(_)) => return Err("give either token or token_file, not both".to_owned()),
        (Some(token), None) => token.to_owned(),
        (None, Some(file)) => keys::read_secret(file)?.trim().to_owned(),
        (None, None) => return Ok(None),
    };
    if secret.starts_with(PLACEHOLDER) {
        return Err(format!("the token is the example's placeholder, which anybody can read. {MAKE_ONE}"));
    }
    Token::new(&secret)
        .map(Some)
        .ok_or_else(|| format!("the token is too short: at least {MIN_TOKEN_BYTES} bytes. {MAKE_ONE}"))
}

/// The settings of a daemon's TUN device.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
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
    fn check(&self) -> Result<(), (&'static str, String)> {
        match self.mtu {
            Some(mtu) if !(1280..=9000).contains(&mtu) => {
                Err(("tun.mtu", format!("{mtu} is out of range, expected 1280 to 9000 (bytes)")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
