//! What a routing protocol puts around packets, or sends as packets of its own.
use crate::core::packet::{BehindIp, Content, UDP_HEADER_BYTES};
use prismux_routing::{Header, Packet};
use std::fmt;
use std::net::Ipv4Addr;

/// A packet of a routing protocol without its payload.
#[derive(Debug, Clone)]
pub(super) struct Routed<H> {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    identification: u16,
    hop_limit: u8,
    header: H,
    /// What the header is counted for on the air.
    header_bytes: usize,
    /// Whether it stands alone, as a message of the protocol, and not around a payload.
    alone: bool,
}

impl<H> Routed<H> {
    /// Takes a packet apart whose header is counted for `header_bytes`.
    pub fn split<P>(packet: Packet<H, P>, header_bytes: usize) -> (Self, Option<P>) {
        let Packet { source, destination, identification, hop_limit, header, payload } = packet;
        let alone = payload.is_none();
        (Self { source, destination, identification, hop_limit, header, header_bytes, alone }, payload)
    }

    /// What the header is counted for on the air.
    pub fn counted_bytes(&self) -> usize {
        self.header_bytes
    }

    /// Puts a packet together.
    pub fn join<P>(self, payload: Option<P>) -> Packet<H, P> {
        let Self { source, destination, identification, hop_limit, header, .. } = self;
        Packet { source, destination, identification, hop_limit, header, payload }
    }
}

impl<H: Header + fmt::Debug + Send + 'static> Content for Routed<H> {
    fn header_bytes(&self) -> usize {
        // A message stands in a datagram, whose UDP header is counted there.
        let counted = if self.alone { UDP_HEADER_BYTES as usize } else { 0 };
        self.header_bytes.saturating_sub(counted)
    }

    fn behind_ip(&self, next_header: u8) -> Option<BehindIp> {
        let &Self { source, destination, hop_limit, .. } = self;
        let mut bytes = Vec::new();
        self.header.write(next_header, &mut bytes);
        Some(BehindIp { source, destination, hop_limit, protocol: H::PROTOCOL, bytes })
    }

    /// It stands behind an IP header.
    fn emit(&self, _: &mut [u8]) {}
}
