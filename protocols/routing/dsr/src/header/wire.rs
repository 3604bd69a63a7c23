//! The DSR options header between typed form and bytes (RFC 4728 section 6).
use super::{
    Ack, AckRequest, DsrHeader, DsrOption, ErrorKind, FlowHeader, Header, RouteError, RouteReply,
    RouteRequest, SourceRoute,
};
use alloc::vec::Vec;
use core::fmt;
use core::net::Ipv4Addr;

/// Bytes before the options.
const FIXED_BYTES: usize = 4;
/// The bit that tells a flow state header from one of options (section 7.1).
const FLOW_STATE: u8 = 0x80;
const ADDRESS_BYTES: usize = 4;

/// Option types. Their upper three bits say what a host does that does not know the type (section 8.1.6).
pub(crate) mod kind {
    pub(crate) const PAD_N: u8 = 0;
    pub(crate) const ROUTE_REQUEST: u8 = 1;
    pub(crate) const ROUTE_REPLY: u8 = 2;
    pub(crate) const ROUTE_ERROR: u8 = 3;
    pub(crate) const ACK: u8 = 32;
    pub(crate) const TIMEOUT: u8 = 128;
    pub(crate) const SOURCE_ROUTE: u8 = 96;
    pub(crate) const ACK_REQUEST: u8 = 160;
    pub(crate) const PAD_1: u8 = 224;
}

mod error_type {
    pub(super) const NODE_UNREACHABLE: u8 = 1;
    pub(super) const OPTION_NOT_SUPPORTED: u8 = 3;
    pub(super) const UNKNOWN_FLOW: u8 = 129;
    pub(super) const DEFAULT_FLOW_UNKNOWN: u8 = 130;
}

/// Why bytes are not a DSR options header, or a header cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderError {
    /// The bytes end before the header does.
    Truncated,
    /// A DSR header stands behind a flow state header and its options, or a flow state header behind another.
    FlowState,
    /// An option of this type has an impossible length or contradicts itself.
    MalformedOption(u8),
    /// An option does not fit its length field, or the buffer is too small.
    NoRoom,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("DSR options header cut short"),
            Self::FlowState => f.write_str("a DSR header behind a flow state header and its options"),
            Self::MalformedOption(kind) => write!(f, "DSR option {kind} is malformed"),
            Self::NoRoom => f.write_str("the DSR options header does not fit"),
        }
    }
}

impl core::error::Error for HeaderError {}

fn word16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn address(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
}

/// The addresses that fill `bytes`; `None` when they do not.
fn addresses(bytes: &[u8]) -> Option<Vec<Ipv4Addr>> {
    let whole = bytes.len().is_multiple_of(ADDRESS_BYTES);
    whole.then(|| bytes.chunks_exact(ADDRESS_BYTES).map(|chunk| address(chunk, 0)).collect())
}

/// Padding before an option that begins at `at`, so that its addresses lie on multiples of four bytes.
fn padding(at: usize, option: &DsrOption) -> usize {
    let wanted = usize::from(matches!(option, DsrOption::RouteReply(_)));
    (wanted + 4 - at % 4) % 4
}

/// Bytes of an option, its type and its length included.
fn option_bytes(option: &DsrOption) -> usize {
    match option {
        DsrOption::RouteRequest(request) => 8 + ADDRESS_BYTES * request.addresses.len(),
        DsrOption::RouteReply(reply) => 3 + ADDRESS_BYTES * reply.addresses.len(),
        DsrOption::RouteError(error) => {
            12 + match &error.kind {
                ErrorKind::NodeUnreachable(_) => ADDRESS_BYTES,
                ErrorKind::OptionNotSupported(_) => 1,
                ErrorKind::UnknownFlow { .. } => ADDRESS_BYTES + 2,
                ErrorKind::DefaultFlowUnknown { .. } => ADDRESS_BYTES,
                ErrorKind::Other { data, .. } => data.len(),
            }
        }
        DsrOption::AckRequest(_) | DsrOption::Timeout(_) => 4,
        DsrOption::Ack(_) => 12,
        DsrOption::SourceRoute(route) => 4 + ADDRESS_BYTES * route.addresses.len(),
        DsrOption::Unknown { data, .. } => 2 + data.len(),
    }
}

