//! The Noise framework as this protocol uses it: the pattern, its prologue, and keys made from given randomness.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use prismux_sealed::{Entropy, SEED_BYTES};
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
    match prismux_sealed::noise::builder(PATTERN, PROLOGUE, entropy) {
        Ok(builder) => builder,
        Err(error) => unreachable!("the pattern is constant and known: {error}"),
    }
}
