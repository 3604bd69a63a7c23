//! `[cell]`.
use super::reader::{Problems, Reader};
use super::{Names, mobility};
use crate::document::Value;
use crate::keys;
use crate::registry;
use prismux_cellular::slots::{Access, CellConfig, Range};
use prismux_cellular::{ConflictRule, PowerModel};
use prismux_plan::{Medium, MediumModel, Node, NodeId, NodeKind, SlottedCell};
use prismux_units::{ByteCount, Rate};
use prismux_wireless::{Mobility, Position};
use std::path::Path;

/// What the cell of a file is called.
const CELL: &str = "cell";

/// The nodes of a cell.
struct Members {
    hosts: Vec<NodeId>,
    base_station: NodeId,
    stations: Vec<NodeId>,
    access_points: Vec<NodeId>,
}

/// Reads the cell, if the file has one.
pub(super) fn read(
    file: &Reader<'_>,
    names: Names<'_>,
    nodes: &[Node],
    folder: Option<&Path>,
    problems: &Problems<'_>,
) -> Option<Medium> {
    let reader = file.table("cell", keys::CELL)?;
    if file.entry("radio").is_some() {
        let remedy = "hosts are in one or the other: leave [radio] or [cell] out".to_string();
        file.wrong("cell", "found a section [radio] too", "one of the two", Some(remedy));
        return None;
    }
    let members = members(&reader, names.nodes, nodes);
    let (access, rule) = access(&reader, members.as_ref().map_or(1, |members| members.hosts.len()));
    let config = config(&reader, members.as_ref());
    let queue_packets = reader.integer("queue_packets", 1..=1_000_000).unwrap_or(50) as u32;
    let power = power(&reader);
    reader.finish();
    let Some(moving) = file.table("mobility", keys::MOBILITY) else {
        let remedy = "for instance [mobility] with lines: model = \"static\" and area_m = [1500, 1500]";
        file.missing("mobility", "a section [mobility]: where the hosts are", remedy.to_string());
        return None;
    };
    let Members { mut hosts, base_station, stations, access_points } = members?;
    hosts.push(base_station);
    hosts.extend(stations.into_iter().chain(access_points));
    let attached = hosts;
    // Stations of one variant have places in another too.
    let own: Vec<&str> = attached.iter().map(|node| names.nodes[node.index()]).collect();
    let mobility = mobility::read(&moving, (&own, names.nodes), folder, problems);
    moving.finish();
    let (mobility, access) = (mobility?, access?);
    let config = CellConfig {
        moves: !mobility
            .iter()
            .all(|mobility| matches!(mobility, Mobility::Static(_) | Mobility::Anywhere(_))),
        base_range_m: base_range_m(&mobility, config.hosts),
        power: power.unwrap_or(PowerModel::NS2),
        rule,
        ..config
    };
    let cell = SlottedCell { access, config, mobility, queue_packets, counts_energy: power.is_some() };
    Some(Medium { name: CELL.to_string(), attached, model: MediumModel::Cell(Box::new(cell)) })
}

/// Who is on the cell, each once.
fn members(reader: &Reader<'_>, names: &[&str], nodes: &[Node]) -> Option<Members> {
    if reader.entry("base_station").is_none() {
        reader.missing(
            "base_station",
            "the base station",
            "for instance base_station = \"base\"".to_string(),
        );
    }
    let base_station = reader.reference("base_station", "nodes", names).map(NodeId::new);
    let stations = list(reader, "stations", names).unwrap_or_default();
    let access_points = list(reader, "access_points", names).unwrap_or_default();
    let base_station = base_station?;
    let mut gates = vec![base_station];
    for (key, list) in [("stations", &stations), ("access_points", &access_points)] {
        once(reader, key, list, &mut gates, names);
    }
    let others = || {
        let hosts =
            (0..nodes.len()).map(NodeId::new).filter(|node| nodes[node.index()].kind() == NodeKind::Host);
        hosts.filter(|node| !gates.contains(node)).collect()
    };
    let hosts: Vec<NodeId> = list(reader, "hosts", names).unwrap_or_else(others);
    once(reader, "hosts", &hosts, &mut gates.clone(), names);
    if hosts.is_empty() {
        let remedy = "for instance [nodes] h = { kind = \"host\", count = 20 }".to_string();
        reader.wrong("hosts", "found a cell without a host", "at least one host", Some(remedy));
        return None;
    }
    Some(Members { hosts, base_station, stations, access_points })
}

fn list(reader: &Reader<'_>, key: &'static str, names: &[&str]) -> Option<Vec<NodeId>> {
    let entry = reader.entry(key)?;
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong(key, found, "a list of nodes", Some(format!("for instance {key} = [\"a\", \"b\"]")));
        return None;
    };
    let node = |item| reader.reference_item(key, item, "nodes", names).map(NodeId::new);
    Some(items.iter().filter_map(node).collect())
}

/// Complains of the nodes of a list that are on the cell already, and notes the others.
fn once(reader: &Reader<'_>, key: &'static str, list: &[NodeId], there: &mut Vec<NodeId>, names: &[&str]) {
    for node in list {
        if there.contains(node) {
            let found = format!("\"{}\" is on the cell already", names[node.index()]);
            let expected = "each node once: a host, the base station, a hybrid station or an access point";
            reader.wrong(key, found, expected, None);
        } else {
            there.push(*node);
        }
    }
}

