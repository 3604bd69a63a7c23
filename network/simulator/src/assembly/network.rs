//! The network of a plan, at rest.
use super::options::SimulationOptions;
use crate::core::capture::Capture;
use crate::core::event_queue::EventQueue;
use crate::core::ids::{LinkId, NodeId, PortId};
use crate::core::lost_acks::LostAcks;
use crate::core::observer::{LastSeen, Names, Observer};
use crate::core::packet::PacketPool;
use crate::media::link::{End, Port};
use crate::media::medium::Medium;
use crate::media::shared::{MediumExit, SharedMedium};
use crate::network::Network;
use crate::nodes::addresses::Addresses;
use crate::nodes::node::Node;
use crate::nodes::routing::{Place, Routes};
use crate::nodes::rule::{Forwarding, RuleNode};
use prismux_endpoint::random::Seed;
use prismux_link::Link;
use prismux_plan::{NodeKind, Plan, Unsupported};
use prismux_units::Instant;
use std::collections::VecDeque;
use std::io;

/// The media of a plan, in order.
///
/// # Errors
/// For a medium from outside that the options do not have.
pub(super) fn media(
    plan: &Plan,
    seed: Seed,
    options: &mut SimulationOptions,
) -> Result<Vec<Box<dyn Medium>>, Unsupported> {
    let made = |medium: &prismux_plan::Medium| {
        let given = options.media.remove(&medium.name);
        let planned = match given {
            Some(given) => Some(given),
            None => crate::media::registry::planned(plan, medium, seed)?,
        };
        planned.ok_or_else(|| Unsupported {
            what: format!("medium \"{}\" comes from outside, and the options do not have it", medium.name),
            remedy: "put it into SimulationOptions::media".to_string(),
        })
    };
    plan.media.iter().map(made).collect()
}

/// From every node on a medium to every other, where the medium joins all of them.
pub(super) fn medium_exits(plan: &Plan, media: &[Box<dyn Medium>]) -> Vec<MediumExit> {
    let mut exits = Vec::new();
    for (medium, _) in plan.medium_ids().zip(media).filter(|(_, model)| model.joins_all()) {
        let attached = &plan[medium].attached;
        for &from in attached {
            let others = attached.iter().copied().filter(|&to| to != from);
            exits.extend(others.map(|to| MediumExit { medium, from, to }));
        }
    }
    exits
}

/// The nodes as routing sees them.
pub(super) fn places(plan: &Plan, medium_exits: &[MediumExit], addresses: &Addresses) -> Vec<Place> {
    let place = |node: NodeId| Place { exits: vec![], forwards: plan[node].kind() != NodeKind::Host };
    let mut places: Vec<Place> = plan.node_ids().map(place).collect();
    for link in plan.link_ids() {
        let [a, b] = plan[link].ends;
        places[a.index()].exits.push((PortId::forward(link), b));
        places[b.index()].exits.push((PortId::reverse(link), a));
    }
    for (index, exit) in medium_exits.iter().enumerate() {
        let port = PortId((2 * plan.links.len() + index) as u32);
        places[exit.from.index()].exits.push((port, exit.to));
    }
    addresses.add_places(&mut places);
    places
}

/// The parts of a network.
pub(super) struct Parts {
    pub media: Vec<Box<dyn Medium>>,
    pub medium_exits: Vec<MediumExit>,
    pub routes: Routes,
    /// Nodes with rules of their own.
    pub nodes: Vec<(NodeId, Box<dyn Node>)>,
}

/// The network of `plan`, at rest.
///
/// # Errors
/// When the capture cannot be started.
pub(super) fn network(
    plan: &Plan,
    seed: Seed,
    options: &mut SimulationOptions,
    addresses: &Addresses,
    parts: Parts,
) -> io::Result<Network> {
    let rules = rules(plan, options, parts.nodes);
    let mut forwarding = vec![Forwarding::Table; plan.nodes.len() + addresses.hosts().count()];
    for (place, RuleNode { node, .. }) in rules.iter().enumerate() {
        forwarding[node.index()] = Forwarding::Rule(place as u32);
    }
    let ports = ports(plan, seed);
    let mut media = parts.media;
    if options.capture.is_some() || options.events.is_some() {
        media.iter_mut().for_each(|medium| medium.tell_frames());
    }
    let mut pool = PacketPool::default();
    if plan.measure.lost_acks || options.events.is_some() && !media.is_empty() {
        pool.number_packets();
    }
    let end = |node: NodeId| End::new(node, forwarding[node.index()] == Forwarding::Table);
    Ok(Network {
        now: Instant::ZERO,
        limit: Instant::ZERO,
        queue: EventQueue::new(),
        pool,
        armed: vec![Instant::MAX; ports.len()],
        ports,
        ends: plan.links.iter().flat_map(|link| [link.ends[1], link.ends[0]]).map(end).collect(),
        media: media.into_iter().map(SharedMedium::new).collect(),
        medium_exits: parts.medium_exits,
        forwarding,
        rules,
        routes: parts.routes,
        interfaces: addresses.hosts().collect(),
        counters: Default::default(),
        local: VecDeque::new(),
        observer: observer(plan, options)?,
    })
}

/// Every node with a rule of its own, in the order of nodes; rules from outside take the place of the plan's.
fn rules(
    plan: &Plan,
    options: &mut SimulationOptions,
    mut planned: Vec<(NodeId, Box<dyn Node>)>,
) -> Vec<RuleNode> {
    for (name, rule) in std::mem::take(&mut options.nodes) {
        if let Some(node) = plan.node_named(&name) {
            planned.retain(|(other, _)| *other != node);
            planned.push((node, rule));
        }
    }
    planned.sort_by_key(|(node, _)| *node);
    planned.into_iter().map(|(node, rule)| RuleNode { node, rule: Some(rule) }).collect()
}

/// Links made of late that a new one is compared with.
const LATELY: usize = 8;

fn ports(plan: &Plan, seed: Seed) -> Vec<Port> {
    let mut ports: Vec<Port> = Vec::with_capacity(2 * plan.links.len());
    for link in &plan.links {
        for (direction, config) in [("forward", &link.forward.link), ("reverse", &link.reverse.link)] {
            let mut link = Link::new(config, seed, &format!("{}/{direction}", link.name));
            ports.iter().rev().take(LATELY).any(|known| link.share(&known.link));
            ports.push(Port::new(link));
        }
    }
    ports
}

fn observer(plan: &Plan, options: &mut SimulationOptions) -> io::Result<Option<Box<Observer>>> {
    if options.capture.is_none() && options.events.is_none() && !plan.measure.lost_acks {
        return Ok(None);
    }
    let both = |link: LinkId| {
        let [a, b] = plan[link].ends.map(|node| plan[node].name.clone());
        [(a.clone(), b.clone()), (b, a)]
    };
    let names = Names {
        nodes: plan.nodes.iter().map(|node| node.name.clone()).collect(),
        links: plan.links.iter().map(|link| link.name.clone()).collect(),
        media: plan.media.iter().map(|medium| medium.name.clone()).collect(),
        flows: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
        ends: plan.link_ids().flat_map(both).collect(),
    };
    let media = || plan.media.iter().map(|medium| medium.name.as_str());
    let capture = options.capture.take();
    let capture = capture.map(|writer| Capture::new(writer, &names.links, media())).transpose()?;
    let events = options.events.take();
    let acks = plan.measure.lost_acks.then(LostAcks::default);
    Ok(Some(Box::new(Observer { names, capture, events, acks, last: LastSeen::default() })))
}
