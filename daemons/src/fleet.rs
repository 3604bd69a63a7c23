//! Gateways that share a list of homes: a registry (etcd) says who may come in, and which gateway serves whom.
//!
//! ```text
//!   etcd <- HTTP -> registry thread -> news, and a wake-up -> the thread of packets
//!                                 <- homes that are served here <-
//! ```
//!
//! The thread of packets never waits for the registry: it takes the latest news when it is woken, and leaves word of
//! whom it serves. While the registry is away both go on with what they know, which is kept in a file too.
//!
//! * [`contents`]: what entries mean, and who takes over from whom. No clock, no sockets: testable alone.
//! * [`kept`]: what the file says.
//! * [`http`], [`client`]: asking the registry. [`registry_thread`]: the thread.
//! * [`members`]: writing homes to the registry, once for all gateways.

mod client;
pub mod contents;
mod http;
mod kept;
pub mod members;
mod registry_thread;

pub(crate) use registry_thread::{News, RegistryReport, RegistryThread};

pub use client::Registry;
