//! Application striping: one ordered byte stream over several ordinary TCP sockets, put in order by the receiving
//! application.
//!
//! The baseline that transports over several pipes are measured against. TCP is not touched: the sending application
//! cuts its data into numbered records and writes each to one socket; the receiving application reads the sockets,
//! keeps what is early in a buffer of limited size, and peeks before it reads once that is full.
//!
//! * [`record`]: a record's header on the wire.
//! * [`Sender`]: unaware (round robin) or smart (in proportion to estimated rates).
//! * [`Receiver`]: resequencing, and peek mode.
//!
//! Neither owns a socket: the host says how much room a socket has, or what its next record is, and does the writing
//! and reading. Bytes stay with the host.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod receiver;
pub mod record;
mod sender;

pub use receiver::{Read, Receiver, Sockets};
pub use record::RecordHeader;
pub use sender::{Policy, Sender, Write};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
