//! Noise handshakes (Perrin, "The Noise Protocol Framework") with keys made from given randomness.
use crate::entropy::{Entropy, SEED_BYTES};
use crate::key::{KeyPair, PublicKey};
use alloc::boxed::Box;
use snow::error::Error;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState};

/// WireGuard's pattern (paper, section 5.4) and prologue.
const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const PROLOGUE: &[u8] = b"WireGuard v1 zx2c4 Jason@zx2c4.com";
/// The key shared beforehand goes in at the end of the second message: zeros where peers have none.
const PSK_PLACE: usize = 2;
const NO_PSK: [u8; 32] = [0; 32];

/// A handshake's builder for a known `pattern`, which draws its ephemeral key from `entropy`.
///
/// # Errors
/// When the pattern is none, or needs what this crate does not bring.
pub fn builder<'a>(pattern: &str, prologue: &'a [u8], entropy: &mut Entropy) -> Result<Builder<'a>, Error> {
    let resolver = Box::new(Seeded { seed: entropy.bytes() });
    Builder::with_resolver(pattern.parse()?, resolver).prologue(prologue)
}

/// The public half of an X25519 key.
pub(crate) fn public_key(private: &[u8; 32]) -> [u8; 32] {
    let Some(mut dh) = DefaultResolver.resolve_dh(&DHChoice::Curve25519) else {
        unreachable!("X25519 is among the primitives that the manifest asks for")
    };
    dh.set(private);
    core::array::from_fn(|at| dh.pubkey().get(at).copied().unwrap_or_default())
}

/// The first side of a handshake with the holder of `peer`.
pub(crate) fn initiator(keys: &KeyPair, peer: &PublicKey, entropy: &mut Entropy) -> Option<HandshakeState> {
    let builder = builder(PATTERN, PROLOGUE, entropy).ok()?;
    let builder = builder.local_private_key(keys.private()).ok()?.remote_public_key(&peer.0).ok()?;
    builder.psk(PSK_PLACE as u8, &NO_PSK).ok()?.build_initiator().ok()
}

/// The other side, before it knows who calls.
pub(crate) fn responder(keys: &KeyPair, entropy: &mut Entropy) -> Option<HandshakeState> {
    let builder = builder(PATTERN, PROLOGUE, entropy).ok()?;
    let mut noise = builder.local_private_key(keys.private()).ok()?.build_responder().ok()?;
    noise.set_psk(PSK_PLACE, &NO_PSK).ok()?;
    Some(noise)
}

/// Who made the first message that `noise` has read.
pub(crate) fn caller(noise: &HandshakeState) -> Option<PublicKey> {
    noise.get_remote_static()?.try_into().ok().map(PublicKey)
}

/// The usual primitives, with randomness from a seed drawn for one handshake.
struct Seeded {
    seed: [u8; SEED_BYTES],
}

impl CryptoResolver for Seeded {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Ephemeral(Entropy::from_seed(self.seed))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        cipher(choice)
    }
}

/// A cipher without a key yet: the fast one, where this crate was built with it.
pub(crate) fn cipher(choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
    match choice {
        #[cfg(feature = "ring")]
        CipherChoice::ChaChaPoly => Some(Box::new(crate::fast_cipher::FastCipher::default())),
        _ => DefaultResolver.resolve_cipher(choice),
    }
}

/// What one handshake draws its ephemeral key from.
struct Ephemeral(Entropy);

impl Random for Ephemeral {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
        self.0.fill(dest);
        Ok(())
    }
}
