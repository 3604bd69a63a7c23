//! What the two ends take in and give out.
use crate::header::RcpHeader;
use core::ops::Range;
use prismux_wire::Ecn;

/// An arriving packet: its header, the length of its payload, and the ECN bits of its IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketIn {
    /// The RCP header.
    pub header: RcpHeader,
    /// Length of the payload in bytes.
    pub payload_bytes: u32,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
}

/// A packet to send. The host adds UDP, addresses and the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketOut {
    /// The RCP header.
    pub header: RcpHeader,
    /// Offset in the stream of the first payload byte; meaningless without payload.
    pub stream_offset: u64,
    /// Bytes of payload, from [`PacketOut::stream_offset`] on.
    pub payload_bytes: u32,
    /// ECN bits for the IP header.
    pub ecn: Ecn,
}

impl PacketOut {
    pub(crate) const fn bare(header: RcpHeader) -> Self {
        Self { header, stream_offset: 0, payload_bytes: 0, ecn: Ecn::NotEct }
    }
}

/// What happened to a stream that is fetched, over one pipe or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent {
    /// Keep these bytes of the packet that just arrived, even if bytes before them are missing.
    Accepted {
        /// First byte to keep, counted from the start of the payload.
        packet_offset: u32,
        /// Where it belongs in the stream.
        stream_offset: u64,
        /// How many bytes to keep.
        bytes: u32,
    },
    /// The stream is complete up to here.
    Readable {
        /// Stream offset just after the last byte that can be read.
        up_to: u64,
    },
    /// The stream has ended after the last readable byte: everything is here.
    Complete,
}

impl StreamEvent {
    /// The bytes `part` of a packet whose payload lies at `payload` in the stream are to be kept.
    pub const fn accepted(payload: &Range<u64>, part: &Range<u64>) -> Self {
        Self::Accepted {
            packet_offset: (part.start - payload.start) as u32,
            stream_offset: part.start,
            bytes: (part.end - part.start) as u32,
        }
    }
}

/// Something the application, the keeper of the bytes, or a trace should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RcpEvent {
    /// The handshake is complete.
    Connected,
    /// Receiver: what happened to the stream.
    Stream(StreamEvent),
    /// Sender: the receiver has everything up to here; the host may forget these bytes.
    Purged {
        /// Stream offset just after the last byte that may go.
        up_to: u64,
    },
    /// The peer refused or reset the connection.
    Reset,
    /// The peer has been silent for too long.
    TimedOut,
    /// The connection has ended and may be dropped.
    Closed,
}
