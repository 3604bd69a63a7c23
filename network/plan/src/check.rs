//! Whether a plan makes sense: what single settings cannot show.
//!
//! References lead somewhere; names differ; flows arrive over links that are theirs; proxies have members; members come
//! before they go.
mod cell;
mod events;
mod flows;
mod programs;
mod references;

use crate::reach::Reach;
use crate::{
    Cells, Fault, FurtherRadio, LinkId, Medium, MediumModel, Node, NodeId, NodeKind, Part, Plan, PlanError,
    Problem, Radio, Routing,
};
use alloc::string::String;
use alloc::vec::Vec;

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<Fault>);

impl Findings {
    fn add(&mut self, part: Part, key: Option<&'static str>, problem: Problem) {
        self.0.push(Fault { part, key, problem });
    }
}

impl Plan {
    /// Everything that is wrong with the plan, whoever is to run it.
    ///
    /// # Errors
    /// When something is.
    pub fn check(&self) -> Result<(), PlanError> {
        let mut found = Findings::default();
        self.check_references(&mut found);
        if found.0.is_empty() {
            let reach = Reach::of(self);
            self.check_names(&mut found);
            self.check_links(&mut found);
            self.check_media(&mut found);
            for flow in &self.flows {
                self.check_flow(flow, &reach, &mut found);
            }
            self.check_programs(&mut found);
            self.check_proxies(&reach, &mut found);
            self.check_events(&mut found);
            self.check_memberships(&mut found);
        }
        if found.0.is_empty() { Ok(()) } else { Err(PlanError { faults: found.0 }) }
    }

    fn check_names(&self, found: &mut Findings) {
        let nodes = self.nodes.iter().map(|node| node.name.as_str());
        let links = self.links.iter().map(|link| link.name.as_str());
        let media = self.media.iter().map(|medium| medium.name.as_str());
        let flows = self.flows.iter().map(|flow| flow.name.as_str());
        repeated(nodes, |name| found.add(Part::Node(name.clone()), None, Problem::DuplicateName(name)));
        repeated(links, |name| found.add(Part::Link(name.clone()), None, Problem::DuplicateName(name)));
        repeated(media, |name| found.add(Part::Medium(name.clone()), None, Problem::DuplicateName(name)));
        let programs = self.programs.iter().map(|program| program.name.as_str());
        repeated(programs, |name| found.add(Part::Program(name.clone()), None, Problem::DuplicateName(name)));
        repeated(flows, |name| found.add(Part::Flow(name.clone()), None, Problem::DuplicateName(name)));
    }

    fn check_links(&self, found: &mut Findings) {
        for link in self.links.iter().filter(|link| link.ends[0] == link.ends[1]) {
            let node = self[link.ends[0]].name.clone();
            found.add(Part::Link(link.name.clone()), Some("between"), Problem::LinkToItself(node));
        }
    }

    /// A medium is between at least two nodes, each of them on it once.
    fn check_media(&self, found: &mut Findings) {
        for medium in &self.media {
            let mut nodes = medium.attached.clone();
            nodes.sort();
            nodes.dedup();
            let part = || Part::Medium(medium.name.clone());
            if nodes.len() < medium.attached.len().max(2) {
                found.add(part(), Some("attached"), Problem::LonelyMedium);
            }
            if let MediumModel::Cell(cell) = &medium.model {
                self.check_cell(medium, cell, found);
            }
            if let MediumModel::Radio(radio) = &medium.model
                && radio.mobility.len() != medium.attached.len()
            {
                let (hosts, places) = (medium.attached.len(), radio.mobility.len());
                found.add(part(), Some("mobility"), Problem::HostsWithoutPlaces { hosts, places });
            }
            if let MediumModel::Radio(radio) = &medium.model
                && let Some(why) = fault_of_further_radios(medium, radio)
            {
                found.add(part(), Some("channels"), Problem::BadRadios(why));
            }
            if let MediumModel::Radio(radio) = &medium.model
                && let Some(why) = radio.cells.as_ref().and_then(|cells| self.fault_of(medium, radio, cells))
            {
                found.add(part(), Some("cells"), Problem::BadCells(why));
            }
        }
    }

