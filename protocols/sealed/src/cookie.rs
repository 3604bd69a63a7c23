//! Proofs that need no session: of knowing a public key, and of being at an address (WireGuard's paper, sections 5.3
//! and 5.4.4 and 5.4.7).
use crate::entropy::Entropy;
use crate::key::PublicKey;
use crate::message::{COOKIE_NONCE_BYTES, Handshake, MAC_BYTES, TAG_BYTES, cookie_reply_header};
use alloc::vec::Vec;
use blake2::digest::consts::U16;
use blake2::digest::{Digest, Mac};
use blake2::{Blake2s256, Blake2sMac};
use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use core::net::{IpAddr, SocketAddr};
use prismux_units::{Duration, Instant};

/// A cookie is honoured, and used, for this long.
const COOKIE_LIFETIME: Duration = Duration::from_secs(120);

/// A cookie: what only who receives at an address can know.
pub(crate) type Cookie = [u8; MAC_BYTES];

/// The keys for messages *to* the holder of a public key.
#[derive(Clone)]
pub(crate) struct Addressee {
    mac1: [u8; 32],
    cookie: [u8; 32],
}

impl Addressee {
    pub fn new(public: &PublicKey) -> Self {
        let keyed =
            |label: &[u8]| Blake2s256::new().chain_update(label).chain_update(public.0).finalize().into();
        Self { mac1: keyed(b"mac1----"), cookie: keyed(b"cookie--") }
    }

    /// Ends a handshake message: shows knowledge of the public key and, with a cookie, of the address. Returns the
    /// first code, which a cookie reply names.
    pub fn sign(&self, message: &mut Vec<u8>, cookie: Option<&Cookie>) -> [u8; MAC_BYTES] {
        let mac1 = mac(&self.mac1, &[message]);
        message.extend_from_slice(&mac1);
        let mac2 = cookie.map_or([0; MAC_BYTES], |cookie| mac(cookie, &[message]));
        message.extend_from_slice(&mac2);
        mac1
    }

    /// Whether the sender of a message to this addressee knows its public key.
    pub fn is_meant(&self, handshake: &Handshake<'_>) -> bool {
        verifies(&self.mac1, &[handshake.signed], handshake.mac1)
    }

    /// Opens a cookie that this addressee gave for the message with `mac1`.
    pub fn open_cookie(
        &self,
        nonce: &[u8; COOKIE_NONCE_BYTES],
        sealed: &[u8],
        mac1: &[u8; MAC_BYTES],
    ) -> Option<Cookie> {
        let (cookie, tag) = sealed.split_last_chunk::<TAG_BYTES>()?;
        let mut cookie: Cookie = cookie.try_into().ok()?;
        let cipher = XChaCha20Poly1305::new(&self.cookie.into());
        cipher.decrypt_in_place_detached(nonce.into(), mac1, &mut cookie, tag.into()).ok()?;
        Some(cookie)
    }

    /// The reply that gives `cookie` to the sender of a message with `mac1`.
    fn reply(
        &self,
        receiver: u32,
        mac1: &[u8; MAC_BYTES],
        mut cookie: Cookie,
        entropy: &mut Entropy,
    ) -> Vec<u8> {
        let nonce: [u8; COOKIE_NONCE_BYTES] = entropy.bytes();
        let cipher = XChaCha20Poly1305::new(&self.cookie.into());
        let mut out = cookie_reply_header(receiver);
        out.extend_from_slice(&nonce);
        // Fails only for messages of 256 GiB.
        if let Ok(tag) = cipher.encrypt_in_place_detached(&nonce.into(), mac1, &mut cookie) {
            out.extend_from_slice(&cookie);
            out.extend_from_slice(&tag);
        }
        out
    }
}

/// Gives cookies and knows them again.
pub(crate) struct CookieJar {
    own: Addressee,
    secret: [u8; 32],
    made_at: Instant,
}

impl CookieJar {
    pub fn new(own: &PublicKey, entropy: &mut Entropy) -> Self {
        Self { own: Addressee::new(own), secret: entropy.bytes(), made_at: Instant::ZERO }
    }

    /// Whether a message is meant for us.
    pub fn is_meant(&self, handshake: &Handshake<'_>) -> bool {
        self.own.is_meant(handshake)
    }

    /// Whether the sender has shown, lately, that it receives at `from`.
    pub fn is_at(&self, now: Instant, from: SocketAddr, handshake: &Handshake<'_>) -> bool {
        let fresh = now.saturating_since(self.made_at) < COOKIE_LIFETIME;
        fresh && verifies(&self.cookie(from), &[handshake.signed, handshake.mac1], handshake.mac2)
    }

    /// The reply to a message from `from` that must come again with a cookie.
    pub fn reply(
        &mut self,
        now: Instant,
        from: SocketAddr,
        sender: u32,
        handshake: &Handshake<'_>,
        entropy: &mut Entropy,
    ) -> Vec<u8> {
        if now.saturating_since(self.made_at) >= COOKIE_LIFETIME {
            self.secret = entropy.bytes();
            self.made_at = now;
        }
        self.own.reply(sender, handshake.mac1, self.cookie(from), entropy)
    }

    fn cookie(&self, from: SocketAddr) -> Cookie {
        let address = match from.ip().to_canonical() {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        mac(&self.secret, &[&address, &from.port().to_be_bytes()])
    }
}

/// A cookie that was given to us.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    cookie: Cookie,
    at: Instant,
}

impl Given {
    pub const fn new(cookie: Cookie, at: Instant) -> Self {
        Self { cookie, at }
    }

    /// The cookie, while it is honoured.
    pub fn at(&self, now: Instant) -> Option<&Cookie> {
        (now.saturating_since(self.at) < COOKIE_LIFETIME).then_some(&self.cookie)
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; MAC_BYTES] {
    keyed(key, parts).finalize().into_bytes().into()
}

/// In constant time.
fn verifies(key: &[u8], parts: &[&[u8]], code: &[u8; MAC_BYTES]) -> bool {
    keyed(key, parts).verify(code.into()).is_ok()
}

fn keyed(key: &[u8], parts: &[&[u8]]) -> Blake2sMac<U16> {
    let Ok(mut mac) = <Blake2sMac<U16> as Mac>::new_from_slice(key) else {
        unreachable!("keys have 16 or 32 bytes, and BLAKE2s takes up to 32")
    };
    parts.iter().for_each(|part| mac.update(part));
    mac
}
