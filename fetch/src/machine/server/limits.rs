//! What the addresses of one neighbourhood may take from all others.
use prismux_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Key exchanges that a neighbourhood is granted, one in each interval.
const HANDSHAKE_INTERVAL: Duration = Duration::from_millis(5);
/// Key exchanges that a neighbourhood may have at once: as many as it had none in this time.
const HANDSHAKE_CREDIT: Duration = Duration::from_secs(5);
/// Neighbourhoods remembered; those that have used nothing lately are forgotten.
const MAX_PREFIXES: usize = 4096;

/// Addresses that one host can have: an IPv4 address, or the first 64 bits of an IPv6 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Prefix(u128);

impl Prefix {
    /// The neighbourhood of `address`.
    pub(super) fn of(address: SocketAddr) -> Self {
        Self(match address.ip().to_canonical() {
            IpAddr::V4(address) => u128::from(address.to_ipv6_mapped()),
            IpAddr::V6(address) => u128::from(address) >> 64 << 64,
        })
    }
}

/// A token bucket of key exchanges for each neighbourhood, whose addresses have been validated.
#[derive(Debug, Default)]
pub(super) struct HandshakeLimits {
    /// Until when the exchanges granted so far are paid for.
    paid_until: BTreeMap<Prefix, Instant>,
}

impl HandshakeLimits {
    /// Whether one more may be computed; if so it is counted.
    pub(super) fn take(&mut self, now: Instant, prefix: Prefix) -> bool {
        if self.paid_until.len() >= MAX_PREFIXES && !self.paid_until.contains_key(&prefix) {
            self.paid_until.retain(|_, until| *until > now);
            if self.paid_until.len() >= MAX_PREFIXES {
                return false;
            }
        }
        let until = self.paid_until.entry(prefix).or_insert(now);
        let next = (*until).max(now) + HANDSHAKE_INTERVAL;
        let is_granted = next <= now + HANDSHAKE_CREDIT;
        if is_granted {
            *until = next;
        }
        is_granted
    }
}

#[cfg(test)]
mod tests;
