//! The machines: what travels and who answers it, as functions of bytes, time and a seed.
//!
//! Nothing here reads a clock, opens a socket or a file, starts a thread or asks the operating system for randomness:
//! a run is repeated, byte for byte, by its seed.
pub mod channel;
pub mod client;
pub mod cookie;
pub mod digest;
pub mod handshake;
pub mod key;
mod link_user;
pub mod member;
mod noise;
pub mod pieces;
pub(crate) mod segment;
pub mod server;
pub mod wire;

pub use link_user::LinkUser;
