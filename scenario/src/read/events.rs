//! `[[events]]`.

use super::flows::ReadFlow;
use super::links;
use super::reader::{Problems, Reader};
use crate::diagnostic::{list_of, remedy_for};
use crate::document::{Item, Table, Value};
use crate::keys;
use prismux_link::LinkChange;
use prismux_plan::{Action, Directions, Event, Flow, FlowId, Link, LinkId, Node, NodeId, NodeKind};
use prismux_units::Duration;

/// What events may refer to.
pub(super) struct Context<'a> {
    pub nodes: &'a [Node],
    pub node_names: &'a [&'a str],
    pub links: &'a [Link],
    pub link_names: &'a [&'a str],
    pub duration: Duration,
    /// The nodes on the air.
    pub on_air: &'a [NodeId],
}

/// The keys that say what happens; an event has exactly one.
const ACTIONS: [&str; 11] =
    ["join", "leave", "start", "stop", "sleep", "wake", "kill", "restart", "handoff", "tune", "link"];

/// Reads the events and puts them in order of time.
pub(super) fn read(
    file: &Reader<'_>,
    context: &Context<'_>,
    flows: &[ReadFlow],
    problems: &Problems<'_>,
) -> Vec<Event> {
    let Some(entry) = file.entry("events") else { return Vec::new() };
    let remedy = Some("write [[events]] with double brackets before each event".to_string());
    let Value::List(items) = &entry.item.value else {
        file.wrong("events", format!("found {}", entry.item.value.describe()), "a list of tables", remedy);
        return Vec::new();
    };
    let mut events = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Value::Table(table) = &item.value else {
            let path = format!("events.{index}");
            problems.add(
                &item.place,
                &path,
                format!("found {}", item.value.describe()),
                "a table",
                remedy.clone(),
            );
            continue;
        };
        let reader =
            Reader::new(table, format!("events.{index}"), &event_place(item, table), keys::EVENT, problems);
        events.extend(read_event(&reader, context, flows));
        reader.finish();
    }
    events.sort_by_key(|event| event.at);
    events
}

/// A `[[events]]` table begins at its first key, for messages.
fn event_place(item: &Item, table: &Table) -> crate::diagnostic::Place {
    table.entries.first().map_or_else(|| item.place.clone(), |entry| entry.key_place.clone())
}

fn read_event(reader: &Reader<'_>, context: &Context<'_>, flows: &[ReadFlow]) -> Vec<Event> {
    let at = reader.duration("at");
    if reader.table.get("at").is_none() {
        reader.missing("at", "a time such as \"40 s\"", "say when it happens: at = \"40 s\"".to_string());
    }
    if let Some(at) = at.filter(|at| *at > context.duration) {
        let found = format!("the event at {at} comes after the end of the run ({})", context.duration);
        reader.wrong("at", found, "a time within the run", None);
    }
    let given: Vec<&'static str> =
        ACTIONS.into_iter().filter(|key| reader.table.get(key).is_some()).collect();
    let [what] = given[..] else {
        let found = match given.len() {
            0 => "the event says nothing happens".to_string(),
            _ => format!("found {} in one event", given.join(" and ")),
        };
        for key in given {
            reader.entry(key);
        }
        let remedy = Some("for instance leave = \"m2\"; two things at one time are two events".to_string());
        reader.problems.add(
            &reader.place,
            &reader.path,
            found,
            format!("exactly one of {}", list_of(&ACTIONS)),
            remedy,
        );
        return Vec::new();
    };
    let actions = match what {
        "join" => node(reader, "join", context, &[NodeKind::Member]).map(Action::Join).into_iter().collect(),
        "leave" => {
            node(reader, "leave", context, &[NodeKind::Member]).map(Action::Leave).into_iter().collect()
        }
        "kill" => process(reader, "kill", context).map(Action::Kill).into_iter().collect(),
        "restart" => process(reader, "restart", context).map(Action::Restart).into_iter().collect(),
        "handoff" => handoff(reader, context).into_iter().collect(),
        "tune" => tune(reader, context).into_iter().collect(),
        "start" => flow(reader, "start", flows).into_iter().map(Action::StartFlow).collect(),
        "stop" => flow(reader, "stop", flows).into_iter().map(Action::StopFlow).collect(),
        "sleep" => sleeper(reader, "sleep", flows).into_iter().map(Action::Sleep).collect(),
        "wake" => sleeper(reader, "wake", flows).into_iter().map(Action::Wake).collect(),
        _ => link_change(reader, context).into_iter().collect::<Vec<_>>(),
    };
    let Some(at) = at else { return Vec::new() };
    actions.into_iter().map(|action| Event { at, action }).collect()
}

fn process(reader: &Reader<'_>, key: &'static str, context: &Context<'_>) -> Option<NodeId> {
    // Which hosts have a routing protocol, the plan knows.
    node(reader, key, context, &[NodeKind::Member, NodeKind::PrismProxy, NodeKind::Host])
}

