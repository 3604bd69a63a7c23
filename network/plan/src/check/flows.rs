//! Flows: ends, times, traffic, links and pipes that fit each other.
use super::Findings;
use crate::reach::Reach;
use crate::{
    Action, Congestion, Flow, NodeId, NodeKind, Part, Pipe, Plan, Problem, StripedOver, Traffic, Transport,
    UDP_HEADER_BYTES, registry,
};
use alloc::vec::Vec;
use prismux_units::{ByteCount, Rate};

impl Transport {
    /// The traffic that the transport carries, as [`registry::PATTERNS`] has it.
    pub fn patterns(&self) -> impl Iterator<Item = &'static registry::Name<Traffic>> + use<> {
        let (is_tcp, is_udp) = (matches!(self, Self::Tcp), matches!(self, Self::Udp));
        let writes = is_tcp || self.rcp().is_some();
        registry::PATTERNS.iter().filter(move |pattern| match pattern.value {
            Traffic::Bulk { .. } => !is_udp,
            Traffic::RequestResponse { .. } => is_tcp,
            Traffic::Writes { .. } => writes,
            Traffic::Cbr { .. } | Traffic::ParetoOnOff { .. } => is_udp,
        })
    }

    /// What is wrong with `traffic` for this transport: it is of a kind that others carry.
    ///
    /// # Errors
    /// What is wrong, with the kinds that the transport carries.
    pub fn check_pattern(&self, traffic: &Traffic) -> Result<(), Problem> {
        if self.patterns().any(|pattern| pattern.value.is_same_as(traffic)) {
            return Ok(());
        }
        let possible = self.patterns().map(|pattern| pattern.name).collect();
        Err(Problem::WrongPattern { pattern: traffic.name(), transport: self.name(), possible })
    }
}

impl Flow {
    /// What keeps the flow's receiver from sleeping: only RCP's decides what is sent to it.
    pub fn sleepless(&self) -> Option<Problem> {
        let problem = || Problem::Sleepless { flow: self.name.clone(), transport: self.transport.name() };
        self.transport.rcp().is_none().then(problem)
    }
}

impl Plan {
    pub(super) fn check_flow(&self, flow: &Flow, reach: &Reach, found: &mut Findings) {
        let mut add = |key, problem| found.add(Part::Flow(flow.name.clone()), Some(key), problem);
        let to = &self[flow.to].name;
        if flow.from == flow.to {
            add("to", Problem::FlowToItself(to.clone()));
        }
        if !reach.leads(flow.from, flow.to) {
            add("to", self.unreachable(flow.from, flow.to, reach));
        } else if let Some(problem) = self.without_channel(flow.from, flow.to) {
            add("to", problem);
        }
        if flow.start >= self.duration {
            add("start", Problem::StartsAfterRun { start: flow.start, end: self.duration });
        }
        if let Some(stop) = flow.stop.filter(|stop| *stop <= flow.start) {
            add("stop", Problem::StopsBeforeStart { start: flow.start, stop });
        }
        if let Err(problem) = flow.transport.check_pattern(&flow.traffic) {
            add("pattern", problem);
        }
        if let Some((key, problem)) = numbers(&flow.traffic) {
            add(key, problem);
        }
        if let Some(problem) = silent_receiver(flow) {
            add("updates_every", problem);
        }
        if flow.transport == Transport::TcpPrism && self.proxies().is_empty() {
            add("transport", Problem::PrismWithoutProxy);
        }
        self.check_via(flow, found);
        self.check_flow_links(flow, reach, found);
        self.check_pipes(flow, reach, found);
        self.check_coupling(flow, found);
        self.check_slots_of(flow, found);
        check_striping(flow, found);
    }

    /// Both ends are on one air and nowhere else, and no channels join them, at no time.
    fn without_channel(&self, from: NodeId, to: NodeId) -> Option<Problem> {
        let tunes = self.events.iter().any(|event| matches!(event.action, Action::Tune { .. }));
        let alone = |node: NodeId| self.links_at(node).is_empty();
        let radio = self.radio_of(from).filter(|radio| radio.cells.is_none())?;
        let medium = self.media.iter().find(|medium| medium.attached.contains(&from))?;
        let place = |node: NodeId| medium.attached.iter().position(|attached| *attached == node);
        let (start, end) = (place(from)?, place(to)?);
        let one_channel = radio.channels.is_empty() && radio.further_radios.is_empty();
        if tunes || one_channel || !alone(from) || !alone(to) || radio.joins_by_channels(start, end) {
            return None;
        }
        let channels = radio.channels_of(start).collect();
        Some(Problem::NoCommonChannel { from: self[from].name.clone(), to: self[to].name.clone(), channels })
    }

    fn unreachable(&self, from: NodeId, to: NodeId, reach: &Reach) -> Problem {
        let near = self.names_of(self.node_ids().filter(|&node| reach.leads(from, node)));
        let by_air = self.radio_of(to).is_none() && self.node_ids().any(|node| self.radio_of(node).is_some());
        Problem::Unreachable { from: self[from].name.clone(), to: self[to].name.clone(), near, by_air }
    }

    /// `via` names a member, and only where there is a proxy to go past.
    fn check_via(&self, flow: &Flow, found: &mut Findings) {
        let Some(via) = flow.via else { return };
        let problem = if self[via].kind() != NodeKind::Member {
            let members = self.names_of(self.of_kind(NodeKind::Member));
            Problem::ViaIsNoMember { node: self[via].name.clone(), members }
        } else if flow.transport == Transport::TcpPrism {
            Problem::PrismPastProxy
        } else {
            return;
        };
        found.add(Part::Flow(flow.name.clone()), Some("via"), problem);
    }

