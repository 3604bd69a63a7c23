//! RCP, the Reception Control Protocol: TCP turned around. (Not the Rate Control Protocol of other simulators.)
//!
//! The receiver asks for data and decides how fast, repairs what is lost and keeps within its own buffer; the sender
//! only answers. A mobile receiver can so use what it knows of its links, or another congestion control, without any
//! change at servers.
//!
//! The map of the machine:
//!
//! * [`header`]: the packet format, typed and in bytes.
//! * [`Sender`]: answers requests. No window, no timers but one against vanished receivers.
//! * [`Pipe`]: one path's state at the receiver: handshake, requests, and the engine of TCP's sender
//!   ([`prismux_tcp::engine`]) turned around: a request sent is a unit outstanding, its data a unit returned.
//! * [`Receiver`]: a pipe and a stream: which data each unit stands for, resequencing, flow control.
//! * [`ranges`]: a prefix and what lies beyond it, for streams and for units.
//! * [`rate_cap`]: a token bucket for senders that give no receiver more than a share.
//! * [`RcpConfig`]: every switch; [`RcpConfig::from_tcp`] turns a TCP's switches around.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod config;
pub mod header;
mod packet;
mod pipe;
pub mod ranges;
pub mod rate_cap;
mod receiver;
mod sender;

pub use config::RcpConfig;
pub use header::{RcpFlags, RcpHeader, RcpOptions};
pub use packet::{PacketIn, PacketOut, RcpEvent, StreamEvent};
pub use pipe::{Ask, DataArrival, Ending, Pipe, PipeCounters, PipeState, Returned};
pub use receiver::{Receiver, ReceiverMetrics};
pub use sender::{Sender, SenderDrops, SenderMetrics, SenderState};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
