//! Packets along a route that was used lately, without that route (RFC 4728 section 3.5).
//!
//! The first packets that take a route carry it with the number of a flow, which the hosts on it remember; those behind
//! them carry the number alone, or nothing where the flow is the newest of its source and destination. As in ns-2.35,
//! a source keeps to the route of its newest flow until it knows a shorter one or a link breaks, shows the route again
//! every five seconds, and hosts do not tell of shorter routes of packets without one.
use crate::constants::{FLOW_TIMEOUT, FLOW_TIMEOUT_S, MAX_FLOWS, ROUTE_SHOWN_EVERY, SHOWN_AT_FIRST};
use crate::dsr::Dsr;
use crate::header::{DsrHeader, DsrOption, ErrorKind, FlowHeader, RouteError, SourceRoute};
use crate::snoop::Journey;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{DropReason, NextHop, Packet};
use prismux_units::Instant;

/// A source and a destination.
type Ends = (Ipv4Addr, Ipv4Addr);

/// What a host knows of a flow.
#[derive(Debug, Clone)]
struct Flow {
    /// From the source to the destination.
    hosts: Vec<Ipv4Addr>,
    /// Where in `hosts` this one stands.
    place: usize,
    /// The hop limit of packets that may do without a number.
    hop_limit: u8,
    /// At the source: whether packets may.
    allows_default: bool,
    /// At the source: how often the route was shown, since somebody knew it last, and when it was last.
    shown: u32,
    shown_at: Instant,
    until: Instant,
}

/// How a packet of the host's own leaves.
#[derive(Debug)]
struct Departure {
    header: FlowHeader,
    /// Behind the source.
    route: Vec<Ipv4Addr>,
    shows_route: bool,
}

/// The flows that a host has begun, or forwards.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowTable {
    flows: BTreeMap<(Ends, u16), Flow>,
    /// The newest flow of each source and destination.
    newest: BTreeMap<Ends, u16>,
    last_number: u16,
}

impl FlowTable {
    pub(crate) fn len(&self) -> usize {
        self.flows.len() + self.newest.len()
    }

    fn get_mut(&mut self, now: Instant, ends: Ends, number: u16) -> Option<&mut Flow> {
        self.flows.get_mut(&(ends, number)).filter(|flow| flow.until > now)
    }

    /// The flow that a packet without a number belongs to.
    fn default_of(&self, ends: Ends) -> Option<u16> {
        self.newest.get(&ends).copied()
    }

    fn insert(&mut self, ends: Ends, number: u16, flow: Flow) {
        if self.flows.len() >= MAX_FLOWS
            && let Some((&key, _)) = self.flows.iter().min_by_key(|(_, flow)| flow.until)
        {
            self.flows.remove(&key);
            if self.newest.get(&key.0) == Some(&key.1) {
                self.newest.remove(&key.0);
            }
        }
        self.flows.insert((ends, number), flow);
        // Those of flows that may be the default are odd, and numbers wrap.
        if number % 2 == 1 {
            let newest = self.newest.entry(ends).or_insert(number);
            if number.wrapping_sub(*newest) < 1 << 15 {
                *newest = number;
            }
        }
    }

    /// The number of the newest flow of `ends` over `hosts` that is not over.
    fn along(&self, now: Instant, ends: Ends, hosts: &[Ipv4Addr]) -> Option<u16> {
        let flows = self.flows.range((ends, 0)..=(ends, u16::MAX)).rev();
        let mut live = flows.filter(|(_, flow)| flow.until > now && flow.hosts == hosts);
        live.next().map(|((_, number), _)| *number)
    }

