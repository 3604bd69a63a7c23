//! Files over RCP and R²CP in sealed UDP: a server that is a plain RCP sender, and a client that fetches one object over
//! several interfaces from several servers.
//!
//! What travels, from the datagram inwards (the page `docs/protocols/fetch.md` has the pictures):
//!
//! * [`wire`]: datagrams: type, version, connection ids. [`cookie`]: proof that an address can be reached.
//! * [`handshake`]: requests and answers inside a Noise handshake. [`channel`]: sealing afterwards; [`replay`]: nothing twice.
//! * [`key`], [`url`]: how a server is known.
//!
//! The machines, which see bytes and time but no sockets:
//!
//! * [`server`]: answers thousands of clients out of [`server::Objects`].
//! * [`client`]: one download over many paths.
//!
//! And their life on Linux:
//!
//! * [`directory`]: the files below a folder. [`partial`]: a file that is not complete yet.
//! * [`serve`], [`fetch`]: sockets, waiting, stopping.

pub mod channel;
pub mod client;
pub mod cookie;
pub mod digest;
pub mod directory;
pub mod fetch;
pub mod handshake;
pub mod key;
pub mod partial;
mod random;
pub mod replay;
pub mod serve;
pub mod server;
mod socket;
pub mod url;
pub mod wire;

/// The longest datagram sent, in bytes of UDP payload: 1,378 bytes with IPv4's and UDP's headers, which mobile networks and
/// tunnels carry whole.
pub const DATAGRAM_BYTES: usize = 1350;

/// Most bytes of an RCP data packet behind its bare header: what remains of a datagram. RCP deducts its options itself.
pub const SEGMENT_BYTES: u16 = (DATAGRAM_BYTES
    - wire::SEALED_HEADER_BYTES
    - channel::TAG_BYTES
    - channel::KIND_BYTES
    - RCP_HEADER_BYTES) as u16;

/// An RCP data header without options.
const RCP_HEADER_BYTES: usize = 12;
