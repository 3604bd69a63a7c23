//! A packet, short enough for a log line.
use super::text::{Name, Text};
use prismux_wire::TcpHeader;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A packet: its flow, size and, for TCP, the numbers that matter. `N` is a text: [`Name`] where it is told,
/// [`Text`] where it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet<N> {
    /// Its number in the run, which it keeps from hop to hop; told where a network has media that many share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The flow it belongs to, if any.
    pub flow: Option<N>,
    /// Size on the link in bytes.
    pub bytes: u32,
    /// For TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Segment<N>>,
    /// For other transports that carry a stream of bytes: which of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamPart>,
}

/// A packet as it is told.
pub type PacketSummary<'a> = Packet<Name<'a>>;

/// A part of a flow's stream of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamPart {
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u32,
}

/// The numbers of a TCP segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment<N> {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Control bits as `tcpdump` writes them ("S.", "P.").
    pub flags: N,
    /// Window as on the wire.
    pub window: u16,
    /// Payload bytes.
    pub payload_bytes: u32,
    /// SACK blocks.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sack: Vec<(u32, u32)>,
}

/// A segment as it is told.
pub type SegmentSummary<'a> = Segment<Name<'a>>;

impl SegmentSummary<'_> {
    /// The numbers of `header` in front of `payload_bytes`.
    pub fn new(header: &TcpHeader, payload_bytes: u32) -> Self {
        Self {
            seq: header.seq.0,
            ack: header.ack.0,
            flags: Cow::Owned(format!("{:?}", header.flags)),
            window: header.window,
            payload_bytes,
            sack: header.options.sack.as_slice().iter().map(|b| (b.start.0, b.end.0)).collect(),
        }
    }
}

impl<'a> PacketSummary<'a> {
    /// A packet of `bytes` on the link without TCP inside.
    pub fn opaque(flow: Option<&'a str>, bytes: u32) -> Self {
        Self { number: None, flow: flow.map(Cow::Borrowed), bytes, segment: None, stream: None }
    }

    /// A TCP packet of `bytes` on the link.
    pub fn tcp(flow: Option<&'a str>, bytes: u32, header: &TcpHeader, payload_bytes: u32) -> Self {
        Self { segment: Some(SegmentSummary::new(header, payload_bytes)), ..Self::opaque(flow, bytes) }
    }

    /// A packet of `bytes` on the link that carries `payload_bytes` of a stream from `offset` on, by another transport.
    pub fn part(flow: Option<&'a str>, bytes: u32, offset: u64, payload_bytes: u32) -> Self {
        let part = StreamPart { offset, bytes: payload_bytes };
        Self { stream: (payload_bytes > 0).then_some(part), ..Self::opaque(flow, bytes) }
    }
}

impl Packet<Name<'_>> {
    /// The packet as it would be read back.
    pub(super) fn as_read(&self) -> Packet<Text<'_>> {
        let segment = self.segment.as_ref().map(|segment| Segment {
            flags: Text::from(&*segment.flags),
            sack: segment.sack.clone(),
            seq: segment.seq,
            ack: segment.ack,
            window: segment.window,
            payload_bytes: segment.payload_bytes,
        });
        let flow = self.flow.as_deref().map(Text::from);
        Packet { number: self.number, flow, bytes: self.bytes, segment, stream: self.stream }
    }
}
