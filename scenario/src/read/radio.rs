//! `[radio]` and `[routing]`.

mod cells;
mod channels;
mod energy;
mod kinds;
mod mac;
mod polling;
mod slots;

use super::reader::{Problems, Reader};
use super::{Names, mobility};
use crate::document::Value;
use crate::keys;
use crate::registry;
use channels::Radios;
use mac::Access;
use prismux_plan::{FurtherRadio, Link, Medium, MediumModel, Node, NodeId, NodeKind, Radio, Routing};
use prismux_wireless::{Fading, MacConfig, Propagation, RadioConfig, Reception};
use std::path::Path;

/// What the air of a file is called.
const AIR: &str = "air";

/// Reads the air, if the file has one.
pub(super) fn read(
    file: &Reader<'_>,
    names: Names<'_>,
    (nodes, links): (&[Node], &[Link]),
    folder: Option<&Path>,
    problems: &Problems<'_>,
) -> Option<Medium> {
    let node_names = names.nodes;
    let radio = file.table("radio", keys::RADIO);
    let mobility = file.table("mobility", keys::MOBILITY);
    let routing = file.table("routing", keys::ROUTING);
    let Some(reader) = radio else {
        let has_cell = file.entry("cell").is_some();
        for (key, table) in [("mobility", mobility), ("routing", routing)] {
            if table.is_some() && !(has_cell && key == "mobility") {
                let remedy = "add a section [radio], or remove this one".to_string();
                file.wrong(key, "found no section [radio]", "a radio that it is for", Some(remedy));
            }
        }
        return None;
    };
    let mut attached = hosts(&reader, node_names, nodes);
    let cells = cells::read(&reader, names, (nodes, links), &mut attached);
    let on_air: Vec<&str> = attached.iter().map(|node| node_names[node.index()]).collect();
    let mut radios = channels::read(&reader, &on_air, problems);
    let common = mac::read(&reader);
    let radio = radio_config(&reader, &common);
    let own = kinds::read(&reader, file, (&radios, &on_air), &common);
    let mut access = Access { common, own };
    let owners = slots::read(&reader, &mut access, (&attached, &radios), node_names);
    let polled = polling::read(&reader, &mut access, (&attached, &radios), node_names);
    let roles = radios.take_roles(if polled.is_empty() { owners } else { polled });
    let Radios { channels, further: further_radios, .. } = radios;
    let power = energy::power(&reader, &attached, node_names);
    if let Some(cells) = &cells {
        let node = |further: &FurtherRadio| attached[further.host];
        let has_second = further_radios.iter().any(|further| !cells.base_stations.contains(&node(further)));
        cells::check(&reader, cells, (access.contends(), routing.is_some(), has_second));
    }
    reader.finish();
    let (routing, compares_hops) = self::routing(routing.as_ref(), cells.is_some());
    let Some(mobility) = mobility else {
        let remedy = "for instance [mobility] with lines: model = \"static\" and area_m = [500, 500]";
        file.missing("mobility", "a section [mobility]: where the hosts are", remedy.to_string());
        return None;
    };
    let moving = mobility::read(&mobility, (&on_air, &[]), folder, problems);
    mobility.finish();
    let mobility = moving?;
    let radio = Radio {
        radio,
        mac: access.common,
        channel_settings: access.own,
        mobility,
        roles,
        channels,
        further_radios,
        routing,
        compares_hops,
        power,
        cells,
    };
    Some(Medium { name: AIR.to_string(), attached, model: MediumModel::Radio(Box::new(radio)) })
}

/// Who finds routes, and whether hops are compared.
fn routing(table: Option<&Reader<'_>>, has_cells: bool) -> (Routing, bool) {
    let protocol = table.and_then(|table| table.name("protocol", registry::ROUTING));
    let compares_hops = table.and_then(|table| table.boolean("compare_hops"));
    table.into_iter().for_each(Reader::finish);
    // Stations have a base station for a neighbour, and that knows its wires.
    let standard = if has_cells && table.is_none() { None } else { registry::ROUTING.first() };
    let routing = protocol.or_else(|| Some(standard?.value)).unwrap_or(Routing::Direct);
    (routing, compares_hops.unwrap_or(false))
}

