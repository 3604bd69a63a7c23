//! What a connection takes in and gives out.
use crate::options::MptcpOptions;
use core::net::IpAddr;
use prismux_wire::{Ecn, TcpHeader};

/// The two addresses that a subflow joins, as this end sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The address of this end.
    pub local: IpAddr,
    /// The address of the peer.
    pub remote: IpAddr,
}

/// A TCP segment with its MPTCP options, the length of its payload, and the path it came or goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The path, as the end that has the segment in hand sees it.
    pub path: Path,
    /// The TCP header with the options of TCP itself.
    pub tcp: TcpHeader,
    /// The options of MPTCP.
    pub mptcp: MptcpOptions,
    /// Length of the payload in bytes.
    pub payload_bytes: u32,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
}

/// A segment to send, and where in our stream its payload is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentOut {
    /// The segment.
    pub segment: Segment,
    /// Offset in our stream of the first payload byte; meaningless without payload.
    pub stream_offset: u64,
}

impl Segment {
    /// Bytes of the TCP header with all options.
    pub fn header_bytes(&self) -> u32 {
        (self.tcp.wire_bytes() + self.mptcp.wire_bytes()) as u32
    }
}

/// The reset that answers a segment for which there is no connection; `None` for a segment that is itself a reset.
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    let arrived = prismux_tcp::SegmentIn {
        header: segment.tcp,
        payload_bytes: segment.payload_bytes,
        ecn: segment.ecn,
    };
    let answer = prismux_tcp::reset_for(&arrived)?;
    Some(Segment {
        path: segment.path,
        tcp: answer.header,
        mptcp: MptcpOptions::default(),
        payload_bytes: 0,
        ecn: answer.ecn,
    })
}
