//! What a connection takes in and gives out.
use prismux_wire::{Ecn, TcpFlags, TcpHeader};

/// An arriving segment: its header, the length of its payload, and the ECN bits of its IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentIn {
    /// The TCP header.
    pub header: TcpHeader,
    /// Bytes after the TCP header.
    pub payload_bytes: u32,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
}

/// A segment to send. The host adds addresses, checksums and the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentOut {
    /// The TCP header.
    pub header: TcpHeader,
    /// Offset in our stream of the first payload byte; meaningless without payload.
    pub stream_offset: u64,
    /// Bytes of payload, from [`SegmentOut::stream_offset`] on.
    pub payload_bytes: u32,
    /// ECN bits for the IP header.
    pub ecn: Ecn,
}

/// What arrives at the peer when nothing on the way changes it.
impl From<SegmentOut> for SegmentIn {
    fn from(sent: SegmentOut) -> Self {
        Self { header: sent.header, payload_bytes: sent.payload_bytes, ecn: sent.ecn }
    }
}

/// The reset that answers a segment for which there is no connection (RFC 9293 section 3.10.7.1); `None`
/// for a segment that is itself a reset.
pub fn reset_for(segment: &SegmentIn) -> Option<SegmentOut> {
    let incoming = &segment.header;
    if incoming.flags.contains(TcpFlags::RST) {
        return None;
    }
    let mut header = TcpHeader {
        source_port: incoming.destination_port,
        destination_port: incoming.source_port,
        flags: TcpFlags::RST,
        ..TcpHeader::default()
    };
    if incoming.flags.contains(TcpFlags::ACK) {
        header.seq = incoming.ack;
    } else {
        header.flags |= TcpFlags::ACK;
        header.ack = incoming.seq + incoming.sequence_length(segment.payload_bytes);
    }
    Some(SegmentOut { header, stream_offset: 0, payload_bytes: 0, ecn: Ecn::NotEct })
}