    /// What is impossible about the base stations of an air.
    fn fault_of(&self, medium: &Medium, radio: &Radio, cells: &Cells) -> Option<&'static str> {
        let on_air = |node: &NodeId| medium.attached.contains(node);
        let forwards = |node: &NodeId| on_air(node) && self[*node].kind() == NodeKind::Router;
        let moves = |node: &NodeId| on_air(node) && !cells.base_stations.contains(node);
        let has_link = |(node, link): &(NodeId, LinkId)| moves(node) && self[*link].ends.contains(node);
        if cells.base_stations.is_empty() || !cells.base_stations.iter().all(forwards) {
            Some("a base station that is no router on the air, or none at all")
        } else if !cells.fallback.iter().all(has_link) {
            Some("a fallback that is no link of a host that hands over")
        } else if !radio.contends() {
            Some("slots or polling beside cells")
        } else if radio.routing != Routing::Direct && !radio.relays_beside_cells(&medium.attached) {
            Some("a routing protocol beside cells, and no host with a second radio to relay by")
        } else {
            cells.association.fault()
        }
    }

    /// Every proxy needs members to send through, and links that lead to them.
    fn check_proxies(&self, reach: &Reach, found: &mut Findings) {
        for proxy in self.proxies() {
            let name = &self[proxy].name;
            let mut add = |problem| found.add(Part::Node(name.clone()), Some("members"), problem);
            let members = self.members_of(proxy);
            if members.is_empty() {
                add(Problem::NoMembers(name.clone()));
            }
            for member in members {
                let Node { name: member_name, .. } = &self[member];
                if self[member].kind() != NodeKind::Member {
                    add(Problem::NotAMember(member_name.clone()));
                } else if !reach.leads(proxy, member) {
                    add(Problem::UnreachableMember { proxy: name.clone(), member: member_name.clone() });
                }
            }
        }
    }

    /// The names of these nodes.
    fn names_of(&self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<String> {
        nodes.into_iter().map(|node| self[node].name.clone()).collect()
    }
}

/// What is impossible about hosts with several radios.
fn fault_of_further_radios(medium: &Medium, radio: &Radio) -> Option<&'static str> {
    let repeats = |index: usize| {
        let further = &radio.further_radios[index];
        let (earlier, first) =
            (&radio.further_radios[..index], radio.channels.get(further.host).copied().unwrap_or(1));
        let is_same = |other: &FurtherRadio| (other.host, other.channel) == (further.host, further.channel);
        further.channel == first || earlier.iter().any(is_same)
    };
    if radio.further_radios.is_empty() {
        None
    } else if radio.further_radios.iter().any(|further| further.host >= medium.attached.len()) {
        Some("a radio of a host that is not on the air")
    } else if (0..radio.further_radios.len()).any(repeats) {
        Some("two radios of one host on one channel")
    } else {
        fault_of_relays(medium, radio, radio.cells.as_ref()?)
    }
}

/// What is impossible about radios by which hosts relay beside cells.
fn fault_of_relays(medium: &Medium, radio: &Radio, cells: &Cells) -> Option<&'static str> {
    let is_base = |further: &&FurtherRadio| cells.base_stations.contains(&medium.attached[further.host]);
    let taken = cells.radios(&medium.attached, radio);
    let on_cell = |further: &FurtherRadio| taken.iter().any(|cell| cell.channel == further.channel);
    let mut relays = radio.further_radios.iter().filter(|further| !is_base(further)).peekable();
    if relays.peek().is_some() && radio.routing == Routing::Direct {
        Some("hosts with several radios beside cells, and no routing protocol that relays over them")
    } else {
        relays.any(on_cell).then_some("a radio to relay by on the channel of a base station")
    }
}

/// Tells `complain` of every name that has come before.
fn repeated<'a>(names: impl Iterator<Item = &'a str>, mut complain: impl FnMut(String)) {
    let mut seen = alloc::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            complain(name.into());
        }
    }
}