/// Bytes of a flow state header.
fn flow_bytes(header: &DsrHeader) -> usize {
    if let FlowHeader::Numbered { .. } = header.flow { FIXED_BYTES } else { 0 }
}

/// Bytes of the options header, padding included. A packet of a flow may have none.
fn options_bytes(header: &DsrHeader) -> usize {
    if header.options.is_empty() && header.flow != FlowHeader::None {
        return 0;
    }
    let mut at = FIXED_BYTES;
    for option in &header.options {
        at += padding(at, option) + option_bytes(option);
    }
    at.next_multiple_of(4)
}

/// Bytes of a header, padding included.
pub(super) fn header_bytes(header: &DsrHeader) -> usize {
    flow_bytes(header) + options_bytes(header)
}

/// A header that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The header.
    pub header: DsrHeader,
    /// The IP protocol number of what follows.
    pub next_header: u8,
    /// Bytes of the header: where the payload begins.
    pub header_bytes: usize,
}

impl DsrHeader {
    /// Reads a header from the bytes behind the IP header.
    ///
    /// # Errors
    /// When the bytes are neither a DSR options header nor a flow state header, with or without one behind it.
    pub fn parse(bytes: &[u8]) -> Result<Parsed, HeaderError> {
        let fixed = bytes.get(..FIXED_BYTES).ok_or(HeaderError::Truncated)?;
        if fixed[1] & FLOW_STATE == 0 {
            return Self::parse_options(bytes);
        }
        let flow = FlowHeader::Numbered { hops: fixed[1] & !FLOW_STATE, number: word16(fixed, 2) };
        if fixed[0] != Self::PROTOCOL {
            let header = Self { flow, options: Vec::new() };
            return Ok(Parsed { header, next_header: fixed[0], header_bytes: FIXED_BYTES });
        }
        let mut parsed = Self::parse_options(&bytes[FIXED_BYTES..])?;
        if parsed.next_header == Self::PROTOCOL {
            return Err(HeaderError::FlowState);
        }
        parsed.header.flow = flow;
        parsed.header_bytes += FIXED_BYTES;
        Ok(parsed)
    }

    fn parse_options(bytes: &[u8]) -> Result<Parsed, HeaderError> {
        let fixed = bytes.get(..FIXED_BYTES).ok_or(HeaderError::Truncated)?;
        if fixed[1] & FLOW_STATE != 0 {
            return Err(HeaderError::FlowState);
        }
        let length = FIXED_BYTES + usize::from(word16(fixed, 2));
        let body = bytes.get(FIXED_BYTES..length).ok_or(HeaderError::Truncated)?;
        let (mut options, mut at) = (Vec::new(), 0);
        while let Some(&kind) = body.get(at) {
            if kind == kind::PAD_1 {
                at += 1;
                continue;
            }
            let data_bytes = usize::from(*body.get(at + 1).ok_or(HeaderError::Truncated)?);
            let data = body.get(at + 2..at + 2 + data_bytes).ok_or(HeaderError::Truncated)?;
            if kind != kind::PAD_N {
                options.push(parse_option(kind, data).ok_or(HeaderError::MalformedOption(kind))?);
            }
            at += 2 + data_bytes;
        }
        Ok(Parsed { header: Self::with(options), next_header: fixed[0], header_bytes: length })
    }

