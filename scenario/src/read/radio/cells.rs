//! `[radio.cells]`.
use crate::document::Value;
use crate::keys;
use crate::read::Names;
use crate::read::reader::Reader;
use prismux_plan::{Cells, Link, LinkId, Node, NodeId, NodeKind};
use prismux_wireless::AssociationConfig;

/// What goes with cells.
const ALONE: &str = "hosts that contend, and a routing protocol only between second radios";

/// Whether an air with cells can be: hosts contend on it, there is routing, and hosts beside base stations have second
/// radios.
pub(super) fn check(
    reader: &Reader<'_>,
    cells: &Cells,
    (contends, has_routing, has_second_radios): (bool, bool, bool),
) {
    let found = conflict(contends, has_routing, has_second_radios);
    let nobody_relays = cells.relays_below_db.is_some() && !has_second_radios;
    let found = found.or(nobody_relays.then_some((
        "found `relay_below_db`, and no host with a second radio to relay by",
        Some("give hosts one, and add [routing]: channels = { mobile = [1, 11] }"),
    )));
    if let Some((found, remedy)) = found {
        reader.wrong("cells", found, ALONE, remedy.map(str::to_string));
    }
}

/// What of it cannot be, and what to do about it.
fn conflict(
    contends: bool,
    has_routing: bool,
    has_second_radios: bool,
) -> Option<(&'static str, Option<&'static str>)> {
    match (contends, has_routing) {
        (true, false) if has_second_radios => Some((
            "found hosts with several radios, and no section [routing] by which they would relay",
            Some("for instance [routing] with a line: protocol = \"dsr\""),
        )),
        (true, true) if !has_second_radios => Some((
            "found a section [routing] too, and no host with a second radio to relay by",
            Some("remove [routing], or give hosts one: channels = { mobile = [1, 11] }"),
        )),
        (true, _) => None,
        _ => {
            Some(("found slots or polling too, which know nothing of hosts that change their channel", None))
        }
    }
}

/// The base stations of the air, if it has any; those that are not among the `attached` are attached too.
pub(super) fn read(
    reader: &Reader<'_>,
    names: Names<'_>,
    (nodes, links): (&[Node], &[Link]),
    attached: &mut Vec<NodeId>,
) -> Option<Cells> {
    let table = reader.table("cells", keys::CELLS)?;
    if reader.entry("hosts").is_none() {
        let remedy = "for instance hosts = [\"mobile\"]; base stations need not be named again".to_string();
        reader.missing("hosts", "the hosts that hand over between the base stations", remedy);
    }
    let base_stations = base_stations(&table, names.nodes, nodes);
    let fallback = fallback(&table, names, links);
    let association = association(&table);
    let forwards = table.boolean("forwarding").unwrap_or(false);
    let relays_below_db = table.number("relay_below_db", 0.0..=60.0);
    table.finish();
    attached
        .extend(base_stations.iter().copied().filter(|base| !attached.contains(base)).collect::<Vec<_>>());
    let moving = |node: &NodeId| attached.contains(node) && !base_stations.contains(node);
    if let Some((host, _)) = fallback.iter().find(|(host, _)| !moving(host)) {
        let found = format!("\"{}\" is no host on the air that hands over", names.nodes[host.index()]);
        table.wrong("fallback", found, "hosts on the air", None);
    }
    Some(Cells { base_stations, association, forwards, fallback, relays_below_db })
}

/// When hosts hand over.
fn association(table: &Reader<'_>) -> AssociationConfig {
    let standard = AssociationConfig::lte();
    let coefficient = table.integer("filter_coefficient", 0..=19).map(|k| k as u8);
    let association = AssociationConfig {
        interval: table.duration("measured_every").unwrap_or(standard.interval),
        filter_coefficient: coefficient.unwrap_or(standard.filter_coefficient),
        hysteresis_db: table.number("hysteresis_db", 0.0..=20.0).unwrap_or(standard.hysteresis_db),
        time_to_trigger: table.duration("time_to_trigger").unwrap_or(standard.time_to_trigger),
        gap: table.duration("gap").unwrap_or(standard.gap),
    };
    if let Some(fault) = association.fault() {
        table.wrong("measured_every", fault, "a duration of at least 1 ms", None);
    }
    association
}

/// Routers on the air.
fn base_stations(table: &Reader<'_>, names: &[&str], nodes: &[Node]) -> Vec<NodeId> {
    let example = "for instance base_stations = [\"west\", \"east\"]".to_string();
    let Some(entry) = table.entry("base_stations") else {
        table.missing("base_stations", "the routers that are base stations", example);
        return Vec::new();
    };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        table.wrong("base_stations", found, "a list of nodes", Some(example));
        return Vec::new();
    };
    let node = |item| table.reference_item("base_stations", item, "nodes", names).map(NodeId::new);
    let named: Vec<NodeId> = items.iter().filter_map(node).collect();
    let mut listed: Vec<NodeId> = Vec::new();
    for node in &named {
        let name = names[node.index()];
        if nodes.get(node.index()).is_some_and(|node| node.kind() != NodeKind::Router) {
            let found = format!("\"{name}\" is no router, and would forward nothing");
            let remedy = format!("for instance {name} = {{ kind = \"router\" }}");
            table.wrong("base_stations", found, "routers", Some(remedy));
        } else if listed.contains(node) {
            table.wrong("base_stations", format!("\"{name}\" is there twice"), "each once", None);
        } else {
            listed.push(*node);
        }
    }
    if items.is_empty() {
        table.wrong("base_stations", "found none", "at least one router", Some(example));
    }
    listed
}

/// The links of hosts that hear no base station.
fn fallback(table: &Reader<'_>, names: Names<'_>, links: &[Link]) -> Vec<(NodeId, LinkId)> {
    let Some(entry) = table.entry("fallback") else { return Vec::new() };
    let example = "for instance fallback = { mobile = \"wwan\" }".to_string();
    let Value::Table(hosts) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        table.wrong("fallback", found, "a table { HOST = LINK }", Some(example));
        return Vec::new();
    };
    let mut found = Vec::new();
    for line in &hosts.entries {
        let host = names.nodes.iter().position(|name| *name == line.key);
        let link = table.reference_item("fallback", &line.item, "links", names.links);
        match (host, link) {
            (None, _) => {
                let found = format!("there is no \"{}\" among the nodes", line.key);
                table.wrong("fallback", found, crate::diagnostic::list_of(names.nodes), None);
            }
            (Some(host), Some(link))
                if links.get(link).is_some_and(|link| !link.ends.contains(&NodeId::new(host))) =>
            {
                let found = format!("\"{}\" does not end at \"{}\"", names.links[link], line.key);
                table.wrong("fallback", found, "a link of the host", None);
            }
            (Some(host), Some(link)) => found.push((NodeId::new(host), LinkId::new(link))),
            (Some(_), None) => {}
        }
    }
    found
}
