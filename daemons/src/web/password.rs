//! Who may ask where the page is open to others: HTTP basic authentication (RFC 7617) with one password, few tries.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use prismux_linux::random;
use sha2::Sha256;
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The name that goes with the password.
const USER: &str = "prismux";
/// Wrong passwords from one place in [`WINDOW`], before nothing is tried from there any more.
const MAX_WRONG: usize = 10;
/// So long wrong passwords are remembered.
const WINDOW: Duration = Duration::from_secs(60);
/// Wrong passwords that are remembered at most, from everywhere.
const MAX_REMEMBERED: usize = 1024;
/// Wrong passwords in [`WINDOW`] that the log tells of.
const MAX_TOLD: usize = 5;

type Tag = Hmac<Sha256>;

/// What becomes of somebody who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    LetIn,
    /// No password, or a wrong one.
    Refused,
    /// Too many wrong ones: this one was not looked at.
    Later,
}

/// The password, and wrong ones of late.
pub(super) struct Guard {
    /// A key that nobody knows: comparing tags takes the same time whatever differs.
    key: [u8; 8],
    tag: Vec<u8>,
    wrong: Mutex<VecDeque<(IpAddr, Instant)>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guard(..)")
    }
}

impl Guard {
    /// Lets in who has `password`.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn new(password: &str) -> io::Result<Self> {
        let key = random::nonzero_u64()?.to_ne_bytes();
        let expected = format!("Basic {}", STANDARD.encode(format!("{USER}:{password}")));
        let tag = tag(&key, &expected).finalize().into_bytes().to_vec();
        Ok(Self { key, tag, wrong: Mutex::default() })
    }

    /// Looks at the header `Authorization` of a request from an address; it is empty where there is none.
    pub fn judge(&self, authorization: &str, from: IpAddr, now: Instant) -> Verdict {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        while wrong.front().is_some_and(|(_, at)| now.saturating_duration_since(*at) > WINDOW) {
            wrong.pop_front();
        }
        let from = place(from);
        if wrong.iter().filter(|(other, _)| *other == from).count() >= MAX_WRONG {
            return Verdict::Later;
        }
        if tag(&self.key, authorization).verify_slice(&self.tag).is_ok() {
            return Verdict::LetIn;
        }
        // A browser asks without a password first.
        if !authorization.is_empty() {
            if wrong.len() >= MAX_REMEMBERED {
                wrong.pop_front();
            }
            // Whoever tries many must not fill the log.
            if wrong.len() < MAX_TOLD {
                tracing::warn!(%from, "a wrong password for the page");
            }
            wrong.push_back((from, now));
        }
        Verdict::Refused
    }
}

fn tag(key: &[u8], text: &str) -> Tag {
    let mut tag = <Tag as Mac>::new_from_slice(key).expect("HMAC takes keys of any length");
    tag.update(text.as_bytes());
    tag
}

/// Where somebody is, for counting: an address of IPv4, a network of IPv6 (whoever has one address has 2^64).
fn place(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "Basic cHJpc211eDpvcGVuIHNlc2FtZSE=";

    #[test]
    fn only_the_password_lets_in_and_not_after_many_wrong_ones() {
        let guard = Guard::new("open sesame!").unwrap();
        let (here, there): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let start = Instant::now();
        assert_eq!(guard.judge(RIGHT, here, start), Verdict::LetIn);
        for _ in 0..100 {
            assert_eq!(guard.judge("", here, start), Verdict::Refused, "no password is no wrong one");
        }
        for _ in 0..MAX_WRONG {
            assert_eq!(guard.judge("Basic cHJpc211eDp3cm9uZw==", here, start), Verdict::Refused);
        }
        assert_eq!(guard.judge(RIGHT, here, start), Verdict::Later, "or there would be no limit");
        assert_eq!(guard.judge(RIGHT, there, start), Verdict::LetIn);
        let later = start + WINDOW + Duration::from_secs(1);
        assert_eq!(guard.judge(RIGHT, here, later), Verdict::LetIn);
    }

    #[test]
    fn a_network_of_ipv6_is_one_place_and_memory_is_bounded() {
        let guard = Guard::new("open sesame!").unwrap();
        let start = Instant::now();
        for host in 0..3000_u128 {
            guard.judge("Basic x", IpAddr::V6((0x2001_0db8_u128 << 96 | host).into()), start);
        }
        assert_eq!(guard.judge(RIGHT, "2001:db8::ffff".parse().unwrap(), start), Verdict::Later);
        for network in 0..3000_u128 {
            guard.judge("Basic x", IpAddr::V6((0x2001_0db9_u128 << 96 | network << 64).into()), start);
        }
        assert_eq!(guard.wrong.lock().unwrap().len(), MAX_REMEMBERED);
    }
}
