//! The ends of flows: TCP connections with a small application each, RCP ends, UDP sources and sinks.
mod ptcp;
mod r2cp;
mod rcp;
mod striping;
mod tcp;
mod udp;

pub(crate) use ptcp::{PtcpEndpoint, PtcpSetup, StripedRole};
pub(crate) use r2cp::{R2cpEndpoint, RcpPort, WayState};
pub(crate) use rcp::{RcpEnd, RcpEndpoint, RcpSetup};
pub(crate) use striping::{Record, StripingEndpoint, StripingSetup};
pub(crate) use tcp::{Client, ENDLESS, Notes, Role, TcpEndpoint, TcpSetup};
pub(crate) use udp::{Pattern, UDP_OVERHEAD_BYTES, UdpSink, UdpSource};

use crate::ids::{EndpointId, FlowId, NodeId, PortId};

/// Where an endpoint sits and whom it talks to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub own: EndpointId,
    pub node: NodeId,
    pub peer_node: NodeId,
    pub peer: EndpointId,
    pub flow: FlowId,
    /// The exit to use, where the node's role allows to know it beforehand.
    pub exit: Option<PortId>,
    /// The exit to use whatever routing says.
    pub fixed_exit: Option<PortId>,
}

impl Site {
    /// An endpoint on its node and its peer on the peer's; routing chooses the exit.
    pub const fn routed(flow: FlowId, own: (EndpointId, NodeId), peer: (EndpointId, NodeId)) -> Self {
        let ((own, node), (peer, peer_node)) = (own, peer);
        Self { own, node, peer_node, peer, flow, exit: None, fixed_exit: None }
    }
}

/// An endpoint. The large variant is the common one: boxing it would cost a look-up for each packet.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Endpoint {
    Tcp(TcpEndpoint),
    Ptcp(Box<PtcpEndpoint>),
    Rcp(RcpEndpoint),
    R2cp(Box<R2cpEndpoint>),
    RcpPort(RcpPort),
    Striping(Box<StripingEndpoint>),
    UdpSource(UdpSource),
    UdpSink(UdpSink),
}

impl Endpoint {
    pub fn site_mut(&mut self) -> &mut Site {
        match self {
            Self::Tcp(tcp) => &mut tcp.site,
            Self::Ptcp(ptcp) => &mut ptcp.site,
            Self::Rcp(rcp) => &mut rcp.site,
            Self::R2cp(r2cp) => &mut r2cp.site,
            Self::RcpPort(port) => &mut port.site,
            Self::Striping(striping) => &mut striping.site,
            Self::UdpSource(source) => &mut source.site,
            Self::UdpSink(sink) => &mut sink.site,
        }
    }
}
