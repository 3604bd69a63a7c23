//! `[radio]` and `[routing]`.

mod cells;
mod channels;
mod energy;
mod mac;
mod mobility;
mod places;
mod polling;
mod slots;

use super::Names;
use super::reader::{Problems, Reader};
use crate::document::Value;
use crate::keys;
use crate::registry;
use channels::Radios;
use prismux_plan::{Link, Medium, MediumModel, Node, NodeId, NodeKind, Radio, Routing};
use prismux_wireless::{Fading, Propagation, RadioConfig, Reception};
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
        for (key, table) in [("mobility", mobility), ("routing", routing)] {
            if table.is_some() {
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
    let mut mac = mac::read(&reader);
    let owners = slots::read(&reader, &mut mac, (&attached, &radios), node_names);
    let polled = polling::read(&reader, &mut mac, (&attached, &radios), node_names);
    let roles = radios.take_roles(if polled.is_empty() { owners } else { polled });
    let Radios { channels, further: further_radios, .. } = radios;
    let radio = radio_config(&reader);
    let power = energy::power(&reader, &attached, node_names);
    let conflict = || cells::conflict(&mac, routing.is_some(), !further_radios.is_empty());
    if let Some((found, remedy)) = cells.as_ref().and_then(|_| conflict()) {
        reader.wrong("cells", found, cells::ALONE, remedy.map(str::to_string));
    }
    reader.finish();
    let (mut compares_hops, has_routing) = (false, routing.is_some());
    let protocol = routing.and_then(|routing| {
        let protocol = routing.name("protocol", registry::ROUTING);
        compares_hops = routing.boolean("compare_hops").unwrap_or(false);
        routing.finish();
        protocol
    });
    // Stations have a base station for a neighbour, and that knows its wires.
    let standard = if cells.is_some() && !has_routing { None } else { registry::ROUTING.first() };
    let routing = protocol.or_else(|| Some(standard?.value)).unwrap_or(Routing::Direct);
    let Some(mobility) = mobility else {
        let remedy = "for instance [mobility] with lines: model = \"static\" and area_m = [500, 500]";
        file.missing("mobility", "a section [mobility]: where the hosts are", remedy.to_string());
        return None;
    };
    let moving = mobility::read(&mobility, &on_air, folder, problems);
    mobility.finish();
    let mobility = moving?;
    let radio =
        Radio { radio, mac, mobility, roles, channels, further_radios, routing, compares_hops, power, cells };
    Some(Medium { name: AIR.to_string(), attached, model: MediumModel::Radio(Box::new(radio)) })
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

fn radio_config(reader: &Reader<'_>) -> RadioConfig {
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
        reader.wrong("sense_m", found, "at least the distance of `range_m`", None);
    }
    radio.receive_threshold_w = radio.mean_power_w(range_m);
    radio.carrier_threshold_w = radio.mean_power_w(sense_m);
}

/// A ratio of powers from decibels.
fn decibel_ratio(decibels: f64) -> f64 {
    10.0_f64.powf(decibels / 10.0)
}
