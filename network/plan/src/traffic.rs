//! What the application of a flow sends.
use prismux_units::{ByteCount, Duration, Rate};

/// What the application sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Traffic {
    /// A file of so many bytes, or data until the flow stops.
    Bulk {
        /// Size; without end when `None`.
        bytes: Option<ByteCount>,
        /// The receiver writes [`UPDATE_BYTES`] back each time that so many have come, as HTTP/2's flow control does;
        /// never when `None`.
        updates_every: Option<ByteCount>,
    },
    /// A request, its response, a pause, again, over one connection.
    RequestResponse {
        /// Size of a request, at least one byte.
        request: ByteCount,
        /// Size of a response, at least one byte.
        response: ByteCount,
        /// Pause between a response and the next request.
        think: Duration,
        /// How many; until the flow stops when `None`.
        exchanges: Option<u64>,
    },
    /// Writes of one size at equal intervals into one connection, whatever has been delivered of them.
    Writes {
        /// Size of a write, at least one byte.
        size: ByteCount,
        /// From one write to the next, above zero.
        every: Duration,
    },
    /// Packets at a constant bit rate.
    Cbr {
        /// Rate of whole IP packets.
        rate: Rate,
        /// Size of an IP packet, its [`UDP_HEADER_BYTES`] included.
        packet: ByteCount,
    },
    /// Bursts at a constant rate whose lengths, like those of the pauses between them, are Pareto distributed.
    ///
    /// As in ns-2: a burst is a whole number of packets, at least one; both lengths are means.
    ParetoOnOff {
        /// Rate of whole IP packets within a burst.
        rate: Rate,
        /// Size of an IP packet, its [`UDP_HEADER_BYTES`] included.
        packet: ByteCount,
        /// Mean length of a burst.
        on: Duration,
        /// Mean length of a pause.
        off: Duration,
        /// Shape of both distributions, above 1.
        shape: f64,
    },
}

/// IPv4 header (RFC 791) and UDP header (RFC 768) of a datagram.
pub const UDP_HEADER_BYTES: u64 = 28;

/// An update of two windows in HTTP/2, the connection's and the stream's: two frames of 13 bytes (RFC 9113, section
/// 6.9) in a record of TLS 1.3 (RFC 8446, section 5.2).
pub const UPDATE_BYTES: u64 = 2 * 13 + 22;

impl Traffic {
    /// Data until the flow stops.
    pub const ENDLESS: Self = Self::Bulk { bytes: None, updates_every: None };

    /// A file, or data until the flow stops, for which nothing comes back but ACKs.
    pub const fn bulk(bytes: Option<ByteCount>) -> Self {
        Self::Bulk { bytes, updates_every: None }
    }

    /// True for traffic whose packets nobody answers.
    pub const fn is_datagrams(&self) -> bool {
        matches!(self, Self::Cbr { .. } | Self::ParetoOnOff { .. })
    }
}
