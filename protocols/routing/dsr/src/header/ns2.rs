//! Lengths of headers as ns-2.35 counts them (its `hdr_sr.h` and `dsragent.cc`).
use super::{DsrHeader, DsrOption, FlowHeader};

const IP_HEADER_BYTES: usize = 20;
const FIXED_BYTES: usize = 4;
const ADDRESS_BYTES: usize = 4;
const REQUEST_BYTES: usize = 8;
const REPLY_BYTES: usize = 5;
const ERROR_BYTES: usize = 16;
const FLOW_BYTES: usize = 4;
const TIMEOUT_BYTES: usize = 4;

/// The bytes of a header on a packet that `carries` a payload or not.
pub(crate) fn header_bytes(header: &DsrHeader, carries: bool) -> usize {
    let errors = header.route_errors().count() * ERROR_BYTES;
    if let Some(request) = header.route_request() {
        // What is sent on is counted again, and nothing is taken away.
        let at_hop = |listed: usize| FIXED_BYTES + listed * ADDRESS_BYTES + REQUEST_BYTES + errors;
        return (0..=request.addresses.len()).map(at_hop).sum();
    }
    let flow = if let FlowHeader::Numbered { .. } = header.flow { FLOW_BYTES } else { 0 };
    if header.options.is_empty() && header.flow != FlowHeader::None {
        return flow + if carries { IP_HEADER_BYTES } else { 0 };
    }
    let mut bytes = FIXED_BYTES + errors + flow;
    for option in &header.options {
        bytes += match option {
            // With its two ends, of which one is in the IP header.
            DsrOption::SourceRoute(route) => (route.addresses.len() + 1) * ADDRESS_BYTES,
            DsrOption::RouteReply(reply) => REPLY_BYTES + (reply.addresses.len() + 1) * ADDRESS_BYTES,
            DsrOption::Timeout(_) => TIMEOUT_BYTES,
            _ => 0,
        };
    }
    bytes.next_multiple_of(4) + if carries { IP_HEADER_BYTES } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::header_bytes;
    use crate::header::{DsrHeader, DsrOption, RouteReply, RouteRequest, SourceRoute};
    use alloc::vec;
    use core::net::Ipv4Addr;

    fn hosts(count: u8) -> alloc::vec::Vec<Ipv4Addr> {
        (1..=count).map(|host| Ipv4Addr::new(10, 0, 0, host)).collect()
    }

    #[test]
    fn lengths_are_those_of_frames_in_traces_of_ns2() {
        let request = |between: u8| {
            DsrHeader::with(vec![DsrOption::RouteRequest(RouteRequest {
                identification: 1,
                target: Ipv4Addr::LOCALHOST,
                addresses: hosts(between),
            })])
        };
        // Frames of 90, 106, 126 and 210 bytes, less 78 of physical, MAC and IP headers.
        for (between, bytes) in [(0, 12), (1, 28), (2, 48), (5, 132)] {
            assert_eq!(header_bytes(&request(between), false), bytes, "{between} hosts");
        }
        let route = SourceRoute { segments_left: 2, addresses: hosts(2), ..SourceRoute::default() };
        let data = DsrHeader::with(vec![DsrOption::SourceRoute(route.clone())]);
        assert_eq!(header_bytes(&data, true), 20 + 16);
        let reply = RouteReply { last_hop_external: false, addresses: hosts(3) };
        let reply = DsrHeader::with(vec![DsrOption::SourceRoute(route), DsrOption::RouteReply(reply)]);
        assert_eq!(header_bytes(&reply, false), 40);
    }
}
