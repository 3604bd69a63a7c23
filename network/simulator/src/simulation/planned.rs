//! Events that the scenario foresees.
use super::{Handoff, Simulation};
use crate::endpoint::{Endpoint, Role};
use crate::fabric::{NodeRole, Target};
use crate::ids::{FlowId, LinkIndex, NodeId};
use prismux_link::LinkChange;
use prismux_prism::LinkConfig;
use prismux_tcp::Connection;
use prismux_trace::event::Event;
use prismux_units::Instant;

/// Something that happens at a given time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NetworkEvent {
    /// A member joins its proxy's community.
    Join(NodeId),
    /// A member leaves: its proxy sends nothing more over it, and receivers whose ACKs returned through it
    /// choose another member. What is under way still arrives; take its links down to lose that too.
    Leave(NodeId),
    /// Both directions of a link change.
    LinkChange(LinkIndex, LinkChange),
    /// Only the direction from the link's first to its second node changes.
    ForwardChange(LinkIndex, LinkChange),
    /// Only the direction from the link's second to its first node changes.
    ReverseChange(LinkIndex, LinkChange),
    /// A host has completed a handoff.
    Handoff(Handoff),
    /// A flow starts (if it has not).
    FlowStart(FlowId),
    /// A flow is cut off (if it runs).
    FlowStop(FlowId),
}

/// What a planned event does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Event(NetworkEvent),
    /// The flow has warmed up: its steady goodput is measured from here.
    WarmedUp(FlowId),
}

impl Simulation {
    pub(super) fn take_planned(&mut self, index: u32) {
        match self.planned[index as usize] {
            Plan::Event(event) => self.apply(event),
            Plan::WarmedUp(flow) => self.mark_steady(flow),
        }
    }

    /// Makes `event` happen now.
    pub fn apply(&mut self, event: NetworkEvent) {
        match event {
            NetworkEvent::Join(member) => self.join(member),
            NetworkEvent::Leave(member) => self.leave(member),
            NetworkEvent::LinkChange(link, change) => {
                self.account_link(link);
                self.fabric.change_link(link.forward(), change);
                self.fabric.change_link(link.reverse(), change);
            }
            NetworkEvent::ForwardChange(link, change) => {
                self.account_link(link);
                self.fabric.change_link(link.forward(), change);
            }
            NetworkEvent::ReverseChange(link, change) => self.fabric.change_link(link.reverse(), change),
            NetworkEvent::Handoff(handoff) => self.hand_over(&handoff),
            NetworkEvent::FlowStart(flow) => self.start_flow(flow),
            NetworkEvent::FlowStop(flow) => self.stop_flow(flow),
        }
        // Verdicts may have brought packets to endpoints.
        while let Some(packet) = self.fabric.local.pop_front() {
            self.deliver(packet);
        }
    }

    fn join(&mut self, node: NodeId) {
        let NodeRole::Member(member) = self.fabric.roles[node.index()] else { return };
        let entry = &mut self.fabric.members[member as usize];
        let Some((proxy, link)) = entry.proxy.filter(|_| !entry.joined) else { return };
        entry.joined = true;
        let record = &self.report.members[member as usize];
        let config = LinkConfig {
            name: record.link_name.clone(),
            advertised_rate: record.advertised_rate,
            round_trip: Some(record.round_trip),
        };
        let now = self.fabric.now;
        self.fabric.proxies[proxy as usize].proxy.join(now, link, config);
        self.fabric.carry_out(proxy);
        self.choose_return_members();
        self.note_membership(member, true);
        self.fabric.observe(|names| Event::MemberJoined { member: names.node(node), peer: None });
    }

    fn leave(&mut self, node: NodeId) {
        let NodeRole::Member(member) = self.fabric.roles[node.index()] else { return };
        let entry = &mut self.fabric.members[member as usize];
        let Some((proxy, link)) = entry.proxy.filter(|_| entry.joined) else { return };
        entry.joined = false;
        let now = self.fabric.now;
        self.fabric.proxies[proxy as usize].proxy.leave(now, link);
        self.fabric.carry_out(proxy);
        self.choose_return_members();
        self.note_membership(member, false);
        self.fabric.observe(|names| Event::MemberLeft { member: names.node(node), cause: None });
    }

