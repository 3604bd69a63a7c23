//! The Noise framework as this protocol uses it: the pattern, its prologue, and keys made from given randomness.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use super::entropy::{Entropy, SEED_BYTES};
use snow::error::Error;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState};

const PATTERN: &str = "Noise_NK_25519_ChaChaPoly_BLAKE2s";
/// Both ends must have meant this protocol.
const PROLOGUE: &[u8] = b"prismux fetch 1";
/// A handshake message adds an ephemeral key and a tag.
pub(super) const HANDSHAKE_OVERHEAD_BYTES: usize = 32 + 16;

/// A new static X25519 key pair: private, public.
pub(super) fn key_pair(entropy: &mut Entropy) -> ([u8; 32], [u8; 32]) {
    match builder(entropy).generate_keypair() {
        Ok(pair) => match (pair.private.try_into(), pair.public.try_into()) {
            (Ok(private), Ok(public)) => (private, public),
            _ => unreachable!("X25519 keys have 32 bytes"),
        },
        Err(error) => unreachable!("the pattern is constant: {error}"),
    }
}

/// The client's side of a handshake with the holder of the static key `server`.
pub(super) fn initiator(server: &[u8; 32], entropy: &mut Entropy) -> HandshakeState {
    match builder(entropy).remote_public_key(server).and_then(Builder::build_initiator) {
        Ok(noise) => noise,
        Err(error) => unreachable!("the pattern and the key's length are constant: {error}"),
    }
}

/// The server's side of a handshake under its static key.
pub(super) fn responder(private: &[u8; 32], entropy: &mut Entropy) -> Option<HandshakeState> {
    builder(entropy).local_private_key(private).and_then(Builder::build_responder).ok()
}

/// Whether two halves of a key pair fit: a message to the public one can be read with the private one.
pub(super) fn belong_together(private: &[u8; 32], public: &[u8; 32]) -> bool {
    // What is drawn for this message goes nowhere.
    let entropy = &mut Entropy::from_seed([0; SEED_BYTES]);
    let mut message = [0; HANDSHAKE_OVERHEAD_BYTES];
    let written = initiator(public, entropy).write_message(&[], &mut message);
    let reader = responder(private, entropy);
    written.is_ok() && reader.is_some_and(|mut reader| reader.read_message(&message, &mut [0; 64]).is_ok())
}

fn builder<'a>(entropy: &mut Entropy) -> Builder<'a> {
    let pattern = match PATTERN.parse() {
        Ok(pattern) => pattern,
        Err(_) => unreachable!("the pattern is constant and known"),
    };
    let resolver = Box::new(Seeded { seed: entropy.bytes() });
    match Builder::with_resolver(pattern, resolver).prologue(PROLOGUE) {
        Ok(builder) => builder,
        Err(error) => unreachable!("the first prologue of a builder: {error}"),
    }
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
        DefaultResolver.resolve_cipher(choice)
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