    /// A packet of the host's own is about to take the route that is `hosts`, or that of the newest flow.
    fn depart(&mut self, now: Instant, ends: Ends, mut hosts: Vec<Ipv4Addr>, hop_limit: u8) -> Departure {
        let newest = self.default_of(ends).and_then(|number| self.get_mut(now, ends, number));
        if let Some(flow) = newest.filter(|flow| flow.hosts.len() <= hosts.len()) {
            hosts.clone_from(&flow.hosts);
        }
        let number = self.along(now, ends, &hosts).unwrap_or_else(|| {
            self.last_number = self.last_number.wrapping_add(if self.last_number % 2 == 1 { 2 } else { 1 });
            let flow = Flow {
                hosts: hosts.clone(),
                place: 0,
                hop_limit,
                allows_default: true,
                shown: 0,
                shown_at: now,
                until: now + FLOW_TIMEOUT,
            };
            self.insert(ends, self.last_number, flow);
            self.last_number
        });
        let is_default = self.default_of(ends) == Some(number);
        let mut departure = Departure {
            header: FlowHeader::Numbered { hops: 1, number },
            route: Vec::new(),
            shows_route: true,
        };
        if let Some(flow) = self.flows.get_mut(&(ends, number)) {
            flow.until = now + FLOW_TIMEOUT;
            departure.shows_route = flow.shown < SHOWN_AT_FIRST || flow.shown_at + ROUTE_SHOWN_EVERY < now;
            if departure.shows_route {
                flow.allows_default &= flow.hop_limit == hop_limit;
                (flow.shown, flow.shown_at) = (flow.shown + 1, now);
            } else if is_default && flow.allows_default && flow.hop_limit == hop_limit {
                departure.header = FlowHeader::Default;
            }
        }
        hosts.remove(0);
        departure.route = hosts;
        departure
    }

    /// Flows of `own` over the link between two hosts, in this direction, are over.
    pub(crate) fn end_over_link(&mut self, own: Ipv4Addr, from: Ipv4Addr, to: Ipv4Addr) {
        let own_flows = ((own, Ipv4Addr::UNSPECIFIED), 0)..=((own, Ipv4Addr::BROADCAST), u16::MAX);
        for (_, flow) in self.flows.range_mut(own_flows) {
            if flow.hosts.windows(2).any(|link| link == [from, to]) {
                flow.until = Instant::ZERO;
            }
        }
    }

    /// A host on the way does not know a flow: its route is shown again.
    fn show_again(&mut self, ends: Ends, number: u16) {
        if let Some(flow) = self.flows.get_mut(&(ends, number)) {
            flow.shown = 0;
        }
    }
}

impl<P> Dsr<P> {
    /// Sends a packet over `route`, now or later at `at`: a data packet of the host's own along a flow, where there are
    /// flows.
    pub(crate) fn send_over(
        &mut self,
        now: Instant,
        at: Option<Instant>,
        mut packet: Packet<DsrHeader, P>,
        route: Vec<Ipv4Addr>,
    ) {
        let is_flow = self.config.flow_state && packet.source == self.address && packet.payload.is_some();
        if !is_flow || route.is_empty() {
            return self.send_along(at, packet, route);
        }
        let hosts = [self.address].into_iter().chain(route).collect();
        let ends = (packet.source, packet.destination);
        let Departure { header, route, shows_route } = self.flows.depart(now, ends, hosts, packet.hop_limit);
        packet.header.leave_flow();
        packet.header.remove_source_route();
        packet.header.flow = header;
        if shows_route {
            packet.header.options.push(DsrOption::Timeout(FLOW_TIMEOUT_S));
            return self.send_along(at, packet, route);
        }
        self.outbox.send_at_or_now(at, NextHop::Neighbour(route[0]), packet);
    }

    /// Notes the flow of a packet with its route that comes through this host.
    pub(crate) fn note_flow(&mut self, now: Instant, journey: &Journey, packet: &mut Packet<DsrHeader, P>) {
        let FlowHeader::Numbered { hops, number } = packet.header.flow else { return };
        if !self.config.flow_state {
            return;
        }
        packet.header.flow = FlowHeader::Numbered { hops: hops.saturating_add(1), number };
        let ends = (packet.source, packet.destination);
        let until = now + FLOW_TIMEOUT;
        if let Some(flow) = self.flows.get_mut(now, ends, number) {
            flow.until = until;
            return;
        }
        let flow = Flow {
            hosts: journey.hosts.clone(),
            place: journey.receiver,
            hop_limit: packet.hop_limit,
            allows_default: false,
            shown: 0,
            shown_at: now,
            until,
        };
        self.flows.insert(ends, number, flow);
    }