    /// Access links end where the flow does and lead to its other end; a flow of one pipe has one.
    fn check_flow_links(&self, flow: &Flow, reach: &Reach, found: &mut Findings) {
        let mut add = |problem| found.add(Part::Flow(flow.name.clone()), Some("links"), problem);
        let ends = [flow.from, flow.to];
        let links = self.access_links(flow);
        for link in links.iter().map(|&link| &self[link]) {
            let own = ends.iter().position(|end| link.ends.contains(end));
            let beyond = own.and_then(|own| Some((link.other_end(ends[own])?, ends[1 - own])));
            match beyond {
                None => {
                    let ends = ends.map(|end| self[end].name.clone());
                    add(Problem::ForeignLink { link: link.name.clone(), ends });
                }
                Some((gate, far)) if gate != far => {
                    let forwards = self[gate].kind() != NodeKind::Host;
                    if reach.leads(flow.from, flow.to) && !(forwards && reach.leads(gate, far)) {
                        add(self.unreachable(gate, far, reach));
                    }
                }
                Some(_) => {}
            }
        }
        let count = links.len();
        if !flow.transport.has_pipe_per_link() && count > 1 {
            add(Problem::LinksForOnePipe(count));
        }
        let max = usize::from(prismux_ptcp::MAX_PIPES);
        if count > max {
            add(Problem::TooManyLinks { found: count, max });
        }
    }

    /// Coupling takes a share of an increase (RFC 6356), so there must be one.
    fn check_coupling(&self, flow: &Flow, found: &mut Findings) {
        let coupled = matches!(&flow.transport, Transport::Ptcp(settings) if settings.coupled);
        if coupled && matches!(flow.tcp.congestion, Some(Congestion::Bbr | Congestion::Bbr3)) {
            found.add(Part::Flow(flow.name.clone()), Some("congestion"), Problem::NothingToCouple);
        }
    }

    /// A pipe leads from a host to the flow's receiver, over a link that one of them has.
    fn check_pipes(&self, flow: &Flow, reach: &Reach, found: &mut Findings) {
        let Transport::R2cp(settings) = &flow.transport else { return };
        if settings.pipes.is_empty() {
            found.add(Part::Flow(flow.name.clone()), Some("pipes"), Problem::NoPipes);
        }
        for pipe in &settings.pipes {
            let part = || Part::Pipe { flow: flow.name.clone(), pipe: pipe.name.clone() };
            for problem in self.problems_of(pipe, flow, reach) {
                found.add(part(), None, problem);
            }
        }
    }

    fn problems_of(&self, pipe: &Pipe, flow: &Flow, reach: &Reach) -> Vec<Problem> {
        let mut problems = Vec::new();
        let (server, to) = (self[pipe.server].name.clone(), self[flow.to].name.clone());
        if self[pipe.server].kind() != NodeKind::Host || pipe.server == flow.to {
            problems.push(Problem::BadServer { server: server.clone(), to: to.clone() });
        } else if !reach.leads(pipe.server, flow.to) {
            problems.push(Problem::UnreachableServer { server: server.clone(), to: to.clone() });
        }
        if let Some(link) = pipe.link.map(|link| &self[link])
            && !link.ends.contains(&pipe.server)
            && !link.ends.contains(&flow.to)
        {
            problems.push(Problem::ForeignPipeLink { link: link.name.clone(), server, to });
        }
        problems
    }
}

/// Receivers of striping applications hear of damage over TCP alone.
fn check_striping(flow: &Flow, found: &mut Findings) {
    let (Transport::StripingUnaware(settings) | Transport::StripingSmart(settings)) = &flow.transport else {
        return;
    };
    if settings.loss_notification && settings.over == StripedOver::Rcp {
        found.add(Part::Flow(flow.name.clone()), Some("striping"), Problem::DeafToDamage);
    }
}

/// A receiver that is to write back, over a transport that carries one direction.
fn silent_receiver(flow: &Flow) -> Option<Problem> {
    let updates = matches!(flow.traffic, Traffic::Bulk { updates_every: Some(_), .. });
    let problem = || Problem::UpdatesWithoutTcp { transport: flow.transport.name() };
    (updates && flow.transport != Transport::Tcp).then(problem)
}

/// Numbers of which no traffic can be made.
fn numbers(traffic: &Traffic) -> Option<(&'static str, Problem)> {
    match *traffic {
        Traffic::ParetoOnOff { shape, .. } if shape.is_nan() || shape <= 1.0 => {
            Some(("shape", Problem::ShapeWithoutMean(shape)))
        }
        Traffic::Cbr { rate, packet } | Traffic::ParetoOnOff { rate, packet, .. }
            if packet.as_u64() <= UDP_HEADER_BYTES || rate == Rate::ZERO =>
        {
            Some(("packet", Problem::EmptyDatagrams))
        }
        Traffic::Bulk { updates_every: Some(ByteCount::ZERO), .. } => {
            Some(("updates_every", Problem::EmptyUpdates))
        }
        Traffic::RequestResponse { request, response, .. } if request.min(response) == ByteCount::ZERO => {
            Some(("response", Problem::EmptyExchange))
        }
        Traffic::Writes { size, every } if size == ByteCount::ZERO || every.is_zero() => {
            Some(("every", Problem::EmptyWrites))
        }
        _ => None,
    }
}