/// Who sends in a slot, with the settings of that, and what may share a slot of a schedule.
fn access(reader: &Reader<'_>, hosts: usize) -> (Option<Access>, ConflictRule) {
    let mut rule = ConflictRule::ReceiverSide;
    if reader.entry("access").is_none() {
        reader.missing("access", "who sends in a slot", "for instance access = \"polled\"".to_string());
        reader.accept_all();
    }
    let Some(named) = reader.name("access", registry::CELL_ACCESS) else { return (None, rule) };
    let mut access = named();
    match &mut access {
        Access::Polled { overhead } => *overhead = reader.number("overhead", 0.0..=0.99).unwrap_or(*overhead),
        Access::Assisted { period_slots } => {
            let slots = reader.integer("period_slots", 1..=1_000_000);
            *period_slots = slots.map_or(*period_slots, |slots| slots as usize);
            rule = reader.name("reuse", registry::REUSE).unwrap_or(rule);
        }
        Access::DualMode { settings, reference } => {
            let rate = reader.rate("rate").unwrap_or(RATE);
            *reference = Rate::from_bps(rate.as_bps() / hosts.max(1) as u64);
            if let Some(table) = reader.table("dual_mode", keys::DUAL_MODE) {
                *reference = table.rate("reference").unwrap_or(*reference);
                let own = [
                    ("period", &mut settings.repetition),
                    ("division_every", &mut settings.update),
                    ("monitored_every", &mut settings.monitor),
                    ("partition", &mut settings.partition),
                    ("sojourn", &mut settings.sojourn),
                ];
                for (key, setting) in own {
                    *setting = table.duration(key).unwrap_or(*setting);
                }
                table.finish();
            }
        }
        Access::Contention | Access::Interworking => {}
    }
    (Some(access), rule)
}

/// Rate of a channel.
const RATE: Rate = Rate::from_mbps(2);

/// What the cell is made of, but for what follows from where everybody is.
fn config(reader: &Reader<'_>, members: Option<&Members>) -> CellConfig {
    let packet = reader.bytes("packet").unwrap_or(ByteCount::new(1500));
    if !(40..=65_535).contains(&packet.as_u64()) {
        let expected = "from 40 B, the headers of TCP, to 65535 B";
        reader.wrong("packet", format!("found slots of {packet}"), expected, None);
    }
    let rate = reader.rate("rate").unwrap_or(RATE);
    if rate.as_bps() < 1000 {
        reader.wrong("rate", format!("found a channel of {rate}"), "at least 1 kbit/s", None);
    }
    let (stations, access_points) =
        members.map_or((0, 0), |members| (members.stations.len(), members.access_points.len()));
    let standard = CellConfig::new(members.map_or(1, |members| members.hosts.len()));
    let mut config = CellConfig {
        stations,
        access_points,
        range: range(reader),
        packet,
        rate,
        update: reader.duration("routes_every").unwrap_or(standard.update),
        ..standard
    };
    if reader.entry("access_points").is_some() {
        let range_m = reader.number("access_point_range_m", 0.1..=1e6);
        config.access_point_range_m = range_m.unwrap_or(config.access_point_range_m);
        config.access_point_rate = reader.rate("access_point_rate").unwrap_or(config.access_point_rate);
    }
    config
}

/// A number of metres, or the least that connects all.
fn range(reader: &Reader<'_>) -> Range {
    match reader.entry("range_m").map(|entry| &entry.item.value) {
        Some(Value::Text(text)) if text == "least" => Range::Least,
        Some(Value::Text(text)) => {
            let remedy = Some("range_m = \"least\", or a number of metres".to_string());
            reader.wrong(
                "range_m",
                format!("found \"{text}\""),
                "a number from 0.1 to 1000000, or \"least\"",
                remedy,
            );
            Range::Least
        }
        _ => Range::Fixed(reader.number("range_m", 0.1..=1e6).unwrap_or(250.0)),
    }
}

/// What hosts draw, if the file says that this is counted.
fn power(reader: &Reader<'_>) -> Option<PowerModel> {
    let table = reader.table("energy", keys::CELL_ENERGY)?;
    let watts = |key, standard: f64| table.number(key, 0.0..=1000.0).unwrap_or(standard);
    let power = PowerModel {
        electronics_w: watts("electronics_w", PowerModel::NS2.electronics_w),
        radiated_250_m_w: watts("radiated_w", PowerModel::NS2.radiated_250_m_w),
        receive_w: watts("receive_w", PowerModel::NS2.receive_w),
    };
    table.finish();
    Some(power)
}

/// How far hosts may get from the base station, which all of them must reach.
fn base_range_m(mobility: &[Mobility], base_station: usize) -> f64 {
    let Some(Mobility::Static(base)) = mobility.get(base_station) else { return 0.0 };
    let hosts = mobility.iter().take(base_station);
    hosts.flat_map(Mobility::outermost).map(|place: Position| place.distance_m(*base)).fold(0.0, f64::max)
}