    /// Writes the header to the front of `out`, before a payload of IP protocol `next_header`
    /// ([`NO_NEXT_HEADER`](super::NO_NEXT_HEADER) for none), and returns its length.
    ///
    /// # Errors
    /// [`HeaderError::NoRoom`] when `out` is too short, or an option is longer than its length field can say.
    pub fn emit(&self, next_header: u8, out: &mut [u8]) -> Result<usize, HeaderError> {
        let length = header_bytes(self);
        let out = out.get_mut(..length).ok_or(HeaderError::NoRoom)?;
        out.fill(kind::PAD_N);
        let (flow, out) = out.split_at_mut(flow_bytes(self));
        if let FlowHeader::Numbered { hops, number } = self.flow {
            flow[0] = if out.is_empty() { next_header } else { Self::PROTOCOL };
            flow[1] = FLOW_STATE | hops & !FLOW_STATE;
            flow[2..].copy_from_slice(&number.to_be_bytes());
        }
        if out.is_empty() {
            return Ok(length);
        }
        let payload_length = u16::try_from(out.len() - FIXED_BYTES).map_err(|_| HeaderError::NoRoom)?;
        out[0] = next_header;
        out[2..4].copy_from_slice(&payload_length.to_be_bytes());
        let mut at = FIXED_BYTES;
        for option in &self.options {
            let (gap, bytes) = (padding(at, option), option_bytes(option));
            pad(&mut out[at..at + gap]);
            at += gap;
            let data_bytes = u8::try_from(bytes - 2).map_err(|_| HeaderError::NoRoom)?;
            let place = &mut out[at..at + bytes];
            place[1] = data_bytes;
            place[0] = emit_option(option, &mut place[2..]);
            at += bytes;
        }
        pad(&mut out[at..]);
        Ok(length)
    }
}

/// Fills a gap with padding options (sections 6.8 and 6.9).
fn pad(gap: &mut [u8]) {
    match gap {
        [] => {}
        [one] => *one = kind::PAD_1,
        [kind, length, rest @ ..] => {
            *kind = kind::PAD_N;
            *length = rest.len() as u8;
            rest.fill(0);
        }
    }
}

/// Reads what follows an option's length; `None` when it cannot be.
fn parse_option(kind: u8, data: &[u8]) -> Option<DsrOption> {
    Some(match kind {
        kind::ROUTE_REQUEST if data.len() >= 6 => DsrOption::RouteRequest(RouteRequest {
            identification: word16(data, 0),
            target: address(data, 2),
            addresses: addresses(&data[6..])?,
        }),
        kind::ROUTE_REPLY if data.len() > ADDRESS_BYTES => DsrOption::RouteReply(RouteReply {
            last_hop_external: data[0] & 0x80 != 0,
            addresses: addresses(&data[1..])?,
        }),
        kind::ROUTE_ERROR if data.len() >= 10 => DsrOption::RouteError(RouteError {
            salvage: data[1] & 0x0f,
            source: address(data, 2),
            destination: address(data, 6),
            kind: parse_error_kind(data[0], &data[10..])?,
        }),
        kind::ACK_REQUEST if data.len() == 2 => {
            DsrOption::AckRequest(AckRequest { identification: word16(data, 0) })
        }
        kind::ACK if data.len() == 10 => DsrOption::Ack(Ack {
            identification: word16(data, 0),
            source: address(data, 2),
            destination: address(data, 6),
        }),
        kind::SOURCE_ROUTE if data.len() >= 2 => {
            let bits = word16(data, 0);
            let addresses = addresses(&data[2..])?;
            let segments_left = (bits & 0x3f) as u8;
            if usize::from(segments_left) > addresses.len() {
                return None;
            }
            DsrOption::SourceRoute(SourceRoute {
                first_hop_external: bits & 0x8000 != 0,
                last_hop_external: bits & 0x4000 != 0,
                salvage: (bits >> 6 & 0x0f) as u8,
                segments_left,
                addresses,
            })
        }
        kind::TIMEOUT if data.len() == 2 => DsrOption::Timeout(word16(data, 0)),
        kind::ROUTE_REQUEST
        | kind::ROUTE_REPLY
        | kind::TIMEOUT
        | kind::ROUTE_ERROR
        | kind::ACK_REQUEST
        | kind::ACK
        | kind::SOURCE_ROUTE => return None,
        _ => DsrOption::Unknown { kind, data: data.to_vec() },
    })
}

