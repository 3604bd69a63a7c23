//! `[radio.energy]`, and when radios sleep.
use crate::document::{Item, Value};
use crate::keys;
use crate::read::reader::Reader;
use prismux_plan::{NodeId, Power};
use prismux_wireless::{DutyCycle, EnergyConfig};

/// What radios draw, and from which batteries, if the file says so.
pub(super) fn power(reader: &Reader<'_>, attached: &[NodeId], node_names: &[&str]) -> Option<Power> {
    let table = reader.table("energy", keys::ENERGY)?;
    let standard = EnergyConfig::ns2();
    let watts = |key, standard: f64| table.number(key, 0.0..=1000.0).unwrap_or(standard);
    let energy = EnergyConfig {
        transmit_w: watts("transmit_w", standard.transmit_w),
        receive_w: watts("receive_w", standard.receive_w),
        idle_w: watts("idle_w", standard.idle_w),
        sleep_w: watts("sleep_w", standard.sleep_w),
        amplifier_efficiency: table.number("amplifier_efficiency", 0.001..=1.0),
    };
    let battery_j = battery_j(&table);
    let has_batteries = table.entry("battery_j").is_some();
    let mains = if has_batteries { mains(&table, node_names) } else { Vec::new() };
    table.finish();
    let battery_of = |host: &NodeId| battery_j.filter(|_| !mains.contains(host));
    Some(Power { energy, batteries_j: attached.iter().map(battery_of).collect() })
}

/// What each battery holds.
fn battery_j(table: &Reader<'_>) -> Option<f64> {
    let is_empty = |item: &Item| match item.value {
        Value::Integer(number) => number == 0,
        Value::Float(number) => number == 0.0,
        _ => false,
    };
    if table.entry("battery_j").is_some_and(|entry| is_empty(&entry.item)) {
        let remedy = "take such a host out of [radio] hosts, or leave out battery_j where none may run out";
        let found = "found batteries that are empty from the beginning";
        table.wrong("battery_j", found, "a number of joules above 0", Some(remedy.to_string()));
        return None;
    }
    table.number("battery_j", 1e-6..=1e9)
}

/// Hosts without a battery.
fn mains(table: &Reader<'_>, node_names: &[&str]) -> Vec<NodeId> {
    let Some(entry) = table.entry("mains") else { return Vec::new() };
    let Value::List(items) = &entry.item.value else {
        let found = format!("found {}", entry.item.value.describe());
        table.wrong("mains", found, "a list of nodes", Some("for instance mains = [\"base\"]".into()));
        return Vec::new();
    };
    let host = |item| table.reference_item("mains", item, "nodes", node_names).map(NodeId::new);
    items.iter().filter_map(host).collect()
}

/// When radios sleep.
pub(super) fn duty_cycle(reader: &Reader<'_>) -> Option<DutyCycle> {
    let period = reader.duration("sleep_period")?;
    let Some(awake) = reader.duration("awake") else {
        reader.missing(
            "awake",
            "how long radios are awake in each period",
            "for instance awake = \"100 ms\"".into(),
        );
        return None;
    };
    if awake.is_zero() || awake > period {
        reader.wrong("awake", format!("found {awake}"), "more than 0, and no more than `sleep_period`", None);
        return None;
    }
    Some(DutyCycle { period, awake })
}
