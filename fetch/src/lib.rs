//! Files over RCP, R²CP and pTCP in sealed UDP: a server that is a plain RCP sender or one end of a pTCP connection,
//! and a client that fetches one object over several interfaces, by R²CP from several servers too.
//!
//! The machines, functions of bytes, time and a seed (the page `docs/protocols/fetch.md` has the pictures of what
//! travels):
//!
//! * [`wire`]: datagrams: type, version, connection ids. [`cookie`]: proof that an address can be reached.
//! * [`handshake`]: requests and answers inside a Noise handshake. [`channel`]: sealing afterwards.
//! * [`key`]: how a server is known. [`Entropy`]: the randomness that machines are given.
//! * [`server`]: answers thousands of clients out of [`server::Objects`]. [`client`]: one download over many paths.
//! * [`member`]: a download that neighbours share. [`pieces`]: what it is cut into.
//! * [`LinkUser`]: what a download hears of interfaces.
//!
//! And their life on Linux:
//!
//! * [`url`]: which object, at which server. [`key_file`]: a server's key on disk.
//! * [`directory`]: the files below a folder. [`partial`]: a file that is not complete yet.
//! * [`serve`], [`fetch`]: sockets, waiting, stopping. [`os_entropy`]: a seed from the operating system.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

pub mod directory;
pub mod fetch;
pub mod key_file;
mod machine;
mod os_entropy;
pub mod partial;
pub mod serve;
mod socket;
pub mod url;

pub use machine::{LinkUser, channel, client, cookie, digest, handshake, key, member, pieces, server, wire};
pub use os_entropy::os_entropy;
pub use prismux_sealed::Entropy;

use machine::segment;

/// The longest datagram sent, in bytes of UDP payload: 1,378 bytes with IPv4's and UDP's headers, which mobile
/// networks and tunnels carry whole.
pub const DATAGRAM_BYTES: usize = 1350;

/// What remains of a datagram inside the seal.
const SEALED_BYTES: usize =
    DATAGRAM_BYTES - wire::SEALED_HEADER_BYTES - channel::TAG_BYTES - channel::KIND_BYTES;

/// Most bytes of an RCP data packet behind its bare header. RCP deducts its options itself.
pub const SEGMENT_BYTES: u16 = (SEALED_BYTES - RCP_HEADER_BYTES) as u16;

/// Most bytes of a pTCP segment behind its bare headers, those of pTCP and of the pipe's TCP, which deducts its
/// options itself.
pub const PTCP_SEGMENT_BYTES: u16 =
    (SEALED_BYTES - prismux_ptcp::PtcpHeader::WIRE_BYTES - TCP_HEADER_BYTES) as u16;

/// An RCP data header without options.
const RCP_HEADER_BYTES: usize = 12;
/// A TCP header without options.
const TCP_HEADER_BYTES: usize = 20;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
