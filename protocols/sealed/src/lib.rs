//! Sealed sessions between the ends of tunnels: nobody else can read, forge or replay what passes.
//!
//! Messages and rules are WireGuard's (Donenfeld, NDSS 2017), so that any WireGuard implementation can be a peer: a
//! Noise IKpsk2 handshake between static X25519 keys, packets under explicit counters, a cookie under load. Stricter
//! is what a new address is worth: see [`Sessions`].
//!
//! * [`Sessions`]: all sessions of one private key. `peer`: one other end, its keys and its address. `session`: one
//!   pair of keys. [`SessionKeys`]: the same on other threads, under numbers that were given out in order.
//! * [`KeyPair`], [`PublicKey`]: who is who. [`noise`]: the handshake's building blocks. `fast_cipher`: the cipher of
//!   programs that ask for the feature `ring`.
//! * `message`: what travels. `cookie`: proofs that do not need a session. `load`: how much work a stranger may cause.
//! * [`ReplayWindow`]: nothing twice. [`Entropy`]: randomness as an argument.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod cookie;
mod entropy;
mod events;
#[cfg(feature = "ring")]
mod fast_cipher;
mod key;
mod limits;
mod load;
mod message;
pub mod noise;
mod peer;
mod replay;
mod session;
mod session_keys;
mod sessions;

pub use entropy::{Entropy, SEED_BYTES};
pub use events::{NoSession, Opened, Refusal, SessionEvent, Transmit};
pub use key::{KeyPair, PublicKey};
pub use limits::Limits;
pub use message::{INITIATION_BYTES, OVERHEAD_BYTES, RESPONSE_BYTES};
pub use peer::PeerId;
pub use replay::{ReplayWindow, WINDOW};
pub use session_keys::{Counter, Reserved, SessionKeys, Ticket};
pub use sessions::Sessions;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