/// A node of one of `kinds`.
fn node(reader: &Reader<'_>, key: &'static str, context: &Context<'_>, kinds: &[NodeKind]) -> Option<NodeId> {
    let index = reader.reference(key, "nodes", context.node_names)?;
    if kinds.contains(&context.nodes[index].kind()) {
        return Some(NodeId::new(index));
    }
    let wanted: Vec<&str> =
        context.nodes.iter().filter(|n| kinds.contains(&n.kind())).map(|n| n.name.as_str()).collect();
    let what = match kinds {
        [NodeKind::Host] => "a host",
        [_] => "a member",
        _ => "a member, a proxy or a host with a routing protocol",
    };
    let expected = format!("{what}: {}", list_of(&wanted));
    reader.wrong(key, format!("\"{}\" is not {what}", context.node_names[index]), expected, None);
    None
}

/// A host's handoff, to a link that ends at it.
fn handoff(reader: &Reader<'_>, context: &Context<'_>) -> Option<Action> {
    let host = node(reader, "handoff", context, &[NodeKind::Host]);
    let to = reader.reference("to", "links", context.link_names);
    let bandwidth = reader.rate("bandwidth").filter(|rate| rate.as_bps() > 0);
    let host = host?;
    // A link that could not be read is missing here, and complained about already.
    let ends_elsewhere =
        |name: &&str| context.links.iter().any(|link| link.name == **name && !link.ends.contains(&host));
    if let Some(link) = to.map(|link| context.link_names[link]).filter(ends_elsewhere) {
        let own: Vec<&str> =
            context.links.iter().filter(|l| l.ends.contains(&host)).map(|l| l.name.as_str()).collect();
        let name = context.node_names[host.index()];
        let expected = format!("a link of \"{name}\": {}", list_of(&own));
        reader.wrong("to", format!("\"{link}\" does not end at \"{name}\""), expected, None);
        return None;
    }
    Some(Action::Handoff { host, link: to.map(LinkId::new), bandwidth })
}

/// The new channel of a host on the air.
fn tune(reader: &Reader<'_>, context: &Context<'_>) -> Option<Action> {
    let host = reader.reference("tune", "nodes", context.node_names).map(NodeId::new);
    let channel = reader.integer("channel", 1..=255).map(|channel| channel as u8);
    if reader.table.get("channel").is_none() {
        reader.missing("channel", "the channel", "for instance channel = 6".to_string());
    }
    let name = |node: &NodeId| context.node_names[node.index()];
    if let Some(host) = host.filter(|host| !context.on_air.contains(host)) {
        let on_air: Vec<&str> = context.on_air.iter().map(name).collect();
        let found = format!("\"{}\" is not on the air", name(&host));
        reader.wrong("tune", found, list_of(&on_air), None);
        return None;
    }
    Some(Action::Tune { host: host?, channel: channel? })
}

/// The flows that one entry of `[flows]` stands for.
fn flow(reader: &Reader<'_>, key: &'static str, flows: &[ReadFlow]) -> Vec<FlowId> {
    let Some(text) = reader.text(key) else { return Vec::new() };
    let mut first = 0;
    for read in flows {
        let indices: Vec<FlowId> = (first..first + read.flows.len()).map(FlowId::new).collect();
        if read.name == text {
            return indices;
        }
        if let Some(position) = read.flows.iter().position(|flow| flow.name == text) {
            return vec![FlowId::new(first + position)];
        }
        first += read.flows.len();
    }
    let names: Vec<&str> = flows.iter().map(|read| read.name.as_str()).collect();
    let remedy = remedy_for(text, names.iter().copied());
    let expected = format!("one of the flows: {}", list_of(&names));
    reader.wrong(key, format!("there is no \"{text}\" among the flows"), expected, remedy);
    Vec::new()
}

/// The same, of flows whose receivers can sleep.
fn sleeper(reader: &Reader<'_>, key: &'static str, flows: &[ReadFlow]) -> Vec<FlowId> {
    let found = flow(reader, key, flows);
    let all: Vec<&Flow> = flows.iter().flat_map(|read| &read.flows).collect();
    let named = found.iter().filter_map(|id| all.get(id.index()));
    if let Some(problem) = named.into_iter().find_map(|flow| flow.sleepless()) {
        reader.wrong(key, problem.found(), problem.expected(), problem.remedy());
        return Vec::new();
    }
    found
}

fn link_change(reader: &Reader<'_>, context: &Context<'_>) -> Option<Action> {
    let link = reader.reference("link", "links", context.link_names);
    let directions = match reader.text("direction") {
        None | Some("both") => Directions::Both,
        Some("forward") => Directions::Forward,
        Some("reverse") => Directions::Reverse,
        Some(other) => {
            reader.wrong("direction", format!("there is no \"{other}\""), "both, forward or reverse", None);
            Directions::Both
        }
    };
    let change = LinkChange {
        rate: reader.rate("rate"),
        delay: reader.duration("delay"),
        loss: links::loss(reader),
        up: reader.boolean("up"),
    };
    if change.rate.is_some_and(|rate| rate.as_bps() == 0) {
        let remedy = "for a blackout, write up = false".to_string();
        reader.wrong("rate", "found a rate of zero", "a rate above zero", Some(remedy));
    }
    if change == LinkChange::default()
        && ["rate", "delay", "loss", "up"].iter().all(|key| reader.table.get(key).is_none())
    {
        let remedy = Some("for instance up = false for a blackout, or rate = \"300 kbit/s\"".to_string());
        reader.wrong("link", "the link changes in nothing", "rate, delay, loss or up", remedy);
    }
    Some(Action::ChangeLink { link: LinkId::new(link?), directions, change })
}
