//! What can be said about striping without a network: closed forms, and simulations of the same models to check them.
//!
//! * [`queueing`]: one ordered stream over two pipes, split by the application or by the transport.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

pub mod queueing;
