//! Events that the plan foresees.
use super::{Planned, Simulation};
use crate::core::ids::{FlowId, PortId};
use crate::network::Target;
use prismux_plan::{Action, Direction};
use prismux_trace::event::Event;
use prismux_units::Instant;

impl Simulation {
    pub(super) fn take_planned(&mut self, index: u32) {
        match self.planned[index as usize] {
            Planned::Action(action) => self.apply(action),
            Planned::WarmedUp(flow) => self.mark_steady(flow),
        }
    }

    /// Makes `action` happen now.
    pub(crate) fn apply(&mut self, action: Action) {
        match action {
            Action::Join(member) => self.join(member),
            Action::Leave(member) => self.leave(member),
            Action::ChangeLink { link, directions, change } => {
                if directions.include(Direction::Forward) {
                    self.account_port(PortId::forward(link));
                    self.network.change_link(PortId::forward(link), change);
                }
                if directions.include(Direction::Reverse) {
                    self.account_port(PortId::reverse(link));
                    self.network.change_link(PortId::reverse(link), change);
                }
            }
            Action::Handoff { host, link, bandwidth } => self.hand_over(host, link, bandwidth),
            Action::Tune { host, channel } => self.network.tune(host, channel),
            Action::StartFlow(flow) => self.start_flow(flow),
            Action::StopFlow(flow) => self.stop_flow(flow),
            Action::Sleep(flow) => self.with_flow(flow, |flow, context| flow.sleep(context, true)),
            Action::Wake(flow) => self.with_flow(flow, |flow, context| flow.sleep(context, false)),
            // There are no processes: a plan that asks for them is refused.
            Action::Kill(_) | Action::Restart(_) => {}
        }
        self.deliver_local();
    }

    /// The receiver of a flow cuts it off, with data unread: over TCP, a reset goes to the sender.
    pub fn reset_flow(&mut self, flow: FlowId) {
        self.with_flow(flow, |flow, context| flow.reset(context));
        self.deliver_local();
    }

    /// Verdicts and resets may have brought packets to endpoints.
    pub(crate) fn deliver_local(&mut self) {
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
        self.note_start();
        self.network.observe(|names| Event::FlowStarted { flow: names.flow(flow) });
        if let Some(warm_up) = self.report.warm_up {
            self.records[flow.index()].warms_up = true;
            self.plan(now + warm_up, Planned::WarmedUp(flow));
        }
        self.with_flow(flow, |flow, context| flow.start(context));
    }

    fn stop_flow(&mut self, flow: FlowId) {
        let now = self.network.now;
        let record = &mut self.records[flow.index()];
        if record.started_at.is_none() || record.stopped.is_some() || record.finished_at.is_some() {
            return;
        }
        if std::mem::replace(&mut record.counts, false) {
            self.unfinished -= 1;
        }
        let bytes = self.delivered_bytes(flow);
        self.records[flow.index()].stopped = Some((now, bytes));
        self.note(flow);
        self.network.observe(|names| Event::FlowFinished { flow: names.flow(flow), bytes });
        self.with_flow(flow, |flow, context| flow.stop(context));
    }

    fn mark_steady(&mut self, flow: FlowId) {
        let (now, bytes) = (self.network.now, self.delivered_bytes(flow));
        let record = &mut self.records[flow.index()];
        if record.finished_at.is_none() && record.steady_to.is_none() {
            record.steady_from = Some((now, bytes));
        }
        self.note(flow);
    }

    /// Plans something for `at`.
    pub(crate) fn plan(&mut self, at: Instant, plan: Planned) {
        let index = self.planned.len() as u32;
        self.planned.push(plan);
        self.network.queue.push(at, Target::Planned(index));
    }
}
