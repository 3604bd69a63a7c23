//! Configuration files of the daemons: TOML with unit strings, unknown keys refused.
//!
//! Every mistake is reported with file, line, what was expected and what to do.

mod credit;
mod datagrams;
mod file;
mod gateway;
mod home;
mod invitation;
mod keys;
mod member;
mod prism;
mod proxy;
pub(crate) mod registry;
mod role;
mod sharing;
mod text;
mod tun;
mod web;
mod workers;

use crate::tunnel::control::{MIN_TOKEN_BYTES, Token};
use prismux_linux::netconf::Prefix;
use std::path::Path;

pub use credit::Credit;
pub use datagrams::{Datagrams, Traffic};
pub use file::ConfigError;
pub use gateway::{GatewayConfig, Home};
pub(crate) use home::single;
pub use home::{GatewayEnd, HomeConfig, MAX_UPLINKS, Uplink};
pub use invitation::Invitation;
pub use keys::{SealedPeer, make_private_key, new_private_key};
pub use member::{MemberConfig, NeighboursConfig, TunnelToProxy};
pub use prism::{prism_settings_from_toml, prism_settings_to_toml};
pub use proxy::{Liveness, ProxyConfig, StaticMember, TunnelListeners};
pub use registry::RegistryConfig;
pub use role::Role;
pub use sharing::{Sharing, accounts_file};
pub use tun::TunConfig;
pub use web::WebConfig;
pub use workers::parse_workers;

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

#[cfg(test)]
mod tests;
