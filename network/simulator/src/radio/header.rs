//! What a routing protocol puts around packets, or sends as packets of its own.
use crate::core::packet::{BehindIp, Content, Transit, UDP_HEADER_BYTES};
use prismux_routing::{Header, Packet};
use std::fmt;

/// A packet of a routing protocol: around a payload, or alone as a message of the protocol.
#[derive(Debug, Clone)]
pub(super) struct Routed<H> {
    /// With its payload as it was when the header was put around it: a copy has another handle.
    packet: Packet<H, Transit>,
    /// What the header is counted for on the air.
    header_bytes: usize,
}

impl<H> Routed<H> {
    /// A packet whose header is counted for `header_bytes`.
    pub fn new(packet: Packet<H, Transit>, header_bytes: usize) -> Self {
        Self { packet, header_bytes }
    }

    /// What it was put around.
    pub fn payload(&self) -> Option<Transit> {
        self.packet.payload
    }

    /// The packet as those know it who overhear it.
    pub fn packet(&self) -> &Packet<H, Transit> {
        &self.packet
    }

    /// The packet that has come with `payload`.
    pub fn open(self, payload: Option<Transit>) -> Packet<H, Transit> {
        Packet { payload, ..self.packet }
    }
}

impl<H: Header + fmt::Debug + Send + 'static> Content for Routed<H> {
    fn header_bytes(&self) -> usize {
        // A message stands in a datagram, whose UDP header is counted there.
        let counted = if self.packet.payload.is_none() { UDP_HEADER_BYTES as usize } else { 0 };
        self.header_bytes.saturating_sub(counted)
    }

    fn behind_ip(&self, next_header: u8) -> Option<BehindIp> {
        let &Packet { source, destination, hop_limit, ref header, .. } = &self.packet;
        let mut bytes = Vec::new();
        header.write(next_header, &mut bytes);
        Some(BehindIp { source, destination, hop_limit, protocol: H::PROTOCOL, bytes })
    }

    /// It stands behind an IP header.
    fn emit(&self, _: &mut [u8]) {}
}