/// The nodes on the air: those named, or all hosts.
fn hosts(reader: &Reader<'_>, node_names: &[&str], nodes: &[Node]) -> Vec<NodeId> {
    let Some(entry) = reader.entry("hosts") else {
        let all = (0..nodes.len()).map(NodeId::new);
        return all.filter(|node| nodes[node.index()].kind() == NodeKind::Host).collect();
    };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        reader.wrong("hosts", found, "a list of nodes", Some("for instance hosts = [\"a\", \"b\"]".into()));
        return Vec::new();
    };
    let host = |item| reader.reference_item("hosts", item, "nodes", node_names).map(NodeId::new);
    items.iter().filter_map(host).collect()
}

/// The radio that goes with a medium access.
fn radio_config(reader: &Reader<'_>, mac: &MacConfig) -> RadioConfig {
    let mut radio = RadioConfig::wavelan();
    radio.propagation = reader.name("propagation", registry::PROPAGATION).unwrap_or(radio.propagation);
    if let Propagation::LogDistance { exponent, reference_m, shadowing_db } = &mut radio.propagation {
        *exponent = reader.number("exponent", 1.0..=10.0).unwrap_or(*exponent);
        *reference_m = reader.number("reference_m", 0.01..=1e6).unwrap_or(*reference_m);
        *shadowing_db = reader.number("shadowing_db", 0.0..=30.0).unwrap_or(*shadowing_db);
    }
    radio.fading = reader.name("fading", registry::FADING).unwrap_or(radio.fading);
    if let Fading::Nakagami { m } = &mut radio.fading {
        *m = reader.number("nakagami_m", 0.5..=100.0).unwrap_or(*m);
    }
    thresholds(reader, &mut radio);
    radio.reception = reader.name("reception", registry::RECEPTION).unwrap_or(radio.reception);
    match &mut radio.reception {
        Reception::Capture { ratio } => {
            *ratio = reader.number("capture_db", 0.0..=100.0).map_or(*ratio, decibel_ratio);
        }
        Reception::ErrorCurves { noise_w } => {
            let decibels = reader.number("noise_dbm", -150.0..=0.0).unwrap_or(-94.0);
            *noise_w = decibel_ratio(decibels) / 1000.0;
        }
    }
    if let Some(fault) = radio.fault_with(mac) {
        let remedy = "for instance medium_access = \"802.11b\", or reception = \"capture\"".to_string();
        reader.wrong("reception", fault, "settings that go together", Some(remedy));
    }
    radio
}

/// Thresholds from distances: those of ns-2 when nothing is said.
fn thresholds(reader: &Reader<'_>, radio: &mut RadioConfig) {
    let range_m = reader.number("range_m", 1.0..=1e6).unwrap_or(250.0);
    let sense_m = reader.number("sense_m", 1.0..=1e6).unwrap_or(550.0_f64.max(range_m));
    if radio.propagation == Propagation::TwoRayGround && (range_m, sense_m) == (250.0, 550.0) {
        // Those of ns-2, to its last digit.
        return;
    }
    if sense_m < range_m {
        let found = format!("a host would receive at {range_m} m what it cannot sense beyond {sense_m} m");
        // Of a channel's own table: that one of both which it has.
        match ["sense_m", "range_m"].into_iter().find(|key| reader.table.get(key).is_some()) {
            Some("range_m") => reader.wrong("range_m", found, "at most the distance of `sense_m`", None),
            Some(_) => reader.wrong("sense_m", found, "at least the distance of `range_m`", None),
            None => {}
        }
    }
    radio.receive_threshold_w = radio.mean_power_w(range_m);
    radio.carrier_threshold_w = radio.mean_power_w(sense_m);
}

/// A ratio of powers from decibels.
fn decibel_ratio(decibels: f64) -> f64 {
    10.0_f64.powf(decibels / 10.0)
}
