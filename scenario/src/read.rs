//! From the tree of a file to a [`Scenario`].

mod cell;
mod events;
mod flows;
mod links;
mod mobility;
mod nodes;
mod pipes;
mod programs;
mod queues;
mod radio;
pub(crate) mod reader;
mod tcp;
mod traffic;
mod transports;
mod units;

use crate::check;
use crate::diagnostic::{ScenarioError, Source};
use crate::document::{Entry, Item, Table, Value};
use crate::keys;
use crate::model::{Scenario, VariantNote};
use prismux_plan::{LinkId, Measure, NodeId, Plan};
use prismux_units::Duration;
use reader::{Problems, Reader};
use std::path::Path;

/// Names that settings may refer to.
#[derive(Clone, Copy)]
struct Names<'a> {
    nodes: &'a [&'a str],
    links: &'a [&'a str],
}

/// Reads `table`; `folder` is where relative file names start.
pub(crate) fn scenario(
    table: &Table,
    sources: &[Source],
    folder: Option<&Path>,
    default_name: &str,
) -> Result<Scenario, ScenarioError> {
    let problems = Problems::new(sources);
    let scenario = read_file(table, &problems, folder, default_name);
    if let Some(scenario) = scenario.as_ref().filter(|_| problems.is_empty()) {
        check::check(&scenario.plan, table, &problems);
    }
    match scenario {
        Some(scenario) if problems.is_empty() => Ok(scenario),
        _ => Err(ScenarioError { diagnostics: problems.into_diagnostics() }),
    }
}

fn read_file(
    table: &Table,
    problems: &Problems<'_>,
    folder: Option<&Path>,
    default_name: &str,
) -> Option<Scenario> {
    let start = crate::diagnostic::Place::default();
    let reader = Reader::new(table, "", &start, keys::FILE, problems);
    let name = reader.text("name").unwrap_or(default_name).to_string();
    let summary = reader.text("summary").unwrap_or("").to_string();
    let duration = reader.duration("duration");
    if duration.is_none() && table.get("duration").is_none() {
        reader.missing(
            "duration",
            "a duration such as \"60 s\"",
            "add a line: duration = \"60 s\"".to_string(),
        );
    }
    if duration.is_some_and(Duration::is_zero) {
        reader.wrong("duration", "found a run of no length", "a duration above zero", None);
    }
    let duration = duration.unwrap_or(Duration::from_secs(60));
    let node_entries = section(&reader, "nodes", "server = { kind = \"host\" }");
    let has_air = table.get("radio").or(table.get("cell")).is_some();
    let link_entries = match reader.entry("links") {
        None if has_air => &[],
        _ => {
            section(&reader, "links", "access = { between = [\"server\", \"client\"], rate = \"10 Mbit/s\" }")
        }
    };
    let flow_entries = match (reader.entry("flows"), table.get("programs")) {
        (None, Some(_)) => &[],
        _ => section(&reader, "flows", "download = { from = \"server\", to = \"client\" }"),
    };
    let node_names = nodes::names(node_entries);
    let node_names: Vec<&str> = node_names.iter().map(String::as_str).collect();
    let link_names: Vec<&str> = names(link_entries);
    let nodes = nodes::read(node_entries, &node_names, problems);
    let links = links::read(link_entries, &node_names, &nodes, folder, problems);
    let known = Names { nodes: &node_names, links: &link_names };
    let air = radio::read(&reader, known, (&nodes, &links), folder, problems);
    let cell = cell::read(&reader, known, &nodes, folder, problems);
    let flow_table = flows::read(flow_entries, known, problems);
    let programs = programs::read(&reader, known, problems);
    let context = events::Context {
        nodes: &nodes,
        node_names: &node_names,
        links: &links,
        link_names: &link_names,
        duration,
        on_air: air.as_ref().map_or(&[], |air| &air.attached),
    };
    let events = events::read(&reader, &context, &flow_table, problems);
    let measure = measure(&reader, duration);
    let variants = variants(&reader);
    reader.finish();
    let flows = flow_table.into_iter().flat_map(|read| read.flows).collect();
    let media = air.into_iter().chain(cell).collect();
    let plan = Plan { name, duration, nodes, links, media, flows, programs, events, measure };
    Some(Scenario { plan, summary, variants })
}

