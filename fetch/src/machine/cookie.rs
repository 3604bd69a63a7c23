//! Proof that a client can be reached at its address, for a server that remembers nothing until it has it.
//!
//! A cookie is the time and a keyed hash of time, address and connection id. Only who receives at the address can
//! return it, and only for a while.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use super::wire::{COOKIE_BYTES, ConnectionId};
use hmac::{Hmac, Mac};
use prismux_units::{Duration, Instant};
use sha2::Sha256;
use std::net::{IpAddr, SocketAddr};

/// A cookie is honoured for this long.
const LIFETIME: Duration = Duration::from_secs(30);

/// Gives cookies and knows them again.
#[derive(Clone)]
pub struct CookieJar {
    secret: [u8; 32],
}

impl CookieJar {
    /// With a secret that nobody else knows.
    pub const fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// The cookie for a client at `address`.
    pub fn give(&self, now: Instant, address: SocketAddr, client: ConnectionId) -> [u8; COOKIE_BYTES] {
        let given_at = now.as_nanos();
        let hash = self.hash(given_at, address, client).finalize().into_bytes();
        let mut bytes = given_at.to_be_bytes().into_iter().chain(hash);
        std::array::from_fn(|_| bytes.next().unwrap_or(0))
    }

    /// Whether `cookie` was given to this client at this address, and lately.
    pub fn honours(
        &self,
        now: Instant,
        address: SocketAddr,
        client: ConnectionId,
        cookie: &[u8; COOKIE_BYTES],
    ) -> bool {
        let Some((given_at, hash)) = cookie.split_first_chunk() else { return false };
        let given_at = u64::from_be_bytes(*given_at);
        let age = now.saturating_since(Instant::from_nanos(given_at));
        let timely = given_at <= now.as_nanos() && age <= LIFETIME;
        timely && self.hash(given_at, address, client).verify_truncated_left(hash).is_ok()
    }

    fn hash(&self, given_at: u64, address: SocketAddr, client: ConnectionId) -> Hmac<Sha256> {
        let mut hash = keyed(&self.secret);
        hash.update(b"prismux cookie");
        hash.update(&given_at.to_be_bytes());
        match address.ip().to_canonical() {
            IpAddr::V4(address) => hash.update(&address.to_ipv6_mapped().octets()),
            IpAddr::V6(address) => hash.update(&address.octets()),
        }
        hash.update(&address.port().to_be_bytes());
        hash.update(&client.0.to_be_bytes());
        hash
    }
}

/// HMAC-SHA-256 under `key`.
pub(crate) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(key) {
        Ok(hash) => hash,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

#[cfg(test)]
mod tests;
