//! `prismux://KEY@HOST:PORT/PATH`: which object, from which server, and how the server proves that it is the one.
use crate::key::PublicKey;
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
            "\"{}\": {}\n  remedy: a URL looks like prismux://KEY@HOST:PORT/PATH; `prismux serve` prints it",
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
        Ok(Self { key, host: host.to_string(), port, path })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "prismux://{}@{open}{}{close}:{}/{}", self.key, self.host, self.port, encode(&self.path))
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
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?);
            rest = &rest[2..];
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
