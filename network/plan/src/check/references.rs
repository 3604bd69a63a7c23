//! Positions that lead nowhere.
use super::Findings;
use crate::{
    Action, Flow, FlowId, LinkId, Medium, MediumModel, NodeId, Part, Plan, Problem, Role, Transport,
};
use alloc::vec;
use alloc::vec::Vec;

/// What a part refers to.
#[derive(Default)]
struct References {
    nodes: Vec<NodeId>,
    links: Vec<LinkId>,
    flows: Vec<FlowId>,
}

impl References {
    /// The kind of the first one that `plan` does not have.
    fn missing_in(&self, plan: &Plan) -> Option<&'static str> {
        let node = self.nodes.iter().any(|id| id.index() >= plan.nodes.len()).then_some("node");
        let link = self.links.iter().any(|id| id.index() >= plan.links.len()).then_some("link");
        let flow = self.flows.iter().any(|id| id.index() >= plan.flows.len()).then_some("flow");
        node.or(link).or(flow)
    }
}

impl Plan {
    pub(super) fn check_references(&self, found: &mut Findings) {
        let mut check = |part: Part, references: &References| {
            if let Some(what) = references.missing_in(self) {
                found.add(part, None, Problem::Missing(what));
            }
        };
        for node in &self.nodes {
            if let Role::PrismProxy(settings) = &node.role {
                let nodes = settings.members.clone().unwrap_or_default();
                check(Part::Node(node.name.clone()), &References { nodes, ..References::default() });
            }
        }
        for link in &self.links {
            let nodes = link.ends.to_vec();
            check(Part::Link(link.name.clone()), &References { nodes, ..References::default() });
        }
        for medium in &self.media {
            check(Part::Medium(medium.name.clone()), &of_medium(medium));
        }
        for flow in &self.flows {
            check(Part::Flow(flow.name.clone()), &of_flow(flow));
        }
        for program in &self.programs {
            let nodes = vec![program.node];
            check(Part::Program(program.name.clone()), &References { nodes, ..References::default() });
        }
        for (index, event) in self.events.iter().enumerate() {
            check(Part::Event(index), &of_action(&event.action));
        }
    }
}

fn of_medium(medium: &Medium) -> References {
    let mut references = References { nodes: medium.attached.clone(), ..References::default() };
    let MediumModel::Radio(radio) = &medium.model else { return references };
    if let Some(cells) = &radio.cells {
        references.nodes.extend(&cells.base_stations);
        references.nodes.extend(cells.fallback.iter().map(|(host, _)| *host));
        references.links.extend(cells.fallback.iter().map(|(_, link)| *link));
    }
    references
}

fn of_flow(flow: &Flow) -> References {
    let mut nodes = vec![flow.from, flow.to];
    nodes.extend(flow.via);
    let mut links = flow.links.clone();
    match &flow.transport {
        Transport::R2cp(settings) => {
            nodes.extend(settings.pipes.iter().map(|pipe| pipe.server));
            links.extend(settings.pipes.iter().filter_map(|pipe| pipe.link));
        }
        Transport::StripingUnaware(settings) | Transport::StripingSmart(settings) => {
            links.extend(&settings.wide_links);
        }
        _ => {}
    }
    References { nodes, links, flows: Vec::new() }
}

fn of_action(action: &Action) -> References {
    let mut references = References::default();
    match *action {
        Action::Join(node) | Action::Leave(node) | Action::Kill(node) | Action::Restart(node) => {
            references.nodes.push(node);
        }
        Action::ChangeLink { link, .. } => references.links.push(link),
        Action::Handoff { host, link, .. } => {
            references.nodes.push(host);
            references.links.extend(link);
        }
        Action::Tune { host, .. } => references.nodes.push(host),
        Action::StartFlow(flow) | Action::StopFlow(flow) | Action::Sleep(flow) | Action::Wake(flow) => {
            references.flows.push(flow);
        }
    }
    references
}