/// The entries of a required section.
fn section<'a>(reader: &Reader<'a>, key: &'static str, example: &str) -> &'a [Entry] {
    let expected = format!("a section [{key}] with at least one entry");
    let remedy = format!("for instance [{key}] with a line: {example}");
    match reader.entry(key).map(|entry| &entry.item.value) {
        Some(Value::Table(table)) if !table.entries.is_empty() => &table.entries,
        Some(Value::Table(_)) => {
            reader.wrong(key, format!("[{key}] is empty"), expected, Some(remedy));
            &[]
        }
        Some(other) => {
            reader.wrong(key, format!("found {}", other.describe()), expected, Some(remedy));
            &[]
        }
        None => {
            reader.missing(key, &expected, remedy);
            &[]
        }
    }
}

/// The node that the required `key` names.
fn end(reader: &Reader<'_>, key: &'static str, names: Names<'_>) -> Option<NodeId> {
    if reader.entry(key).is_none() {
        let example = names.nodes.first().unwrap_or(&"server");
        reader.missing(key, "the name of a node", format!("for instance {key} = \"{example}\""));
        return None;
    }
    reader.reference(key, "nodes", names.nodes).map(NodeId::new)
}

fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.key.as_str()).collect()
}

/// The table of an entry such as `wwan1 = { ... }`.
fn entry_table<'a>(entry: &'a Entry, section: &str, problems: &Problems<'_>) -> Option<&'a Table> {
    if let Value::Table(table) = &entry.item.value {
        return Some(table);
    }
    let Item { value, place } = &entry.item;
    let path = format!("{section}.{}", entry.key);
    problems.add(place, &path, format!("found {}", value.describe()), "a table { key = value, ... }", None);
    None
}

/// A list of links; that they end where the flow does is checked with the whole.
fn link_list(reader: &Reader<'_>, key: &'static str, names: Names<'_>) -> Vec<LinkId> {
    let Some(entry) = reader.entry(key) else { return Vec::new() };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        let example = names.links.first().unwrap_or(&"wwan");
        reader.wrong(key, found, "a list of links", Some(format!("for instance {key} = [\"{example}\"]")));
        return Vec::new();
    };
    let link = |item| reader.reference_item(key, item, "links", names.links).map(LinkId::new);
    items.iter().filter_map(link).collect()
}

fn measure(reader: &Reader<'_>, duration: Duration) -> Measure {
    let standard = (duration / 5).min(Duration::from_secs(30));
    let Some(table) = reader.table("measure", keys::MEASURE) else {
        return Measure { warm_up: Some(standard), ..Measure::default() };
    };
    let warm_up = table.duration("warm_up").unwrap_or(standard);
    let interval = table.duration("interval");
    if interval.is_some_and(|interval| interval < Duration::from_millis(1)) {
        table.wrong("interval", "found an interval below 1 ms", "an interval of at least 1 ms", None);
    }
    let delays = table.boolean("delays").unwrap_or(false);
    let lost_acks = table.boolean("lost_acks").unwrap_or(false);
    table.finish();
    Measure { warm_up: Some(warm_up), interval, delays, lost_acks }
}

/// Names and summaries of the variants; what they override is read when one is chosen.
fn variants(reader: &Reader<'_>) -> Vec<VariantNote> {
    let Some(entry) = reader.entry("variants") else { return Vec::new() };
    let Value::Table(table) = &entry.item.value else {
        reader.wrong(
            "variants",
            format!("found {}", entry.item.value.describe()),
            "tables [variants.NAME]",
            None,
        );
        return Vec::new();
    };
    let mut notes = Vec::new();
    for entry in &table.entries {
        let Some(variant) = entry_table(entry, "variants", reader.problems) else { continue };
        let path = format!("variants.{}", entry.key);
        let known = |name: &str| {
            keys::FILE.iter().any(|key| key.name == name) && name != "variants" && name != "name"
        };
        for inner in variant.entries.iter().filter(|inner| !known(&inner.key)) {
            let names: Vec<&str> = keys::FILE.iter().map(|key| key.name).filter(|name| known(name)).collect();
            let remedy = crate::diagnostic::remedy_for(&inner.key, names.iter().copied()).or_else(|| {
                Some("a variant repeats the path of what it changes: nodes.proxy.rpc = \"off\"".to_string())
            });
            let found = format!("unknown key \"{}\"", inner.key);
            let path = format!("{path}.{}", inner.key);
            reader.problems.add(&inner.key_place, &path, found, crate::diagnostic::list_of(&names), remedy);
        }
        let summary = match variant.get("summary").map(|entry| &entry.item.value) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        notes.push(VariantNote { name: entry.key.clone(), summary });
    }
    notes
}
