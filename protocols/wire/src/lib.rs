//! Packet headers and options as prismux sends and receives them: checked parsing, emission, in-place rewriting, and
//! the sequence-number type. Pure; nothing here panics on input.
//!
//! * [`SeqNumber`]: 32-bit serial arithmetic (RFC 9293 section 3.4).
//! * [`TcpHeader`], [`TcpOptions`]: the typed header that the simulator passes around as a value and
//!   Linux parses from and emits to bytes.
//! * [`TcpPacket`], [`IpPacket`]: bytes of a packet, parsed; [`emit_tcp_packet`] writes one.
//! * [`rewrite`]: changing a segment in place; [`gre`]: tunnels; [`UdpPacket`]: UDP; [`ethernet`]: frames, ARP.
//! * [`fields`]: headers field by field, for protocols with formats of their own.
//! * [`FlowKey`]: addresses and ports of one direction; [`Ecn`]: the congestion bits of the IP header.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

#[cfg(test)]
extern crate alloc;

pub mod checksum;
mod ecn;
mod error;
pub mod ethernet;
pub mod fields;
mod flow;
pub mod gre;
pub mod ip;
pub mod rewrite;
mod seq;
mod tcp_header;
mod tcp_options;
mod tcp_packet;
mod udp;

pub use ecn::Ecn;
pub use error::{Layer, WireError};
pub use flow::{FlowKey, flow_hash, flow_key};
pub use gre::{Encapsulation, GreHeader};
pub use ip::{Fragment, IpFamily, IpHeader, IpPacket};
pub use rewrite::{SackRewrite, SegmentRewrite};
pub use seq::SeqNumber;
pub use tcp_header::{
    DeliveryOrder, HandoffNotice, KeepFactor, LossReport, SackBlock, SackBlocks, TcpFlags, TcpHeader,
    TcpOptions, Timestamps,
};
pub use tcp_options::{DELIVERY_ORDER_EXPERIMENT, HANDOFF_EXPERIMENT, LOSS_REPORT_EXPERIMENT};
pub use tcp_packet::{TcpPacket, emit_tcp_packet, emit_tcp_segment};
pub use udp::{UdpHeader, UdpPacket, emit_udp_packet};

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
