//! Servers, downloads and a network between them, in virtual time and without sockets. Every run is a function of its
//! seed.
//!
//! `shelf`: objects in memory. `network`: what happens to datagrams. `world`: all of it, driven from event to event.
//! `commons`: members that share a file.
//! `by_hand`: single datagrams for a server, and what it answers; `rcp_client`: a client that may say what it likes.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod by_hand;
mod commons;
mod network;
mod rcp_client;
mod shelf;
mod world;

pub use by_hand::*;
pub use commons::*;
pub use network::*;
pub use rcp_client::*;
pub use shelf::*;
pub use world::*;
