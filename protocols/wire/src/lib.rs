//! Packet headers and options as prismux sends and receives them: checked parsing, emission, and the
//! sequence-number type. Pure; nothing here panics on input.
//!
//! * [`SeqNumber`]: 32-bit serial arithmetic (RFC 9293 section 3.4).
//! * [`TcpHeader`], [`TcpOptions`]: the typed header that the simulator passes around as a value and
//!   Linux parses from and emits to bytes.
//! * [`FlowKey`]: addresses and ports of one direction; [`Ecn`]: the congestion bits of the IP header.
#![no_std]

extern crate alloc;

mod ecn;
mod flow;
mod seq;
mod tcp_header;

pub use ecn::Ecn;
pub use flow::FlowKey;
pub use seq::SeqNumber;
pub use tcp_header::{LossReport, SackBlock, SackBlocks, TcpFlags, TcpHeader, TcpOptions, Timestamps};
