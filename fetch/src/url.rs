//! `prismux://KEY@HOST:PORT/PATH`: which object, from which server, and how the server proves that it is the one.
//! What stands behind a `#` is for the client alone: over which interfaces, and at what cost.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use crate::key::PublicKey;
use crate::socket::Via;
use prismux_r2cp::policy::Cost;
use std::fmt::{self, Write as _};
use std::io;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// The port of servers that say nothing else.
pub const DEFAULT_PORT: u16 = 4717;

/// A parsed URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The server's public key.
    pub key: PublicKey,
    /// Name or address.
    pub host: String,
    /// UDP port.
    pub port: u16,
    /// The object, relative to what the server serves, without a slash in front.
    pub path: String,
    /// Interfaces to use towards this server; none means all that are used at all.
    pub via: Vec<Via>,
    /// What using this server costs, beyond what the interface does.
    pub cost: Cost,
}

/// What is wrong with a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlError {
    url: String,
    problem: String,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\": {}\n  remedy: a URL looks like prismux://KEY@HOST:PORT/PATH, with #via=NAME,cost=COST \
                behind it if wanted; \
             `prismux serve` prints it",
            self.url, self.problem
        )
    }
}

impl std::error::Error for UrlError {}

impl Url {
    /// The addresses of the host.
    ///
    /// # Errors
    /// When the name cannot be resolved.
    pub fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }

    /// Takes `via=NAME` or `cost=COST`.
    fn take_part(&mut self, part: &str) -> Result<(), String> {
        match part.split_once('=') {
            Some(("via", name)) => self.via.push(name.parse()?),
            Some(("cost", cost)) => self.cost = parse_cost(cost)?,
            _ => return Err(format!("\"{part}\" behind its # is neither via=NAME nor cost=COST")),
        }
        Ok(())
    }

    /// The last part of the path.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let error = |problem: &str| UrlError { url: text.to_string(), problem: problem.to_string() };
        let rest =
            text.strip_prefix("prismux://").ok_or_else(|| error("it does not begin with prismux://"))?;
        let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, after)| (rest, Some(after)));
        let (authority, path) = rest.split_once('/').ok_or_else(|| error("it names no object"))?;
        let (key, host) =
            authority.split_once('@').ok_or_else(|| error("it has no server key before an @"))?;
        let key = key.parse().map_err(|problem: String| error(&problem))?;
        let (host, port) = split_port(host).ok_or_else(|| {
            error("its host is no name or [address], or its port no number from 1 to 65535")
        })?;
        if host.is_empty() {
            return Err(error("it names no host"));
        }
        let path = decode(path).ok_or_else(|| error("its path has a bad %-escape"))?;
        if path.is_empty() || path.ends_with('/') {
            return Err(error("it names no object"));
        }
        let mut url = Self { key, host: host.to_string(), port, path, via: Vec::new(), cost: Cost(0) };
        for part in fragment.into_iter().flat_map(|fragment| fragment.split(',')) {
            url.take_part(part).map_err(|problem| error(&problem))?;
        }
        Ok(url)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "prismux://{}@{open}{}{close}:{}/{}", self.key, self.host, self.port, encode(&self.path))?;
        let via = self.via.iter().map(|via| format!("via={via}"));
        let cost = (self.cost != Cost(0)).then(|| format!("cost={}", self.cost.0));
        let fragment: Vec<String> = via.chain(cost).collect();
        if fragment.is_empty() { Ok(()) } else { write!(f, "#{}", fragment.join(",")) }
    }
}

/// Reads a cost: `low` (0), `high` (1) or a number.
///
/// # Errors
/// A sentence on what would be one.
pub fn parse_cost(text: &str) -> Result<Cost, String> {
    match text {
        "low" => Ok(Cost(0)),
        "high" => Ok(Cost(1)),
        number => match number.parse() {
            Ok(cost) => Ok(Cost(cost)),
            Err(_) => Err(format!("\"{text}\" is no cost: low, high or 0 to 255")),
        },
    }
}

fn split_port(host: &str) -> Option<(&str, u16)> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, after) = rest.split_once(']')?;
            let port = if after.is_empty() { None } else { Some(after.strip_prefix(':')?) };
            (name.parse::<Ipv6Addr>().is_ok().then_some(name)?, port)
        }
        None => host.rsplit_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    if !host.starts_with('[') && name.contains([':', '[', ']', '@']) {
        return None;
    }
    let port = port.map_or(Some(DEFAULT_PORT), |port| port.parse().ok().filter(|&port| port > 0))?;
    Some((name, port))
}

fn decode(path: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn encode(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests;
