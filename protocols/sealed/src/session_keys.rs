//! The keys of one session, apart from the numbers: whoever has a number may seal or open on a thread of its own.
use crate::message::{HEADER_BYTES, TAG_BYTES, data_header};
use crate::peer::PeerId;
use alloc::sync::Arc;
use core::net::SocketAddr;
use snow::StatelessTransportState;

/// The keys of one session, for both directions. Clones share them.
#[derive(Clone)]
pub struct SessionKeys(Arc<Shared>);

struct Shared {
    noise: StatelessTransportState,
    /// The other end's name of the session.
    remote: u32,
}

/// The number of one packet under one session's keys. Each there is once, and sealing uses it up: under the same number
/// two packets would give their contents away.
#[derive(Debug, PartialEq, Eq)]
pub struct Counter(pub(crate) u64);

/// What sealing one packet for a peer takes.
#[derive(Debug)]
pub struct Reserved {
    /// Where it goes.
    pub to: SocketAddr,
    /// Sealed under these keys.
    pub keys: SessionKeys,
    /// And under this number.
    pub counter: Counter,
}

/// What opening one packet of a peer takes.
#[derive(Debug)]
pub struct Ticket {
    /// Whose it claims to be.
    pub peer: PeerId,
    /// Sealed under these keys, if it is.
    pub keys: SessionKeys,
    /// And under this number.
    pub counter: u64,
    /// Our name of the session.
    pub(crate) session: u32,
}

impl SessionKeys {
    pub(crate) fn new(noise: StatelessTransportState, remote: u32) -> Self {
        Self(Arc::new(Shared { noise, remote }))
    }

    /// Writes the datagram that carries `payload` to `room`, which has [`OVERHEAD_BYTES`](crate::OVERHEAD_BYTES) beyond
    /// it; returns its length, or 0 where the room is too small or the payload longer than any datagram.
    pub fn seal(&self, counter: Counter, payload: &[u8], room: &mut [u8]) -> usize {
        let Some((header, sealed)) = room.split_first_chunk_mut::<HEADER_BYTES>() else { return 0 };
        *header = data_header(self.0.remote, counter.0);
        self.0.noise.write_message(counter.0, payload, sealed).map_or(0, |length| HEADER_BYTES + length)
    }

    /// Opens what came under `counter` into `room`, which is as long; the payload's length, or `None` if it is forged.
    pub fn open(&self, counter: u64, sealed: &[u8], room: &mut [u8]) -> Option<usize> {
        self.0.noise.read_message(counter, sealed, room).ok()
    }

    /// Whether both are keys of the same session.
    pub fn are_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl core::fmt::Debug for SessionKeys {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "SessionKeys({})", self.0.remote)
    }
}

impl Reserved {
    /// Makes `out` the datagram that carries `payload`.
    pub(crate) fn seal(self, payload: &[u8], out: &mut alloc::vec::Vec<u8>) {
        out.clear();
        out.resize(HEADER_BYTES + payload.len() + TAG_BYTES, 0);
        let length = self.keys.seal(self.counter, payload, out);
        out.truncate(length);
    }
}
