//! What a connection takes in and gives out.
use crate::header::{PtcpHeader, SetUp};
use alloc::boxed::Box;
use core::net::IpAddr;
use prismux_wire::{Ecn, TcpHeader};

/// The two addresses that a pipe joins, as this end sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The address of this end.
    pub local: IpAddr,
    /// The address of the peer.
    pub remote: IpAddr,
}

/// A segment: three headers, the length of the payload, the path it came or goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The path, as the end that has the segment in hand sees it.
    pub path: Path,
    /// The header of the connection.
    pub header: PtcpHeader,
    /// Set-up block of a pipe's first segments.
    pub set_up: Option<Box<SetUp>>,
    /// The header of the pipe's TCP.
    pub tcp: TcpHeader,
    /// Length of the payload in bytes.
    pub payload_bytes: u32,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
}

/// A segment to send, and where in our stream its payload is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentOut {
    /// The segment's headers and length.
    pub segment: Segment,
    /// Offset in our stream of the first payload byte; meaningless without payload.
    pub stream_offset: u64,
}

impl Segment {
    /// Bytes of all headers behind the UDP header.
    pub fn header_bytes(&self) -> u32 {
        let set_up = self.set_up.as_ref().map_or(0, |set_up| set_up.wire_bytes());
        (PtcpHeader::WIRE_BYTES + set_up + self.tcp.wire_bytes()) as u32
    }
}

/// The reset that answers a segment for which there is no connection, or no pipe; `None` for a segment that is itself a
/// reset.
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    let arrived = prismux_tcp::SegmentIn {
        header: segment.tcp,
        payload_bytes: u32::from(segment.header.virtual_bytes),
        ecn: segment.ecn,
    };
    let answer = prismux_tcp::reset_for(&arrived)?;
    let header = PtcpHeader {
        pipe: segment.header.pipe,
        source: segment.header.destination,
        destination: segment.header.source,
        seq: segment.header.ack,
        ..PtcpHeader::default()
    };
    let path = Path { local: segment.path.local, remote: segment.path.remote };
    Some(Segment { path, header, set_up: None, tcp: answer.header, payload_bytes: 0, ecn: answer.ecn })
}
