//! Hosts without a routing protocol: all whom they talk to are their neighbours.
use prismux_endpoint::{Deadline, Endpoint};
use prismux_routing::{
    DATA_HOP_LIMIT, DropReason, Frame, Header, Input, NextHop, Outbox, Packet, RoutingEndpoint, RoutingEvent,
    Statistics,
};
use prismux_units::Instant;
use std::net::Ipv4Addr;

/// The header of those who need none.
#[derive(Debug, Clone)]
pub(super) struct NoHeader;

impl Header for NoHeader {
    /// None of its own.
    const PROTOCOL: u8 = 59;

    fn wire_bytes(&self) -> usize {
        0
    }

    fn write(&self, _: u8, _: &mut Vec<u8>) {}
}

/// Sends every packet to the neighbour that it is for.
#[derive(Debug)]
pub(super) struct Direct<P> {
    address: Ipv4Addr,
    outbox: Outbox<NoHeader, P>,
}

impl<P> Direct<P> {
    pub fn new(address: Ipv4Addr) -> Self {
        Self { address, outbox: Outbox::default() }
    }
}

impl<P: 'static> Endpoint for Direct<P> {
    type Input<'a> = Input<'a, NoHeader, P>;
    type Transmit = Frame<NoHeader, P>;
    type Event = RoutingEvent<P>;

    fn handle_input(&mut self, _: Instant, input: Self::Input<'_>) {
        match input {
            Input::Send { destination, payload } => {
                let (source, header) = (self.address, NoHeader);
                let packet = Packet {
                    source,
                    destination,
                    identification: 0,
                    hop_limit: DATA_HOP_LIMIT,
                    header,
                    payload: Some(payload),
                };
                self.outbox.statistics.originated_packets += 1;
                self.outbox.send(NextHop::Neighbour(destination), packet);
            }
            Input::Received { packet, .. } => {
                if let Some(stray) = self.outbox.arrive(self.address, packet) {
                    self.outbox.discard(stray, DropReason::NotAdmitted);
                }
            }
            Input::Overheard { .. } => {}
            Input::LinkFailure { packet, .. } | Input::Flushed { packet, .. } => {
                self.outbox.discard(packet, DropReason::LinkFailure);
            }
        }
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_transmit(&mut self, _: Instant) -> Option<Self::Transmit> {
        self.outbox.poll_frame()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        self.outbox.poll_event()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }
}

impl<P: 'static> RoutingEndpoint<P> for Direct<P> {
    type Header = NoHeader;

    fn address(&self) -> Ipv4Addr {
        self.address
    }

    fn statistics(&self) -> &Statistics {
        &self.outbox.statistics
    }

    fn buffered_packets(&self) -> usize {
        self.outbox.buffered_packets()
    }
}