fn parse_error_kind(kind: u8, data: &[u8]) -> Option<ErrorKind> {
    match (kind, data) {
        (error_type::NODE_UNREACHABLE, [_, _, _, _]) => Some(ErrorKind::NodeUnreachable(address(data, 0))),
        (error_type::OPTION_NOT_SUPPORTED, [option]) => Some(ErrorKind::OptionNotSupported(*option)),
        (error_type::UNKNOWN_FLOW, [_, _, _, _, _, _]) => {
            Some(ErrorKind::UnknownFlow { destination: address(data, 0), flow: word16(data, 4) })
        }
        (error_type::DEFAULT_FLOW_UNKNOWN, [_, _, _, _]) => {
            Some(ErrorKind::DefaultFlowUnknown { destination: address(data, 0) })
        }
        (
            error_type::NODE_UNREACHABLE
            | error_type::OPTION_NOT_SUPPORTED
            | error_type::UNKNOWN_FLOW
            | error_type::DEFAULT_FLOW_UNKNOWN,
            _,
        ) => None,
        _ => Some(ErrorKind::Other { kind, data: data.to_vec() }),
    }
}

/// Writes what follows an option's length, and returns its type.
fn emit_option(option: &DsrOption, mut out: &mut [u8]) -> u8 {
    let mut put = |bytes: &[u8]| {
        let (place, rest) = core::mem::take(&mut out).split_at_mut(bytes.len());
        place.copy_from_slice(bytes);
        out = rest;
    };
    let kind = match option {
        DsrOption::RouteRequest(request) => {
            put(&request.identification.to_be_bytes());
            put(&request.target.octets());
            kind::ROUTE_REQUEST
        }
        DsrOption::RouteReply(reply) => {
            put(&[u8::from(reply.last_hop_external) << 7]);
            kind::ROUTE_REPLY
        }
        DsrOption::RouteError(error) => {
            put(&[error_type_of(&error.kind), error.salvage & 0x0f]);
            put(&error.source.octets());
            put(&error.destination.octets());
            match &error.kind {
                ErrorKind::NodeUnreachable(node) => put(&node.octets()),
                ErrorKind::OptionNotSupported(option) => put(&[*option]),
                ErrorKind::UnknownFlow { destination, flow } => {
                    put(&destination.octets());
                    put(&flow.to_be_bytes());
                }
                ErrorKind::DefaultFlowUnknown { destination } => put(&destination.octets()),
                ErrorKind::Other { data, .. } => put(data),
            }
            kind::ROUTE_ERROR
        }
        DsrOption::AckRequest(request) => {
            put(&request.identification.to_be_bytes());
            kind::ACK_REQUEST
        }
        DsrOption::Ack(ack) => {
            put(&ack.identification.to_be_bytes());
            put(&ack.source.octets());
            put(&ack.destination.octets());
            kind::ACK
        }
        DsrOption::SourceRoute(route) => {
            let bits = u16::from(route.first_hop_external) << 15
                | u16::from(route.last_hop_external) << 14
                | u16::from(route.salvage & 0x0f) << 6
                | u16::from(route.segments_left & 0x3f);
            put(&bits.to_be_bytes());
            kind::SOURCE_ROUTE
        }
        DsrOption::Timeout(seconds) => {
            put(&seconds.to_be_bytes());
            kind::TIMEOUT
        }
        DsrOption::Unknown { kind, data } => {
            put(data);
            *kind
        }
    };
    for address in listed(option) {
        put(&address.octets());
    }
    kind
}

fn error_type_of(kind: &ErrorKind) -> u8 {
    match kind {
        ErrorKind::NodeUnreachable(_) => error_type::NODE_UNREACHABLE,
        ErrorKind::OptionNotSupported(_) => error_type::OPTION_NOT_SUPPORTED,
        ErrorKind::UnknownFlow { .. } => error_type::UNKNOWN_FLOW,
        ErrorKind::DefaultFlowUnknown { .. } => error_type::DEFAULT_FLOW_UNKNOWN,
        ErrorKind::Other { kind, .. } => *kind,
    }
}

/// The addresses that end an option.
fn listed(option: &DsrOption) -> &[Ipv4Addr] {
    match option {
        DsrOption::RouteRequest(request) => &request.addresses,
        DsrOption::RouteReply(reply) => &reply.addresses,
        DsrOption::SourceRoute(route) => &route.addresses,
        _ => &[],
    }
}
