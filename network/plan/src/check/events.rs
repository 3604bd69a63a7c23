//! Events: of nodes that can do what they are to do, in an order that is possible.
use super::Findings;
use crate::{Action, NodeId, NodeKind, Part, Plan, Problem, Radio, Role};
use alloc::vec::Vec;

impl Plan {
    pub(super) fn check_events(&self, found: &mut Findings) {
        for (index, event) in self.events.iter().enumerate() {
            let problem = match event.action {
                Action::Join(node) => self.wrong_kind(node, &[NodeKind::Member]).map(|p| ("join", p)),
                Action::Leave(node) => self.wrong_kind(node, &[NodeKind::Member]).map(|p| ("leave", p)),
                Action::Kill(node) => self.unkillable(node).map(|p| ("kill", p)),
                Action::Restart(node) => self.unkillable(node).map(|p| ("restart", p)),
                Action::Handoff { host, link, .. } => {
                    let moved = self.wrong_kind(host, &[NodeKind::Host]).map(|p| ("handoff", p));
                    moved.or_else(|| self.foreign_handoff(host, link?).map(|p| ("to", p)))
                }
                Action::Tune { host, channel } => self.untunable(host, channel).map(|p| ("tune", p)),
                Action::Sleep(flow) => self[flow].sleepless().map(|p| ("sleep", p)),
                Action::Wake(flow) => self[flow].sleepless().map(|p| ("wake", p)),
                Action::ChangeLink { .. } | Action::StartFlow(_) | Action::StopFlow(_) => None,
            };
            if let Some((key, problem)) = problem {
                found.add(Part::Event(index), Some(key), problem);
            }
        }
    }

    /// What is wrong with an event of `node` that only nodes of these kinds can have.
    pub fn wrong_kind(&self, node: NodeId, kinds: &[NodeKind]) -> Option<Problem> {
        if kinds.contains(&self[node].kind()) {
            return None;
        }
        let wanted = match kinds {
            [NodeKind::Host] => "a host",
            [NodeKind::Member] => "a member",
            _ => "a member, a proxy or a host with a routing protocol",
        };
        let candidates = self.node_ids().filter(|&node| kinds.contains(&self[node].kind()));
        let candidates = self.names_of(candidates);
        Some(Problem::WrongKind { node: self[node].name.clone(), wanted, candidates })
    }

    /// Why a node has no process that can be killed or started again.
    fn unkillable(&self, node: NodeId) -> Option<Problem> {
        let routes = self.radio_of(node).is_some_and(Radio::has_routers);
        if routes { None } else { self.wrong_kind(node, PROCESSES) }
    }

    /// What keeps a radio from being tuned by an event.
    fn untunable(&self, host: NodeId, channel: u8) -> Option<Problem> {
        let name = self[host].name.clone();
        let Some(radio) = self.radio_of(host) else { return Some(Problem::NotOnTheAir(name)) };
        let contends = radio.cells.is_none() && radio.contends();
        (!contends || channel == 0).then_some(Problem::Untunable(name))
    }

    fn foreign_handoff(&self, host: NodeId, link: crate::LinkId) -> Option<Problem> {
        if self[link].ends.contains(&host) {
            return None;
        }
        let own: Vec<_> = self.links_at(host).into_iter().map(|link| self[link].name.clone()).collect();
        let (host, link) = (self[host].name.clone(), self[link].name.clone());
        Some(Problem::ForeignHandoff { host, link, own })
    }

    /// Members join when outside and leave when inside.
    pub(super) fn check_memberships(&self, found: &mut Findings) {
        for (index, node) in self.nodes.iter().enumerate() {
            let Role::Member(settings) = &node.role else { continue };
            let mut inside = settings.present;
            for event in &self.events {
                let (member, at) = (node.name.clone(), event.at);
                let joins = match event.action {
                    Action::Join(who) if who == NodeId::new(index) => true,
                    Action::Leave(who) if who == NodeId::new(index) => false,
                    _ => continue,
                };
                if joins == inside {
                    let problem = match joins {
                        true => Problem::JoinsInside { member, at },
                        false => Problem::LeavesOutside { member, at },
                    };
                    found.add(Part::Node(node.name.clone()), None, problem);
                }
                inside = joins;
            }
        }
    }
}

/// Nodes with a process that can die, beside hosts with a routing protocol.
const PROCESSES: &[NodeKind] = &[NodeKind::Member, NodeKind::PrismProxy];
