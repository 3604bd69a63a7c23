//! pTCP segments inside sealed messages, as both ends write and read them.
//!
//! A pipe is bound to the sealed session through which it was opened. pTCP knows pipes by pairs of addresses; those
//! of a session may change while it lasts, so a session goes by a [name](path_named) instead: what comes through
//! another session than the pipe's comes over a foreign path, and pTCP drops it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use crate::PTCP_SEGMENT_BYTES;
use prismux_ptcp::header::{self, Parsed};
use prismux_ptcp::{MAX_PIPES, Path, PtcpConfig, Segment};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration};
use prismux_wire::Ecn;
use std::net::{IpAddr, Ipv6Addr};

/// Unacknowledged bytes of a pipe, at most. The server keeps none of them (it reads the object again), only what it
/// remembers of their segments.
const SEND_BUFFER: ByteCount = ByteCount::new(4 << 20);
/// Without any answer for this long a pipe is given up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);
/// As long as an acknowledgement may be delayed.
const MIN_SILENCE: Duration = Duration::from_millis(40);
/// The prefix of addresses that lead nowhere (RFC 6666).
const NAMES: u128 = 0x100 << 112;

/// How both ends behave; at most `window` bytes are received out of order.
pub(crate) fn config(window: ByteCount) -> PtcpConfig {
    let tcp = TcpConfig {
        mss: PTCP_SEGMENT_BYTES,
        ecn: true,
        syn_retries: 3,
        give_up_after: GIVE_UP_AFTER,
        // Ends are sealed, and a session that is over is recognised by its id.
        time_wait: Duration::ZERO,
        ..TcpConfig::modern()
    };
    PtcpConfig {
        send_buffer_per_pipe: SEND_BUFFER,
        receive_buffer_per_pipe: ByteCount::new(window.as_u64() / u64::from(MAX_PIPES)),
        consume_on_arrival: true,
        min_silence: MIN_SILENCE,
        ..PtcpConfig::new(tcp, MAX_PIPES)
    }
}

/// What pTCP calls the path through the session `number`.
pub(crate) fn path_named(number: u64) -> Path {
    let name = IpAddr::V6(Ipv6Addr::from(NAMES | u128::from(number)));
    Path { local: name, remote: name }
}

/// The session of a path.
pub(crate) fn number_of(path: &Path) -> u64 {
    match path.local {
        IpAddr::V6(name) => u128::from(name) as u64,
        IpAddr::V4(_) => 0,
    }
}

/// The segment in `bytes`, which came over `path`, and where in them its payload begins.
pub(crate) fn parse(bytes: &[u8], path: Path, ecn: Ecn) -> Option<(Segment, usize)> {
    let Parsed { header, set_up, tcp, payload_offset } = Parsed::parse(bytes).ok()?;
    let payload_bytes = (bytes.len() - payload_offset) as u32;
    let set_up = set_up.map(Box::new);
    Some((Segment { path, header, set_up, tcp, payload_bytes, ecn }, payload_offset))
}

/// Appends the headers of `segment` and room for its payload to `message`; returns that room.
pub(crate) fn emit<'a>(segment: &Segment, message: &'a mut Vec<u8>) -> Option<&'a mut [u8]> {
    let start = message.len();
    message.resize(start + segment.header_bytes() as usize + segment.payload_bytes as usize, 0);
    let room = message.get_mut(start..)?;
    let length = header::emit(&segment.header, segment.set_up.as_deref(), &segment.tcp, room).ok()?;
    room.get_mut(length..)
}

#[cfg(test)]
mod tests;
