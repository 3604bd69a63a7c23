//! The DSR options header (RFC 4728 section 6): what DSR puts between the IP header and the payload.
pub(crate) mod ns2;
pub mod wire;

use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::Header;

/// The IP protocol number "no next header" (RFC 2460): nothing follows the DSR options header.
pub const NO_NEXT_HEADER: u8 = 59;

/// The DSR options header. The IP protocol number of what follows it belongs to the payload, and is given when the
/// header is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DsrHeader {
    /// The flow that the packet belongs to.
    pub flow: FlowHeader,
    /// The options in order.
    pub options: Vec<DsrOption>,
}

/// How a packet says which flow it belongs to (RFC 4728 section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlowHeader {
    /// It belongs to none.
    #[default]
    None,
    /// Not at all: it belongs to the default flow of its source and destination.
    Default,
    /// By a flow state header before the options (section 7.1).
    Numbered {
        /// Hops that the packet has made, the one to its receiver included.
        hops: u8,
        /// The flow's number.
        number: u16,
    },
}

/// One option of the DSR options header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DsrOption {
    /// Looks for a route (section 6.2).
    RouteRequest(RouteRequest),
    /// Tells a route (section 6.3).
    RouteReply(RouteReply),
    /// Tells that a route does not work (section 6.4).
    RouteError(RouteError),
    /// Asks the next hop for an acknowledgement (section 6.5).
    AckRequest(AckRequest),
    /// The acknowledgement that was asked for (section 6.6).
    Ack(Ack),
    /// The route that the packet takes (section 6.7).
    SourceRoute(SourceRoute),
    /// For how many seconds hosts remember the packet's flow (section 7.2.1).
    Timeout(u16),
    /// An option of a type that is not understood; what to do follows from its type (section 8.1.6).
    Unknown {
        /// The option's type.
        kind: u8,
        /// What follows the option's length.
        data: Vec<u8>,
    },
}

/// Looks for a route to `target` (RFC 4728 section 6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteRequest {
    /// Tells the requests of an initiator apart.
    pub identification: u16,
    /// Whom a route is looked for to.
    pub target: Ipv4Addr,
    /// The hosts that the request came by, the initiator not included.
    pub addresses: Vec<Ipv4Addr>,
}

/// Tells a route to the host that looked for it (RFC 4728 section 6.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteReply {
    /// The last hop leads out of the DSR network.
    pub last_hop_external: bool,
    /// The hops of the route, from behind the initiator to the target, both ends of that list included.
    pub addresses: Vec<Ipv4Addr>,
}

/// Tells that a packet could not be sent on (RFC 4728 section 6.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteError {
    /// How often the packet had been salvaged, in 4 bits.
    pub salvage: u8,
    /// The host that found the error.
    pub source: Ipv4Addr,
    /// The host that the error is told to.
    pub destination: Ipv4Addr,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What a route error tells (RFC 4728 section 6.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// NODE_UNREACHABLE: this neighbour of the error's source does not take packets.
    NodeUnreachable(Ipv4Addr),
    /// OPTION_NOT_SUPPORTED: the error's source does not know options of this type.
    OptionNotSupported(u8),
    /// UNKNOWN_FLOW: the error's source does not know this flow of the host that the error is told to.
    UnknownFlow {
        /// The flow's destination.
        destination: Ipv4Addr,
        /// Its number.
        flow: u16,
    },
    /// DEFAULT_FLOW_UNKNOWN: the error's source does not know which flow is the default to this destination.
    DefaultFlowUnknown {
        /// The flow's destination.
        destination: Ipv4Addr,
    },
    /// An error of another type.
    Other {
        /// The error's type.
        kind: u8,
        /// The type-specific information.
        data: Vec<u8>,
    },
}

/// Asks the next hop for an acknowledgement (RFC 4728 section 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckRequest {
    /// What the acknowledgement shall repeat.
    pub identification: u16,
}

/// An acknowledgement over one hop (RFC 4728 section 6.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The number of the request that is answered.
    pub identification: u16,
    /// The host that acknowledges.
    pub source: Ipv4Addr,
    /// The host that asked.
    pub destination: Ipv4Addr,
}

/// The route that a packet takes (RFC 4728 section 6.7).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceRoute {
    /// The first hop leads into the DSR network from outside.
    pub first_hop_external: bool,
    /// The last hop leads out of the DSR network.
    pub last_hop_external: bool,
    /// How often the packet was salvaged, in 4 bits.
    pub salvage: u8,
    /// Listed hosts that the packet has still to visit, in 6 bits.
    pub segments_left: u8,
    /// The hosts between the packet's source and its destination; in a salvaged packet the first is the salvager.
    pub addresses: Vec<Ipv4Addr>,
}

impl DsrHeader {
    /// A header of a packet that belongs to no flow.
    pub const fn with(options: Vec<DsrOption>) -> Self {
        Self { flow: FlowHeader::None, options }
    }

    /// The first source route.
    pub fn source_route(&self) -> Option<&SourceRoute> {
        self.options.iter().find_map(|option| match option {
            DsrOption::SourceRoute(route) => Some(route),
            _ => None,
        })
    }

    /// The first source route, to be changed.
    pub fn source_route_mut(&mut self) -> Option<&mut SourceRoute> {
        self.options.iter_mut().find_map(|option| match option {
            DsrOption::SourceRoute(route) => Some(route),
            _ => None,
        })
    }

    /// The first route request.
    pub fn route_request(&self) -> Option<&RouteRequest> {
        self.options.iter().find_map(|option| match option {
            DsrOption::RouteRequest(request) => Some(request),
            _ => None,
        })
    }

    /// The first route reply.
    pub fn route_reply(&self) -> Option<&RouteReply> {
        self.options.iter().find_map(|option| match option {
            DsrOption::RouteReply(reply) => Some(reply),
            _ => None,
        })
    }

    /// The route errors in order.
    pub fn route_errors(&self) -> impl Iterator<Item = &RouteError> {
        self.options.iter().filter_map(|option| match option {
            DsrOption::RouteError(error) => Some(error),
            _ => None,
        })
    }

    /// The packet no longer belongs to a flow.
    pub fn leave_flow(&mut self) {
        self.flow = FlowHeader::None;
        self.options.retain(|option| !matches!(option, DsrOption::Timeout(_)));
    }

    /// Takes the source route out.
    pub fn remove_source_route(&mut self) {
        self.options.retain(|option| !matches!(option, DsrOption::SourceRoute(_)));
    }
}

impl Header for DsrHeader {
    const PROTOCOL: u8 = 48;

    fn wire_bytes(&self) -> usize {
        wire::header_bytes(self)
    }

    fn write(&self, next_header: u8, out: &mut Vec<u8>) {
        let mut bytes = alloc::vec![0; self.wire_bytes()];
        if self.emit(next_header, &mut bytes).is_ok() {
            out.extend(bytes);
        }
    }
}
