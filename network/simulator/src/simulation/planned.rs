//! Events that the scenario foresees.
use super::{Handoff, Simulation};
use crate::core::ids::{FlowId, LinkIndex, NodeId};
use crate::network::Target;
use prismux_link::LinkChange;
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
    /// The receiver of a flow cuts it off, with data unread: over TCP, a reset goes to the sender.
    FlowReset(FlowId),
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
                self.network.change_link(link.forward(), change);
                self.network.change_link(link.reverse(), change);
            }
            NetworkEvent::ForwardChange(link, change) => {
                self.account_link(link);
                self.network.change_link(link.forward(), change);
            }
            NetworkEvent::ReverseChange(link, change) => self.network.change_link(link.reverse(), change),
            NetworkEvent::Handoff(handoff) => self.hand_over(&handoff),
            NetworkEvent::FlowStart(flow) => self.start_flow(flow),
            NetworkEvent::FlowStop(flow) => self.stop_flow(flow),
            NetworkEvent::FlowReset(flow) => self.reset_flow(flow),
        }
        // Verdicts may have brought packets to endpoints.
        while let Some(packet) = self.network.local.pop_front() {
            self.deliver(packet);
        }
    }

    /// Looks up again where endpoints send their packets first.
    pub(crate) fn refresh_exits(&mut self) {
        for site in self.flows.sites_mut() {
            site.exit = site.fixed_exit.or_else(|| self.network.direct_exit(site.node, site.peer_node));
        }
    }

    fn start_flow(&mut self, flow: FlowId) {
        let now = self.network.now;
        let record = &mut self.records[flow.index()];
        if record.started_at.is_some() {
            return;
        }
        record.started_at = Some(now);
        self.network.observe(|names| Event::FlowStarted { flow: names.flow(flow) });
        if let Some(warm_up) = self.report.warm_up {
            self.records[flow.index()].warms_up = true;
            self.plan(now + warm_up, Plan::WarmedUp(flow));
        }
        self.with_flow(flow, |flow, context| flow.start(context));
    }

    fn stop_flow(&mut self, flow: FlowId) {
        let now = self.network.now;
        let record = &mut self.records[flow.index()];
        if record.started_at.is_none() || record.stopped_at.is_some() || record.finished_at.is_some() {
            return;
        }
        record.stopped_at = Some(now);
        if std::mem::replace(&mut record.counts, false) {
            self.unfinished -= 1;
        }
        let bytes = self.delivered_bytes(flow);
        self.network.observe(|names| Event::FlowFinished { flow: names.flow(flow), bytes });
        self.with_flow(flow, |flow, context| flow.stop(context));
    }

    fn reset_flow(&mut self, flow: FlowId) {
        self.with_flow(flow, |flow, context| flow.reset(context));
    }

    fn mark_steady(&mut self, flow: FlowId) {
        let (now, bytes) = (self.network.now, self.delivered_bytes(flow));
        let record = &mut self.records[flow.index()];
        if record.finished_at.is_none() && record.steady_to.is_none() {
            record.steady_from = Some((now, bytes));
        }
    }

    /// Plans `plan` for `at`.
    pub(crate) fn plan(&mut self, at: Instant, plan: Plan) {
        let index = self.planned.len() as u32;
        self.planned.push(plan);
        self.network.queue.push(at, Target::Planned(index));
    }
}