    /// Takes a packet of a flow that does not carry its route: sends it on, or tells its source that the flow is not
    /// known here.
    pub(crate) fn take_flow(&mut self, now: Instant, mut packet: Packet<DsrHeader, P>) {
        let ends = (packet.source, packet.destination);
        if packet.source == self.address {
            return self.refuse(packet, DropReason::Loop);
        }
        let number = match packet.header.flow {
            FlowHeader::Numbered { number, .. } => Some(number),
            FlowHeader::Default => self.flows.default_of(ends),
            FlowHeader::None => None,
        };
        let Some(number) = number else { return self.flow_unknown(now, packet, None) };
        let Some(flow) = self.flows.get_mut(now, ends, number) else {
            return self.flow_unknown(now, packet, Some(number));
        };
        match &mut packet.header.flow {
            FlowHeader::Numbered { hops, .. } => *hops = hops.saturating_add(1),
            _ if flow.hop_limit != packet.hop_limit => return self.flow_unknown(now, packet, None),
            _ => {}
        }
        flow.until = now + FLOW_TIMEOUT;
        let next = flow.hosts[flow.place + 1];
        if packet.hop_limit <= 1 {
            return self.outbox.discard(packet, DropReason::HopLimit);
        }
        packet.hop_limit -= 1;
        self.outbox.statistics.forwarded_packets += 1;
        self.outbox.send(NextHop::Neighbour(next), packet);
    }

    /// A packet belongs to a flow that is not known, or to the default flow where that is not known: it goes another
    /// way, and its source is told.
    fn flow_unknown(&mut self, now: Instant, packet: Packet<DsrHeader, P>, number: Option<u16>) {
        let (source, destination) = (packet.source, packet.destination);
        self.salvage(now, None, packet);
        let kind = match number {
            Some(flow) => ErrorKind::UnknownFlow { destination, flow },
            None => ErrorKind::DefaultFlowUnknown { destination },
        };
        let error = RouteError { salvage: 0, source: self.address, destination: source, kind };
        let answer = self.own_packet(source, vec![DsrOption::RouteError(error)]);
        self.route_or_wait(now, answer);
    }

    /// A host does not know a flow of this one.
    pub(crate) fn accept_unknown_flow(&mut self, kind: &ErrorKind) {
        let (destination, number) = match *kind {
            ErrorKind::UnknownFlow { destination, flow } => (destination, Some(flow)),
            ErrorKind::DefaultFlowUnknown { destination } => (destination, None),
            _ => return,
        };
        let ends = (self.address, destination);
        if let Some(number) = number.or_else(|| self.flows.default_of(ends)) {
            self.flows.show_again(ends, number);
        }
    }

    /// Gives a packet that could not be sent along its flow the route of that flow; says whether it is known.
    pub(crate) fn show_route(&mut self, now: Instant, packet: &mut Packet<DsrHeader, P>) -> bool {
        let ends = (packet.source, packet.destination);
        let number = match packet.header.flow {
            FlowHeader::Numbered { number, .. } => Some(number),
            FlowHeader::Default => self.flows.default_of(ends),
            FlowHeader::None => None,
        };
        let Some(flow) = number.and_then(|number| self.flows.get_mut(now, ends, number)) else {
            return false;
        };
        let addresses = flow.hosts[1..flow.hosts.len() - 1].to_vec();
        let segments_left = (flow.hosts.len() - flow.place - 2) as u8;
        let route = SourceRoute { segments_left, addresses, ..SourceRoute::default() };
        packet.header.options.insert(0, DsrOption::SourceRoute(route));
        true
    }
}
