//! The proxy as an endpoint: inputs by kind, verdicts out.
use super::Proxy;
use crate::events::ProxyEvent;
use crate::ids::LinkId;
use crate::verdict::Verdict;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_receipts::LinkEstimate;
use prismux_units::Instant;
use prismux_wire::{FlowKey, TcpHeader};

/// A packet, by direction and kind, for [`Endpoint::handle_input`].
#[derive(Debug, Clone)]
pub enum ProxyInput<P> {
    /// TCP towards the receiver.
    Data {
        /// Its flow.
        flow: FlowKey,
        /// Its header.
        header: TcpHeader,
        /// Bytes of TCP payload.
        payload_bytes: u32,
        /// The packet.
        packet: P,
    },
    /// TCP towards the sender.
    Reverse {
        /// The flow of the *data* that it answers (its own key reversed).
        data_flow: FlowKey,
        /// Its header.
        header: TcpHeader,
        /// Bytes of TCP payload.
        payload_bytes: u32,
        /// The packet.
        packet: P,
    },
    /// Anything else towards the receiver.
    Opaque {
        /// A hash that is equal for all packets of one flow.
        flow_hash: u64,
        /// The packet.
        packet: P,
    },
    /// A link as receipts of its far end show it.
    Measured {
        /// The link.
        link: LinkId,
        /// What is known of it now.
        estimate: LinkEstimate,
        /// Bytes that the tunnel adds to a packet.
        tunnel_bytes: u32,
    },
    /// A packet did not come out of its link, as receipts of the far end show.
    Lost {
        /// The link.
        link: LinkId,
        /// What [`Verdict::Forward`] named it.
        position: u32,
    },
}

impl<P: Clone> Endpoint for Proxy<P> {
    type Input<'a> = ProxyInput<P>;
    type Transmit = Verdict<P>;
    type Event = ProxyEvent;

    fn handle_input(&mut self, now: Instant, input: Self::Input<'_>) {
        match input {
            ProxyInput::Data { flow, header, payload_bytes, packet } => {
                self.handle_data(now, flow, &header, payload_bytes, packet);
            }
            ProxyInput::Reverse { data_flow, header, payload_bytes, packet } => {
                self.handle_reverse(now, data_flow, &header, payload_bytes, packet);
            }
            ProxyInput::Opaque { flow_hash, packet } => self.handle_opaque(flow_hash, packet),
            ProxyInput::Measured { link, estimate, tunnel_bytes } => {
                self.handle_estimate(now, link, &estimate, tunnel_bytes);
            }
            ProxyInput::Lost { link, position } => self.handle_lost(now, link, position),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        Proxy::handle_timeout(self, now);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Self::Transmit> {
        self.poll_verdict()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        self.shared.links.events.take()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        Proxy::poll_timeout(self)
    }
}
