//! Tunnels between proxy and members: sealed sessions, GRE over IPv4 (RFC 2784) and GRE in UDP (RFC 8086), in user
//! space.
//!
//! * [`socket`]: encapsulation and decapsulation over raw and UDP sockets, many packets per system call.
//! * [`sealing`]: sessions whose packets nobody else reads, forges or repeats; what they carry is a GRE packet.
//! * [`path_mtu`]: how large a packet a path takes.
//! * [`control`]: registration and keep-alive messages inside the tunnel.
//!
//! Where we differ from RFC 8086: a tunnel uses one fixed source port instead of one per inner flow, because a NAT
//! must see a single flow that the member's keep-alives hold open.

pub mod control;
pub mod path_mtu;
mod peer;
pub(crate) mod repairs;
pub mod sealing;
pub mod socket;

pub use peer::{Peer, SEALED_PORT, Transport};