    /// Points every receiver's way out at the first member of its list that has joined (or stays, when none has).
    pub(crate) fn choose_return_members(&mut self) {
        for receiver in &self.report.receivers {
            let joined = |node: NodeId| match self.fabric.roles[node.index()] {
                NodeRole::Member(member) => self.fabric.members[member as usize].joined,
                _ => false,
            };
            let Some(&(_, port)) = receiver.ways_out.iter().find(|(member, _)| joined(*member)) else {
                continue;
            };
            for &destination in &receiver.beyond {
                self.fabric.routes.set(receiver.node, destination, port);
            }
        }
        self.refresh_exits();
    }

    /// Looks up again where endpoints send their packets first.
    pub(crate) fn refresh_exits(&mut self) {
        for endpoint in &mut self.endpoints {
            let site = endpoint.site_mut();
            site.exit = site.fixed_exit.or_else(|| self.fabric.direct_exit(site.node, site.peer_node));
        }
    }

    fn start_flow(&mut self, flow: FlowId) {
        let now = self.fabric.now;
        let record = &mut self.flows[flow.index()];
        if record.started_at.is_some() {
            return;
        }
        record.started_at = Some(now);
        let id = record.source;
        self.fabric.observe(|names| Event::FlowStarted { flow: names.flow(flow) });
        if let Some(warm_up) = self.report.warm_up {
            self.flows[flow.index()].warms_up = true;
            self.plan(now + warm_up, Plan::WarmedUp(flow));
        }
        match &mut self.endpoints[id.index()] {
            Endpoint::Tcp(tcp) => {
                let notes = tcp.open(&mut self.fabric);
                if !tcp.is_quiet(&notes) {
                    self.serve_application(id, notes);
                }
            }
            Endpoint::Striping(striping) => {
                let records = &mut self.flows[flow.index()].records;
                let notes = striping.open(&mut self.fabric, records);
                self.serve_striped(id, notes);
            }
            Endpoint::Ptcp(ptcp) => {
                let notes = ptcp.open(&mut self.fabric);
                self.serve_striped(id, notes);
            }
            Endpoint::UdpSource(source) => {
                let first = source.start(now);
                self.fabric.queue.push(first, Target::Endpoint(id));
            }
            Endpoint::Rcp(_) => self.open_rcp(flow),
            _ => {}
        }
        let sink = self.flows[flow.index()].sink;
        if let Endpoint::Tcp(tcp) = &mut self.endpoints[sink.index()]
            && matches!(tcp.role, Role::Sink)
        {
            tcp.next_mark = self.flows[flow.index()].pass_marks(now, 0);
        }
        let mark = match &mut self.endpoints[sink.index()] {
            Endpoint::Ptcp(ptcp) => &mut ptcp.next_mark,
            Endpoint::Striping(striping) => &mut striping.next_mark,
            _ => return,
        };
        *mark = self.flows[flow.index()].pass_marks(now, 0);
    }

    fn stop_flow(&mut self, flow: FlowId) {
        let now = self.fabric.now;
        let record = &mut self.flows[flow.index()];
        if record.started_at.is_none() || record.stopped_at.is_some() || record.finished_at.is_some() {
            return;
        }
        record.stopped_at = Some(now);
        if std::mem::replace(&mut record.counts, false) {
            self.unfinished -= 1;
        }
        let source = record.source;
        let bytes = self.delivered_bytes(flow);
        self.fabric.observe(|names| Event::FlowFinished { flow: names.flow(flow), bytes });
        match &mut self.endpoints[source.index()] {
            Endpoint::Tcp(tcp) => {
                tcp.with_connection(&mut self.fabric, Connection::abort);
            }
            Endpoint::Striping(striping) => striping.abort(&mut self.fabric),
            Endpoint::Ptcp(ptcp) => {
                ptcp.abort(&mut self.fabric);
            }
            Endpoint::UdpSource(source) => source.stop(),
            Endpoint::Rcp(_) => self.abort_rcp(flow),
            _ => {}
        }
    }

    fn mark_steady(&mut self, flow: FlowId) {
        let (now, bytes) = (self.fabric.now, self.delivered_bytes(flow));
        let record = &mut self.flows[flow.index()];
        if record.finished_at.is_none() && record.steady_to.is_none() {
            record.steady_from = Some((now, bytes));
        }
    }

    /// Plans `plan` for `at`.
    pub(crate) fn plan(&mut self, at: Instant, plan: Plan) {
        let index = self.planned.len() as u32;
        self.planned.push(plan);
        self.fabric.queue.push(at, Target::Planned(index));
    }
}
